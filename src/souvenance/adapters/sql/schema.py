"""The schema: numbered migrations, and how a database differs from what they make.

Migrations are applied once, in order, each with its hash; forward only. What they make is read from an empty
SQLite database in memory, once in a process; PostgreSQL has the same tables, columns and indexes.

In PostgreSQL row-level security also keeps workspaces apart, behind the gate. A transaction says which
workspace it is of; policies show and take no rows of others. What belongs to all ('*') can be read from every
workspace, and of it only counters can be changed. A transaction that says nothing is shown nothing.
PostgreSQL exempts superusers from policies, and roles that bypass them; for these a role without a login is
made, which transactions take on. A trigger tells all processes of jobs that one of them adds. What belongs to
an extension is not compared.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec import Struct

from souvenance.adapters.sql.engine import Engine, SqlSession
from souvenance.adapters.sql.sqlite import SqliteConnection, SqliteEngine
from souvenance.errors import Misconfigured
from souvenance.patterns import pattern
from souvenance.ports.store import Difference

_TEXT = pattern(r"\bTEXT\b")
_TABLE = """CREATE TABLE IF NOT EXISTS migrations (
    number BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)"""


class Migration(Struct, frozen=True):
    number: int
    name: str
    text: str

    @property
    def hash(self) -> str:
        return sha256(self.text.encode()).hexdigest()


UNFINISHED = 1_000_000
"""The number of the migration that an unfinished copy of a store claims."""


def shipped() -> list[Migration]:
    folder = Path(__file__).parent / "migrations"
    names = sorted(name for name in os.listdir(folder) if name.endswith(".sql"))
    return [Migration(int(name[:4]), name, (folder / name).read_bytes().decode()) for name in names]


def migrate(engine: Engine, migrations: Sequence[Migration] | None = None) -> None:
    """Bring the schema up to this version, or to these migrations, as the only writer. Raises: Misconfigured
    if the store was written by a newer version or by altered migrations."""
    known = shipped() if migrations is None else migrations
    with engine.write() as session:
        session.run(_TABLE)
        applied = session.rows("SELECT number, name, hash FROM migrations ORDER BY number")
        if applied and applied[-1][0] == UNFINISHED:
            raise Misconfigured(
                "the copy of another store into this one is not finished",
                hint="Run the same 'souvenance migrate' again.",
            )
        if len(applied) > len(known):
            raise Misconfigured(
                f"the store has migration {applied[-1][1]}, which this version does not know",
                hint="Upgrade Souvenance; a store is never taken back to an older schema.",
            )
        for (_, name, found), migration in zip(applied, known, strict=False):
            if found != migration.hash:
                raise Misconfigured(f"migration {name} differs from the one this store was made with")
        for migration in known[len(applied) :]:
            _apply(session, migration, engine.types)
        engine.fortify(session)


def _apply(session: SqlSession, migration: Migration, types: Mapping[str, str]) -> None:
    for statement in migration.text.split(";\n"):
        if statement.strip():
            session.run(_TEXT.sub(types["text"], statement.format_map(types)))
    session.run(
        "INSERT INTO migrations (number, name, hash) VALUES (?, ?, ?)",
        (migration.number, migration.name, migration.hash),
    )


class Object(NamedTuple):
    """Something that a schema has: its kind, its name, and the table it belongs to, if that is needed."""

    kind: str
    name: str
    table: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name!a}" + (f" of table {self.table!a}" if self.table else "")


Schema = Mapping[Object, str | None]
"""The definition of each object."""

_OF_TABLE = {"trigger", "rule", "policy"}
_PARTS = {"column", "constraint"}


def compared(expected: Schema, found: Schema, harmless: Collection[str] = ()) -> list[Difference]:
    """How what was found differs from what was expected; things of these kinds can't keep copies of rows."""
    differences = []
    for one, definition in sorted(found.items()):
        foreign = one.kind not in harmless
        if one not in expected:
            differences.append(Difference(f"{one} is not part of this store", _removal(one), foreign))
        elif definition != expected[one]:
            differences.append(Difference(f"{one} was altered", "", foreign))
    missing = sorted(expected.keys() - found.keys())
    return [*differences, *(Difference(f"{one} is missing", "", foreign=False) for one in missing)]


