"""A relay: a streamed answer passed on as it comes, byte for byte, while a copy of it is listened to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from souvenance.errors import UpstreamUnreachable
from souvenance.surfaces.http.chat.answer_reader import ModelAnswer
from souvenance.surfaces.http.chat.refusals import told
from souvenance.surfaces.http.chat.upstreams import reaching
from souvenance.surfaces.http.request_threads import encode

if TYPE_CHECKING:
    import httpx

Ended = Callable[[bool], None]
"""Called when it is over, with whether there is anything to remember: not of what failed."""


class Relay(Response):
    """Ends when the endpoint does, or when the client is gone; then the endpoint is not heard to its end."""

    def __init__(
        self, answer: httpx.Response, headers: dict[str, str], heard: ModelAnswer, ended: Ended
    ) -> None:
        super().__init__(None, answer.status_code, headers)
        del self.headers["content-length"]
        self._answer = answer
        self._heard = heard
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        passing, gone = asyncio.ensure_future(self._pass_on(send)), asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({passing, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            well = await _result(passing)
            gone.cancel()
            await self._answer.aclose()
            self._ended(well and not self._heard.failed)

    async def _pass_on(self, send: Send) -> bool:
        """Whether all of the answer came."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        last = b""
        try:
            with reaching():
                async for chunk in self._answer.aiter_bytes():
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    self._heard.feed(chunk)
        except UpstreamUnreachable as error:
            last = b"\n\ndata: " + encode(told(error)) + b"\n\n"
        self._heard.close()
        await send({"type": "http.response.body", "body": last, "more_body": False})
        return not last and self._heard.complete


async def _gone(receive: Receive) -> None:
    """Until the client is."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _result(passing: asyncio.Future[bool]) -> bool:
    """What came of it; a client that went away leaves what was heard until then."""
    passing.cancel()
    try:
        return await passing
    except (asyncio.CancelledError, OSError):
        return True
