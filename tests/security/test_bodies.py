"""Bodies: unread before the token's signature is good; bounded in size, time and memory; never in a file."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
from contextlib import closing, contextmanager, suppress
from threading import Thread
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn

from processes import PATIENCE_SECONDS, until
from running import running
from souvenance.commands import DataTransfers
from souvenance.config import settings_from
from souvenance.errors import RateLimited, ServerBusy
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import make_app
from souvenance.surfaces.http.inspector import door as inspector
from souvenance.surfaces.http.inspector import passkey_pages
from souvenance.surfaces.http.inspector.door import InspectorDoor
from souvenance.surfaces.http.oauth import metadata
from souvenance.surfaces.http.request_bodies import BodyBudget
from souvenance.surfaces.http.server import MOST_HEADER_BYTES, BoundedProtocol
from surfaces.door import serving
from surfaces.every_path import every_path

MEGABYTE = 1024 * 1024
PUT = "/v1/memory/put"
PART = b'{"text": "half of'
FORGED = "eyJhbGciOiJFZERTQSIsImtpZCI6IngifQ.eyJzdWIiOiJ4In0.AAAA~eyJ"
OPEN_TO_ALL = [
    metadata.AUTHORIZE,
    metadata.DEVICE_PAGE,
    metadata.SIGN_IN,
    metadata.SIGN_OUT,
    metadata.TOKEN,
    metadata.REVOKE,
    metadata.DEVICE_AUTHORIZATION,
    metadata.REGISTER,
    inspector.SIGN_IN,
    passkey_pages.SIGN_IN,
    inspector.BACK,
]
"""Their bodies come before a token is known: with some the token is in the body, others ask for one."""
READS_NO_BODY = passkey_pages.CHALLENGES


class Wire:
    """One connection, spoken by hand."""

    def __init__(self, url: str) -> None:
        self._host = urlsplit(url).netloc
        self._socket = socket.create_connection(self._host.split(":"), PATIENCE_SECONDS)

    def close(self) -> None:
        self._socket.close()

    def send(self, method: str, path: str, length: int, body: bytes, token: str | None = None, **more: str):
        head = {"host": self._host, "content-length": str(length), "content-type": "application/json"}
        if token is not None:
            head["authorization"] = f"Bearer {token}"
        head |= {name.replace("_", "-"): value for name, value in more.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        self.write(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)

    def write(self, raw: bytes) -> None:
        self._socket.sendall(raw)

    def answer(self) -> tuple[int, str, dict[str, str]]:
        """Status, code and headers of the answer that comes, whether or not the request was sent in full."""
        response = self._response()
        head, _, rest = response.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        code = json.loads(rest).get("error", "") if "json" in headers["content-type"] else ""
        if isinstance(code, dict):
            code = code["code"]
        return int(lines[0].split()[1]), code, headers

    def _response(self) -> bytes:
        found = b""
        while True:
            head, _, rest = found.partition(b"\r\n\r\n")
            length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length: ")]
            if length and len(rest) >= int(length[0].split()[1]):
                return found
            piece = self._socket.recv(65536)
            assert piece, found
            found += piece

    def goes_on(self) -> bool:
        """Whether the server asks for the body: by then it has room for it."""
        return self._socket.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"

    def is_closed_by_the_server(self) -> bool:
        try:
            return self._socket.recv(65536) == b""
        except ConnectionResetError:
            return True


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    settings = {
        "SOUVENANCE_CHAT_BASE_URL": "http://127.0.0.1:9/v1",
        "SOUVENANCE_BODIES_BYTES": "1",
        "SOUVENANCE_BODY_STALL_SECONDS": "2",
    }
    with serving(tmp_path_factory.mktemp("bodies") / "home", **settings) as server:
        yield server


@pytest.fixture
def wire(server):
    with closing(Wire(server.url)) as wire:
        yield wire


@contextmanager
def opened(home):
    installation = open_installation(
        settings_from({"SOUVENANCE_HOME": str(home), "SOUVENANCE_EMBEDDER": "none"})
    )
    try:
        yield installation
    finally:
        installation.close()


@pytest.fixture(scope="module")
def with_body(tmp_path_factory):
    """Every method and path of the server that may come with a body."""
    told = every_path(tmp_path_factory.mktemp("paths") / "home")
    return [(method, path) for method, path in told if method not in ("GET", "OPTIONS")]


@pytest.mark.parametrize("token", [None, "junk", FORGED])
def test_a_request_without_a_good_signature_is_refused_while_its_body_is_unsent(server, with_body, token):
    asked = [(method, path) for method, path in with_body if path not in OPEN_TO_ALL]
    assert len(asked) == len(with_body) - len(OPEN_TO_ALL) > 100
    for method, path in asked:
        with closing(Wire(server.url)) as wire:
            more = {"cookie": f"souvenance-inspector={token}"} if token else {}
            wire.send(method, path, 16 * MEGABYTE, PART, token, **more)
            status, code, headers = wire.answer()
        if path == READS_NO_BODY:
            assert status in (200, 403)
            continue
        assert status == 401, (method, path)
        refused = {"cap_missing", "cap_malformed", "cap_sig_invalid"}
        assert code in refused or headers["content-type"].startswith("text/html"), (method, path, code)


def test_a_client_that_sends_on_after_the_refusal_still_reads_it(server):
    with httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE_SECONDS) as client:
        answer = client.post(PUT, content=b" " * 12 * MEGABYTE)
        assert (answer.status_code, answer.json()["error"]) == (401, "cap_missing")
        assert client.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (PUT, "body_too_large"),
        ("/v3/workspaces", "body_too_large"),
        ("/v3/workspaces/w/sessions/s/messages/upload", "file_too_large"),
        ("/v1/chat/completions", "body_too_large"),
        ("/mcp", "body_too_large"),
    ],
)
def test_a_body_that_says_it_is_too_long_is_refused_unread_and_the_row_says_so(server, wire, path, code):
    wire.send("POST", path, 17 * MEGABYTE, PART, server.owner_cap)
    assert wire.answer()[:2] == (413, code)
    rows = server.owner.get("/v1/audit").json()["rows"]
    if path.startswith((PUT, "/v3")):
        assert rows[-1]["outcome"] == code


@pytest.mark.parametrize("path", OPEN_TO_ALL)
def test_what_needs_no_token_takes_a_small_body_only(server, wire, path):
    wire.send("POST", path, 33 * 1024, b"a=b", content_type="application/x-www-form-urlencoded")
    assert wire.answer()[0] == 413


@pytest.mark.parametrize("path", [PUT, "/v3/workspaces", "/v1/responses", "/mcp", metadata.TOKEN])
def test_a_body_that_stalls_is_given_up_with_a_code(server, wire, path):
    form = {"content_type": "application/x-www-form-urlencoded"} if path == metadata.TOKEN else {}
    wire.send("POST", path, 100, PART, server.owner_cap, **form)
    status, code, _ = wire.answer()
    assert (status, code) == (408, "invalid_request" if form else "body_timeout")


def test_a_body_that_never_stalls_is_given_up_at_its_deadline(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_BODY_SECONDS="1") as server, closing(Wire(server.url)) as wire:
        wire.send("POST", PUT, 100, PART, server.owner_cap)
        assert wire.answer()[:2] == (408, "body_timeout")


def test_bodies_of_one_token_or_of_all_take_no_more_than_their_budget(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_BODIES_BYTES="1") as server:
        others = server.mint("other")
        wires = [Wire(server.url) for _ in range(3)]
        wires[0].send("POST", "/v3/workspaces", 16 * MEGABYTE, b"", server.owner_cap, expect="100-continue")
        assert wires[0].goes_on()
        wires[1].send("POST", PUT, MEGABYTE, PART, server.owner_cap)
        wires[2].send("POST", PUT, MEGABYTE, PART, others)
        status, code, headers = wires[1].answer()
        assert (status, code, headers["retry-after"]) == (429, "rate_limited", "1")
        status, code, headers = wires[2].answer()
        assert (status, code, headers["retry-after"]) == (503, "server_busy", "1")
        for wire in wires:
            wire.close()
        assert until(lambda: server.owner.post(PUT, json={"text": "There is room."}).status_code == 201)


def test_no_token_takes_more_than_its_share_and_others_are_served():
    budget = BodyBudget(100, 50)
    budget.take("ann", 50)
    with pytest.raises(RateLimited) as refused:
        budget.take("ann", 1)
    assert refused.value.code == "rate_limited"
    budget.take("bob", 50)
    with pytest.raises(ServerBusy):
        budget.take("eve", 1)
    budget.give_back("ann", 50)
    budget.take("eve", 1)


def test_what_is_kept_beyond_its_request_leaves_the_share_of_its_token_free():
    budget = BodyBudget(100, 50)
    budget.take("ann", 40)
    budget.keep("ann", 40)
    budget.take("ann", 50)
    with pytest.raises(ServerBusy):
        budget.keep("ann", 50)
    with pytest.raises(ServerBusy):
        budget.take("bob", 11)
    budget.give_back("kept", 40)
    budget.take("bob", 50)


_OPENED: list[str] = []
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | getattr(os, "O_TMPFILE", 0)


def _hear(event: str, args: tuple) -> None:
    if event == "open" and isinstance(args[2], int) and args[2] & _WRITING:
        _OPENED.append(str(args[0]))


@contextmanager
def opened_for_writing():
    """The files that this process opens to write meanwhile."""
    if not hasattr(opened_for_writing, "heard"):
        sys.addaudithook(_hear)
        opened_for_writing.heard = True
    _OPENED.clear()
    found: list[str] = []
    yield found
    found += _OPENED


@pytest.mark.parametrize("token", ["owner", None])
def test_an_upload_is_never_written_to_the_temporary_folder(home, token):
    file = {"file": ("notes.txt", b"the marker in plain text " * 80_000, "text/plain")}
    with opened(home) as installation, running(make_app(installation.gate)) as url:
        headers = {"authorization": f"Bearer {installation.owner_cap}"} if token else {}
        with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=PATIENCE_SECONDS) as client:
            client.get("/health")
            with opened_for_writing() as files:
                answer = client.post(
                    "/v3/workspaces/w/sessions/s/messages/upload", files=file, data={"peer_id": "ann"}
                )
    assert answer.status_code == (201 if token else 401)
    assert [one for one in files if not one.startswith(str(home))] == []


class _Files:
    """What a server gives the page about data."""

    transfers = DataTransfers()


def test_a_file_that_is_imported_is_never_written_to_the_temporary_folder(home):
    line = json.dumps({"role": "user", "content": "the marker in plain text " * 100}).encode()
    file = {"file": ("notes.jsonl", b"\n".join([line] * 800))}
    with opened(home) as installation:
        door = InspectorDoor(installation.sign_ins.browsers, _Files())
        link = installation.sign_ins.browsers.link(installation.owner_cap)
        with (
            running(make_app(installation.gate, doors=[door])) as url,
            httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_SECONDS) as client,
        ):
            client.get(f"/inspect/sign-in?link={link}")
            csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/inspect/data").text)[1]
            with opened_for_writing() as files:
                begun = client.post("/inspect/data/import?w=w", data={"csrf": csrf}, files=file)
                assert begun.status_code == 303
                state = begun.headers["location"]
                until(lambda: "Import it" in client.get(state).text)
                client.post(f"{state}/start", data={"csrf": csrf})
                until(lambda: "Imported" in client.get(state).text)
    assert [one for one in files if not one.startswith(str(home))] == []


def test_headers_that_do_not_end_are_refused(server, wire):
    wire.write(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n")
    with suppress(ConnectionError):
        for number in range(2 * MOST_HEADER_BYTES // 1000):
            wire.write(b"x-%d: %s\r\n" % (number, b"a" * 1000))
    assert wire.answer()[:2] == (431, "headers_too_large")


def test_what_is_no_http_is_refused_in_our_words(server, wire):
    wire.write(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: many\r\n\r\n")
    assert wire.answer()[:2] == (400, "invalid_input")


class Hasty(BoundedProtocol):
    header_seconds = 0.05
    rest_seconds = 0.05


@contextmanager
def hasty(app):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, http=Hasty, ws="none", log_level="critical"))
        thread = Thread(target=server.run, args=([listener],))
        thread.start()
        until(lambda: server.started)
        try:
            with closing(Wire(f"http://127.0.0.1:{listener.getsockname()[1]}")) as wire:
                yield wire
        finally:
            server.should_exit = True
            thread.join()


def test_headers_that_come_too_slowly_end_the_connection(home):
    with (
        opened(home) as installation,
        hasty(make_app(installation.gate)) as wire,
    ):
        wire.write(b"GET /health HTTP/1.1\r\nhost")
        assert wire.is_closed_by_the_server()


def test_the_rest_of_a_refused_body_is_not_awaited_for_ever(home):
    with (
        opened(home) as installation,
        hasty(make_app(installation.gate)) as wire,
    ):
        wire.send("POST", PUT, 16 * MEGABYTE, PART)
        assert wire.answer()[0] == 401
        assert wire.is_closed_by_the_server()
