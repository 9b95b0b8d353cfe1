"""What the book says, and does next, when the database is gone, busy or refuses."""

from __future__ import annotations

import threading
from contextlib import suppress

import psycopg
import pytest
from psycopg import errors

from contracts.store_scenes import COMPARTMENT, WORKSPACE, append, event, log, numbered, sealed_line
from contracts.threads import in_many_threads
from postgres.server import Server
from processes import until
from souvenance.adapters.sql.postgres import PostgresEngine, translation
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain import audit
from souvenance.errors import (
    IntegrityError,
    Misconfigured,
    StorageBusy,
    StorageFull,
    StorageReadOnly,
    StorageUnavailable,
)
from surfaces.door import serving

PATIENCE_SECONDS = 120
KILLS = 3
WRITERS = 4


@pytest.fixture(scope="module")
def mortal(tmp_path_factory):
    """A server of one's own, which may be killed."""
    server = Server(tmp_path_factory.getbasetemp().parent, durable=True)
    yield server
    server.remove()


@pytest.fixture
def mortal_url(mortal):
    name = mortal.create()
    yield mortal.url(name)
    mortal.drop(name)


@pytest.fixture
def store(mortal_url):
    store = SqlStore(PostgresEngine(mortal_url))
    yield store
    store.close()


def test_while_the_server_is_gone_the_store_is_unavailable_and_afterwards_all_is_there(mortal, store):
    append(store, sealed_line())
    mortal.kill()
    for opened in (store.read, store.write, store.claim):
        with pytest.raises(StorageUnavailable), opened():
            pass
    with pytest.raises(StorageUnavailable):
        store.scrub()
    mortal.start()
    append(store, sealed_line(numbered(1, 0)))
    with store.read(WORKSPACE) as tx:
        assert tx.lines.count(COMPARTMENT) == 2


def test_connections_that_broke_while_idle_are_replaced_unnoticed(mortal, store):
    opened = [store.read() for _ in range(3)]
    for one in opened:
        one.__enter__()
    for one in opened:
        one.__exit__(None, None, None)
    mortal.stop()
    mortal.start()
    append(store, sealed_line())
    with store.read(WORKSPACE) as tx:
        assert tx.lines.count(COMPARTMENT) == 1


def test_a_transaction_that_loses_its_server_changes_nothing(mortal, store):
    with pytest.raises(StorageUnavailable), store.write(WORKSPACE) as tx:
        tx.lines.append(sealed_line())
        mortal.kill()
        tx.lines.append(sealed_line(numbered(1, 0)))
    mortal.start()
    with store.read(WORKSPACE) as tx:
        assert tx.lines.count(COMPARTMENT) == 0


def test_kills_under_load_lose_nothing_acknowledged_and_double_nothing(mortal, mortal_url):
    """Writers go on through the kills, each asking again until what it says is acknowledged."""
    said = {thread: [] for thread in range(WRITERS)}
    over, enough = threading.Event(), threading.Semaphore(0)

    def write(store, thread):
        home = COMPARTMENT._replace(workspace=f"home {thread % 2}")
        while not over.is_set():
            line = sealed_line(numbered(len(said[thread]), thread), home)
            with suppress(StorageUnavailable):
                with store.write(home.workspace) as tx:
                    if tx.lines.append(line):
                        tx.audit.append(home.workspace, event(line.id))
                said[thread].append(line.id)
                enough.release()

    def kill(store, thread):
        try:
            for _ in range(KILLS):
                for _ in range(10 * WRITERS):
                    assert enough.acquire(timeout=PATIENCE_SECONDS)
                mortal.kill()
                mortal.start()
        finally:
            over.set()

    store = SqlStore(PostgresEngine(mortal_url))
    in_many_threads(
        [store] * (WRITERS + 1), lambda store, thread: (kill if thread == WRITERS else write)(store, thread)
    )
    for n in range(2):
        home = COMPARTMENT._replace(workspace=f"home {n}")
        acknowledged = sorted(line for thread in said if thread % 2 == n for line in said[thread])
        rows = log(store, home.workspace)
        audit.verify(home.workspace, rows)
        told = [row.event.detail for row in rows]
        assert len(told) == len(set(told))
        assert set(acknowledged) <= set(told)
        with store.read(home.workspace) as tx:
            assert tx.lines.count(home) == len(told)
            assert len(tx.lines.get_all(home, acknowledged)) == len(acknowledged)
    store.close()


