"""A scripted embeddings endpoint on this machine, which answers as OpenAI's does unless told otherwise."""

from __future__ import annotations

import json
import struct
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from reference.embedder import ReferenceEmbedder

Script = Callable[[dict], tuple[int, object] | None]
"""From the body of a request to a status and a body (bytes as they are); None to answer as usual."""


class Endpoint(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, dict[str, str], dict]] = []
        self.scripts: deque[Script] = deque()
        self.always: Script = lambda body: None
        self._lock = Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: object) -> None:
        """Nothing: callers that have had enough hang up."""

    def answer(self, path: str, headers: dict[str, str], body: dict) -> tuple[int, object]:
        with self._lock:
            self.asked.append((path, headers, body))
            script = self.scripts.popleft() if self.scripts else self.always
        return script(body) or (200, usual(body))


def usual(body: dict) -> dict:
    vectors = ReferenceEmbedder().passages(body["input"])
    items = [
        {
            "object": "embedding",
            "index": at,
            "embedding": [3 * value for value in struct.unpack("<64f", vector)][: body.get("dimensions", 64)],
        }
        for at, vector in enumerate(vectors)
    ]
    return {"object": "list", "model": body["model"], "data": items, "usage": {"total_tokens": 1}}


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, told = self.server.answer(
            self.path, {name.lower(): value for name, value in self.headers.items()}, body
        )
        content = told if isinstance(told, bytes) else json.dumps(told).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
