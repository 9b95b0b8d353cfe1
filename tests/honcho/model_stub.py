"""A model that has learnt two answers: an OpenAI-compatible endpoint that keeps what it was asked.

The first time a conversation offers it the tool it was told of, it calls it; otherwise it says its one line.
Streamed or not, as asked.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "parrot"
LINE = "Noted."


class ModelStub:
    """The endpoint's address, what it was asked, and which tool it will call with what."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[dict[str, Any]] = []
        self.tool: tuple[str, dict[str, Any]] | None = None

    def conversations(self) -> list[str]:
        """The messages of each request, as text."""
        return [json.dumps(request["messages"], ensure_ascii=False) for request in self.asked]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The message that the model adds to a conversation."""
        self.asked.append(request)
        offered = {tool["function"]["name"] for tool in request.get("tools") or []}
        used = any(message["role"] == "tool" for message in request["messages"])
        if self.tool is None or self.tool[0] not in offered or used:
            return {"role": "assistant", "content": LINE}
        name, arguments = self.tool
        call = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"index": 0, "id": "call-1", "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": calls}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: ModelStub

    def do_GET(self) -> None:
        self._send("application/json", json.dumps({"object": "list", "data": [{"id": MODEL}]}))

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = self.stub.answer(request)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        about = {"id": "chatcmpl-1", "created": 0, "model": MODEL}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            whole = {**about, "object": "chat.completion", "choices": [choice], "usage": usage}
            self._send("application/json", json.dumps(whole))
            return
        chunks = [
            {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
            {"choices": [], "usage": usage},
        ]
        lines = [json.dumps({**about, "object": "chat.completion.chunk", **chunk}) for chunk in chunks]
        self._send("text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]))

    def _send(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: what was asked is kept, not printed."""


@contextmanager
def a_model() -> Iterator[ModelStub]:
    """The endpoint on a free port of this machine, until the end of the block."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.stub = ModelStub(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield handler.stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
