"""Work that one process adds is heard by the others, without asking again and again."""

from __future__ import annotations

import threading

import pytest

from contracts.jobs_contract import NOW, add, job
from contracts.store_scenes import GiveUp
from postgres.server import Server
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.errors import StorageUnavailable

PATIENCE_SECONDS = 30


class Ear:
    def __init__(self):
        self._heard = threading.Semaphore(0)

    def __call__(self):
        self._heard.release()

    def hears(self, seconds=PATIENCE_SECONDS):
        return self._heard.acquire(timeout=seconds)


@pytest.fixture
def stores(url):
    stores = [SqlStore(PostgresEngine(url)) for _ in range(2)]
    yield stores
    for store in stores:
        store.close()


def test_work_is_heard_by_another_process_once_it_is_committed(stores):
    store, other = stores
    ear = Ear()
    with other.listening(ear):
        assert ear.hears()
        with pytest.raises(GiveUp), store.write("acme") as tx:
            tx.work.add(job(), NOW)
            raise GiveUp
        assert not ear.hears(0.05)
        add(store, job(1), job(2))
        assert ear.hears()


def test_nothing_is_heard_any_more_by_whoever_left(stores):
    store, other = stores
    ear = Ear()
    with other.listening(ear):
        assert ear.hears()
    add(store, job())
    assert not ear.hears(0.05)


def test_a_server_that_was_away_is_listened_to_again(tmp_path_factory):
    server = Server(tmp_path_factory.getbasetemp().parent)
    store = SqlStore(PostgresEngine(server.url(server.create())))
    ear = Ear()
    try:
        with store.listening(ear):
            assert ear.hears()
            server.kill()
            with pytest.raises(StorageUnavailable), store.read():
                pass
            server.start()
            assert ear.hears()
            add(store, job())
            assert ear.hears()
    finally:
        store.close()
        server.remove()
