"""A worker tells how it goes, if it is asked to, and gives nothing of memory."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx
import msgspec
import pytest

import stores
from processes import PATIENCE_SECONDS, until
from souvenance import open_installation, settings_from
from souvenance.core.conversation.directory import Delivery
from souvenance.domain.directory import DELIVER, Job
from surfaces.door import environment, ordinary_signals, souvenance


@contextmanager
def working(home, *arguments, **settings):
    """A worker that listens on a free port, and what asks it."""
    with subprocess.Popen(
        [sys.executable, "-m", "souvenance", "work", "--port", "0", "--home", str(home), *arguments],
        env=environment(**{**stores.settings_of(home), **settings}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ordinary_signals,
    ) as process:
        try:
            greeting = process.stdout.readline()
            assert greeting.startswith("Souvenance works."), process.communicate()
            url = greeting.split()[-1].removesuffix("/health")
            with httpx.Client(base_url=url, timeout=PATIENCE_SECONDS, trust_env=False) as client:
                yield client
            process.send_signal(signal.SIGTERM)
            told, trouble = process.communicate(timeout=PATIENCE_SECONDS)
            assert (process.returncode, told, trouble) == (0, "", "Souvenance stopped.\n")
        finally:
            process.kill()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("worker") / "home"
    souvenance("put", "I like pears", home=home)
    return home


@pytest.fixture(scope="module")
def worker(home):
    with working(home, SOUVENANCE_METRICS="1") as client:
        yield client


def test_it_tells_how_it_is(worker):
    told = worker.get("/health").json()
    assert (told["status"], told["store"]) == ("ok", "ok")
    assert worker.get("/ready").json() == {"status": "ready"}


def test_its_metrics_are_for_this_machine_or_a_cap(home, worker):
    assert "souvenance_store_up 1.0" in worker.get("/metrics").text
    afar = {"x-forwarded-for": "203.0.113.7"}
    assert worker.get("/metrics", headers=afar).status_code == 401
    shown = {**afar, "authorization": f"Bearer {(home / 'owner.cap').read_text().strip()}"}
    assert worker.get("/metrics", headers=shown).status_code == 200


def test_its_metrics_tell_of_the_work_it_does(home, worker):
    payload = msgspec.json.encode(Delivery(endpoint="gone", body="")).decode()
    installation = open_installation(
        settings_from({"SOUVENANCE_EMBEDDER": "none", **stores.settings_of(home)}, str(home))
    )
    with installation._store.write("default") as tx:
        tx.work.add(Job("default", DELIVER, payload=payload), 0)
    installation.close()
    done = 'souvenance_work_total{kind="deliver",outcome="ok"} 1.0'
    until(lambda: done in worker.get("/metrics").text)


@pytest.mark.parametrize("path", ["/v1/memory/get", "/v1/status", "/v3/workspaces/list", "/openapi.json"])
def test_it_gives_nothing_of_memory(home, worker, path):
    shown = {"authorization": f"Bearer {(home / 'owner.cap').read_text().strip()}"}
    for method in ("GET", "POST"):
        assert worker.request(method, path, headers=shown).status_code == 404


def test_a_page_of_another_site_learns_nothing(worker):
    assert worker.get("/health", headers={"origin": "http://evil.example"}).status_code == 403
    assert worker.get("/health", headers={"host": "evil.example"}).status_code == 403


def test_it_listens_beyond_this_machine_only_if_told_so(home):
    refused = souvenance("work", "--port", "0", "--host", "0.0.0.0", home=home, exit_code=None)
    assert refused.exit_code != 0
    assert "--allow-remote" in refused.err
    with working(home, "--host", "0.0.0.0", "--allow-remote", "--host-name", "worker.example") as client:
        named = {"host": "worker.example"}
        assert client.get("/health", headers=named).status_code == 200
        assert client.get("/metrics", headers=named).status_code == 404, "metrics are off unless asked for"
        assert client.get("/health").status_code == 403
