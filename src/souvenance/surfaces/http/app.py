"""The HTTP doors: each reads a request, threads it to the gate, and writes the answer. Nothing else.

The cap is judged before the body is looked at, so a request without one learns nothing about
what a right request would be.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from typing import Any, Protocol

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as WebRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from souvenance.decoders import UNREADABLE, settled
from souvenance.errors import (
    HostRefused,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    SouvenanceError,
    Unavailable,
)
from souvenance.gate.gate import Gate
from souvenance.pauses import urgent
from souvenance.surfaces.http.apidocs import docs_routes
from souvenance.surfaces.http.honcho.door import honcho_routes
from souvenance.surfaces.http.honcho.routes import HONCHO_ROUTES
from souvenance.surfaces.http.host_check import check_host, check_origin, from_here
from souvenance.surfaces.http.oauth.metadata import DOCUMENTS
from souvenance.surfaces.http.openapi import Paths, describe
from souvenance.surfaces.http.request_bodies import Bodies, Body, body_of
from souvenance.surfaces.http.request_threads import (
    HEADERS,
    Endpoint,
    RequestThreads,
    credentials_of,
    encode,
    json_answer,
    refusal_headers,
)
from souvenance.surfaces.http.route_tree import RouteTree
from souvenance.surfaces.http.routes import ROUTES, Route, status_of
from souvenance.surfaces.http.telemetry.observer import (
    UPKEEP,
    TelemetryMiddleware,
    TelemetryObserver,
    names_of,
    note,
)
from souvenance.surfaces.http.telemetry.routes import health_routes
from souvenance.version import __version__

_LOOKING = ("GET", "HEAD", "OPTIONS")
_VERDICTS = frozenset(route.path for route in ROUTES if route.operation.verdict)
_PIECE_BYTES = 64 * 1024
"""So much of an answer is sent at a time: other requests come between, and need not wait for all of it."""


class Door(Protocol):
    """A way in over HTTP that a server may have beside its own API and Honcho's."""

    def routes(self, gate: Gate, threads: RequestThreads) -> Sequence[BaseRoute]:
        """What the door answers; every path of it is its own."""
        ...

    def described(self) -> Paths:
        """What OpenAPI says of it: all that it answers programs."""
        ...

    def open(self) -> AbstractAsyncContextManager[None]:
        """Holds what the door needs while the server runs; entered once, in the server's event loop."""
        ...


def make_app(
    gate: Gate,
    *,
    allowed_hosts: Collection[str] | None = None,
    trusted: str | None = None,
    doors: Sequence[Door] = (),
    observer: TelemetryObserver | None = None,
    serving: bool = True,
) -> Guarded:
    """The ASGI application.

    `allowed_hosts` None means that it is served on loopback only; `trusted` is the cap that a
    client on this machine gets for the word 'local'; `doors` are those beyond Souvenance's own API and
    Honcho's; `observer` sees every request pass. One that is not `serving` tells how it is, and nothing of
    memory.
    """
    description: list[bytes] = []
    threads = RequestThreads(gate)

    async def openapi(request: Request) -> Response:
        if not description:
            doors_tell = [door.described() for door in doors]
            description.append(encode(describe((*ROUTES, *HONCHO_ROUTES), __version__, doors_tell)))
        return Response(description[0], media_type="application/json", headers=HEADERS)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for door in doors:
                await stack.enter_async_context(door.open())
            yield

    upkeep = health_routes(gate, threads, observer)
    own: list[WebRoute] = []
    honcho: list[WebRoute] = []
    if serving:
        upkeep += [WebRoute("/openapi.json", openapi), *docs_routes()]
        own, honcho = own_routes(gate, threads), honcho_routes(gate, threads)
    others = [(door, door.routes(gate, threads)) for door in doors]
    app = Starlette(
        routes=[*upkeep, RouteTree([*own, *honcho]), *(route for _, routes in others for route in routes)],
        lifespan=lifespan,
        exception_handlers={
            SouvenanceError: _refused,
            HTTPException: _unrouted,
            Exception: _unexpected,
        },
    )
    app.router.redirect_slashes = False
    if observer is not None:
        observer.route_names = names_of(UPKEEP, upkeep)
        observer.route_names |= names_of("memory", own, ROUTES) | names_of("honcho", honcho, HONCHO_ROUTES)
        for door, routes in others:
            observer.route_names |= names_of(type(door).__name__.removesuffix("Door").lower(), routes)
    first = _with_verdicts_first(gate, app)
    return Guarded(first, allowed_hosts, trusted, TelemetryMiddleware(observer), Bodies(gate.limits))


