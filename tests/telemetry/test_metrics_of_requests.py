"""What a server counts, and whom it tells."""

from __future__ import annotations

import re
import sys
import time
from contextlib import ExitStack

import httpx
import pytest

from model.stand_in import Fails, a_stand_in
from souvenance.domain.telemetry import TelemetrySettings
from souvenance.errors import Misconfigured
from souvenance.surfaces.http.telemetry.logs import Log
from souvenance.surfaces.http.telemetry.observer import observing
from surfaces.door import PATIENCE_SECONDS, serving, souvenance

SCRAPER = {"ops": ["audit"], "data_class": "config", "wid": "*", "peers": ["*"]}
PROXIED = {"x-forwarded-for": "203.0.113.7"}
"""What a proxy on this machine says of a client elsewhere."""


@pytest.fixture(scope="module")
def model():
    with a_stand_in() as model:
        yield model


@pytest.fixture(scope="module")
def server(tmp_path_factory, model):
    settings = {
        "SOUVENANCE_METRICS": "1",
        "SOUVENANCE_MODEL_ANSWER_BASE_URL": model.url,
        "SOUVENANCE_MODEL_NAME": "parrot-1",
        "SOUVENANCE_MODEL_CALLS_PER_HOUR": "100",
    }
    with serving(tmp_path_factory.mktemp("counted") / "home", **settings) as server:
        yield server


@pytest.fixture(scope="module")
def scraper(server):
    return server.mint("prometheus", namespaces=["*"], **SCRAPER)


def scraped(server, cap=None, **headers):
    given = {} if cap is None else {"authorization": f"Bearer {cap}"}
    return httpx.get(
        f"{server.url}/metrics",
        headers={**given, **headers},
        timeout=PATIENCE_SECONDS,
        trust_env=False,
        verify=False,
    )


