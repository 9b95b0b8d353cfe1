"""A collector of traces on loopback, that keeps what it is sent."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    def __init__(self, url: str) -> None:
        self.url = url
        self.raw: list[bytes] = []
        self.headers: list[dict[str, str]] = []

    @property
    def resources(self) -> list[dict[str, Any]]:
        return [_plain(one.resource.attributes) for told in self._told for one in told.resource_spans]

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for told in self._told
            for of_one in told.resource_spans
            for scope in of_one.scope_spans
            for span in scope.spans
        ]

    def of(self, request_id: str) -> dict[str, Any]:
        """The spans of one request by their names; of several with one name the last."""
        return {
            one.name: one for one in self.spans if attributes(one).get("souvenance.request_id") == request_id
        }

    @property
    def _told(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(one) for one in self.raw]


def attributes(span: Any) -> dict[str, Any]:
    return _plain(span.attributes)


def _plain(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


@contextmanager
def a_collector() -> Iterator[Collector]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.collector = Collector(f"http://127.0.0.1:{server.server_port}")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.collector  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        collector: Collector = self.server.collector  # type: ignore[attr-defined]
        collector.raw.append(body)
        collector.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.send_response(200 if self.path == "/v1/traces" else 404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""
