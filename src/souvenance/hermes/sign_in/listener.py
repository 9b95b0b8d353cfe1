"""The local web server that receives a browser's answer at the end of a sign-in."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

HOST = "127.0.0.1"
"""An address, because a browser could resolve a name to another machine."""
PORT = 8765
PATH = "/callback"

_READ_SECONDS = 10.0
_MOST_FIELDS = 20
_POLL_SECONDS = 0.05
_HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "connection": "close",
}
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>{0}</title><style>body{{font:1.1rem/1.5 '
    "system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem}}</style><h1>{0}</h1><p>{1}</p>"
)


class Listener(ThreadingHTTPServer):
    """Listens on port 8765 of this machine, or on any free port if that one is taken.

    Each connection has a thread: browsers open some that they never use.
    """

    def __init__(self, port: int = PORT) -> None:
        self._answers: queue.SimpleQueue[Mapping[str, str]] = queue.SimpleQueue()
        self._awaited: Callable[[Mapping[str, str]], bool] | None = None
        self._lock = threading.Lock()
        try:
            super().__init__((HOST, port), _CallbackHandler)
        except OSError:
            super().__init__((HOST, 0), _CallbackHandler)
        self.host = f"{HOST}:{self.server_address[1]}"
        self.redirect = f"http://{self.host}{PATH}"
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_POLL_SECONDS,), name="souvenance-sign-in", daemon=True
        )
        self._thread.start()

    def expect(self, awaited: Callable[[Mapping[str, str]], bool]) -> None:
        """Accept the first answer for which `awaited` is true, and no other."""
        with self._lock:
            self._awaited = awaited

    def wait(self, seconds: float) -> Mapping[str, str] | None:
        try:
            return self._answers.get(timeout=seconds)
        except queue.Empty:
            return None

    def expects(self, answer: Mapping[str, str]) -> bool:
        """Whether that is the expected answer. True once."""
        with self._lock:
            if self._awaited is None or not self._awaited(answer):
                return False
            self._awaited = None
        return True

    def pass_on(self, answer: Mapping[str, str]) -> None:
        self._answers.put(answer)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closed its connection is no error."""


class _CallbackHandler(BaseHTTPRequestHandler):
    server: Listener
    timeout = _READ_SECONDS
    server_version = "souvenance"
    sys_version = ""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path != PATH or self.headers.get("host") != self.server.host:
            self._answer(404, "Nothing here", "This address receives the answer of a sign-in.")
            return
        try:
            answer = dict(parse_qsl(parts.query, max_num_fields=_MOST_FIELDS))
        except ValueError:
            answer = {}
        if not self.server.expects(answer):
            self._answer(400, "Not this sign-in", "This answer belongs to no sign-in that waits here.")
            return
        told = (400, "You are not signed in", "Go back to Hermes to see why.")
        if "code" in answer:
            told = (200, "You can close this tab", "Go back to Hermes to see that you are signed in.")
        try:
            self._answer(*told)
        finally:
            # After the page: a sign-in that was refused ends the process at once.
            self.server.pass_on(answer)

    def _answer(self, status: int, title: str, words: str) -> None:
        body = _PAGE.format(title, words).encode()
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is logged: the requests hold codes."""
