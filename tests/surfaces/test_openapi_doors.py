"""What OpenAPI says of the doors that describe themselves: chat, sign-in and MCP, as they answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import jsonschema_rs
import msgspec
import pytest

from model.stand_in import StandIn, a_stand_in
from oauth.browser import Flow, fetching, refreshing
from running import running
from souvenance.config import settings_from
from souvenance.domain.upstream import ChatSettings, Upstream
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import make_app
from souvenance.surfaces.http.chat.door import ChatDoor, UnknownPath
from souvenance.surfaces.http.oauth.door import SignInDoor
from souvenance.surfaces.http.oauth.metadata import DOCUMENTS
from souvenance.surfaces.mcp.door import McpDoor
from surfaces.door import PATIENCE_SECONDS

PAGES = {"/authorize", "/device", "/signin", "/signout"}
"""What people look at: no program asks for them."""
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
TURN = {"model": "parrot-1", "messages": [{"role": "user", "content": "hello"}]}
ACCEPT = {"accept": "application/json, text/event-stream"}


class Doors(Flow):
    """A server with every door, in front of a stand-in for a model, whose every answer is held to OpenAPI."""

    def __init__(self, url: str, owner_cap: str, routes: set[tuple[str, str]], model: StandIn) -> None:
        self.url = url
        self.owner_cap = owner_cap
        self.routes = routes
        self.model = model
        self.openapi = httpx.get(f"{url}/openapi.json", trust_env=False, timeout=PATIENCE_SECONDS).json()
        self.browser = self._client()
        self.program = self._client(event_hooks={"response": [self.check]})

    def _client(self, **more) -> httpx.Client:
        return httpx.Client(
            base_url=self.url, timeout=PATIENCE_SECONDS, trust_env=False, verify=False, **more
        )

    def close(self) -> None:
        self.browser.close()
        self.program.close()

    def ask(self, method: str, path: str, cap: str | None = None, **more) -> httpx.Response:
        headers = {**ACCEPT, **more.pop("headers", {})}
        if cap is not None:
            headers["authorization"] = f"Bearer {cap}"
        return self.program.request(method, path, headers=headers, **more)

    def check(self, response: httpx.Response) -> None:
        """That it is an answer which OpenAPI promises."""
        response.read()
        path, method = response.request.url.path, response.request.method.lower()
        template = next(one for one in self.openapi["paths"] if re.fullmatch(_pattern(one), path))
        responses = self.openapi["paths"][template][method]["responses"]
        told = responses.get(str(response.status_code)) or responses["default"]
        if "content" not in told:
            assert response.content == b""
            return
        media = response.headers["content-type"].partition(";")[0]
        assert media in told["content"]
        if media == "application/json":
            schema = {
                **told["content"][media]["schema"],
                "components": self.openapi["components"],
            }
            jsonschema_rs.validator_for(schema).validate(response.json())


def _pattern(template: str) -> str:
    return re.sub(r"\{model\}", ".+", re.sub(r"\{(?!model)\w+\}", "[^/]+", template))


@pytest.fixture(scope="module")
def doors(tmp_path_factory) -> Iterator[Doors]:
    installation = open_installation(
        settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(tmp_path_factory.mktemp("d") / "home"))
    )
    with a_stand_in() as model:
        chat = ChatDoor(ChatSettings((Upstream(model.url),)), cap=installation.owner_cap)
        every = [SignInDoor(installation.sign_ins), McpDoor(), chat]
        routes = {
            (method, re.sub(r":\w+\}", "}", route.path))
            for door in every
            for route in door.routes(installation.gate, None)
            if not isinstance(route, UnknownPath)
            for method in (route.methods or {"POST"}) - {"HEAD", "OPTIONS"}
        }
        app = make_app(installation.gate, doors=every)
        with running(app) as url:
            found = Doors(url, installation.owner_cap, routes, model)
            yield found
            found.close()
    installation.close()


def test_every_path_of_the_doors_but_the_pages_is_described_and_no_other(doors):
    own = {
        (method.upper(), path)
        for path, methods in doors.openapi["paths"].items()
        for method in methods
        if not path.startswith("/v3/")
    }
    served = {(method, path) for method, path in doors.routes if path not in PAGES}
    assert served <= own
    described = {path for path in own if path[1].startswith(("/oauth", "/.well-known", "/mcp"))}
    described |= {path for path in own if path[1].startswith(("/v1/chat", "/v1/responses", "/v1/models"))}
    assert described == served


def test_every_operation_has_a_name_of_its_own(doors):
    names = [one["operationId"] for methods in doors.openapi["paths"].values() for one in methods.values()]
    assert len(set(names)) == len(names)


def test_every_reference_leads_somewhere(doors):
    text = msgspec.json.encode(doors.openapi).decode()
    assert set(re.findall(r'"\$ref":"#/components/schemas/(\w+)"', text)) <= set(
        doors.openapi["components"]["schemas"]
    )


def test_those_who_bring_no_cap_are_told_so_where_one_is_needed_and_served_where_none_is(doors):
    for path, methods in doors.openapi["paths"].items():
        for method, operation in methods.items():
            if path.startswith(("/oauth", "/.well-known")):
                assert operation["security"] == []
            elif path.startswith(("/mcp", "/v1/chat", "/v1/responses", "/v1/models")):
                assert "security" not in operation
                answer = doors.ask(method.upper(), path.replace("{model}", "m"))
                assert answer.status_code == 401


def test_the_doors_answer_other_sites_as_described(doors):
    for method, path in sorted(doors.routes):
        if path not in PAGES:
            there = path.replace("{model}", "m")
            answer = doors.ask(method, there, headers={"origin": "http://evil.example"})
            assert answer.status_code == (200 if path in DOCUMENTS else 403)


@pytest.mark.parametrize("path", ["", "/mcp"])
def test_the_documents_are_as_described(doors, path):
    assert doors.ask("GET", f"/.well-known/oauth-protected-resource{path}").status_code == 200
    assert doors.ask("GET", "/.well-known/oauth-authorization-server").status_code == 200


def test_signing_in_is_as_described_from_registration_to_the_end(doors):
    for auth in ("none", "client_secret_post"):
        assert doors.register(token_endpoint_auth_method=auth, client_name="It").status_code == 201
    assert doors.register(redirect_uris=["http://elsewhere.example"]).status_code == 400
    assert doors.program.post("/oauth/register", content=b"{").status_code == 400
    shown = doors.program.post("/oauth/device", data={"client_id": "hermes-agent"})
    assert shown.status_code == 200
    waiting = {
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
        "client_id": "hermes-agent",
        "device_code": shown.json()["device_code"],
    }
    assert doors.fetch(waiting).json()["error"] == "authorization_pending"
    doors.sign_in()
    first = doors.fetch(fetching(doors.code()))
    assert first.status_code == 200
    second = doors.fetch(refreshing(first.json()["refresh_token"]))
    assert second.status_code == 200
    assert doors.fetch(refreshing("hch-rt-none")).json()["error"] == "invalid_grant"
    assert doors.fetch({"grant_type": "password", "client_id": "hermes-agent"}).status_code == 400
    assert doors.fetch(refreshing("x", client_id="nobody")).status_code in (400, 401)
    assert doors.fetch(refreshing("x" * 40_000)).status_code == 413
    assert doors.program.post("/oauth/token", json={}).status_code == 400
    ended = {"client_id": "hermes-agent", "token": second.json()["refresh_token"]}
    assert doors.program.post("/oauth/revoke", data=ended).status_code == 200
    assert doors.program.post("/oauth/revoke", data={"client_id": "hermes-agent"}).status_code == 400


def test_chat_is_as_described_whatever_comes_of_it(doors):
    cap, path = doors.owner_cap, "/v1/chat/completions"
    assert doors.ask("POST", path, cap, json=TURN).status_code == 200
    assert doors.ask("POST", path, cap, json={**TURN, "stream": True}).status_code == 200
    assert doors.ask("POST", path, cap, content=b"{").status_code == 400
    assert doors.ask("POST", path, cap, json=TURN, headers={"x-hermes-user-id": "x" * 300}).status_code == 400
    assert doors.ask("POST", path, cap, content=b"x" * 30_000_000).status_code == 413
    assert doors.ask("GET", "/v1/models", cap).status_code == 200
    assert doors.ask("GET", "/v1/models/parrot-1", cap).status_code == 200
    assert doors.ask("GET", "/v1/models/no/such", cap).status_code == 404


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (PING, {}, 200),
        ({**PING, "method": "no/such"}, {}, 200),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {}, 202),
        ({"not": "a message"}, {}, 400),
        (PING, {"accept": "text/html"}, 406),
        (PING, {"content-type": "text/plain"}, 415),
    ],
)
def test_mcp_is_as_described_whatever_is_sent(doors, body, headers, status):
    answer = doors.ask("POST", "/mcp", doors.owner_cap, json=body, headers=headers)
    assert answer.status_code == status
