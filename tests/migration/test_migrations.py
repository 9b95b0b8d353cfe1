from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager, suppress

import pytest

from contracts.store_scenes import COMPARTMENT, IDS, TRAVEL, sealed_line
from souvenance.adapters.sql.migrations import migrate, shipped
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain.audit import Event
from souvenance.domain.change_feed import Saying, TermsChange
from souvenance.domain.directory import SESSION, Entry
from souvenance.domain.jobs import DERIVE, Errand, Tally
from souvenance.errors import Misconfigured, StorageFull
from souvenance.ports.store import Vector

KNOWN = shipped()
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


def store_of(path, count):
    """A store as a version left it that knew only the first migrations, made without our own code."""
    with database(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(
            """CREATE TABLE IF NOT EXISTS migrations (
    number BIGINT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL)"""
        )
        for migration in KNOWN[:count]:
            connection.executescript(
                migration.text.format(
                    blob="BLOB", clustered=" WITHOUT ROWID", serial="INTEGER PRIMARY KEY AUTOINCREMENT"
                )
            )
            connection.execute(
                "INSERT INTO migrations VALUES (?, ?, ?)", (migration.number, migration.name, migration.hash)
            )


def test_migrations_are_numbered_without_gaps_and_named_after_their_number():
    assert [migration.number for migration in KNOWN] == list(range(1, len(KNOWN) + 1))
    assert all(migration.name.startswith(f"{migration.number:04}_") for migration in KNOWN)


@pytest.mark.parametrize("count", range(len(KNOWN) + 1))
def test_a_store_of_any_age_ends_with_the_schema_of_a_new_one(tmp_path, path, count):
    store_of(path, count)
    assert opened(path) == opened(tmp_path / "fresh.db")


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


def test_a_line_from_before_conversations_is_read_and_written_beside_new_ones(path):
    store_of(path, 1)
    with database(path) as connection:
        connection.execute(
            f"INSERT INTO lines VALUES ({', '.join('?' * 13)})",
            (*COMPARTMENT, IDS[0], "memory", "s", 1, 2, None, "cap", "{}", 3, b"sealed"),
        )
    old = sealed_line(session="s", occurred_at=2, epoch=3, sealed=b"sealed")
    store = SqlStore(SqliteEngine(path))
    with store.write() as tx:
        assert tx.lines.get(COMPARTMENT, IDS[0]) == old
        assert (old.turn, old.about, old.tokens, old.likeness, old.times) == (None, None, None, None, 1)
        assert tx.lines.append(sealed_line(IDS[1], session="s", turn=1))
        assert tx.lines.last_turn("acme", "s") == tx.lines.count_turns("acme", "s") == 1
        assert [place.id for place in tx.lines.of_session("acme", "ann", "s")] == IDS[:2]
        assert not tx.lines.append(old)
    store.close()


def test_a_conversation_from_before_namespaces_lies_in_the_common_one(path):
    store_of(path, 2)
    with database(path) as connection:
        connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)",
            ("acme", "session", "s", IDS[0], 1, '{"a":1}', '{"b":2}'),
        )
        connection.execute(
            "INSERT INTO work VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (7, "acme", DERIVE, "s", "ann", 1, 2, 2, "{}", 1, 5, None, None, 0),
        )
        for session, units in (("s", 3), ("", 4)):
            connection.execute(
                "INSERT INTO worked VALUES (?, ?, ?, ?, ?)", ("acme", session, "ann", DERIVE, units)
            )
    store = SqlStore(SqliteEngine(path))
    with store.write() as tx:
        entry = Entry("acme", SESSION, "s", IDS[0], 1, '{"a":1}', '{"b":2}', "default")
        assert tx.register.entry("acme", SESSION, "s") == entry
        assert tx.register.entries("acme", SESSION, namespaces=("default",)) == [entry]
        waiting = [Tally(None, "ann", 0, 0, 4), Tally("s", "ann", 2, 0, 3)]
        assert tx.work.tallies("acme", (DERIVE,), 9, ("default",)) == waiting
        (task,) = tx.work.claim("h", now=9, until=20, most=9)
        assert (task.seq, task.session, task.namespace, task.attempts) == (7, "s", "default", 2)
        assert tx.work.finish(task)
        assert tx.work.tallies("acme", (DERIVE,), 9)[1] == Tally("s", "ann", 0, 0, 5)
        tx.work.add(Errand("acme", DERIVE, "s"), 1)
        (later,) = tx.work.claim("h", now=9, until=20, most=9)
        assert later.seq > 7, "a number is never given again"
    store.close()


