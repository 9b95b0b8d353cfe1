"""The packaged embedder as an OpenAI-compatible endpoint on 127.0.0.1: all systems have equal vectors.

A text is embedded once. `GET /v1/seconds` answers how long all requests for vectors have taken here. The time
of a system leaves them out, so it does not depend on who came first.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from rivals_task import MODEL
from souvenance.adapters.embed.local import packaged


class _Vectors:
    """Any number of threads may use it."""

    def __init__(self) -> None:
        self._embedder = packaged()
        self._known: dict[str, bytes] = {}
        self._lock = Lock()
        self.seconds = 0.0

    def of(self, texts: list[str]) -> list[bytes]:
        with self._lock:
            new = [text for text in dict.fromkeys(texts) if text not in self._known]
            self._known |= zip(new, self._embedder.passages(new), strict=True)
            return [self._known[text] for text in texts]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    """The head and the body go out together: in two packets, the second would wait for the first."""
    vectors: _Vectors

    def do_GET(self) -> None:
        told = {"seconds": self.vectors.seconds}
        self._answer(told if self.path == "/v1/seconds" else {"object": "list", "data": [{"id": MODEL}]})

    def do_POST(self) -> None:
        began = time.perf_counter()
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        in_base64 = asked.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": number,
                "embedding": base64.b64encode(one).decode()
                if in_base64
                else memoryview(one).cast("f").tolist(),
            }
            for number, one in enumerate(self.vectors.of(texts))
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        self._answer({"object": "list", "model": MODEL, "data": data, "usage": usage}, began)

    def _answer(self, told: Any, began: float | None = None) -> None:
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if began is not None:
            self.vectors.seconds += time.perf_counter() - began
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@contextmanager
def served_embedder() -> Iterator[str]:
    """Its base URL, while it is served."""
    handler = type("Handler", (_Handler,), {"vectors": _Vectors()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
