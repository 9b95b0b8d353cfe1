"""Gives every request an id, which its answer, logs and traces carry."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from souvenance.domain import ulid
from souvenance.domain.telemetry import CURRENT, HEADER, is_plain
from souvenance.surfaces.http.telemetry.observer import TelemetryObserver

_HEADER = HEADER.encode()
_UPSTREAM = b"x-upstream-request-id"
"""What an endpoint behind us calls the request."""

_Headers = Iterable[tuple[bytes, bytes]]


class TelemetryMiddleware:
    """Lets requests through to whoever answers, as they come and go: nothing of a body is held back."""

    def __init__(self, sight: TelemetryObserver | None = None) -> None:
        self._sight = sight

    async def __call__(self, answer: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = _told(scope["headers"]) or _made()
        CURRENT.set(request_id)
        own = (_HEADER, request_id.encode("ascii"))

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*_renamed(message.get("headers", ())), own]
            await send(message)

        if self._sight is None:
            await answer(scope, receive, tell)
        else:
            await self._sight.request(answer, scope, receive, tell)


def _told(headers: _Headers) -> str | None:
    """The client's id for its request, if it may be taken over."""
    for name, value in headers:
        if name == _HEADER:
            text = value.decode("latin-1")
            return text if is_plain(text) else None
    return None


def _made() -> str:
    return ulid.compose(time.time_ns() // 1_000_000, os.urandom(ulid.ENTROPY_BYTES))


def _renamed(headers: _Headers) -> list[tuple[bytes, bytes]]:
    return [(_UPSTREAM if name == _HEADER else name, value) for name, value in headers]
