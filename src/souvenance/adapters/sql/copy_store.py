"""Copying a store from one database to another, table by table, as it was at one moment.

What is copied is read in one transaction of the source, in pages and in the order of each table's primary
key. After an interruption, tables that are the same already are not copied again. Until the copy is whole and
verified, the target can't be opened as a store, because it claims a migration that no version knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from itertools import zip_longest
from typing import NamedTuple, TypeVar

import msgspec

from souvenance.adapters.sql.engine import Engine, SqlRow, SqlSession, marks, noted_form
from souvenance.adapters.sql.schema import UNFINISHED, migrate
from souvenance.domain.embedding import SEALED
from souvenance.errors import Conflict, IntegrityError, Unsupported

PAGE = 500
_MOST_VALUES = 900
_LEDGER = "migrations"
_COUNTED = ("seq",)
"""What orders a table that is known by a number alone, and has no primary key here."""
_MADE_ANEW = frozenset(["vectors", "embedded"])
"""What each database may keep in its own way, and the worker makes again: copied together or not at all."""


class CopiedTable(NamedTuple):
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


class CopyStep(NamedTuple):
    """How far the copy of one table came."""

    table: str
    done: int
    rows: int


Report = Callable[[CopyStep], None]
_Beside = TypeVar("_Beside")


def copy_store(
    source: Engine, target: Engine, report: Report = lambda step: None, *, form: str | None = SEALED
) -> dict[str, int]:
    """Make the target a copy of the source, and verify it; how many rows each table has.

    The target must be empty, or an unfinished copy of this very source. It is to keep vectors in that form;
    None is for whatever the source notes. Only sealed ones go along.

    Raises: Conflict if it is another store, or if the source was written to meanwhile; IntegrityError if the
    copy is not the same; Unsupported if a table can't be kept there; StorageUnavailable and its kind.
    """
    migrate(source)
    with source.read() as session:
        origin = _fingerprint(session)
        _claim(target, origin)
        tables = _shared(_catalogue(source, session), target, vectors=(form or noted_form(session)) == SEALED)
        counts = {table.name: _copied(session, target, table, report) for table in tables}
        moment = _moment(session)
    with source.read() as session:
        if _moment(session) != moment:
            raise Conflict(
                "the source was written to while it was copied",
                hint="Stop what writes to it and run this again: it goes on where it ended.",
            )
    _release(target)
    return counts


def snapshot(source: Engine, target: Engine, beside: Callable[[], _Beside]) -> tuple[dict[str, int], _Beside]:
    """Copy the source as it is now into an empty store. Others may write to it meanwhile.

    Beside the number of each table's rows: what `beside` gave when the moment was just fixed.

    Raises: as `copy_store`, but for what the source is written.
    """
    with source.read() as session:
        origin = _fingerprint(session)
        found = beside()
        _claim(target, origin)
        tables = _shared(_catalogue(source, session), target, vectors=True)
        counts = {table.name: _copied(session, target, table, lambda step: None) for table in tables}
    _release(target)
    return counts, found


def _claim(target: Engine, origin: str) -> None:
    """Let nobody take the target for a store until the copy is whole. Raises: Conflict."""
    with target.write() as session:
        known = _catalogue(target, session)
        begun = (
            session.row(f"SELECT hash FROM {_LEDGER} WHERE number = ?", (UNFINISHED,))
            if (_LEDGER in known)
            else None
        )
    if begun is not None:
        if begun[0] != origin:
            raise Conflict("the target is an unfinished copy of another store", hint="Name an empty target.")
        return
    migrate(target)
    with target.write() as session:
        for name in _catalogue(target, session):
            if name != _LEDGER and session.row(f"SELECT 1 FROM {name} LIMIT 1") is not None:
                raise Conflict("there is a store at the target already", hint="Name an empty target.")
        session.run(
            f"INSERT INTO {_LEDGER} (number, name, hash) VALUES (?, ?, ?)",
            (UNFINISHED, "unfinished copy of another store", origin),
        )


def _release(target: Engine) -> None:
    with target.write() as session:
        target.resume(session)
        session.run(f"DELETE FROM {_LEDGER} WHERE number = ?", (UNFINISHED,))


def _catalogue(engine: Engine, session: SqlSession) -> dict[str, CopiedTable]:
    """The tables that there are, by name."""
    found: dict[str, list[tuple[str, int]]] = {}
    for table, column, place in session.rows(engine.columns):
        found.setdefault(table, []).append((column, place))
    return {
        name: CopiedTable(
            name,
            tuple(column for column, _ in described),
            tuple(column for column, place in sorted(described, key=lambda one: one[1]) if place),
        )
        for name, described in found.items()
    }


def _shared(here: Mapping[str, CopiedTable], target: Engine, *, vectors: bool) -> list[CopiedTable]:
    """What is to be copied. Raises: Unsupported."""
    with target.read() as session:
        there = _catalogue(target, session)
    alike = {
        name
        for name, table in here.items()
        if name in there and set(there[name].columns) == set(table.columns)
    }
    if not vectors or not alike >= _MADE_ANEW:
        alike -= _MADE_ANEW
    if unknown := sorted(here.keys() - alike - _MADE_ANEW):
        raise Unsupported(f"the target can't keep the table {unknown[0]!r}", hint="Use one version for both.")
    return [
        table._replace(key=table.key or there[name].key or _COUNTED)
        for name, table in sorted(here.items())
        if name in alike and name != _LEDGER
    ]


def _copied(session: SqlSession, target: Engine, table: CopiedTable, report: Report) -> int:
    """Copy the table, unless it was copied before, and compare the copy with it; its number of rows."""
    total = _count(session, table)
    if not _same(session, target, table):
        with target.write(lasting=False) as there:
            there.run(f"DELETE FROM {table.name}")
        done = 0
        for rows in _pages(session, table):
            with target.write(lasting=False) as there:
                _insert(there, table, rows)
            done += len(rows)
            report(CopyStep(table.name, done, total))
        if not _same(session, target, table):
            raise IntegrityError(
                f"the copy of the table {table.name!r} differs from it",
                hint="Empty the target and try again.",
            )
    return total


def _pages(session: SqlSession, table: CopiedTable) -> Iterator[list[SqlRow]]:
    """The rows in the order of the key."""
    columns, key = ", ".join(table.columns), ", ".join(table.key)
    places = [table.columns.index(column) for column in table.key]
    where, last = "", ()
    while rows := session.rows(
        f"SELECT {columns} FROM {table.name} {where} ORDER BY {key} LIMIT ?", (*last, PAGE)
    ):
        yield rows
        where, last = f"WHERE ({key}) > {marks(table.key)}", tuple(rows[-1][place] for place in places)


def _insert(session: SqlSession, table: CopiedTable, rows: list[SqlRow]) -> None:
    columns = ", ".join(table.columns)
    at_once = max(1, _MOST_VALUES // len(table.columns))
    for first in range(0, len(rows), at_once):
        some = rows[first : first + at_once]
        session.run(
            f"INSERT INTO {table.name} ({columns}) VALUES {', '.join([marks(table.columns)] * len(some))}",
            [value for row in some for value in row],
        )


def _same(session: SqlSession, target: Engine, table: CopiedTable) -> bool:
    """Whether every value of every row is the same, and their number. Both are read side by side."""
    with target.read() as there:
        pages = zip_longest(_pages(session, table), _pages(there, table))
        return all(_digest(one or []) == _digest(other or []) for one, other in pages)


def _digest(rows: list[SqlRow]) -> bytes:
    return sha256(msgspec.msgpack.encode(rows)).digest()


def _count(session: SqlSession, table: CopiedTable) -> int:
    row = session.row(f"SELECT COUNT(*) FROM {table.name}")
    return 0 if row is None else int(row[0])


def _fingerprint(session: SqlSession) -> str:
    """By what a store is known again: the beginning of its oldest log. Reading it fixes the moment."""
    rows = session.rows("SELECT workspace, leaf FROM audit WHERE seq = 0 ORDER BY at, workspace LIMIT 1")
    return sha256(msgspec.msgpack.encode(rows)).hexdigest()


def _moment(session: SqlSession) -> list[SqlRow]:
    """What every change changes: each leaves its row in a log."""
    return session.rows("SELECT workspace, COUNT(*) FROM audit GROUP BY workspace ORDER BY workspace")
