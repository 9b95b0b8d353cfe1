"""The MCP door over HTTP: /mcp, where the bearer is a cap and says whose memory it is.

Every request stands alone: the cap is judged anew, and nothing is kept of it between two requests.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from souvenance.agents.narrow_tokens import Narrowed
from souvenance.errors import CapPopInvalid, MethodNotAllowed, Unauthenticated, UnsupportedType
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.gate import Gate
from souvenance.gate.messages import checked
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.openapi import JSON, Paths, answer, described, refusals
from souvenance.surfaces.http.request_bodies import body_of
from souvenance.surfaces.http.request_threads import RequestThreads, credentials_of, refusal
from souvenance.surfaces.http.routes import REFUSALS
from souvenance.surfaces.mcp.memory import PersonsMemory, Task, narrower, person_of

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


_MESSAGE = {"type": "object"}
_DESCRIBED: Paths = {
    "/mcp": {
        "post": described(
            "mcp",
            "A message of the Model Context Protocol",
            {
                "200": answer("The answer to a request", _MESSAGE),
                "202": {"description": "A notification was taken"},
                **refusals(REFUSALS),
                "400": answer("What is no message of the protocol", _MESSAGE),
                "406": answer("The client takes no JSON", _MESSAGE),
            },
            body={JSON: {"schema": _MESSAGE}},
        )
    }
}


MEMORY = "souvenance.mcp.memory"
"""Where a request's scope has the memory that it is about."""


def _manager(body_bytes: int) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from souvenance.surfaces.mcp.server import make_server

    return StreamableHTTPSessionManager(
        make_server(lambda context: context.request.scope[MEMORY]),
        json_response=True,
        stateless=True,
        max_request_body_size=body_bytes,
    )


PATH = "/mcp"
METADATA = "/.well-known/oauth-protected-resource/mcp"
"""Where a client without a cap learns who gives one (RFC 9728)."""


class McpDoor:
    """Speaks the protocol while it is open, in one event loop. `public_url` is where clients reach this
    server, if not where their requests say they do."""

    def __init__(self, *, public_url: str | None = None) -> None:
        self._public_url = public_url
        self._ended = asyncio.Event()
        self._made: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._held: asyncio.Task[None] | None = None

    def routes(self, gate: Gate, threads: RequestThreads) -> Sequence[BaseRoute]:
        transport = partial(self._answer, gate.limits.body_bytes)
        return [Route(PATH, _Endpoint(gate, threads, transport, self._public_url))]

    def described(self) -> Paths:
        return _DESCRIBED

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self._ended.set()
            if self._held is not None:
                await self._held

    async def _answer(self, body_bytes: int, scope: Scope, receive: Receive, send: Send) -> None:
        if self._made is None:
            self._made = asyncio.get_running_loop().create_future()
            self._held = asyncio.create_task(self._hold(body_bytes, self._made))
        manager = await asyncio.shield(self._made)
        await manager.handle_request(scope, receive, send)

    async def _hold(self, body_bytes: int, made: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """Run it, in one task from the first request to the end of all."""
        try:
            manager = await asyncio.to_thread(_manager, body_bytes)
        except Exception as error:  # noqa: BLE001 - the request gets it
            made.set_exception(error)
            return
        async with manager.run():
            made.set_result(manager)
            await self._ended.wait()


class _Endpoint:
    """Admits a request by its cap before the protocol sees anything of it."""

    def __init__(
        self, gate: Gate, threads: RequestThreads, transport: ASGIApp, public_url: str | None
    ) -> None:
        self._gate = gate
        self._threads = threads
        self._transport = transport
        self._public_url = public_url
        self._narrowed = Narrowed(now=lambda: int(time.time()), chance=os.urandom)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            scope[MEMORY] = await self._admitted(request)
        except Unauthenticated as error:
            await self._refusal(request, error)(scope, receive, send)
            return
        if request.method != "POST":
            raise MethodNotAllowed("this path has no such method", hint="Send MCP messages with POST.")
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise UnsupportedType("the body is not an MCP message", hint=f"Send {JSON}.")
        body = await body_of(request, self._gate, self._gate.limits.body_bytes)
        await self._transport(scope, _again(body.read(), receive), send)

    async def _admitted(self, request: Request) -> PersonsMemory:
        """The memory that the request's cap opens. Raises: SouvenanceError."""
        given = credentials_of(request, b"")
        if given.proof is not None:
            raise CapPopInvalid(
                "a bound cap can't be used here: one request of MCP is more than one at the gate",
                hint="Narrow it with its holder key to a bearer cap: 'souvenance cap attenuate'.",
            )
        cap = await self._threads.call(self._gate, o.WHOAMI, Credentials(given.token), m.Nothing)
        person, token = person_of(cap), given.token or ""

        async def ask(task: Task, operation: Operation, message: m.Request) -> Any:
            narrow = self._narrowed.of(token, (person, task), lambda: narrower(person, task))
            return await self._threads.call(self._gate, operation, narrow, lambda: checked(message))

        return PersonsMemory(person, ask)

    def _refusal(self, request: Request, error: Unauthenticated) -> Response:
        base = self._public_url or str(request.base_url)
        answer = refusal(error)
        metadata = f'resource_metadata="{base.rstrip("/")}{METADATA}"'
        answer.headers["www-authenticate"] += f", {metadata}"
        return answer


def _again(body: bytes, receive: Receive) -> Receive:
    """Tells a body that was read already, and then what comes after it."""
    sent = False

    async def tell() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return tell
