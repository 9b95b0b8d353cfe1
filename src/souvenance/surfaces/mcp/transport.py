"""MCP's own transport over HTTP, made when it is first spoken.

To load the protocol's package takes longer than all the rest of a server's start, and many a server is
never asked for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

MEMORY = "souvenance.mcp.memory"
"""Where a request's scope has the memory that it is about."""


class Transport:
    """Speaks the protocol while it is open, in one event loop."""

    def __init__(self, body_bytes: int) -> None:
        self._body_bytes = body_bytes
        self._ended = asyncio.Event()
        self._made: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._held: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self._ended.set()
            if self._held is not None:
                await self._held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._made is None:
            self._made = asyncio.get_running_loop().create_future()
            self._held = asyncio.create_task(self._hold(self._made))
        manager = await asyncio.shield(self._made)
        await manager.handle_request(scope, receive, send)

    async def _hold(self, made: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """Run it, in one task from the first request to the end of all."""
        try:
            manager = await asyncio.to_thread(_manager, self._body_bytes)
        except Exception as error:  # noqa: BLE001 - whoever asks gets it
            made.set_exception(error)
            return
        async with manager.run():
            made.set_result(manager)
            await self._ended.wait()


def _manager(body_bytes: int) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from souvenance.surfaces.mcp.server import make_server

    return StreamableHTTPSessionManager(
        make_server(lambda context: context.request.scope[MEMORY]),
        json_response=True,
        stateless=True,
        max_request_body_size=body_bytes,
    )