def _removal(one: Object) -> str:
    name, table = _quoted(one.name), _quoted(one.table)
    if one.kind in _PARTS:
        return f"ALTER TABLE {table} DROP {one.kind.upper()} {name}"
    return f"DROP {one.kind.upper()} {name}" + (f" ON {table}" if one.kind in _OF_TABLE and one.table else "")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_Read = TypeVar("_Read")

_OBJECTS = "SELECT type, name, sql FROM sqlite_master"
_STATISTICS = (Object("table", "sqlite_stat1"), "CREATE TABLE sqlite_stat1(tbl,idx,stat)")
"""What ANALYZE leaves: numbers of rows."""


def differences(session: SqlSession) -> list[Difference]:
    """How this file's schema differs from the one that the migrations make."""
    return compared(_expected(), _objects(session))


def made(read: Callable[[SqliteConnection], _Read]) -> _Read:
    """What is read from an empty store that the migrations make in memory."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        session = SqliteConnection(connection)
        session.run(_TABLE)
        for migration in shipped():
            _apply(session, migration, SqliteEngine.types)
        return read(session)


@lru_cache(1)
def _expected() -> Schema:
    return made(_objects)


def _objects(session: SqlSession) -> Schema:
    rows = session.rows(_OBJECTS)
    found = [(Object(kind, name), None if sql is None else " ".join(sql.split())) for kind, name, sql in rows]
    return dict(one for one in found if one != _STATISTICS)


CHANNEL = "souvenance_jobs"
"""Where a transaction tells that it added jobs."""
TRIGGER = "souvenance_jobs_added"
BODY = f" BEGIN NOTIFY {CHANNEL}; RETURN NULL; END "
_HAS_TRIGGER = f"SELECT 1 FROM pg_trigger WHERE tgname = '{TRIGGER}' AND tgrelid = 'jobs'::regclass"
_MAKE_FUNCTION = (
    f"CREATE OR REPLACE FUNCTION souvenance_tell_jobs() RETURNS trigger LANGUAGE plpgsql AS $${BODY}$$"
)
_MAKE_TRIGGER = f"""CREATE TRIGGER {TRIGGER} AFTER INSERT ON jobs
    FOR EACH STATEMENT EXECUTE FUNCTION souvenance_tell_jobs()"""

WORKSPACE_SETTING = "souvenance.workspace"
ROLE = "souvenance_rows"
TABLES = """SELECT quote_ident(c.relname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    AND a.attname = 'workspace' AND NOT a.attisdropped ORDER BY c.relname"""
"""The tables that have a workspace."""

_POLICIES = (
    "SELECT quote_ident(tablename) FROM pg_policies WHERE schemaname = current_schema() AND policyname = ?"
)
_CHANGED = "souvenance_changed"
_ASKED = f"(SELECT current_setting('{WORKSPACE_SETTING}', true))"
_OF_IT = f"({_ASKED} = '*' OR {_ASKED} = workspace)"
_OF_IT_OR_ALL = f"({_OF_IT} OR (workspace = '*' AND {_ASKED} <> ''))"
_IS_EXCEPTED = "SELECT rolsuper OR rolbypassrls, rolsuper FROM pg_roles WHERE rolname = current_user"
_MAKE_ROLE = f"""DO $$ BEGIN CREATE ROLE {ROLE} NOLOGIN NOBYPASSRLS;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"""
_LACKS = f"""SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace
    AND relkind IN ('r', 'p') AND NOT has_table_privilege('{ROLE}', oid, 'DELETE') LIMIT 1"""


def separate_workspaces(session: SqlSession) -> str | None:
    """Make the policies that are missing; the role that transactions must take on, if any."""
    protected = {table for (table,) in session.rows(_POLICIES, (_CHANGED,))}
    for (table,) in session.rows(TABLES):
        if table not in protected:
            _protect(session, table)
    excepted = session.row(_IS_EXCEPTED)
    if excepted is None or not excepted[0]:
        return None
    _make_role(session, superuser=excepted[1])
    return ROLE


def _policies(table: str) -> tuple[tuple[str, str, str, str], ...]:
    """Of a table that has a workspace: the name of each, its command, what it shows and what it checks."""
    changed = _OF_IT_OR_ALL if table == "counters" else _OF_IT
    return (
        ("souvenance_shown", "SELECT", _OF_IT_OR_ALL, ""),
        ("souvenance_added", "INSERT", "", changed),
        (_CHANGED, "UPDATE", changed, changed),
        ("souvenance_deleted", "DELETE", changed, ""),
    )


def _protect(session: SqlSession, table: str) -> None:
    for name, command, shown, checked in _policies(table):
        rows = f" USING ({shown})" if shown else ""
        rows += f" WITH CHECK ({checked})" if checked else ""
        session.run(f"CREATE POLICY {name} ON {table} FOR {command}{rows}")
    session.run(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    session.run(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")


def _make_role(session: SqlSession, *, superuser: bool) -> None:
    session.run(_MAKE_ROLE)
    if not superuser:
        session.run(f"GRANT {ROLE} TO CURRENT_USER")
    if session.row(_LACKS) is None:
        return
    (schema,) = session.row("SELECT quote_ident(current_schema())") or ("public",)
    session.run(f"GRANT USAGE ON SCHEMA {schema} TO {ROLE}")
    session.run(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {ROLE}")
    session.run(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {ROLE}")


def tell_jobs(session: SqlSession) -> None:
    """Have every addition of jobs told to all processes, if it is not yet."""
    if session.row(_HAS_TRIGGER) is None:
        session.run(_MAKE_FUNCTION)
        session.run(_MAKE_TRIGGER)


_TYPES = {"TEXT": "text", "BIGINT": "bigint", "BLOB": "bytea", "INTEGER": "bigint"}
_POLICY, _ROWS = "policy", "row security"
_VECTOR_COLUMN = Object("column", "place", "vectors")

_SERIAL = "INTEGER"
"""The type of a number that counts up. SQLite needs it to be the key; PostgreSQL does not."""


def postgres_differences(session: SqlSession) -> list[Difference]:
    """How the schema of this database differs from the one that this version makes."""
    expected = _expected_in_postgres()
    tables = {"", *(one.name for one in expected if one.kind == "table")}
    every = Path(__file__).with_name("postgres_objects.sql").read_text("utf-8")
    found = {
        Object(kind, name, table): _plain(shown) if kind == _POLICY else shown.replace("::text", "").strip()
        for kind, name, table, shown in session.rows(every)
        if table in tables
    }
    if _VECTOR_COLUMN in found:  # It is there only where vectors are in the clear.
        expected = {**expected, _VECTOR_COLUMN: "vector"}
    return compared(expected, found, (_POLICY, _ROWS))


@lru_cache(1)
def _expected_in_postgres() -> Schema:
    return {
        **dict(made(lambda session: list(_migrated(session)))),
        Object("sequence", "jobs_seq_seq"): "S",
        Object("trigger", TRIGGER, "jobs"): f"O 4 plpgsql {BODY}".strip(),
    }


def _migrated(session: SqlSession) -> Iterator[tuple[Object, str]]:
    for (table,) in session.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ):
        yield Object("table", table), "r"
        columns = session.rows("SELECT name, type, dflt_value, pk FROM pragma_table_info(?)", (table,))
        for name, kind, default, _ in columns:
            yield Object("column", name, table), " ".join(filter(None, (_TYPES[kind], default)))
        keyed = sorted((place, name) for name, kind, _, place in columns if place and kind != _SERIAL)
        if keyed:
            names = ", ".join(name for _, name in keyed)
            yield Object("index", "primary key", table), f"btree unique {names}"
        yield from _indexes(session, table)
        if "workspace" in {name for name, *_ in columns}:
            yield Object(_ROWS, "on", table), ""
            for name, command, shown, checked in _policies(table):
                check = f" check {checked}" if checked else ""
                yield Object(_POLICY, name, table), _plain(f"PERMISSIVE {{public}} {command} {shown}{check}")


def _indexes(session: SqlSession, table: str) -> Iterator[tuple[Object, str]]:
    for name, unique, sql in session.rows(
        """SELECT l.name, l."unique", m.sql FROM pragma_index_list(?) l
        JOIN sqlite_master m ON m.name = l.name WHERE l.origin = 'c'""",
        (table,),
    ):
        parts = session.rows("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,))
        _, _, where = " ".join(sql.split()).partition(" WHERE ")
        definition = ["btree", *(["unique"] if unique else []), ", ".join(part for (part,) in parts)]
        yield Object("index", name, table), " ".join([*definition, *([f"where {where}"] if where else [])])


def _plain(definition: str) -> str:
    """A policy without what PostgreSQL adds when it tells one: casts, parentheses, names and spaces."""
    for added in ("::text", "AS current_setting", "(", ")", " ", "\n"):
        definition = definition.replace(added, "")
    return definition
