"""What every door over HTTP does alike: read a body within bounds, find the cap, write JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from mnemon.domain.proof import Bound, bound_headers
from mnemon.errors import MnemonError, RateLimited, Unauthenticated
from mnemon.gate.admission import Credentials
from mnemon.gate.gate import Gate
from mnemon.gate.operation import Operation

HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
encode = msgspec.json.Encoder().encode

Endpoint = Callable[[Request], Awaitable[Response]]
Reads = Callable[[], Any]
"""Reads the request, once the cap is admitted."""

_Piece = TypeVar("_Piece")

LOCAL = "local"
"""What clients of a local server without keys send in place of one."""


class _Threads(ThreadPoolExecutor):
    """Threads in which the context of whoever hands over the work holds on: of which request it is."""

    def submit(self, fn: Callable[..., _Piece], /, *args: Any, **kwargs: Any) -> Future[_Piece]:
        return super().submit(copy_context().run, partial(fn, *args, **kwargs))


class Hands:
    """The threads that do what the event loop must not wait for.

    Reading is computing, and threads that compute only take the interpreter's lock from each other: one
    reads for all. Whoever writes waits for the disk: those are more. A question may wait for a model, and
    nobody who writes should wait for that.
    """

    def __init__(self) -> None:
        self._reading = _Threads(1, "mnemon-reading")
        self._waiting = _Threads(8, "mnemon-waiting")
        self._thinking = _Threads(32, "mnemon-thinking")

    async def call(self, gate: Gate, operation: Operation, credentials: Credentials, read: Reads) -> Any:
        """What the gate answers. Raises: MnemonError."""
        pool = self._thinking if operation.waits else self._waiting if operation.writes else self._reading
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(pool, gate.call, operation, credentials, read)

    async def look(self, work: Callable[[], _Piece]) -> _Piece:
        """What comes of something that only reads. Raises: MnemonError."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, work)

    async def keep(self, work: Callable[[], _Piece]) -> _Piece:
        """What comes of something that writes. Raises: MnemonError."""
        return await asyncio.get_running_loop().run_in_executor(self._waiting, work)

    async def next(self, pieces: Iterator[_Piece]) -> _Piece:
        """The next of what is waited for. Raises: MnemonError."""
        return await asyncio.get_running_loop().run_in_executor(self._thinking, next, pieces)


async def body_of(request: Request, most: int) -> tuple[bytes, bool]:
    """The body and True, or nothing and False if it is larger than that."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            return b"", False
        chunks.append(chunk)
    return b"".join(chunks), True


def credentials_of(request: Request, body: bytes) -> Credentials:
    headers = bound_headers(request.headers.items())
    bound = Bound(request.method, _target(request), body, headers)
    return Credentials(_token(request), request.headers.get("dpop"), bound)


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() not in ("bearer", "dpop"):
        return None
    token = token.strip()
    trusted: str | None = request.scope.get("mnemon.trusted")
    return trusted if token == LOCAL and trusted is not None else token


def _target(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def json_answer(status: int, content: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(encode(content), status, {**HEADERS, **(headers or {})}, "application/json")


def refusal_headers(error: MnemonError) -> dict[str, str]:
    headers: dict[str, str] = {}
    if isinstance(error, RateLimited):
        headers["retry-after"] = str(error.retry_after)
    elif error.retryable:
        headers["retry-after"] = "1"
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = f'Bearer error="invalid_token", error_description="{error.code}"'
    return headers
