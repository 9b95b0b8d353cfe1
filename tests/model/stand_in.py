"""A stand-in for a model: an OpenAI-compatible endpoint on loopback that does what it is told, and fails so.

It plays a script, one reply after the other; when that is over, the last one again. A reply is the text that
it says, something to encode as JSON, one of the kinds below, or a function of the request that gives any of
these.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import msgspec

from processes import PATIENCE_SECONDS

NAME = "parrot-1"
_FENCE = re.compile(r"<data-(\w+)>\n(.*?)\n</data-\1>", re.DOTALL)


@dataclass(frozen=True)
class Says:
    """A reply in words, in pieces if it is streamed; before each piece it may wait for something."""

    text: str = ""
    pieces: tuple[str, ...] = ()
    finish: str = "stop"
    usage: int | None = 20
    refusal: str | None = None
    searches: tuple[str, ...] = ()
    before: Callable[[int], object] = field(default=lambda piece: None, repr=False)
    breaks_off: bool = False


@dataclass(frozen=True)
class Fails:
    """A refusal with a status."""

    status: int
    told: Any = field(default_factory=lambda: {"error": {"message": "no"}})
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sends:
    """These very bytes."""

    content: bytes
    status: int = 200
    kind: str = "application/json"


@dataclass(frozen=True)
class Streams:
    """These very bytes, in so many pieces; before each piece it may wait for something."""

    pieces: tuple[bytes, ...]
    before: Callable[[int], object] = field(default=lambda piece: None, repr=False)
    breaks_off: bool = False
    kind: str = "text/event-stream"


@dataclass(frozen=True)
class Hangs:
    """Nothing, until it is told to go on."""

    until: threading.Event


@dataclass(frozen=True)
class Asked:
    """One request as it came over the wire."""

    body: dict[str, Any]
    headers: dict[str, str]
    raw: bytes = b""
    path: str = ""

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]

    @property
    def system(self) -> str:
        return self.messages[0]["content"]

    @property
    def text(self) -> str:
        """Everything that the model reads."""
        return "\n".join(str(message.get("content") or "") for message in self.messages)

    @property
    def quoted(self) -> list[list[dict[str, Any]]]:
        """What is quoted, fence by fence."""
        return [
            [msgspec.json.decode(line) for line in found[1].splitlines()]
            for found in _FENCE.findall(self.text)
        ]

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]


class StandIn:
    """The endpoint: where it is, what it was asked, and what it will say."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.models: list[dict[str, Any]] = [{"id": NAME, "object": "model"}]
        self._script: list[Any] = ["Noted."]
        self._changed = threading.Condition()

    def plays(self, *replies: Any) -> None:
        """From now on reply so, and in the end always with the last one."""
        with self._changed:
            self._script = list(replies)

    def wait(self, count: int) -> None:
        """Until it was asked so often."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= count, PATIENCE_SECONDS)

    def reply(self, asked: Asked) -> Any:
        with self._changed:
            self.asked.append(asked)
            found = self._script.pop(0) if len(self._script) > 1 else self._script[0]
            self._changed.notify_all()
        while callable(found):
            found = found(asked)
        if isinstance(found, str):
            return Says(found)
        return Says(msgspec.json.encode(found).decode()) if isinstance(found, dict | list) else found


@contextmanager
def a_stand_in() -> Iterator[StandIn]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.stand_in = StandIn(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    stand_in: StandIn
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hung up: tests make them do so."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        if urlsplit(self.path).path != "/v1/models":
            self._others()
            return
        told = {"object": "list", "data": self.server.stand_in.models}
        self._whole(200, msgspec.json.encode(told))

    def _others(self) -> None:
        """A path that only some endpoints have: asked and answered without a look at the body."""
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        match self.server.stand_in.reply(Asked({"method": self.command}, headers, raw, self.path)):
            case Sends(content, status, kind):
                self._whole(status, content, {"content-type": kind})
            case Fails(status, told, more):
                self._whole(status, msgspec.json.encode(told), more)
            case Streams() as streams:
                self._pieces(streams)
            case _:
                self._whole(404, b"{}")

    def do_DELETE(self) -> None:
        self._others()

    def do_PUT(self) -> None:
        self._others()

    def do_PATCH(self) -> None:
        self._others()

    def do_POST(self) -> None:
        if urlsplit(self.path).path not in ("/v1/chat/completions", "/v1/responses"):
            self._others()
            return
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = msgspec.json.decode(raw)
        asked = Asked(body, {name.lower(): value for name, value in self.headers.items()}, raw, self.path)
        match self.server.stand_in.reply(asked):
            case Fails(status, told, headers):
                self._whole(status, msgspec.json.encode(told), headers)
            case Sends(content, status, kind):
                self._whole(status, content, {"content-type": kind})
            case Streams() as streams:
                self._pieces(streams)
            case Hangs(until):
                until.wait(PATIENCE_SECONDS)
                self.close_connection = True
            case Says() as says if body.get("stream"):
                self._stream(says)
            case Says() as says:
                self._whole(200, msgspec.json.encode(_completion(says, body.get("n") or 1)))

    def _whole(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, says: Says) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for at, piece in enumerate(says.pieces or (says.text,)):
            says.before(at)
            self._event({"choices": [{"index": 0, "delta": {"content": piece}}]})
        if says.breaks_off:
            return
        delta = {"tool_calls": _calls(says)} if says.searches else {}
        self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": says.finish}]})
        if says.usage is not None:
            self._event({"choices": [], "usage": {"total_tokens": says.usage}})
        self.wfile.write(b"data: [DONE]\n\n")

    def _pieces(self, streams: Streams) -> None:
        """In chunks, so that whoever reads can tell an end from a break."""
        self.send_response(200)
        self.send_header("content-type", streams.kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for at, piece in enumerate(streams.pieces):
            streams.before(at)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        if streams.breaks_off:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _event(self, told: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + msgspec.json.encode(told) + b"\n\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: what was asked is kept, not printed."""


def _completion(says: Says, count: int = 1) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": says.text or "".join(says.pieces)}
    if says.refusal is not None:
        message |= {"content": None, "refusal": says.refusal}
    if says.searches:
        message |= {"content": None, "tool_calls": _calls(says)}
    usage = {} if says.usage is None else {"usage": {"total_tokens": says.usage}}
    choices = [{"index": at, "message": message, "finish_reason": says.finish} for at in range(count)]
    return {"choices": choices, **usage}


def _calls(says: Says) -> list[dict[str, Any]]:
    return [
        {
            "index": at,
            "id": f"call-{at}",
            "type": "function",
            "function": {
                "name": "search_memory",
                "arguments": msgspec.json.encode({"query": words}).decode(),
            },
        }
        for at, words in enumerate(says.searches)
    ]