def _with_verdicts_first(gate: Gate, app: ASGIApp) -> ASGIApp:
    """Threads that compute pause while one asks what a token is worth, if that token was seen here before."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        token = Headers(scope=scope).get("authorization", "") if scope.get("path") in _VERDICTS else ""
        with urgent() if gate.verifier.has_seen(token.partition(" ")[2].strip()) else nullcontext():
            await app(scope, receive, send)

    return answer


class Guarded:
    """The application behind the guard, which every request passes first, whatever it asks for."""

    def __init__(
        self,
        app: ASGIApp,
        allowed_hosts: Collection[str] | None,
        trusted: str | None,
        telemetry: TelemetryMiddleware,
        bodies: Bodies,
    ) -> None:
        self._app = app
        self._allowed_hosts = allowed_hosts
        self._trusted = trusted
        self._telemetry = telemetry
        self._bodies = bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._telemetry(self._answer, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._app
        headers = Headers(scope=scope)
        try:
            check_host(headers.get("host"), self._allowed_hosts)
            if not (scope["path"] in DOCUMENTS and scope["method"] in _LOOKING):
                check_origin(headers.get("origin"), headers.get("host"))
        except HostRefused as error:
            answer = _refusal(error)
        if self._trusted is not None and from_here(scope, headers):
            scope["souvenance.trusted"] = self._trusted
        with self._bodies.during(scope):
            await _answer_or_say_it_stops(answer, scope, receive, send)


async def _answer_or_say_it_stops(answer: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """A server that stops waits a few seconds for its requests, then it cancels them."""
    begun = False

    async def tell(message: Message) -> None:
        nonlocal begun
        begun = True
        body = message.get("body", b"")
        while len(body) > _PIECE_BYTES:
            await send({"type": "http.response.body", "body": body[:_PIECE_BYTES], "more_body": True})
            await asyncio.sleep(0)
            body = memoryview(body)[_PIECE_BYTES:]
            message = {**message, "body": body}
        await send(message)

    try:
        await answer(scope, receive, tell)
    except asyncio.CancelledError:
        if begun:
            raise
        stopping = Unavailable(
            "the server is stopping",
            hint="Ask again later. A write may have been kept: repeat it with the same key.",
        )
        await _refusal(stopping)(scope, receive, send)


def own_routes(gate: Gate, threads: RequestThreads) -> list[WebRoute]:
    return [WebRoute(route.path, _endpoint(gate, threads, route), methods=[route.method]) for route in ROUTES]


def _endpoint(gate: Gate, threads: RequestThreads, route: Route) -> Endpoint:
    decoder = msgspec.json.Decoder(settled(route.operation.request))

    async def answer(request: Request) -> Response:
        posted = route.method == "POST"
        body = await body_of(request, gate, gate.limits.body_bytes) if posted else Body()

        def read() -> Any:
            return _from_body(decoder, body.read()) if posted else _from_query(request, route)

        credentials = credentials_of(request, body.content)
        content = await threads.call(gate, route.operation, credentials, read, encode)
        return Response(content, route.status, HEADERS, "application/json")

    return answer


def _from_body(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body or b"{}")
    except UNREADABLE as error:
        raise InvalidInput(f"the body can't be read: {error}") from None


def _from_query(request: Request, route: Route) -> Any:
    fields: dict[str, str] = dict(request.path_params)
    for name, value in request.query_params.multi_items():
        if name in fields:
            raise InvalidInput(f"{name!r} is given twice")
        fields[name] = value
    try:
        return msgspec.convert(fields, settled(route.operation.request), strict=False)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"the query can't be read: {error}") from None


def _refusal(error: SouvenanceError) -> Response:
    note(error)
    body = {"error": error.code, "detail": error.detail, "hint": error.hint}
    return json_answer(status_of(type(error)), body, refusal_headers(error))


async def _refused(request: Request, raised: Exception) -> Response:
    assert isinstance(raised, SouvenanceError)  # noqa: S101 - Starlette calls this for nothing else
    return _refusal(raised)


async def _unrouted(request: Request, raised: Exception) -> Response:
    assert isinstance(raised, HTTPException)  # noqa: S101 - Starlette calls this for nothing else
    if raised.status_code == 405:
        refusal = _refusal(MethodNotAllowed("this path has no such method"))
        refusal.headers.update(raised.headers or {})
        return refusal
    return _refusal(NotFound("there is no such path", hint="See /openapi.json."))


async def _unexpected(request: Request, raised: Exception) -> Response:
    """A defect of ours: say so, and nothing about it."""
    body = {"error": "internal_error", "detail": "Souvenance failed", "hint": "See the server's log."}
    return json_answer(500, body)
