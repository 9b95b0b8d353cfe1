from __future__ import annotations

import multiprocessing
import os
import sqlite3
from contextlib import closing

import pytest

import stores
from contracts.jobs_contract import add, expect_each_once, job, work_off
from contracts.persistent_store_contract import FilesStoreContract
from contracts.store_contract import StoreContract
from contracts.store_scenes import (
    IDS,
    TRAVEL,
    WORKSPACE,
    append,
    contents,
    fill,
    log,
    sealed_line,
)
from reference.store import MemoryStore
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain import audit
from souvenance.domain.capability import Revocation
from souvenance.errors import IntegrityError, StorageReadOnly, StorageUnavailable


def work_off_in_a_process(path, holder):
    store = SqlStore(SqliteEngine(path))
    try:
        return work_off(store, holder)
    finally:
        store.close()


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


def is_open(path):
    """Whether this process has the file open."""
    return os.path.realpath(path) in {
        os.path.realpath(f"/proc/self/fd/{one}") for one in os.listdir("/proc/self/fd")
    }


class TestSqliteStore(FilesStoreContract):
    @pytest.fixture
    def open_store(self, tmp_path):
        return lambda: stores.in_a_file(tmp_path / "book.db")

    @pytest.fixture
    def stored_bytes(self, tmp_path):
        return lambda: b"".join(path.read_bytes() for path in sorted(tmp_path.iterdir()))

    def test_a_file_that_is_no_database_is_damaged_and_not_replaced(self, tmp_path):
        (tmp_path / "book.db").write_bytes(b"not a database, and long enough to look like one" * 100)
        before = (tmp_path / "book.db").read_bytes()
        with pytest.raises(IntegrityError) as refused:
            SqlStore(SqliteEngine(tmp_path / "book.db"))
        assert (tmp_path / "book.db").read_bytes() == before
        held = refused.value.__traceback__  # And with it all that was made before the refusal.
        assert held is not None and not is_open(tmp_path / "book.db")

    def test_what_was_read_while_it_was_closed_leaves_no_file_open(self, tmp_path, open_store):
        store = open_store()
        with store.read() as tx:
            store.close()
            assert tx.marks("acme").caps == 0
        assert not is_open(tmp_path / "book.db")

    def test_a_reader_that_can_t_begin_leaves_no_file_open(self, tmp_path, open_store):
        store = open_store()
        with store.read():
            (tmp_path / "book.db").write_bytes(b"damaged by another program" * 1000)
            with pytest.raises(IntegrityError) as refused, store.read():
                pass
        store.close()
        assert refused.value.__traceback__ is not None and not is_open(tmp_path / "book.db")

    def test_a_folder_that_is_not_there_is_no_place_for_a_store(self, tmp_path):
        with pytest.raises(StorageReadOnly):
            SqlStore(SqliteEngine(tmp_path / "nowhere" / "book.db"))

    def test_an_error_of_the_database_arrives_as_ours_and_changes_nothing(self, tmp_path, open_store):
        store = open_store()
        with closing(sqlite3.connect(tmp_path / "book.db")) as foreign:
            foreign.execute("DROP TABLE terms")
        with pytest.raises(StorageUnavailable), store.write() as tx:
            tx.touch("acme", caps=True)
            tx.terms.delete_compartment(("acme", "ann", "work"))
        with store.read() as tx:
            assert tx.marks("acme").caps == 0
        store.close()

    def test_a_scrub_takes_out_what_another_program_deleted_carelessly(self, tmp_path, store, stored_bytes):
        append(store, sealed_line(sealed=b"<gone 7f3a9c>" * 5000), sealed_line(IDS[1]))
        with closing(sqlite3.connect(tmp_path / "book.db", isolation_level=None)) as foreign:
            foreign.execute("PRAGMA secure_delete = OFF")
            foreign.execute("DELETE FROM lines WHERE id = ?", (IDS[0],))
        assert b"<gone 7f3a9c>" in stored_bytes()
        assert store.scrub()
        assert b"<gone 7f3a9c>" not in stored_bytes()

    def test_processes_never_claim_the_same_and_leave_nothing(self, tmp_path, store):
        add(store, *(job(n, (None, "s", "t", "u")[n % 4]) for n in range(60)))
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            done = pool.starmap(work_off_in_a_process, [(tmp_path / "book.db", holder) for holder in "hi"])
        expect_each_once(done, 60)

    def test_a_write_that_the_database_itself_undid_leaves_no_trace(self, tmp_path, store):
        with store.write() as tx:
            fill(tx)
        before = contents(store)
        with closing(sqlite3.connect(tmp_path / "book.db")) as foreign:
            foreign.execute(
                "CREATE TRIGGER undo BEFORE INSERT ON lines WHEN NEW.kind = 'last straw' "
                "BEGIN SELECT RAISE(ROLLBACK, 'as a full disk does'); END"
            )
        with pytest.raises(StorageUnavailable), store.write() as tx:
            tx.lines.append(sealed_line(IDS[0], TRAVEL))
            tx.caps.revoke(Revocation(TRAVEL.workspace, "jti", "another cap", 1))
            tx.keys.of(*TRAVEL[:2])
            tx.marks(TRAVEL.workspace)
            tx.lines.append(sealed_line(IDS[5], kind="last straw"))
        assert contents(store) == before
        with closing(sqlite3.connect(tmp_path / "book.db")) as foreign:
            foreign.execute("DROP TRIGGER undo")
        with store.write() as tx:
            fill(tx, TRAVEL)
        assert audit.verify(WORKSPACE, log(store)).size == 2
