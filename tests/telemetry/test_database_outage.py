"""A real `souvenance serve` on a real PostgreSQL that is killed: what it says, and that it recovers."""

from __future__ import annotations

import time

import httpx
import pytest

from postgres.server import Server as Database
from surfaces.door import PATIENCE_SECONDS, serving


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    found = Database(tmp_path_factory.getbasetemp().parent, durable=True)
    yield found
    found.remove()


def until(url, status, headers):
    """The answer, once it has that status."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (answer := httpx.get(url, headers=headers, timeout=30, trust_env=False)).status_code != status:
        assert time.monotonic() < end, answer.text
    return answer


@pytest.mark.embedded("it has a database of its own")
def test_when_the_database_is_killed_the_server_says_so_and_recovers_when_it_is_back(home, database):
    store = database.url(database.create())
    with serving(home, SOUVENANCE_STORE=store, SOUVENANCE_METRICS="1") as server:
        scraper = server.mint("prometheus", ["audit"], data_class="config", wid="*", peers=["*"])
        afar = {"authorization": f"Bearer {scraper}", "x-forwarded-for": "203.0.113.7"}
        until(f"{server.url}/ready", 200, {})
        assert "souvenance_store_up 1.0" in until(f"{server.url}/metrics", 200, afar).text
        database.kill()
        assert until(f"{server.url}/ready", 503, {}).json()["error"] == "storage_unavailable"
        told = httpx.get(f"{server.url}/health", timeout=30, trust_env=False)
        assert (told.status_code, told.json()["status"]) == (200, "degraded")
        assert "souvenance_store_up 0.0" in until(f"{server.url}/metrics", 200, {}).text
        assert until(f"{server.url}/metrics", 503, afar).json()["error"] == "storage_unavailable"
        database.start()
        until(f"{server.url}/ready", 200, {})
        assert httpx.get(f"{server.url}/health", timeout=30, trust_env=False).json()["store"] == "ok"
        assert server.owner.post("/v1/memory/put", json={"text": "back again"}).status_code == 201
        stopped = server.stop()
    assert stopped.exit_code == 0
    assert store not in stopped.err
