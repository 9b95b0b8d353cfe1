"""The engine: the few things in which one SQL database differs from another.

All SQL of this package is written once, with '?' for parameters, in what SQLite (3.35 and later)
and PostgreSQL share. An engine opens connections, turns that SQL into its database's own
spelling, and translates its database's errors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

from souvenance.domain.embedding import SEALED
from souvenance.domain.names import ALL
from souvenance.ports.store import Comparing, Difference

MOST_LISTED = 500
"""The most values that one statement names in a list."""

NO_LIMIT = (1 << 63) - 1

PLACE = "workspace, owner, namespace"
"""The columns that name a compartment."""
COMPARTMENT = "workspace = ? AND owner = ? AND namespace = ?"
"""What keeps a statement within one compartment."""

Values = Sequence[Any]
SqlRow = tuple[Any, ...]


class SqlSession(ABC):
    """One connection, in a transaction. It may live through many, one at a time."""

    __slots__ = ("attached", "unchanged")

    taking: ClassVar[str] = ""
    """What a SELECT ends with that takes its rows for itself and passes over those that others took."""

    def __init__(self) -> None:
        self.attached: Any = None
        """What the session's user keeps with it from one transaction to the next."""
        self.unchanged = False
        """Whether nobody at all wrote since this session's last transaction, and that one was committed."""

    @abstractmethod
    def rows(self, sql: str, values: Values = ()) -> list[SqlRow]: ...

    @abstractmethod
    def run(self, sql: str, values: Values = ()) -> int:
        """Execute, and say how many rows changed."""

    def row(self, sql: str, values: Values = ()) -> SqlRow | None:
        return next(iter(self.rows(sql, values)), None)

    def value(self, sql: str, values: Values = ()) -> Any:
        """The first column of the first row; None if there is no row."""
        row = self.row(sql, values)
        return None if row is None else row[0]

    def each_next(self, sql: str, place: Values = ()) -> list[str]:
        """All names that a statement finds which gives the one behind the name that it is given last."""
        found: list[str] = []
        while row := self.row(sql, (*place, found[-1] if found else "")):
            found.append(row[0])
        return found


class Vectors(Protocol):
    """How a database keeps the vectors of lines, in one transaction."""

    form: str
    """How they are kept: one that is kept otherwise counts as missing."""
    kept: str
    """With what a condition on their table, called v, ends that is to find only those kept so."""

    @property
    def comparing(self) -> Comparing | None: ...

    def keep(self, place: Values, vector: bytes) -> None:
        """Keep a line's vector. Its place: the compartment, the space, its number and the line's id."""


class Engine(Protocol):
    @property
    def types(self) -> Mapping[str, str]:
        """What the words of a migration stand for: {blob}, {serial} for a number that counts up and is
        never given again, {clustered} after a table whose rows should lie in the order of its primary key,
        and 'text' for TEXT, which must compare byte for byte."""

    @property
    def columns(self) -> str:
        """The statement that tells every column: its table, its name, and its place in the key, or 0."""

    def read(self, workspace: str = ALL) -> AbstractContextManager[SqlSession]: ...

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> AbstractContextManager[SqlSession]:
        """The only writer of that workspace, or of all."""

    def claim(self) -> AbstractContextManager[SqlSession]:
        """A write that need not last, beside all others if the database can lock single rows."""

    def fortify(self, session: SqlSession) -> None:
        """Inside the transaction that migrates: have the database itself keep workspaces apart, if it can."""

    def listening(self, heard: Callable[[], None]) -> AbstractContextManager[bool]:
        """Call back meanwhile when another process may have added work; whether the database can tell."""

    def vectors(self, session: SqlSession) -> Vectors: ...

    def differences(self, session: SqlSession) -> list[Difference]:
        """How the schema differs from the one that the migrations make."""

    def resume(self, session: SqlSession) -> None:
        """After rows came in with their numbers: let what counts up go on behind them."""

    def reclaim(self) -> bool:
        """Leave no deleted byte in any file of ours, or free its place in files of a database's server;
        False if that is not possible right now."""

    def close(self) -> None: ...


def as_bytes(value: object) -> bytes:
    """What a column of bytes holds. Whatever else someone put there is no sealed thing, and so is empty."""
    return value if isinstance(value, bytes) else b""


def marks(values: Collection[object]) -> str:
    """The '(?, ...)' of so many values. In that of none lies nothing, in either database."""
    return f"({', '.join('?' * len(values)) or 'NULL'})"


def condition(columns: Mapping[str, str | Collection[str] | None]) -> tuple[str, list[str]]:
    """That each column has the value, or one of the values, wanted of it; and these. None wants nothing."""
    asked, values = list[str](), list[str]()
    for column, wanted in columns.items():
        some = [wanted] if isinstance(wanted, str) else wanted
        if some is not None:
            asked.append(f"{column} = ?" if isinstance(wanted, str) else f"{column} IN {marks(some)}")
            values.extend(some)
    return " AND ".join(asked) or "true", values


def listed(values: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The values, each once and in order, in lists that one statement can take, each with its '(?, ...)'."""
    distinct = sorted(set(values))
    for first in range(0, len(distinct), MOST_LISTED):
        some = distinct[first : first + MOST_LISTED]
        yield marks(some), some


def insert(table: str, columns: str, key: str = "", conflict: str = "") -> str:
    """A statement that adds a row. Of one that is there with the same key, it replaces the rest."""
    names = columns.split(", ")
    if key:
        rest = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
        conflict = f"ON CONFLICT ({key}) DO UPDATE SET {rest}"
    return f"INSERT INTO {table} ({columns}) VALUES {marks(names)} {conflict}"


_KEEP = insert("vectors", f"{PLACE}, space, seq, id, sealed")


def noted_form(session: SqlSession) -> str | None:
    """In which form the store was told to keep its vectors: sealed or another; None if it was not told."""
    form: str | None = session.value("SELECT form FROM vector_form")
    return form


class SealedVectors:
    comparing: ClassVar[None] = None
    form = SEALED

    def __init__(self, session: SqlSession, kept: str = "") -> None:
        self._session = session
        self.kept = kept

    def keep(self, place: Values, vector: bytes) -> None:
        self._session.run(_KEEP, (*place, vector))
