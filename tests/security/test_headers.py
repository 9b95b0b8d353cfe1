"""No header value makes a fault of the server: every one is taken, passed on or refused with a code."""

from __future__ import annotations

import json
import re
import socket
from contextlib import closing
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import souvenance
from model.stand_in import a_stand_in
from pace import examples
from processes import PATIENCE_SECONDS
from souvenance.surfaces.http.oauth import metadata
from surfaces.door import serving
from surfaces.every_path import every_path

_READ_BY_US = """
    accept authorization content-length content-type cookie dpop forwarded host idempotency-key openai-beta
    origin sec-fetch-site user-agent via x-client-request-id x-forwarded-for x-forwarded-host
    x-hermes-session-id x-hermes-session-key x-hermes-user-id x-honcho-host x-real-ip x-request-id
"""
_READ_BY_OTHERS = """
    accept-encoding accept-language baggage connection expect if-none-match last-event-id mcp-protocol-version
    mcp-session-id range referer te traceparent tracestate transfer-encoding upgrade x-http-method-override
"""
NAMES = (*_READ_BY_US.split(), *_READ_BY_OTHERS.split())
VALUES = (
    "größe".encode("latin-1"),
    "größe 密 😀".encode(),
    b"",
    b"\xff\xfe\x80",
    b"a" * 20_000,
    b", ,;=\"'\\,a;q=9,*/*;q=-1",
    b"\t \x01",
    b"-1",
    b"99999999999999999999999999",
    b"1e3",
    b"bytes=9-1,-5",
    b"00-zz-\xe9-01",
    b"http://[::1",
    b"Bearer \xe9.\xe9.\xe9~",
    b"multipart/form-data; boundary=\xe9; charset=\xff",
    b"Basic =====",
    b"chunked, identity, \xe9",
    b"%00%ff=%; a=\xe9",
    b"\xe2\x80\xae\xc2\x85",
)
BODIES = {
    "/v1/memory/put": {"text": "Ann lives in Porto."},
    "/v1/memory/get": {"query": "Where does Ann live?"},
    "/v1/chat/completions": {"model": "m", "messages": [{"role": "user", "content": "hello"}]},
    "/v1/responses": {"model": "m", "input": "hello"},
    "/mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "/v3/workspaces": {"id": "x"},
    "/v3/workspaces/x/sessions": {"id": "x"},
    "/v3/workspaces/x/sessions/x/messages": {"messages": [{"peer_id": "ann", "content": "hello"}]},
}
PAGES = ("/inspect", metadata.AUTHORIZE, metadata.DEVICE_PAGE, metadata.SIGN_IN, metadata.SIGN_OUT)
"""They answer people, in HTML; so does the first page of all."""


class Knocking:
    """One server with every door, asked by hand. The inspector is asked by somebody who is signed in."""

    def __init__(self, server, routes) -> None:
        self._cap = server.owner_cap
        self._address = urlsplit(server.url)
        self.routes = [*routes, ("GET", "/metrics"), ("GET", "/openapi.json"), ("GET", "/nowhere")]
        link = server.owner.post("/inspect/links").json()["path"]
        answer = httpx.get(server.url + link, trust_env=False)
        self._cookie = answer.headers["set-cookie"].partition(";")[0]

    def knock(self, method: str, path: str, *headers: tuple[str, bytes]) -> tuple[int, bytes]:
        """Status and body of the answer to one request."""
        form = path.startswith(("/oauth", *PAGES))
        body = b"" if method == "GET" else json.dumps(BODIES.get(path, {})).encode()
        kind = b"application/x-www-form-urlencoded" if form else b"application/json"
        own = {
            "host": self._address.netloc.encode(),
            "authorization": f"Bearer {self._cap}".encode(),
            "content-type": kind,
            "content-length": str(len(body)).encode(),
            "cookie": self._cookie.encode(),
        }
        given = {name for name, _ in headers}
        lines = [*((name, value) for name, value in own.items() if name not in given), *headers]
        head = b"".join(b"%s: %s\r\n" % (name.encode(), value) for name, value in lines)
        where = (self._address.hostname, self._address.port)
        with closing(socket.create_connection(where, PATIENCE_SECONDS)) as wire:
            wire.sendall(b"%s %s HTTP/1.1\r\n%s\r\n%s" % (method.encode(), path.encode(), head, body))
            answer = HTTPResponse(wire, method=method)
            answer.begin()
            is_endless = answer.getheader("content-type", "").startswith("text/event-stream")
            return answer.status, b"" if is_endless else answer.read()

    def check(self, method: str, path: str, *headers: tuple[str, bytes]) -> None:
        status, body = self.knock(method, path, *headers)
        told = (method, path, headers, status, body[:300])
        assert status < 500, told
        protocol_s_own = path == "/mcp" and status == 406
        endpoint_s_own = path == "/v1/x" and body == b"{}"
        page = path == "/" or path.startswith(PAGES)
        if status >= 400 and not (page or protocol_s_own or endpoint_s_own):
            assert b'"error"' in body, told


