"""Request bodies: nothing of one is read before its token's signature is good.

A body has a size, a deadline as a whole and between two pieces of it, and counts against one budget of bytes
that all requests of the process share. It stays in memory: no part of it is ever written to a file.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from starlette.requests import Request
from starlette.types import Scope

from souvenance import errors as e
from souvenance.domain.limits import Limits
from souvenance.gate.gate import Gate
from souvenance.surfaces.http.request_threads import token_of

BODIES = "souvenance.bodies"
"""Where a request's scope has what its body is read with."""

FORM_BYTES = 64 * 1024
"""What a form may hold beside its file."""
_SHARES = 4
_RETRY_SECONDS = 1
_MOST_DIGITS = 18
_NOBODY = ""
"""Who sends the bodies that come without a token, all of them together."""
_KEPT = "kept"
"""The account of all bodies that are kept beyond their requests; no token has that id."""


class Body(NamedTuple):
    content: bytes = b""
    fault: e.SouvenanceError | None = None
    """Why it is not all there. Told once the gate has admitted the token: its row is written first."""

    def read(self) -> bytes:
        """Raises: BodyTooLarge, BodyTimeout, RateLimited, ServerBusy, InvalidInput."""
        if self.fault is not None:
            raise self.fault
        return self.content


async def body_of(request: Request, gate: Gate, most: int, token: str | None = None) -> Body:
    """The body of a request with a token. Raises: CapMissing, CapMalformed, CapSigInvalid."""
    return await _held(request).read(request, most, gate.recognised(token or token_of(request)))


async def body_of_anybody(request: Request, most: int) -> Body:
    """The body of a request that needs no token, such as those that ask for one."""
    return await _held(request).read(request, most, _NOBODY)


def largest_import(request: Request) -> int:
    """The largest file that may be imported: what the settings say, if one token's share has room for it."""
    bodies = _held(request).bodies
    return min(bodies.limits.import_bytes, bodies.room.share - FORM_BYTES)


def keep_body(request: Request) -> Callable[[], None]:
    """Keep what the body takes of the budget until what comes back is called. Raises: ServerBusy."""
    return _held(request).keep()


def _held(request: Request) -> _HeldBody:
    held: _HeldBody = request.scope[BODIES]
    return held


class Bodies:
    """Reads bodies within the limits, for one process."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        largest = max(limits.body_bytes, limits.batch_bytes, limits.file_bytes + FORM_BYTES)
        total = max(limits.bodies_bytes, largest)
        self.room = BodyBudget(total, max(total // _SHARES, largest))

    @contextmanager
    def during(self, scope: Scope) -> Iterator[None]:
        """What the request's body takes is free again when the request is over."""
        held = _HeldBody(self)
        scope[BODIES] = held
        try:
            yield
        finally:
            held.release()


class _HeldBody:
    """What one request holds of the budget."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self._who = _NOBODY
        self._bytes = 0

    async def read(self, request: Request, most: int, who: str) -> Body:
        self._who = who
        try:
            return Body(await self._read(request, most))
        except e.SouvenanceError as fault:
            self.release()
            return Body(fault=fault)

    def keep(self) -> Callable[[], None]:
        room, count = self.bodies.room, self._bytes
        room.keep(self._who, count)
        self._bytes = 0
        return lambda: room.give_back(_KEPT, count)

    def release(self) -> None:
        self.bodies.room.give_back(self._who, self._bytes)
        self._bytes = 0

    async def _read(self, request: Request, most: int) -> bytes:
        self._grow(_declared(request), most)
        now = asyncio.get_running_loop().time
        limits = self.bodies.limits
        ends = now() + limits.body_seconds
        chunks: list[bytes] = []
        size = 0
        more = True
        while more:
            try:
                async with asyncio.timeout_at(min(ends, now() + limits.body_stall_seconds)):
                    message = await request.receive()
            except TimeoutError:
                raise e.BodyTimeout("the body did not arrive in time") from None
            if message["type"] != "http.request":
                raise e.InvalidInput("the connection was closed before the body was there")
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            self._grow(size, most)
            more = message.get("more_body", False)
        return b"".join(chunks)

    def _grow(self, size: int, most: int) -> None:
        """Have room for so many bytes in all."""
        if size > most:
            raise e.BodyTooLarge(f"the body is larger than {most} bytes")
        if size > self._bytes:
            self.bodies.room.take(self._who, size - self._bytes)
            self._bytes = size


def _declared(request: Request) -> int:
    """How long the body says it is; 0 if it does not say."""
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return 0
    return int(length[: _MOST_DIGITS + 1])


class BodyBudget:
    """A budget of bytes. Nobody holds more than a share of it."""

    def __init__(self, total: int, share: int) -> None:
        self._free = total
        self.share = share
        self._taken: Counter[str] = Counter()

    def take(self, who: str, count: int) -> None:
        """Raises: RateLimited if their share is used up, ServerBusy if all is."""
        if self._taken[who] + count > self.share:
            raise e.RateLimited(
                f"requests of this token hold {self._taken[who]} bytes already", retry_after=_RETRY_SECONDS
            )
        if count > self._free:
            raise e.ServerBusy("other requests use all memory for bodies", retry_after=_RETRY_SECONDS)
        self._free -= count
        self._taken[who] += count

    def keep(self, who: str, count: int) -> None:
        """Move so much to the account of what is kept beyond its request. Raises: ServerBusy."""
        if self._taken[_KEPT] + count > self.share:
            raise e.ServerBusy("other files are being imported", retry_after=_RETRY_SECONDS)
        self._taken[_KEPT] += count
        self._taken[who] -= count

    def give_back(self, who: str, count: int) -> None:
        self._free += count
        self._taken[who] -= count
        if not self._taken[who]:
            del self._taken[who]
