"""/health and /ready tell the truth when the store is gone, and when it is back."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing

import anyio
import httpx
import pytest

from souvenance.errors import IntegrityError, StorageBusy, StorageUnavailable
from souvenance.surfaces.http.app import StoreHealth
from surfaces.door import PATIENCE_SECONDS, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("ready") / "home", SOUVENANCE_METRICS="1") as server:
        yield server


def asked(server, path):
    return httpx.get(f"{server.url}{path}", timeout=PATIENCE_SECONDS, trust_env=False, verify=False)


def until(server, path, status):
    """The answer, once it has that status."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (answer := asked(server, path)).status_code != status:
        assert time.monotonic() < end, answer.text
    return answer


def held(server):
    """Another program that has the store, and lets nobody write."""
    other = sqlite3.connect(server.home / "souvenance.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    return closing(other)


def test_a_server_whose_store_is_there_is_ready(server):
    assert asked(server, "/ready").json() == {"status": "ready"}
    told = asked(server, "/health").json()
    assert (told["status"], told["store"]) == ("ok", "ok")


@pytest.mark.embedded("it holds the lock of the file")
def test_while_the_store_is_out_of_reach_it_says_so_at_once_and_recovers_by_itself(server):
    with held(server):
        refused = until(server, "/ready", 503)
        assert refused.json()["error"] == "storage_busy"
        assert refused.headers["retry-after"] == "1"
        began = time.monotonic()
        told = asked(server, "/health")
        assert time.monotonic() - began < PATIENCE_SECONDS / 2
        assert told.status_code == 200
        assert (told.json()["status"], told.json()["store"]) == ("degraded", "storage_busy")
        metrics = asked(server, "/metrics")
        assert metrics.status_code == 200
        assert "souvenance_store_up 0.0" in metrics.text
    until(server, "/ready", 200)
    assert asked(server, "/health").json()["status"] == "ok"
    assert "souvenance_store_up 1.0" in asked(server, "/metrics").text
    assert server.owner.post("/v1/memory/put", json={"text": "back again"}).status_code == 201


class Store:
    """A store that fails as it is told."""

    def __init__(self):
        self.error = None
        self.probes = 0

    def probe(self):
        self.probes += 1
        if self.error is not None:
            raise self.error


def feel(pulse, times=1):
    async def felt():
        return [await pulse.trouble() for _ in range(times)]

    return anyio.run(felt)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StorageUnavailable("gone"), "storage_unavailable"),
        (StorageBusy("busy"), "storage_busy"),
        (IntegrityError("damaged"), "integrity_error"),
        (ValueError("defect"), "storage_unavailable"),
    ],
)
def test_whatever_a_store_fails_with_is_trouble_until_it_works_again(error, code):
    store = Store()
    pulse = StoreHealth(store.probe, fresh=0.0)
    assert feel(pulse) == [None]
    store.error = error
    assert [one.code for one in feel(pulse)] == [code]
    store.error = None
    assert feel(pulse) == [None]


def test_however_many_ask_the_store_is_reached_for_once_in_a_while():
    store = Store()
    feel(StoreHealth(store.probe, fresh=1000.0), times=50)
    assert store.probes == 1


def test_who_asks_while_the_store_hangs_is_not_held_up_and_nobody_reaches_for_it_twice():
    going_on, probes = threading.Event(), []

    def hang():
        probes.append(1)
        assert going_on.wait(PATIENCE_SECONDS)

    pulse = StoreHealth(hang, fresh=0.0)

    async def felt():
        found = []
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(lambda: collect(found))
        return found

    async def collect(found):
        found.append(await pulse.trouble())

    assert {one.code for one in anyio.run(felt)} == {"storage_busy"}
    assert len(probes) == 1
    going_on.set()
    assert feel(pulse) == [None]


def test_what_can_not_be_looked_at_is_nothing_and_no_failure():
    store = Store()
    pulse = StoreHealth(store.probe, fresh=0.0)

    async def ask():
        return await pulse.ask(lambda: 7), await pulse.ask(lambda: 1 // 0)

    assert anyio.run(ask) == (7, None)
    store.error = StorageUnavailable("gone")
    assert anyio.run(ask) == (None, None)