@pytest.fixture(scope="module")
def knocking(tmp_path_factory):
    home = tmp_path_factory.mktemp("headers") / "home"
    known = {"SOUVENANCE_METRICS": "1", "SOUVENANCE_BODY_STALL_SECONDS": "1"}
    routes = every_path(tmp_path_factory.mktemp("routes") / "home")
    with a_stand_in() as model, serving(home, SOUVENANCE_CHAT_BASE_URL=model.url, **known) as server:
        yield Knocking(server, routes)


def test_every_door_is_asked_by_somebody_who_may(knocking):
    assert {
        ("GET", "/inspect/work/tail"),
        ("POST", "/inspect/notes"),
        ("PUT", "/v1/x"),
        ("POST", "/oauth/token"),
        ("POST", "/v3/workspaces/x/sessions/x/messages"),
        ("DELETE", "/mcp"),
    } <= set(knocking.routes)
    for path in ("/metrics", "/inspect/access", "/v1/status", "/inspect/work/tail"):
        assert knocking.knock("GET", path)[0] == 200, path


def test_the_list_has_every_header_that_the_code_reads():
    found = set()
    for file in (Path(souvenance.__file__).parent / "surfaces").rglob("*.py"):
        if "cli" in file.parts or file.name in ("client.py", "reading.py", "writing.py"):
            continue
        text = file.read_text()
        found |= set(re.findall(r"headers(?:\.get\(|\.getlist\(|\[)\"([a-z-]+)\"", text))
        found |= set(re.findall(r"\"([a-z-]+)\" (?:not )?in request\.headers\b(?!\.)", text))
        found |= set(re.findall(r"= \"(x-hermes-[a-z-]+)\"", text))
    answered = {
        "content-encoding",
        "retry-after",
        "www-authenticate",
        "allow",
        "idempotency-replayed",
        "x-souvenance-reasoner",
        "content-security-policy",
    }
    assert found - answered <= set(NAMES)
    assert {"x-hermes-user-id", "dpop", "idempotency-key"} <= found | {"idempotency-key"}


@pytest.mark.parametrize("name", NAMES)
def test_no_value_of_the_header_makes_a_fault_on_any_route(knocking, name):
    """Each route meets every value, in one header or another, and each header every value."""
    for number, (method, path) in enumerate(knocking.routes, NAMES.index(name)):
        knocking.check(method, path, (name, VALUES[number % len(VALUES)]))


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/v1/memory/put", "/mcp"])
@pytest.mark.parametrize(
    "name", ["accept", "idempotency-key", "openai-beta", "x-client-request-id", "content-type", "dpop"]
)
def test_no_value_makes_a_fault_where_headers_are_passed_on_or_judged(knocking, path, name):
    method = "GET" if path == "/v1/models" else "POST"
    for value in VALUES:
        knocking.check(method, path, (name, value))
        knocking.check(method, path, (name, value), (name, b"twice"))


_BYTES = st.binary(max_size=60).map(lambda raw: bytes(one for one in raw if one not in b"\r\n\0"))


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)
@given(st.data())
def test_no_handful_of_headers_makes_a_fault(knocking, data):
    method, path = data.draw(st.sampled_from(knocking.routes))
    names = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4))
    values = data.draw(st.lists(st.sampled_from(VALUES) | _BYTES, min_size=len(names), max_size=len(names)))
    knocking.check(method, path, *zip(names, values, strict=True))