def told(server):
    """The samples, by name and labels as they are written."""
    answer = scraped(server)
    assert answer.status_code == 200, answer.text
    lines = [line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def grown(server, before, name):
    return told(server).get(name, 0.0) - before.get(name, 0.0)


class TestWhoIsTold:
    def test_a_program_on_this_machine_without_a_cap(self, server):
        answer = scraped(server)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/plain; version=")

    @pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
    def test_nobody_behind_a_proxy_without_a_cap(self, server, header):
        refused = scraped(server, **{header: "203.0.113.7"})
        assert (refused.status_code, refused.json()["error"]) == (401, "cap_missing")

    def test_whoever_shows_a_scrapers_cap(self, server, scraper):
        assert scraped(server, scraper, **PROXIED).status_code == 200
        assert scraped(server, server.owner_cap, **PROXIED).status_code == 200

    @pytest.mark.parametrize(
        ("narrower", "code"),
        [
            ({"ops": ["get", "list"]}, "cap_op_mismatch"),
            ({"data_class": "memory"}, "cap_data_class_mismatch"),
            ({"wid": "default"}, "cap_scope_mismatch"),
            ({"peers": []}, "cap_scope_mismatch"),
        ],
    )
    def test_nobody_whose_cap_is_for_something_else(self, server, narrower, code):
        cap = server.mint("prometheus", namespaces=["*"], **{**SCRAPER, **narrower})
        refused = scraped(server, cap, **PROXIED)
        assert (refused.status_code, refused.json()["error"]) == (403, code)
        rows = server.owner.get("/v1/audit", params={"limit": 1000}).json()["rows"]
        assert [row["outcome"] for row in rows if row["operation"] == "metrics"][-1] == code

    def test_a_scrapers_cap_opens_neither_memory_nor_the_audit_log(self, server, scraper):
        client = server.client(scraper)
        for ask in (
            lambda: client.post("/v1/memory/get", json={"query": "x"}),
            lambda: client.get("/v1/audit"),
            lambda: client.get("/v1/audit/checkpoint"),
            lambda: client.post("/v1/memory/put", json={"text": "x"}),
        ):
            assert ask().status_code == 403

    def test_a_cap_is_judged_at_each_scrape_and_leaves_a_row_each_time(self, server):
        cap = server.mint("prometheus", namespaces=["*"], **SCRAPER)

        def rows():
            found = server.owner.get("/v1/audit", params={"limit": 1000}).json()["rows"]
            return sum(row["operation"] == "metrics" for row in found)

        before = rows()
        for _ in range(5):
            assert scraped(server, cap, **PROXIED).status_code == 200
        assert rows() == before + 5

    def test_no_page_that_calls_a_server_for_other_machines_by_a_name_of_its_own(self, home):
        arguments = ("--host", "0.0.0.0", "--allow-remote")
        with serving(home, *arguments, SOUVENANCE_METRICS="1") as server:
            url = server.url.replace("0.0.0.0", "127.0.0.1")
            assert httpx.get(f"{url}/metrics", trust_env=False, timeout=PATIENCE_SECONDS).status_code == 200
            rebound = httpx.get(
                f"{url}/metrics", headers={"host": "evil.example"}, trust_env=False, timeout=PATIENCE_SECONDS
            )
            assert (rebound.status_code, rebound.json()["error"]) == (401, "cap_missing")

    def test_nobody_unless_it_is_configured(self, home):
        with serving(home) as server:
            refused = scraped(server, server.owner_cap)
        assert (refused.status_code, refused.json()["error"]) == (404, "not_found")


class TestWhatIsCounted:
    def test_requests_by_door_operation_and_status(self, server):
        before = told(server)
        server.owner.post("/v1/memory/put", json={"text": "hello", "namespace": "travel"})
        server.client("junk").post("/v1/memory/put", json={"text": "hello"})
        server.owner.get("/nowhere/at/all")
        own = 'door="memory",operation="memory.put"'
        assert grown(server, before, f'souvenance_requests_total{{{own},status="201"}}') == 1
        assert grown(server, before, f'souvenance_requests_total{{{own},status="401"}}') == 1
        assert (
            grown(server, before, 'souvenance_requests_total{door="none",operation="none",status="404"}') == 1
        )
        assert grown(server, before, f"souvenance_request_seconds_count{{{own}}}") == 2

    def test_what_the_gate_granted_and_refused_by_code(self, server):
        before = told(server)
        server.owner.post("/v1/memory/put", json={"text": "to be found again", "namespace": "found"})
        asked = {"query": "found again", "namespaces": ["found"]}
        server.owner.post("/v1/memory/get", json=asked)
        server.actor("someone", ["get"], ["travel"]).post("/v1/memory/get", json=asked)
        get = 'operation="memory.get"'
        assert grown(server, before, f'souvenance_operations_total{{{get},outcome="ok"}}') == 1
        assert grown(server, before, f'souvenance_operations_total{{{get},outcome="namespace_denied"}}') == 1
        assert grown(server, before, 'souvenance_lines_total{operation="memory.put"}') == 1
        assert grown(server, before, f"souvenance_lines_total{{{get}}}") == 1
        assert grown(server, before, f"souvenance_operation_seconds_count{{{get}}}") == 2

    def test_transactions_and_that_the_store_is_there(self, server):
        before = told(server)
        server.owner.post("/v1/memory/put", json={"text": "hello", "namespace": "travel"})
        assert grown(server, before, 'souvenance_store_transactions_total{kind="write",outcome="ok"}') >= 1
        assert grown(server, before, 'souvenance_store_seconds_count{kind="write"}') >= 1
        assert told(server)["souvenance_store_up"] == 1

    def test_calls_of_the_model_and_what_is_left_of_its_budget(self, server, model):
        place = "/v3/workspaces/models"
        server.owner.post(f"{place}/sessions", json={"id": "s", "peers": {"ann": {}}})
        said = {"messages": [{"peer_id": "ann", "content": "I live in Lisbon."}]}
        server.owner.post(f"{place}/sessions/s/messages", json=said)
        before = told(server)
        for reply in ("Lisbon.", Fails(500)):
            model.plays(reply)
            server.owner.post(f"{place}/peers/ann/chat", json={"query": "Where does ann live?"})
        assert grown(server, before, 'souvenance_model_calls_total{outcome="ok",task="answer"}') >= 1
        assert grown(server, before, 'souvenance_model_calls_total{outcome="failed",task="answer"}') >= 1
        assert grown(server, before, 'souvenance_model_tokens_total{task="answer"}') >= 20
        assert grown(server, before, 'souvenance_model_calls_left{period="hour"}') < 0

    def test_the_work_behind_the_requests(self, server):
        before = told(server)
        place = "/v3/workspaces/work"
        server.owner.post(f"{place}/sessions", json={"id": "s", "peers": {"ann": {}}})
        said = {"messages": [{"peer_id": "ann", "content": "I live in Lisbon."}]}
        server.owner.post(f"{place}/sessions/s/messages", json=said)
        name = 'souvenance_work_total{kind="derive",outcome="ok"}'
        end = time.monotonic() + PATIENCE_SECONDS
        while not grown(server, before, name):
            assert time.monotonic() < end

    def test_the_process_and_the_version(self, server):
        found = told(server)
        assert found["process_resident_memory_bytes"] > 0
        assert found["process_open_fds"] > 0
        assert any(name.startswith("souvenance_build_info{") for name in found)

    def test_no_label_holds_a_name_that_a_person_gave(self, server):
        server.owner.post("/v3/workspaces/w-private/peers", json={"id": "p-private"})
        server.owner.post("/v1/memory/put", json={"text": "hello", "namespace": "n-private"})
        text = scraped(server).text
        assert "private" not in text
        labels = set(re.findall(r'[{,](\w+)="', text))
        assert labels == {
            "version", "python", "door", "operation", "status", "outcome", "kind", "task", "period", "le"
        }  # fmt: skip


def test_what_is_not_installed_is_a_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "souvenance.surfaces.http.telemetry.metrics", raising=False)
    with ExitStack() as stack, pytest.raises(Misconfigured, match="prometheus-client"):
        stack.enter_context(observing(TelemetrySettings(metrics=True), Log("text")))


def test_a_scrapers_cap_is_minted_as_the_page_says(server):
    minted = souvenance(
        "cap", "mint", "--sub", "prometheus", "--ops", "audit", "--data-class", "config",
        "--wid", "*", "--peers", "*", "--namespaces", "*", home=server.home,
    )  # fmt: skip
    assert scraped(server, minted.out.strip(), **PROXIED).status_code == 200
