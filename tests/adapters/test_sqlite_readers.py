"""What a reader of the store remembers: kept over the row of its read, and gone once anybody else wrote."""

from __future__ import annotations

import pytest

from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain.audit import Event
from souvenance.domain.directory import PEER, Entry
from souvenance.errors import StorageUnavailable

EVENT = Event(at=0, actor="ann", cap="cap", operation="memory.get", outcome="ok")
ANN = Entry("home", PEER, "ann", "01M7ENKXSQN27K8P92THXMV5N1", 0)


@pytest.fixture
def store(tmp_path):
    made = SqlStore(SqliteEngine(tmp_path / "book.db"))
    yield made
    made.close()


def looked_up(store):
    """What a read finds, and the transaction that remembers it."""
    with store.read("home") as tx:
        return tx.directory.entry("home", PEER, "ann"), tx


def test_the_row_of_a_read_leaves_its_reader_what_it_knows(store):
    _, before = looked_up(store)
    with store.write("home", lasting=False) as tx:
        tx.audit.append("home", EVENT)
    found, after = looked_up(store)
    assert found is None
    assert after is before


@pytest.mark.parametrize("how", ["a lasting change", "a claim of work", "another process"])
def test_a_reader_finds_what_was_written_since_it_looked(store, tmp_path, how):
    looked_up(store)
    other = SqlStore(SqliteEngine(tmp_path / "book.db")) if how == "another process" else store
    with other.claim() if how == "a claim of work" else other.write("home") as tx:
        tx.directory.add(ANN)
    if other is not store:
        other.close()
    assert looked_up(store)[0] == ANN


def test_a_reader_knows_nothing_from_before_a_change_on_another_connection(store):
    with store.read("home") as before:
        assert before.directory.entry("home", PEER, "ann") is None
        with store.write("home") as tx:
            tx.directory.add(ANN)
    found, after = looked_up(store)
    assert after is not before
    assert found == ANN


def test_a_change_leaves_its_connection_what_it_knows(store):
    with store.write("home") as before:
        before.directory.add(ANN)
    found, after = looked_up(store)
    assert after is before
    assert found == ANN


def test_a_read_that_failed_leaves_nothing_behind(store):
    _, before = looked_up(store)
    with pytest.raises(LookupError), store.read("home"):
        raise LookupError
    assert looked_up(store)[1] is not before


def test_what_a_reader_wrote_and_undid_is_not_remembered(store):
    with pytest.raises(LookupError), store.write("home", lasting=False) as tx:
        tx.directory.add(ANN)
        assert tx.directory.entry("home", PEER, "ann") == ANN
        raise LookupError
    assert looked_up(store)[0] is None


def test_a_closed_store_opens_no_other_connection(store):
    store.close()
    for opened in (store.read(), store.write(lasting=False)):
        with pytest.raises(StorageUnavailable), opened:
            pass


def test_a_scrubbed_store_that_is_closed_leaves_no_log_behind(store, tmp_path):
    assert store.scrub()
    looked_up(store)
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["book.db"]