def test_a_server_says_that_its_database_is_gone_and_recovers_when_it_returns(mortal, mortal_url, tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_STORE=mortal_url) as served:
        ann = served.actor("ann")
        assert ann.post("/v1/memory/put", json={"text": "Trip to Chengdu"}).is_success
        mortal.kill()
        refused = ann.post("/v1/memory/get", json={"query": "Chengdu"})
        assert (refused.status_code, refused.json()["error"]) == (503, "storage_unavailable")
        until(lambda: served.owner.get("/ready").status_code == 503)
        assert served.owner.get("/health").status_code == 200
        mortal.start()
        assert "Chengdu" in ann.post("/v1/memory/get", json={"query": "Chengdu"}).text
        until(lambda: served.owner.get("/ready").status_code == 200)


def test_writers_of_one_workspace_take_turns_and_those_of_another_do_not_wait(url):
    store = SqlStore(PostgresEngine(url))
    impatient, another = (SqlStore(PostgresEngine(url, patience=0.2)) for _ in range(2))
    with store.write(WORKSPACE) as tx:
        tx.audit.append(WORKSPACE, event("first"))
        with impatient.write("other") as other:
            other.audit.append("other", event("meanwhile"))
        with impatient.claim() as other:
            assert other.work.claim("h", now=0, until=1, most=1) == []
        for opened in (impatient.write(WORKSPACE), impatient.write()):
            with pytest.raises(StorageBusy), opened:
                pass
    with impatient.write() as tx:
        tx.audit.append(WORKSPACE, event("second"))
        with pytest.raises(StorageBusy), another.write("other"):
            pass
    assert [row.event.detail for row in log(store)] == ["first", "second"]
    for one in (store, impatient, another):
        one.close()


def test_a_scrub_that_another_process_prevents_stays_pending(server, database, url):
    store = SqlStore(PostgresEngine(url, patience=0.2))
    append(store, sealed_line())
    with store.write(WORKSPACE) as tx:
        tx.lines.delete_compartment(COMPARTMENT)
        tx.owe_scrub()
    with server.connected(database) as other, other.transaction():
        other.execute("LOCK TABLE lines IN SHARE UPDATE EXCLUSIVE MODE")
        assert not store.scrub()
        assert store.scrub_pending()
    assert store.scrub()
    assert not store.scrub_pending()
    store.close()


def test_whoever_finds_all_connections_in_use_waits_for_one_and_is_told(url):
    store = SqlStore(PostgresEngine(url, most=1, patience=0.2))
    with store.read(), pytest.raises(StorageBusy), store.read():
        pass
    with store.read() as tx:
        assert tx.workspaces() == []
    store.close()


def test_a_transaction_that_the_database_gave_up_is_not_called_done(url):
    engine = PostgresEngine(url)
    with pytest.raises(StorageUnavailable), engine.write() as session, suppress(psycopg.Error):
        session.run("SELECT no_such_thing")
    with engine.read() as session:
        assert session.rows("SELECT 1") == [(1,)]
    engine.close()


def test_whoever_is_not_let_in_is_told_why(server):
    with pytest.raises(StorageUnavailable, match="nowhere"):
        PostgresEngine(server.url("nowhere"))
    with pytest.raises(StorageUnavailable, match="stranger"):
        PostgresEngine(server.url("postgres", "stranger"))


def test_a_refused_connection_names_no_password():
    with pytest.raises(StorageUnavailable) as refused:
        PostgresEngine("postgresql://ann:hunter2@127.0.0.1:1/book")
    assert "hunter2" not in f"{refused.value} {refused.value.hint} {refused.value.detail}"


@pytest.mark.parametrize(
    "address", ["postgresql://ann:hunter2@[host/book", "postgresql://h/?nonsense=hunter2"]
)
def test_what_is_no_address_is_refused_without_repeating_it(address):
    with pytest.raises(Misconfigured) as refused:
        PostgresEngine(address)
    assert "hunter2" not in f"{refused.value} {refused.value.hint}"


def test_a_database_of_another_encoding_is_refused(server):
    with server.connected("postgres") as connection:
        connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(Misconfigured, match="LATIN1"):
        PostgresEngine(server.url("latin"))
    server.drop("latin")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (errors.DiskFull, StorageFull),
        (errors.ReadOnlySqlTransaction, StorageReadOnly),
        (errors.InsufficientPrivilege, StorageReadOnly),
        (errors.LockNotAvailable, StorageBusy),
        (errors.DeadlockDetected, StorageBusy),
        (errors.TooManyConnections, StorageBusy),
        (errors.DataCorrupted, IntegrityError),
        (errors.AdminShutdown, StorageUnavailable),
        (errors.InvalidPassword, StorageUnavailable),
        (errors.UndefinedTable, StorageUnavailable),
        (psycopg.OperationalError, StorageUnavailable),
    ],
)
def test_an_error_of_the_database_arrives_as_ours(theirs, ours):
    assert type(translation(theirs("the text of a statement"))) is ours
    assert "statement" not in translation(theirs("the text of a statement")).detail
