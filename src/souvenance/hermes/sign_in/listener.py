"""The listener on this machine that a browser brings the answer of a sign-in to."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

HOST = "127.0.0.1"
"""An address and no name, which a browser could take for another one."""
PORT = 8765
PATH = "/callback"

_ANSWER_SECONDS = 30.0
_READ_SECONDS = 10.0
_WRITE_SECONDS = 5.0
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


class BrowserReturn:
    """Somebody's browser with the answer, waiting to be told how it ended."""

    def __init__(self, answer: Mapping[str, str]) -> None:
        self.answer = answer
        self._told: queue.SimpleQueue[tuple[bool, str]] = queue.SimpleQueue()
        self._written = threading.Event()

    def tell(self, done: bool, words: str) -> None:
        """Say it, and wait a moment for it to be written."""
        self._told.put((done, words))
        self._written.wait(_WRITE_SECONDS)

    def outcome(self) -> tuple[bool, str]:
        try:
            return self._told.get(timeout=_ANSWER_SECONDS)
        except queue.Empty:
            return False, "See where you came from."

    def written(self) -> None:
        self._written.set()


class Listener:
    """Listens on port 8765 of this machine, or where that is taken, on any that is free."""

    def __init__(self, port: int = PORT) -> None:
        self._visits: queue.SimpleQueue[BrowserReturn | None] = queue.SimpleQueue()
        self._awaited: Callable[[Mapping[str, str]], bool] | None = None
        self._lock = threading.Lock()
        handler = type("_Bound", (_CallbackHandler,), {"listener": self})
        try:
            self._server = _CallbackServer((HOST, port), handler)
        except OSError:
            self._server = _CallbackServer((HOST, 0), handler)
        self.host = f"{HOST}:{self._server.server_address[1]}"
        self.redirect = f"http://{self.host}{PATH}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="souvenance-sign-in", daemon=True
        )
        self._thread.start()

    def expect(self, awaited: Callable[[Mapping[str, str]], bool]) -> None:
        """Let in the first visit with such an answer, and no other."""
        with self._lock:
            self._awaited = awaited

    def wait(self, seconds: float) -> BrowserReturn | None:
        """The visit that is expected; None if it did not come, or is given up."""
        try:
            return self._visits.get(timeout=seconds)
        except queue.Empty:
            return None

    def take(self, answer: Mapping[str, str]) -> BrowserReturn | None:
        """The visit with that answer, if it is expected."""
        with self._lock:
            if self._awaited is None or not self._awaited(answer):
                return None
            self._awaited = None
        visit = BrowserReturn(answer)
        self._visits.put(visit)
        return visit

    def give_up(self) -> None:
        """Let whoever waits go."""
        self._visits.put(None)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Listener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _CallbackServer(ThreadingHTTPServer):
    """Browsers open connections that they never use: each has a thread, and none is waited for."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no news."""


class _CallbackHandler(BaseHTTPRequestHandler):
    listener: Listener
    timeout = _READ_SECONDS
    server_version = "souvenance"
    sys_version = ""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path != PATH or self.headers.get("host") != self.listener.host:
            self._answer(404, "Nothing here", "This is where the answer of a sign-in arrives.")
            return
        try:
            answer = dict(parse_qsl(parts.query, max_num_fields=_MOST_FIELDS))
        except ValueError:
            answer = {}
        visit = self.listener.take(answer)
        if visit is None:
            self._answer(400, "Not this sign-in", "This answer belongs to no sign-in that waits here.")
            return
        done, words = visit.outcome()
        try:
            self._answer(
                200 if done else 400, "You are signed in" if done else "You are not signed in", words
            )
        finally:
            visit.written()

    def _answer(self, status: int, title: str, words: str) -> None:
        body = _page(title, words).encode()
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """What comes here holds a code, and is for no log."""


def _page(title: str, words: str) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>'
        f"{escape(title)}</title><style>body{{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;"
        f"margin:20vh auto;padding:0 1rem}}</style><h1>{escape(title)}</h1><p>{escape(words)}</p>"
    )
