"""Traces, as a collector that speaks OTLP over HTTP gets them."""

from __future__ import annotations

import sys

import httpx
import pytest

from model.stand_in import a_stand_in
from processes import PATIENCE_SECONDS, until
from souvenance.domain.telemetry import TelemetrySettings
from souvenance.surfaces.http.telemetry.logs import Log, logging_to
from souvenance.surfaces.http.telemetry.observer import observing
from surfaces.door import serving
from telemetry.busy import MODEL_KEY, secrets_of
from telemetry.collector import a_collector, attributes

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """A session that was traced to its end: what the collector got, and its secrets."""
    with a_collector() as collector, a_stand_in() as model:
        settings = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=ours",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
            "SOUVENANCE_CHAT_BASE_URL": model.url,
            "SOUVENANCE_CHAT_API_KEY": MODEL_KEY,
            "SOUVENANCE_MODEL_ANSWER_BASE_URL": model.url,
            "SOUVENANCE_MODEL_NAME": "m",
        }
        with serving(tmp_path_factory.mktemp("traced") / "home", **settings) as server:
            secrets = secrets_of(server, model)
            owner = {"authorization": f"Bearer {server.owner_cap}"}

            def ask(path, body, **headers):
                return httpx.post(
                    server.url + path,
                    json=body,
                    headers={**owner, **headers},
                    trust_env=False,
                    timeout=PATIENCE_SECONDS,
                )

            parent = f"00-{TRACE}-{CALLER}-01"
            ask("/v1/memory/get", {"query": "x"}, **{"x-request-id": "get-1", "traceparent": parent})
            ask("/v1/memory/get", {"query": 7}, **{"x-request-id": "bad-1"})
            place = "/v3/workspaces/traced"
            ask(f"{place}/sessions", {"id": "s", "peers": {"ann": {}}})
            ask(
                f"{place}/sessions/s/messages",
                {"messages": [{"peer_id": "ann", "content": "I live in Rome."}]},
            )
            model.plays("Rome.")
            for stream in (False, True):
                asked = {"query": "Where does ann live?", "stream": stream}
                ask(f"{place}/peers/ann/chat", asked, **{"x-request-id": f"chat-{stream}"})
            status = f"{server.url}{place}/queue/status"
            until(lambda: _all_done(httpx.get(status, headers=owner, trust_env=False).json()))
            stopped = server.stop()
        yield collector, secrets, stopped


def _all_done(queue):
    return queue["completed_work_units"] and queue["completed_work_units"] == queue["total_work_units"]


def test_a_request_its_operation_and_its_transactions_are_one_trace_inside_the_callers(lived):
    found = lived[0].of("get-1")
    request, operation = found["memory memory.get"], found["operation memory.get"]
    assert request.trace_id.hex() == TRACE
    assert request.parent_span_id.hex() == CALLER
    assert operation.parent_span_id == request.span_id
    assert found["store read"].parent_span_id == operation.span_id
    assert found["store write"].parent_span_id == operation.span_id
    assert {one.trace_id for one in found.values()} == {request.trace_id}
    told = attributes(request)
    assert (told["http.request.method"], told["http.response.status_code"]) == ("POST", 200)
    assert (told["souvenance.door"], told["souvenance.operation"]) == ("memory", "memory.get")
    assert attributes(operation)["souvenance.outcome"] == "ok"


def test_a_refusal_is_told_by_its_code(lived):
    found = lived[0].of("bad-1")
    assert attributes(found["memory memory.get"])["error.type"] == "invalid_input"
    assert attributes(found["operation memory.get"])["souvenance.outcome"] == "invalid_input"


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_of_the_model_is_in_the_trace_of_the_request_that_needed_it(lived, stream):
    found = lived[0].of(f"chat-{stream}")
    request, call = found["honcho peers.chat"], found["model answer"]
    assert call.trace_id == request.trace_id
    assert attributes(call)["souvenance.tokens"] > 0


def test_the_work_behind_the_requests_has_traces_of_its_own(lived):
    assert any(one.name == "work derive" for one in lived[0].spans)


def test_the_standard_variables_say_whose_they_are_and_where_they_go(lived):
    collector = lived[0]
    assert all(one["service.name"] == "souvenance" for one in collector.resources)
    assert all(one["deployment.environment.name"] == "test" for one in collector.resources)
    assert all(one["x-tenant"] == "ours" for one in collector.headers)


def test_no_span_holds_a_word_a_name_or_a_key_of_the_session(lived):
    collector, secrets, stopped = lived
    sent = b"".join(collector.raw)
    assert sent
    for secret in secrets:
        assert secret.encode() not in sent, secret
        assert secret not in stopped.err
    assert not any(one.events or one.status.message for one in collector.spans)


def test_every_door_is_traced(lived):
    doors = {attributes(one).get("souvenance.door") for one in lived[0].spans} - {None}
    assert doors == {"memory", "honcho", "chat", "signin", "mcp", "upkeep", "none"}


def test_a_collector_that_is_gone_holds_up_neither_requests_nor_the_end(home):
    with a_collector() as collector:
        url = collector.url
    with serving(home, OTEL_EXPORTER_OTLP_ENDPOINT=url) as server:
        assert server.owner.post("/v1/memory/put", json={"text": "kept"}).status_code == 201
        assert server.stop().exit_code == 0


def test_without_the_packages_it_says_so_and_serves(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    monkeypatch.delitem(sys.modules, "souvenance.surfaces.http.telemetry.tracing", raising=False)
    log = Log("text")
    with logging_to(log), observing(TelemetrySettings(traces=True), log) as observer:
        assert observer is None
    assert "pip install 'souvenance[traces]'" in capsys.readouterr().err