def test_terms_from_before_meaning_say_where_and_when_their_lines_were_said(path):
    store_of(path, 3)
    columns = """workspace, owner, namespace, id, kind, session, created_at, occurred_at, cap, metadata,
        epoch, sealed, turn"""
    with database(path) as connection:
        for compartment, line_id, session, at, occurred_at, turn in (
            (COMPARTMENT, IDS[0], "s", 5, None, 1),
            (COMPARTMENT, IDS[1], "t", 5, 0, None),
            (COMPARTMENT, IDS[2], None, 5, -9, None),
            (TRAVEL, IDS[0], "u", 6, 7, 4),
        ):
            connection.execute(
                f"INSERT INTO lines ({columns}) VALUES ({', '.join('?' * 13)})",
                (*compartment, line_id, "memory", session, at, occurred_at, "cap", "{}", 1, b"sealed", turn),
            )
        for compartment, seq, line_id, tokens in (
            (COMPARTMENT, 1, IDS[0], b"tokens 1"),
            (COMPARTMENT, 2, IDS[1], b"tokens 2"),
            (COMPARTMENT, 4, IDS[2], b"tokens 4"),
            (COMPARTMENT, 5, IDS[3], b"of no line"),
            (COMPARTMENT, 6, IDS[4], None),
            (TRAVEL, 1, IDS[0], b"tokens 1"),
        ):
            connection.execute(
                """INSERT INTO terms (workspace, owner, namespace, seq, id, tokens, counts)
                    VALUES (?, ?, ?, ?, ?, ?, ?)""",
                (*compartment, seq, line_id, tokens, b"" if tokens is None else b"\x01"),
            )
    store = SqlStore(SqliteEngine(path))
    with store.write() as tx:
        assert list(tx.terms.since(COMPARTMENT, 0)) == [
            TermsChange(1, IDS[0], b"tokens 1", b"\x01", Saying("s", 1, 5)),
            TermsChange(2, IDS[1], b"tokens 2", b"\x01", Saying("t", None, 0)),
            TermsChange(4, IDS[2], b"tokens 4", b"\x01", Saying(None, None, -9)),
            TermsChange(5, IDS[3], b"of no line", b"\x01", Saying()),
            TermsChange(6, IDS[4], None, b"", Saying()),
        ]
        assert [change.said for change in tx.terms.since(TRAVEL, 0)] == [Saying("u", 4, 7)]
        assert tx.terms.spaces() == {}
        assert tx.terms.lacking(COMPARTMENT, "space", 9) == IDS[:4]
        tx.terms.lie(COMPARTMENT, "space", [(IDS[0], b"vector")])
        assert tx.terms.vectors(COMPARTMENT, "space", 0) == [Vector(7, IDS[0], b"vector")]
        tx.terms.add(COMPARTMENT, IDS[5], b"tokens 8", b"\x01", Saying("s", 2, 8))
        assert list(tx.terms.since(COMPARTMENT, 6)) == [
            TermsChange(8, IDS[5], b"tokens 8", b"\x01", Saying("s", 2, 8))
        ]
    store.close()


def test_work_from_before_there_was_an_agenda_is_claimed_when_it_is_due_or_no_longer_held(path):
    store_of(path, 10)
    with database(path) as connection:
        for workspace, due, holder, until, blocked in (
            ("free", 50, None, None, 0),
            ("free", 10, None, None, 1),
            ("held", 10, "h", 40, 0),
        ):
            connection.execute(
                """INSERT INTO work (workspace, kind, session, peer, first_turn, last_turn, units, payload,
                    attempts, due, holder, until, blocked)
                    VALUES (?, ?, 's', 'ann', 1, 1, 1, '', 0, ?, ?, ?, ?)""",
                (workspace, DERIVE, due, holder, until, blocked),
            )
    store = SqlStore(SqliteEngine(path))
    with store.write() as tx:
        assert tx.work.next_due() == 40
        assert not tx.work.is_due(39)
        assert [task.workspace for task in tx.work.claim("i", now=40, until=99, most=9)] == ["held"]
        assert tx.work.next_due() == 50
        assert [task.workspace for task in tx.work.claim("i", now=50, until=99, most=1)] == ["free"]
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


def test_a_migration_whose_every_statement_succeeds_is_applied(path):
    engine = SqliteEngine(path)
    migrate(FailingEngine(engine, STATEMENTS))
    engine.close()
    assert len(schema(path)[2]) == len(KNOWN)
