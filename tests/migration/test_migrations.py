from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, suppress

import pytest

from contracts.store_scenes import IDS, sealed_line
from souvenance.adapters.sql.schema import Migration, migrate, shipped
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain.audit import Event
from souvenance.errors import Misconfigured, StorageFull

KNOWN = shipped()
LATER = [
    *KNOWN,
    Migration(
        len(KNOWN) + 1,
        f"{len(KNOWN) + 1:04}_colour.sql",
        "ALTER TABLE lines ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue';\n\n"
        "CREATE INDEX lines_by_colour ON lines (workspace, colour);\n",
    ),
]
"""The migrations of a later version."""
STATEMENTS = 1 + sum(migration.text.count(";\n") + 1 for migration in KNOWN)
"""The table of migrations, each statement, and each migration's own row."""


class FailingEngine:
    """SQLite on a disk that is full from a given statement on."""

    def __init__(self, engine, statements):
        self._engine = engine
        self._left = statements
        self.types = engine.types
        self.fortify = engine.fortify
        self.vectors = engine.vectors
        self.close = engine.close

    @contextmanager
    def write(self, **how):
        with self._engine.write(**how) as session:
            self._session = session
            yield self

    def run(self, sql, values=()):
        if not self._left:
            raise StorageFull("the disk is full")
        self._left -= 1
        return self._session.run(sql, values)

    def rows(self, sql, values=()):
        return self._session.rows(sql, values)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "book.db"


@contextmanager
def database(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def schema(path):
    """Every table with its columns and keys, every index, and the migrations that made them."""
    with database(path) as connection:
        made = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
        ).fetchall()
        columns = {
            name: connection.execute(f"PRAGMA table_info({name})").fetchall()
            for kind, name, *_ in made
            if kind == "table"
        }
        applied = []
        with suppress(sqlite3.OperationalError):
            applied = connection.execute("SELECT * FROM migrations ORDER BY number").fetchall()
    return made, columns, applied


def opened(path):
    store = SqlStore(SqliteEngine(path))
    store.close()
    return schema(path)


def migrated(path, migrations):
    engine = SqliteEngine(path)
    migrate(engine, migrations)
    engine.close()
    return schema(path)


def test_migrations_are_numbered_without_gaps_and_named_after_their_number():
    assert [migration.number for migration in KNOWN] == list(range(1, len(KNOWN) + 1))
    assert all(migration.name.startswith(f"{migration.number:04}_") for migration in KNOWN)


@pytest.mark.parametrize("count", range(len(LATER)))
def test_a_store_of_an_earlier_version_ends_with_the_schema_of_a_new_one(tmp_path, path, count):
    migrated(path, LATER[:count])
    assert migrated(path, LATER) == migrated(tmp_path / "fresh.db", LATER)


def test_a_store_of_an_earlier_version_keeps_its_lines(path):
    store = SqlStore(SqliteEngine(path))
    with store.write() as tx:
        tx.lines.append(sealed_line())
    store.close()
    migrated(path, LATER)
    with database(path) as connection:
        assert connection.execute("SELECT id, colour FROM lines").fetchall() == [(IDS[0], "blue")]


def test_a_new_store_knows_every_migration_by_its_hash(path):
    *_, applied = opened(path)
    assert applied == [(migration.number, migration.name, migration.hash) for migration in KNOWN]


def test_migrating_again_changes_nothing(path):
    first = opened(path)
    before = path.read_bytes()
    assert opened(path) == first
    assert path.read_bytes() == before


def test_migrating_keeps_what_is_stored(path):
    store = SqlStore(SqliteEngine(path))
    with store.write() as tx:
        row = tx.audit.append("acme", Event(1, "ann", "cap", "put", "ok"))
    store.close()
    store = SqlStore(SqliteEngine(path))
    with store.read() as tx:
        assert tx.audit.rows("acme", 0, 9) == [row]
    store.close()


def test_two_stores_may_be_opened_on_a_new_store_at_once(path):
    stores = [SqlStore(SqliteEngine(path)) for _ in range(2)]
    for store in stores:
        store.close()
    assert len(schema(path)[2]) == len(KNOWN)


@pytest.mark.parametrize("number", [migration.number for migration in KNOWN])
def test_a_store_made_by_an_altered_migration_is_refused_and_left_alone(path, number):
    opened(path)
    with database(path) as connection:
        connection.execute("UPDATE migrations SET hash = ? WHERE number = ?", ("0" * 64, number))
    before = schema(path)
    engine = SqliteEngine(path)
    with pytest.raises(Misconfigured, match=f"{number:04}_"):
        SqlStore(engine)
    engine.close()
    assert schema(path) == before


def test_a_store_of_a_newer_version_is_refused_and_left_alone(path):
    opened(path)
    with database(path) as connection:
        connection.execute("CREATE TABLE later (id TEXT)")
        connection.execute(
            "INSERT INTO migrations VALUES (?, ?, ?)", (len(KNOWN) + 1, "9999_later.sql", "0" * 64)
        )
    before = schema(path)
    engine = SqliteEngine(path)
    with pytest.raises(Misconfigured, match="9999_later") as refused:
        SqlStore(engine)
    engine.close()
    assert "Upgrade" in refused.value.hint
    assert schema(path) == before


@pytest.mark.parametrize("statements", range(STATEMENTS))
def test_a_migration_that_fails_half_way_leaves_the_store_as_it_was(tmp_path, path, statements):
    engine = SqliteEngine(path)
    with pytest.raises(StorageFull):
        migrate(FailingEngine(engine, statements))
    assert schema(path) == ([], {}, [])
    migrate(engine)
    engine.close()
    assert schema(path) == opened(tmp_path / "fresh.db")


@pytest.mark.parametrize("statements", range(4))
def test_a_later_migration_that_fails_half_way_leaves_the_store_as_it_was(path, statements):
    before = migrated(path, KNOWN)
    engine = SqliteEngine(path)
    with pytest.raises(StorageFull):
        migrate(FailingEngine(engine, statements), LATER)
    engine.close()
    assert schema(path) == before
    assert len(migrated(path, LATER)[2]) == len(LATER)


def test_a_migration_whose_every_statement_succeeds_is_applied(path):
    engine = SqliteEngine(path)
    migrate(FailingEngine(engine, STATEMENTS))
    engine.close()
    assert len(schema(path)[2]) == len(KNOWN)
