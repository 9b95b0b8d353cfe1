"""HTTP as uvicorn speaks it, with bounds on what comes before and after a request is in work.

uvicorn itself waits for ever for the end of headers, keeps as many of them as come, and waits for ever for
the rest of a body whose request is answered already.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from souvenance.errors import HeadersTooLarge, InvalidInput, SouvenanceError
from souvenance.surfaces.http.request_threads import HEADERS, encode
from souvenance.surfaces.http.statuses import status_of

MOST_HEADER_BYTES = 64 * 1024


class BoundedProtocol(HttpToolsProtocol):
    header_seconds = 30.0
    rest_seconds = 30.0
    """How long the rest of a body may come, unread, after its request was answered."""
    _header_bytes = 0
    _in_headers = True
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._close_in(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._keep_open()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_headers:
            self._header_bytes += len(data)
            if self._timer is None:
                self._close_in(self.header_seconds)
        super().data_received(data)
        if self._in_headers and self._header_bytes > MOST_HEADER_BYTES and not self.transport.is_closing():
            self._refuse(HeadersTooLarge(f"the headers are larger than {MOST_HEADER_BYTES} bytes"))

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._keep_open()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_headers, self._header_bytes = True, 0
        self._keep_open()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_headers:
            self._close_in(self.rest_seconds)

    def send_400_response(self, msg: str) -> None:
        self._refuse(InvalidInput("this is no request of HTTP", hint="See /openapi.json."))

    def _refuse(self, error: SouvenanceError) -> None:
        """In the words of the doors, for a request that reaches none."""
        body = encode({"error": error.code, "detail": error.detail, "hint": error.hint})
        headers = {
            **HEADERS,
            "content-type": "application/json",
            "content-length": str(len(body)),
            "connection": "close",
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(STATUS_LINE[status_of(type(error))] + lines.encode() + b"\r\n" + body)
        self.transport.close()

    def _close_in(self, seconds: float) -> None:
        self._keep_open()
        self._timer = self.loop.call_later(seconds, self.transport.close)

    def _keep_open(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
