"""The book on a real PostgreSQL server, whose locale sorts other than by bytes."""

from __future__ import annotations

import multiprocessing

import pytest

from contracts.jobs_contract import add, expect_each_once, job, work_off
from contracts.persistent_store_contract import PersistentStoreContract
from postgres.lasting import LastingConnections
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore

pytestmark = pytest.mark.long


def work_off_in_a_process(url, holder):
    store = SqlStore(PostgresEngine(url))
    try:
        return work_off(store, holder)
    finally:
        store.close()


class TestPostgresStore(PersistentStoreContract):
    @pytest.fixture
    def open_store(self, url):
        return lambda: SqlStore(LastingConnections(url))

    def test_processes_never_claim_the_same_and_leave_nothing(self, url, store):
        add(store, *(job(n, (None, "s", "t", "u")[n % 4]) for n in range(60)))
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            done = pool.starmap(work_off_in_a_process, [(url, holder) for holder in "hi"])
        expect_each_once(done, 60)
