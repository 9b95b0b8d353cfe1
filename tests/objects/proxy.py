"""A proxy on 127.0.0.1 that hands requests on to a server, or fails them as it was told."""

from __future__ import annotations

import threading
from collections import deque
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CUT = "cut"
"""The connection is closed before any answer."""
LATE_CUT = "late cut"
"""The request is carried out, and the connection closed before its answer."""
HANG = "hang"
"""No answer comes until the proxy ends."""


class FaultProxy:
    def __init__(self, port: int) -> None:
        """Stand before the server at that port of this machine."""
        self.faults: deque[int | str] = deque()
        """What happens to the next requests, one each: a status, or one of the faults."""
        self.seen: list[str] = []
        """The methods of the requests that came."""
        self._over = threading.Event()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                proxy._serve(self, port)

            def log_message(self, *told: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self, request: BaseHTTPRequestHandler, port: int) -> None:
        body = request.rfile.read(int(request.headers.get("content-length") or 0))
        self.seen.append(request.command)
        fault = self.faults.popleft() if self.faults else None
        if fault == HANG:
            self._over.wait()
        if fault in (CUT, HANG):
            request.close_connection = True
            return
        if isinstance(fault, int):
            _answer(request, fault, b"")
            return
        upstream = HTTPConnection("127.0.0.1", port, timeout=20)
        try:
            upstream.request(request.command, request.path, body, dict(request.headers))
            answer = upstream.getresponse()
            data = answer.read()
        except (OSError, HTTPException):
            request.close_connection = True
            return
        finally:
            upstream.close()
        if fault == LATE_CUT:
            request.close_connection = True
            return
        _answer(request, answer.status, data, answer.getheaders())


def _answer(
    request: BaseHTTPRequestHandler, status: int, data: bytes, headers: list[tuple[str, str]] = ()
) -> None:
    request.send_response_only(status)
    for name, value in headers:
        if name.lower() not in ("content-length", "transfer-encoding", "connection"):
            request.send_header(name, value)
    length = dict((name.lower(), value) for name, value in headers).get("content-length", "0")
    request.send_header("content-length", length if request.command == "HEAD" else str(len(data)))
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(data)
