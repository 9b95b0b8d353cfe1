"""Backup and restore of a whole store, and moving a store from one database to another.

A backup holds the store as it was at one moment, sealed as it lay, and with it, unless that is not wanted,
the files of the data folder without which nothing of it opens.

A store is copied table by table, as it was at one moment: read in one transaction of the source, in pages and
in the order of each table's primary key. After an interruption, tables that are the same already are not
copied again. Until the copy is whole and verified, the target can't be opened as a store, because it claims a
migration that no version knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from souvenance.adapters.archive_file import ArchiveReader, Archives
from souvenance.adapters.data_folder import Binding, read_binding, write_binding
from souvenance.adapters.key_files import ROOT_FILE, SIGNING_FILE, KeyFiles
from souvenance.adapters.private_files import exists, make_private_folder
from souvenance.adapters.sql.engine import Engine, SqlRow, SqlSession, marks, noted_form
from souvenance.adapters.sql.schema import UNFINISHED, migrate
from souvenance.adapters.sql.store import in_database, in_file
from souvenance.domain.archive_records import BACKUP, FORMAT, KeptStore, Manifest, Watch
from souvenance.domain.embedding import AUTO, SEALED
from souvenance.errors import ArchiveDamaged, Conflict, IntegrityError, InvalidInput, StorageBusy, Unsupported
from souvenance.files import new_file, sync_folder, translated
from souvenance.patterns import pattern
from souvenance.version import __version__

DATABASE = "store.db"
"""The member that is the store, always as SQLite keeps it."""
_DATABASE_FILE = "souvenance.db"
"""The same in a data folder."""
KEY_FILES = (ROOT_FILE, SIGNING_FILE)
FILES = (*KEY_FILES, "owner.cap", "webhook.secret", "model.spend")
"""What goes along of the data folder, each as far as it is there; its settings, *.toml, do too."""
_SETTINGS = pattern(r"[a-z0-9][a-z0-9_-]{0,60}\.toml\Z")
_MOST_TRIES = 5
_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def back_up(
    store: str,
    home: Path,
    target: Path,
    *,
    recipients: Sequence[str] = (),
    with_keys: bool = True,
    allow_empty: bool = False,
) -> KeptStore:
    """Write a backup of the store at that place and its data folder, while both are in use. Raises: Conflict
    if the file is there, InvalidInput, also for a store without lines unless that is allowed, IntegrityError,
    StorageUnavailable and its kind."""
    with (
        _engine(store, made=False) as engine,
        Archives().writing(target, recipients) as archive,
        _workroom(target.parent) as compartment,
    ):
        counts, files = _fixed(engine, home, compartment / DATABASE)
        if not counts["lines"] and not allow_empty:
            raise InvalidInput(
                "the store has no lines, and nothing was written",
                hint="Check --home and SOUVENANCE_STORE. To back up an empty store, add --allow-empty.",
            )
        for name, content in files.items() if with_keys else ():
            archive.add(name, content)
        archive.add_file(DATABASE, compartment / DATABASE)
        archive.close(
            Manifest(
                format=FORMAT,
                kind=BACKUP,
                made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                made_by=f"souvenance {__version__}",
                about={"keys": with_keys},
                counts=counts,
            )
        )
    names = tuple(files) if with_keys else ()
    return KeptStore(sum(counts.values()), counts.get("lines", 0), names, target.stat().st_size)


def _fixed(engine: Engine, home: Path, path: Path) -> tuple[dict[str, int], dict[str, bytes]]:
    """The store in the file, as it is at one moment, and the key files that fit it. Raises: StorageBusy if
    keys are rotated again and again meanwhile."""
    for _ in range(_MOST_TRIES):
        before = _files(home)
        with _engine(f"{_SQLITE}{path}", made=True) as copy:
            counts, then = snapshot(engine, copy, lambda: _files(home))
        if all(before.get(name) == then.get(name) for name in KEY_FILES):
            return counts, then
        path.unlink()
    raise StorageBusy("the keys were rotated while the backup was made")


def _files(home: Path) -> dict[str, bytes]:
    """Raises: StorageUnavailable."""
    found = {}
    settings = sorted(path.name for path in home.glob("*.toml") if _SETTINGS.match(path.name))
    for name in (*FILES, *settings):
        with translated(f"{home / name} can't be read"), suppress(FileNotFoundError):
            found[name] = (home / name).read_bytes()
    return found


def restore(source: Path, home: Path, *, identity: Path | None = None) -> KeptStore:
    """Make the data folder out of a backup, whole or not at all. Raises: Conflict if the folder holds
    anything, ArchiveDamaged, InvalidInput, Misconfigured if a newer version wrote it, StorageUnavailable and
    its kind."""
    if exists(home) and any(home.iterdir()):
        raise Conflict(f"{home} is not empty", hint="Name a folder that does not exist: --home DIR.")
    archive = Archives().reading(source, identity)
    if archive.manifest.kind != BACKUP:
        raise InvalidInput("that archive is not a backup", hint="Run: souvenance import FILE")
    make_private_folder(home.parent)
    with _workroom(home if exists(home) else home.parent) as compartment:
        fresh = compartment / "home"
        fresh.mkdir(mode=0o700)
        files = _unpacked(archive, fresh)
        _check(fresh, whole=bool(archive.manifest.about.get("keys")))
        write_binding(fresh, Binding(ready=True))
        with translated(f"{home} can't be made"):
            _settle(fresh, home)
    counts = archive.manifest.counts
    return KeptStore(sum(counts.values()), counts.get("lines", 0), files, source.stat().st_size)


def _settle(fresh: Path, home: Path) -> None:
    """Put the folder in its place; what is there and empty may be a disk of its own, and stays. Raises:
    OSError."""
    if not home.exists():
        fresh.rename(home)
        sync_folder(home.parent)
        return
    home.chmod(0o700)
    for path in sorted(fresh.iterdir(), key=lambda one: one.name == _DATABASE_FILE):
        path.rename(home / path.name)
    sync_folder(home)


def _unpacked(archive: ArchiveReader, folder: Path) -> tuple[str, ...]:
    files = []
    for name, content in archive.members():
        if name not in (DATABASE, *FILES) and not _SETTINGS.match(name):
            raise ArchiveDamaged(f"a backup holds no {name!r}")
        path = folder / (_DATABASE_FILE if name == DATABASE else name)
        with translated(f"{path.name} can't be written"), new_file(path) as file:
            file.writelines(content)
        files.append(name)
    return tuple(name for name in files if name != DATABASE)


def _check(folder: Path, *, whole: bool) -> None:
    """Raises: ArchiveDamaged, Misconfigured."""
    if not exists(folder / _DATABASE_FILE):
        raise ArchiveDamaged(f"the backup holds no {DATABASE!r}")
    with closing(in_file(folder / _DATABASE_FILE)) as engine:
        migrate(engine)
    if whole:
        KeyFiles(folder)


def move(source: str, target: str, *, vectors: str = AUTO, watch: Watch | None = None) -> dict[str, int]:
    """Copy a store from one place to another; how many rows each table has.

    A place is a data folder, `sqlite:///` and a file, or the URL of a PostgreSQL database. From folder to
    folder the keys go along; else they stay where they are. `vectors` is how a database is to keep them.

    Raises: as `copy_store`; InvalidInput if there is no store at the source.
    """
    here, there = _folder(source), _folder(target)
    if here is not None and (known := read_binding(here)) is not None and known.store is not None:
        raise InvalidInput(f"the store of {here} is {known.store}", hint="Name that as the source.")
    with _engine(source, made=False) as one:
        if there is not None:
            make_private_folder(there)
            if here is not None:
                _copy_files(here, there)
        with _engine(target, made=True) as other:
            asked = None if vectors == AUTO else vectors
            form = asked if target.startswith(_POSTGRES) else SEALED
            counts = copy_store(one, other, watch, form=form)
    if there is not None:
        write_binding(there, replace(read_binding(there) or Binding(), store=None, ready=True))
    return counts


def _folder(place: str) -> Path | None:
    return None if "://" in place else Path(place).expanduser()


def _engine(place: str, *, made: bool) -> closing[Engine]:
    """Raises: InvalidInput if there is none where one should be, StorageUnavailable and its kind."""
    if place.startswith(_POSTGRES):
        return closing(in_database(place))
    folder = _folder(place)
    if folder is None and not place.startswith(_SQLITE):
        raise InvalidInput(
            f"{place.partition('://')[0]!r} is not a store",
            hint="Name a data folder, sqlite:///FILE or postgresql://….",
        )
    path = folder / _DATABASE_FILE if folder else Path(place.removeprefix(_SQLITE)).expanduser()
    if not made and not exists(path):
        raise InvalidInput(f"there is no store at {place}", hint="Name a data folder, or its URL.")
    return closing(in_file(path))


def _copy_files(here: Path, there: Path) -> None:
    """Raises: Conflict if another file of that name is there."""
    for name, content in _files(here).items():
        path = there / name
        if exists(path):
            if path.read_bytes() != content:
                raise Conflict(
                    f"{path} is there already and is not that of the source", hint="Name an empty folder."
                )
            continue
        with translated(f"{path} can't be written"), new_file(path) as file:
            file.write(content)


@contextmanager
def _workroom(beside: Path) -> Iterator[Path]:
    """A folder of our own on the same disk, gone afterwards."""
    with translated(f"{beside} can't be written"):
        folder = TemporaryDirectory(prefix=".souvenance-", dir=beside, ignore_cleanup_errors=True)
    with folder as name:
        yield Path(name)


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


_Beside = TypeVar("_Beside")


def copy_store(
    source: Engine, target: Engine, watch: Watch | None = None, *, form: str | None = SEALED
) -> dict[str, int]:
    """Make the target a copy of the source, and verify it; how many rows each table has.

    The target must be empty, or an unfinished copy of this very source. It is to keep vectors in that form;
    None is for whatever the source notes. Only sealed ones go along.

    Raises: Conflict if it is another store, or if the source was written to meanwhile; IntegrityError if the
    copy is not the same; Unsupported if a table can't be kept there; StorageUnavailable and its kind.
    """
    migrate(source)
    with source.read() as session:
        _claim(target, _fingerprint(session))
        tables = _shared(_catalogue(source, session), target, vectors=(form or noted_form(session)) == SEALED)
        counts = {table.name: _copied(session, target, table, watch) for table in tables}
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
        counts = {table.name: _copied(session, target, table, None) for table in tables}
    _release(target)
    return counts, found


def _claim(target: Engine, origin: str) -> None:
    """Let nobody take the target for a store until the copy is whole. Raises: Conflict."""
    with target.write() as session:
        known = _catalogue(target, session)
        begun = None
        if _LEDGER in known:
            begun = session.value(f"SELECT hash FROM {_LEDGER} WHERE number = ?", (UNFINISHED,))
    if begun is not None:
        if begun != origin:
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


def _copied(session: SqlSession, target: Engine, table: CopiedTable, watch: Watch | None) -> int:
    """Copy the table, unless it was copied before, and compare the copy with it; its number of rows."""
    total: int = session.value(f"SELECT COUNT(*) FROM {table.name}")
    if not _same(session, target, table):
        with target.write(lasting=False) as there:
            there.run(f"DELETE FROM {table.name}")
        with nullcontext() if watch is None else watch(table.name, total) as steps:
            for rows in _pages(session, table):
                with target.write(lasting=False) as there:
                    _insert(there, table, rows)
                if steps is not None:
                    steps.update(len(rows))
        if not _same(session, target, table):
            raise IntegrityError(
                f"the copy of the table {table.name!r} differs from it",
                hint="Empty the target and try again.",
            )
    return total


def _pages(session: SqlSession, table: CopiedTable) -> Iterator[list[SqlRow]]:
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
        return all(one == other for one, other in pages)


def _fingerprint(session: SqlSession) -> str:
    """By what a store is known again: the beginning of its oldest log. Reading it fixes the moment."""
    rows = session.rows("SELECT workspace, leaf FROM audit WHERE seq = 0 ORDER BY at, workspace LIMIT 1")
    return sha256(msgspec.msgpack.encode(rows)).hexdigest()


def _moment(session: SqlSession) -> list[SqlRow]:
    """What every change changes: each leaves its row in a log."""
    return session.rows("SELECT workspace, COUNT(*) FROM audit GROUP BY workspace ORDER BY workspace")
