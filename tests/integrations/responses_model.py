"""A stand-in for OpenAI's Responses API on loopback: its model calls `recall`, and says what it got."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({**_FIELDS, "model": body["model"], "output": [_output(body)]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


_FIELDS = {
    "id": "resp_1",
    "object": "response",
    "created_at": 0,
    "status": "completed",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
}


def _output(body: dict[str, Any]) -> dict[str, Any]:
    last = body["input"][-1]
    if last.get("type") == "function_call_output":
        said = {"type": "output_text", "text": last["output"], "annotations": []}
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [said],
        }
    [tool] = [one["name"] for one in body["tools"] if one["name"] == "recall"]
    arguments = json.dumps({"question": last["content"]})
    return {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": tool, "arguments": arguments}


@contextmanager
def responses_model() -> Iterator[str]:
    """Its address, for `OPENAI_BASE_URL`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
