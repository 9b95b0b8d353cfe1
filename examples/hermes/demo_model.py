"""A stand-in for the model: an OpenAI-compatible endpoint on loopback that keeps what it was asked.

Streamed or not, as asked. It answers by rules: the newest whose words are in the newest message of the
user speaks; without one it says `LINE`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

MODEL = "parrot"
LINE = "Noted."
_OPEN, _CLOSE = "<memory-context>", "</memory-context>"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to the model, as it came over the wire."""

    body: dict[str, Any]

    @property
    def tools(self) -> list[str]:
        """The names of the tools that it may call."""
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    @property
    def text(self) -> str:
        """All of it, as text."""
        return msgspec.json.encode(self.body).decode()

    @property
    def newest(self) -> str:
        """The newest message of the user with what the host put into it."""
        return self._since_user()[0]

    @property
    def said(self) -> str:
        """The newest message of the user without the fence that the host put at its end."""
        return self._parted()[0]

    @property
    def memory(self) -> str:
        """What is inside that fence; nothing if there is none."""
        return self._parted()[1]

    @property
    def results(self) -> list[str]:
        """What tools returned since that message."""
        return self._since_user()[1]

    def _parted(self) -> tuple[str, str]:
        newest = self.newest.rstrip()
        if not newest.endswith(_CLOSE):
            return newest, ""
        said, _, memory = newest.removesuffix(_CLOSE).rpartition(_OPEN)
        return said.rstrip(), memory

    def _since_user(self) -> tuple[str, list[str]]:
        results: list[str] = []
        for message in reversed(self.body["messages"]):
            if message["role"] == "tool":
                results.insert(0, _words(message["content"]))
            if message["role"] == "user":
                return _words(message["content"]), results
        return "", results


@dataclass(frozen=True, slots=True)
class DemoToolCall:
    name: str
    arguments: dict[str, Any]


class DemoModel:
    """The endpoint's address, what it was asked, and what it will say."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self._rules: list[tuple[str, str | DemoToolCall]] = []
        self._changed = threading.Condition()

    def answer(self, words: str, reply: str | DemoToolCall) -> None:
        """Reply so from now on to a message that holds the words. A tool is called once for each message."""
        self._rules.insert(0, (words, reply))

    def turns(self) -> list[Asked]:
        """The requests of conversations: those that offer tools, unlike the host's own jobs."""
        with self._changed:
            return [one for one in self.asked if one.tools]

    def wait(self, holds: Callable[[list[Asked]], bool], patience: float) -> bool:
        """Wait until it was asked what it was to be asked; whether that came to be in time."""
        with self._changed:
            return self._changed.wait_for(lambda: holds(self.asked), patience)

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        """The message that it adds to a conversation."""
        asked = Asked(body)
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()
            reply = next((reply for words, reply in self._rules if words in asked.said), LINE)
        if isinstance(reply, str):
            return {"role": "assistant", "content": reply}
        if asked.results or reply.name not in asked.tools:
            return {"role": "assistant", "content": LINE}
        function = {"name": reply.name, "arguments": msgspec.json.encode(reply.arguments).decode()}
        call = {"index": 0, "id": f"call-{len(self.asked)}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def _words(content: Any) -> str:
    """The text of a message, which may come in parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return str(content or "")


@contextmanager
def a_model(kind: type[DemoModel] = DemoModel) -> Iterator[DemoModel]:
    """The endpoint on a free port of this machine, until the end of the block."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.model = kind(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    model: DemoModel
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._send("application/json", {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        body = msgspec.json.decode(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/v1/chat/completions":
            self.send_error(404)
            return
        message = self.server.model.reply(body)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        about = {"id": "chatcmpl-1", "created": 0, "model": MODEL}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if body.get("stream"):
            chunks = (
                {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                {"choices": [], "usage": usage},
            )
            self._send(
                "text/event-stream", *({**about, "object": "chat.completion.chunk"} | one for one in chunks)
            )
        else:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            whole = {**about, "object": "chat.completion", "choices": [choice], "usage": usage}
            self._send("application/json", whole)

    def _send(self, kind: str, *parts: dict[str, Any]) -> None:
        told = [msgspec.json.encode(part) for part in parts]
        events = b"".join(b"data: %b\n\n" % one for one in (*told, b"[DONE]"))
        content = events if kind == "text/event-stream" else told[0]
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: what was asked is kept, not printed."""
