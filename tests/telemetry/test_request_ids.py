"""One id per request: in its answer, whatever that is, and in every call that is made for it."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.routing import Route

from model.stand_in import Fails, a_stand_in
from processes import PATIENCE_SECONDS
from running import running
from souvenance import settings_from
from souvenance.domain.telemetry import CURRENT, is_plain, onward
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import make_app
from surfaces.door import serving

ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
GOOD = ["abc", "0af7651916cd43dd8448eb211c80319c", "Root=1-67891233-abcdef", "a" * 128, "x.y:z/1+2=_-"]
BAD = ["", "a" * 129, "two words", "ann@example.com", 'quo"te', "<b>", "naïve", "a\tb", "{}", "a;b"]


@pytest.fixture(scope="module")
def model():
    with a_stand_in() as model:
        yield model


@pytest.fixture(scope="module")
def server(tmp_path_factory, model):
    settings = {
        "SOUVENANCE_CHAT_BASE_URL": model.url,
        "SOUVENANCE_MODEL_ANSWER_BASE_URL": model.url,
        "SOUVENANCE_MODEL_NAME": "parrot-1",
    }
    with serving(tmp_path_factory.mktemp("ids") / "home", **settings) as server:
        yield server


@pytest.fixture(scope="module")
def owner(server):
    headers = {"authorization": f"Bearer {server.owner_cap}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=60, trust_env=False) as client:
        yield client


@given(st.text())
def test_whatever_is_accepted_is_short_and_printable_and_nothing_raises(text):
    if is_plain(text):
        assert 0 < len(text) <= 128
        assert text.isascii() and text.isprintable() and not set(text) & set(" \"'<>@~{}\\,;")


def test_outside_a_request_nothing_is_sent_onward():
    CURRENT.set("")
    assert onward() == {}


@pytest.mark.parametrize("given_id", GOOD)
def test_a_plain_id_of_the_client_comes_back(owner, given_id):
    answer = owner.get("/v1/status", headers={"x-request-id": given_id})
    assert answer.headers.get_list("x-request-id") == [given_id]


@pytest.mark.parametrize("given_id", BAD)
def test_any_other_id_is_replaced_by_one_of_ours(owner, given_id):
    answer = owner.get("/v1/status", headers={"x-request-id": given_id.encode()})
    assert ULID.fullmatch(answer.headers["x-request-id"])


def test_two_requests_have_two_ids(owner):
    first, second = (owner.get("/health").headers["x-request-id"] for _ in range(2))
    assert ULID.fullmatch(first) and ULID.fullmatch(second)
    assert first != second


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/nowhere", {}, 404),
        ("PUT", "/v1/status", {}, 405),
        ("GET", "/v1/status", {"authorization": "Bearer junk"}, 401),
        ("GET", "/v1/status", {"host": "elsewhere.example"}, 403),
        ("POST", "/v3/workspaces/w/peers", {"authorization": ""}, 401),
        ("POST", "/v3/workspaces/list", {"content-type": "application/json"}, 200),
        ("POST", "/v1/chat/completions", {"authorization": "Bearer junk"}, 401),
        ("POST", "/mcp", {"authorization": "Bearer junk"}, 401),
        ("POST", "/oauth/token", {}, 400),
        ("GET", "/signin", {}, 200),
        ("GET", "/ready", {}, 200),
        ("GET", "/openapi.json", {}, 200),
    ],
)
def test_every_door_answers_with_the_id_and_refuses_with_it(owner, method, path, headers, status):
    answer = owner.request(method, path, headers={"x-request-id": "mine-1", **headers})
    assert (answer.status_code, answer.headers["x-request-id"]) == (status, "mine-1"), answer.text


def test_the_shape_of_refusals_stays_what_it_was(server, owner):
    refused = httpx.post(
        f"{server.url}/v3/workspaces/w/peers", json={"id": "ann"}, trust_env=False, timeout=PATIENCE_SECONDS
    )
    assert set(refused.json()) == {"error", "detail", "hint"}
    assert set(owner.get("/nowhere").json()) == {"error", "detail", "hint"}


def test_an_answer_in_pieces_has_the_id_before_its_first_piece(owner):
    place = "/v3/workspaces/w"
    owner.post(f"{place}/sessions", json={"id": "s", "peers": {"ann": {}}}).raise_for_status()
    asked = {"query": "Where?", "stream": True}
    headers = {"x-request-id": "streamed-1"}
    with owner.stream("POST", f"{place}/peers/ann/chat", json=asked, headers=headers) as told:
        assert told.headers["x-request-id"] == "streamed-1"
        assert b'"done":true' in told.read()


@pytest.mark.parametrize("stream", [False, True])
def test_the_chat_doors_endpoint_is_asked_with_the_id_and_its_own_is_kept_apart(owner, model, stream):
    asked = {"model": "parrot-1", "stream": stream, "messages": [{"role": "user", "content": "hi"}]}
    model.plays("Noted.", Fails(429, headers={"x-request-id": "theirs-1"}))
    owner.post("/v1/chat/completions", json=asked, headers={"x-request-id": "chat-1"}).raise_for_status()
    assert model.asked[-1].headers["x-request-id"] == "chat-1"
    refused = owner.post("/v1/chat/completions", json=asked, headers={"x-request-id": "chat-2"})
    assert refused.headers.get_list("x-request-id") == ["chat-2"]
    assert refused.headers["x-upstream-request-id"] == "theirs-1"


@pytest.mark.parametrize("stream", [False, True])
def test_the_model_behind_an_answer_is_asked_with_the_id(owner, model, stream):
    place = "/v3/workspaces/models"
    owner.post(f"{place}/sessions", json={"id": "s", "peers": {"ann": {}}}).raise_for_status()
    said = {"messages": [{"peer_id": "ann", "content": "I live in Lisbon."}]}
    owner.post(f"{place}/sessions/s/messages", json=said).raise_for_status()
    model.plays("Lisbon.")
    asked = {"query": "Where does ann live?", "stream": stream}
    before = len(model.asked)
    owner.post(f"{place}/peers/ann/chat", json=asked, headers={"x-request-id": "asked-1"}).raise_for_status()
    assert {one.headers.get("x-request-id") for one in model.asked[before:]} == {"asked-1"}


class _BrokenDoor:
    """A `Door` with a defect."""

    def routes(self, gate, hands):
        async def answer(request):
            raise ValueError("defect")

        return [Route("/broken", answer)]

    def described(self):
        return {}

    @asynccontextmanager
    async def open(self):
        yield


def test_a_defect_of_ours_has_the_id_too(home):
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
    with running(make_app(installation.gate, doors=[_BrokenDoor()])) as url:
        answer = httpx.get(
            f"{url}/broken", headers={"x-request-id": "defect-1"}, trust_env=False, timeout=PATIENCE_SECONDS
        )
    installation.close()
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "defect-1")
    assert "defect" not in answer.text
