"""A server that answers a Honcho client as a test wants: with pages that it was given, or with faults."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

_EVERY = {
    "created_at": "2024-01-01T00:00:00Z",
    "metadata": {},
    "configuration": {},
    "workspace_id": "w",
    "session_id": "s",
    "is_active": True,
    "token_count": 1,
}
"""What every item of a list says."""


class Source:
    """What is served, by path; `faults` are answered first: a status, headers and a body each."""

    def __init__(self, **lists):
        self.lists = defaultdict(list, {f"/v3/{path}": items for path, items in lists.items()})
        self.objects = {}
        self.faults = []
        self.asked = []
        self.url = ""

    def answer(self, method, target, headers):
        parts = urlsplit(target)
        path, query = unquote(parts.path), dict(parse_qsl(parts.query))
        self.asked.append((method, path, query, headers.get("authorization")))
        if self.faults:
            return self.faults.pop(0)
        if path in self.objects:
            return 200, {}, json.dumps(self.objects[path]).encode()
        if not path.endswith(("/list", "/peers")):
            return 200, {}, b"{}"
        page, size = int(query.get("page", 1)), int(query.get("size", 50))
        items = self.lists[path]
        told = {
            "items": [{**_EVERY, **one} for one in items[(page - 1) * size : page * size]],
            "total": len(items),
            "page": page,
            "size": size,
            "pages": -(-len(items) // size),
        }
        return 200, {}, json.dumps(told).encode()


@contextmanager
def standing_in(source: Source) -> Iterator[Source]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.do_POST()

        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            status, headers, body = source.answer(self.command, self.path, self.headers)
            self.send_response(status)
            for name, value in {"content-length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    source.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield source
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
