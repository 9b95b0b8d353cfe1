"""A store moves from SQLite to PostgreSQL and back, and is the same in all of them."""

from __future__ import annotations

import pytest

from conversation.test_doctor import Life
from conversation.world import staged
from portable.journeys import manager
from portable.test_migrating import Interrupted, interrupting, moved, tables, watching
from postgres.server import Server
from souvenance.adapters import backup
from souvenance.adapters.backup import copy_store
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain.directory import DERIVE, Job
from souvenance.errors import Conflict, Misconfigured

pytestmark = pytest.mark.embedded("it moves the file")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.getbasetemp().parent)
    yield server
    server.remove()


@pytest.fixture
def url(server):
    """Of a database with nothing in it."""
    name = server.create()
    yield server.url(name)
    server.drop(name)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A book after a while of everything, with work that is still to be done."""
    folder = tmp_path_factory.mktemp("lived")
    with staged(folder) as stage:
        Life(stage.owner, 21).live(60)
        stage.rest()
        stage.owner.say("late", "Nobody has thought of this yet.")
        for owner in ("B", "a", "ä", "Ä", "z", "\U0001f6b2"):
            stage.world.put(manager(stage.world, sub=owner), "Ännchen wohnt in Øster \U0001f6b2.")
    return folder / "book.db"


def to_postgres(store, url, report=lambda rows: None):
    one, other = SqliteEngine(store), PostgresEngine(url)
    try:
        return copy_store(one, other, watching(report))
    finally:
        one.close()
        other.close()


def without_vectors(found):
    return {name: rows for name, rows in found.items() if name not in ("vectors", "migrations")}


def test_there_and_back_again_nothing_is_lost(store, url, tmp_path):
    counts = backup.move(f"sqlite:///{store}", url)
    assert counts["lines"] > 50
    assert counts["jobs"] > 0
    backup.move(url, f"sqlite:///{tmp_path / 'back.db'}")
    assert without_vectors(tables(tmp_path / "back.db")) == without_vectors(tables(store))


def test_the_log_is_the_same_and_goes_on(store, url):
    to_postgres(store, url)
    here, there = SqlStore(SqliteEngine(store)), SqlStore(PostgresEngine(url))
    try:
        with here.read() as one, there.read() as other:
            assert other.audit.tree("w").root() == one.audit.tree("w").root()
            assert other.lines.compartments() == one.lines.compartments()
            last = one.audit.rows("w", 0, 1 << 30)[-1]
        with there.write("w") as tx:
            assert tx.audit.append("w", last.event).seq == last.seq + 1
    finally:
        here.close()
        there.close()


def test_new_work_gets_a_number_of_its_own(store, url):
    to_postgres(store, url)
    there = SqlStore(PostgresEngine(url))
    try:
        with there.write("w") as tx:
            tx.work.add(Job("w", DERIVE, session="new", peer="ann"), 0)
    finally:
        there.close()


@pytest.mark.parametrize("after", [1, 7])
def test_an_interrupted_copy_is_no_store_and_is_gone_on_with(store, url, tmp_path, after):
    with pytest.raises(Interrupted):
        to_postgres(store, url, interrupting(after))
    engine = PostgresEngine(url)
    with pytest.raises(Misconfigured):
        SqlStore(engine)
    engine.close()
    to_postgres(store, url)
    backup.move(url, f"sqlite:///{tmp_path / 'back.db'}")
    assert without_vectors(tables(tmp_path / "back.db")) == without_vectors(tables(store))


def test_another_store_is_not_written_over(store, url, tmp_path):
    to_postgres(store, url)
    with pytest.raises(Conflict):
        to_postgres(store, url)


def test_a_store_in_postgres_is_backed_up_as_a_file(store, url, tmp_path):
    to_postgres(store, url)
    backup.back_up(url, tmp_path, tmp_path / "b", with_keys=False)
    backup.restore(tmp_path / "b", tmp_path / "restored")
    found = tables(tmp_path / "restored" / "souvenance.db")
    assert without_vectors(found) == without_vectors(tables(store))
    moved(tmp_path / "restored" / "souvenance.db", tmp_path / "again.db")
