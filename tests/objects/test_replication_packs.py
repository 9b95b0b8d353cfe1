"""What is noted for the bucket, on every book; and that a book that notes is still a book."""

from __future__ import annotations

import pytest

import stores
from contracts.replication_contract import ReplicationContract
from contracts.store_contract import StoreContract
from contracts.store_scenes import COMPARTMENT as HERE
from contracts.store_scenes import IDS, sealed_line
from reference.store import MemoryStore
from souvenance.adapters.object_stores import FolderObjects
from souvenance.adapters.system_clock import SystemEntropy
from souvenance.core.replication import MirroredStore
from souvenance.core.store_wrapper import mirrored
from souvenance.errors import Misconfigured
from souvenance.ports.object_store import COMPARTMENT, KEY, LINE, REPLACED
from souvenance.ports.store import WrappedKey


class TestMemoryReplication(ReplicationContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestSqliteReplication(ReplicationContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = stores.in_a_file(tmp_path / "book.db")
        yield store
        store.close()


class TestMirroredStore(StoreContract):
    """What notes its changes keeps every promise of a book."""

    @pytest.fixture
    def store(self, tmp_path):
        store = MirroredStore(stores.in_a_file(tmp_path / "book.db"), SystemEntropy())
        yield store
        store.close()


@pytest.fixture
def store():
    return MirroredStore(MemoryStore(), SystemEntropy())


@pytest.fixture
def empty(tmp_path):
    """A store of objects without any."""
    return FolderObjects(tmp_path / "objects")


def noted(store, change):
    """What one change has noted."""
    with store.write() as tx:
        for one in tx.replication.claim("before", now=1, until=2, most=1000):
            tx.replication.done(one)
    with store.write() as tx:
        change(tx)
    with store.write() as tx:
        return [(one.what, one.name) for one in tx.replication.claim("x", now=1, until=1, most=1000)]


def fill(tx):
    for line_id in IDS[:3]:
        tx.lines.append(sealed_line(line_id))
    tx.lines.cite(HERE, IDS[1], [IDS[0]])
    tx.keys.add(WrappedKey(HERE, "seal", 1, b"wrapped"))


CHANGES = {
    "append": (lambda tx: tx.lines.append(sealed_line(IDS[5])), [(LINE, IDS[5])]),
    "invalidate": (lambda tx: tx.lines.invalidate(HERE, IDS[0], IDS[1]), [(REPLACED, IDS[0])]),
    "annotate": (lambda tx: tx.lines.annotate(HERE, IDS[0], "{}"), [(LINE, IDS[0])]),
    "reinforce": (lambda tx: tx.lines.reinforce(HERE, IDS[0], 2), [(LINE, IDS[0])]),
    "cite": (lambda tx: tx.lines.cite(HERE, IDS[2], [IDS[0]]), [(LINE, IDS[2])]),
    "uncite": (lambda tx: tx.lines.uncite(HERE.workspace, [IDS[0]]), [(LINE, IDS[1])]),
    "delete": (lambda tx: tx.lines.delete(HERE, [IDS[0]]), [(LINE, IDS[0]), (REPLACED, IDS[0])]),
    "delete_compartment": (lambda tx: tx.lines.delete_compartment(HERE), [(COMPARTMENT, "")]),
    "add_key": (lambda tx: tx.keys.add(WrappedKey(HERE, "seal", 2, b"w")), [(KEY, "seal-2")]),
    "rewrap": (lambda tx: tx.keys.rewrap(WrappedKey(HERE, "seal", 1, b"w")), [(KEY, "seal-1")]),
    "delete_keys": (lambda tx: tx.keys.delete_compartment(HERE), [(COMPARTMENT, "")]),
    "append_again": (lambda tx: tx.lines.append(sealed_line(IDS[0])), []),
    "read": (lambda tx: tx.lines.get(HERE, IDS[0]), []),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noted_with_it(store, change):
    with store.write() as tx:
        fill(tx)
    make, wanted = CHANGES[change]
    assert noted(store, make) == wanted


def test_every_method_that_changes_lines_or_keys_is_among_these():
    """A method that is added to the book must be thought of here."""
    from souvenance.ports.store import Keys, StoredLines

    reading = {
        "get", "get_all", "walk", "ids", "count", "namespaces", "compartments", "turns", "last_turn",
        "activity", "observers", "count_turns", "views", "view", "alike", "of_session", "cited", "citing",
        "of", "every", "next_epoch", "storage", "storage_by_kind", "hide",
        "expiring", "newest_ids", "over", "aged", "aged_counted", "aged_sessions",
    }  # fmt: skip
    changing = {
        "append",
        "invalidate",
        "annotate",
        "reinforce",
        "cite",
        "uncite",
        "delete",
        "delete_compartment",
    }
    found = {name for port in (StoredLines, Keys) for name in vars(port) if not name.startswith("_")}
    assert found == reading | changing | {"add", "rewrap"}


def test_what_is_undone_is_not_noted(store):
    with pytest.raises(RuntimeError), store.write() as tx:
        tx.lines.append(sealed_line(IDS[0]))
        raise RuntimeError
    with store.read() as tx:
        assert tx.replication.waiting() == 0


def test_the_first_time_all_that_is_there_is_noted_and_only_then(empty):
    plain = MemoryStore()
    with plain.write() as tx:
        fill(tx)
    assert mirrored(plain, SystemEntropy(), None) is plain
    mirrored(plain, SystemEntropy(), empty)
    with plain.write() as tx:
        assert tx.replication.waiting() == 4
        for one in tx.replication.claim("x", now=1, until=1, most=10):
            tx.replication.done(one)
    mirrored(plain, SystemEntropy(), empty)
    with plain.read() as tx:
        assert tx.replication.waiting() == 0


def test_who_does_not_know_of_the_bucket_notes_nevertheless(empty):
    plain = MemoryStore()
    mirrored(plain, SystemEntropy(), empty)
    other = mirrored(plain, SystemEntropy(), None)
    with other.write() as tx:
        tx.lines.append(sealed_line(IDS[0]))
    with plain.read() as tx:
        assert tx.replication.waiting() == 1


def test_an_empty_store_is_not_let_loose_on_a_bucket_that_has_lines(empty):
    empty.put_if_absent("a/b/c/01ARZ3NDEKTSV4RRFFQ69G5FAV", b"someone's")
    with pytest.raises(Misconfigured) as told:
        mirrored(MemoryStore(), SystemEntropy(), empty)
    assert "souvenance rebuild" in told.value.hint
