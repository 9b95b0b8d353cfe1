"""A server that is far away: every call to it through this proxy takes so much longer."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_TIMEOUT_SECONDS = 120.0
_NOT_PASSED_ON = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host"})


class Far:
    """Where the server is to be reached from far away, and how often it was."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.calls = 0


@contextmanager
def far_away(url: str, seconds: float) -> Iterator[Far]:
    """A proxy before the server until the end of the block; a call waits before it is passed on."""
    proxy = _Proxy(("127.0.0.1", 0), _Handler)
    proxy.upstream, proxy.seconds = urlsplit(url).netloc, seconds
    proxy.far = Far(f"http://127.0.0.1:{proxy.server_port}")
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy.far
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    upstream: str
    seconds: float
    far: Far

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no news."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    """A connection of a client. Each call has one of its own to the server, which may end what is idle."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Proxy

    def _pass_on(self) -> None:
        self.server.far.calls += 1
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        time.sleep(self.server.seconds)
        headers = {name: text for name, text in self.headers.items() if name.lower() not in _NOT_PASSED_ON}
        with closing(HTTPConnection(self.server.upstream, timeout=_TIMEOUT_SECONDS)) as upstream:
            upstream.request(self.command, self.path, body or None, headers)
            answer = upstream.getresponse()
            told = answer.read()
        head = [f"HTTP/1.1 {answer.status} {answer.reason}", f"content-length: {len(told)}"]
        kept = [pair for pair in answer.getheaders() if pair[0].lower() not in _NOT_PASSED_ON]
        head += [f"{name}: {text}" for name, text in kept]
        self.wfile.write("\r\n".join((*head, "", "")).encode("latin-1") + told)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass_on  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
