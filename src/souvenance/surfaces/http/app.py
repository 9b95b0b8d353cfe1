"""The HTTP application: the guard, our own routes, and those that say how the server is.

The cap is judged before the body is looked at, so a request without one learns nothing about
what a right request would be.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.routing import Route as WebRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from souvenance import errors as e
from souvenance.decoders import UNREADABLE, settled
from souvenance.gate.gate import Gate
from souvenance.gate.health import METRICS
from souvenance.gate.messages import Nothing
from souvenance.http_client import is_loopback
from souvenance.pauses import urgent
from souvenance.surfaces.http.honcho.door import honcho_routes
from souvenance.surfaces.http.honcho.routes import HONCHO_ROUTES
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
    refusal,
)
from souvenance.surfaces.http.routes import ROUTES, Route
from souvenance.surfaces.http.telemetry.observer import (
    UPKEEP,
    TelemetryObserver,
    answer_observed,
    names_of,
)
from souvenance.version import __version__

if TYPE_CHECKING:
    from souvenance.surfaces.http.telemetry.metrics import Metrics

_LOOKING = ("GET", "HEAD", "OPTIONS")
_VERDICTS = frozenset(route.path for route in ROUTES if route.operation.verdict)
_PIECE_BYTES = 64 * 1024
"""So much of an answer is sent at a time: other requests come between, and need not wait for all of it."""


class Door(Protocol):
    """A way in over HTTP that a server may have beside its own API and Honcho's."""

    def routes(self, gate: Gate, threads: RequestThreads) -> Sequence[BaseRoute]:
        """What the door answers; every path of it is its own."""

    def described(self) -> Paths:
        """What OpenAPI says of it: all that it answers programs."""

    def open(self) -> AbstractAsyncContextManager[None]:
        """Holds what the door needs while the server runs; entered once, in the server's event loop."""


def make_app(
    gate: Gate,
    *,
    allowed_hosts: Collection[str] | None = None,
    trusted: str | None = None,
    doors: Sequence[Door] = (),
    observer: TelemetryObserver | None = None,
    serving: bool = True,
) -> ASGIApp:
    """The ASGI application. `allowed_hosts` None means loopback only; `trusted` is the cap for 'local';
    `doors` are those beyond our own API and Honcho's; one that is not `serving` tells how it is, and nothing
    of memory."""
    threads = RequestThreads(gate)

    @cache
    def description() -> bytes:
        doors_tell = [door.described() for door in doors]
        return encode(describe((*ROUTES, *HONCHO_ROUTES), __version__, doors_tell))

    async def openapi(request: Request) -> Response:
        return Response(description(), media_type="application/json", headers=HEADERS)

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
    table = RouteTable([*own, *honcho])
    app = Starlette(
        routes=[*upkeep, table, *(route for _, routes in others for route in routes)],
        lifespan=lifespan,
        exception_handlers={
            e.SouvenanceError: _refused,
            HTTPException: _unrouted,
            Exception: _unexpected,
        },
    )
    app.router.redirect_slashes = False
    if observer is not None:
        observer.route_names = names_of(UPKEEP, upkeep)
        observer.route_names |= names_of("memory", own, "name") | names_of("honcho", honcho, "name")
        for door, routes in others:
            observer.route_names |= names_of(type(door).__name__.removesuffix("Door").lower(), routes)
    behind = ServerErrorMiddleware(partial(table.answer, app), handler=_unexpected)
    return guarded(_verdicts_first(behind, gate), allowed_hosts, trusted, observer, Bodies(gate.limits))


def _verdicts_first(app: ASGIApp, gate: Gate) -> ASGIApp:
    """Threads that compute pause while one asks what a token is worth, if that token was seen here before."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        token = Headers(scope=scope).get("authorization", "") if scope.get("path") in _VERDICTS else ""
        with urgent() if gate.verifier.has_seen(token.partition(" ")[2].strip()) else nullcontext():
            await app(scope, receive, send)

    return answer


def guarded(
    app: ASGIApp,
    allowed_hosts: Collection[str] | None,
    trusted: str | None,
    observer: TelemetryObserver | None,
    bodies: Bodies,
) -> ASGIApp:
    """The application behind the guard, which every request passes first, whatever it asks for.

    A browser on this machine can be made to call a loopback server, by a cross-site request or by a name
    that resolves to 127.0.0.1 (DNS rebinding). Both show in the Origin and Host headers: a page of another
    site, or a foreign name for this host, gets nothing.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        behind, headers = app, Headers(scope=scope)
        try:
            check_caller(scope, headers, allowed_hosts)
        except e.HostRefused as error:
            behind = refusal(error)
        if trusted is not None and from_here(scope, headers):
            scope["souvenance.trusted"] = trusted
        with bodies.during(scope):
            await _answer_or_say_it_stops(behind, scope, receive, send)

    async def observed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await answer_observed(observer, answer, scope, receive, send)
        else:
            await app(scope, receive, send)

    return observed


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
        stopping = e.Unavailable(
            "the server is stopping",
            hint="Ask again later. A write may have been kept: repeat it with the same key.",
        )
        await refusal(stopping)(scope, receive, send)


def check_caller(scope: Scope, headers: Headers, allowed: Collection[str] | None) -> None:
    """On loopback the server has only loopback names, else those `allowed`, or any without such.

    Raises: HostRefused for another name, and for a request that a page of another origin made.
    """
    host, origin = headers.get("host", ""), headers.get("origin")
    name, _ = _server(f"//{host}")
    if not (is_loopback(name) if allowed is None else not allowed or name in allowed):
        raise e.HostRefused("this server is not called by that name")
    is_open = scope["path"] in DOCUMENTS and scope["method"] in _LOOKING
    if origin is not None and not is_open and (_server(origin)[1] or None) != host.lower():
        raise e.HostRefused("requests from pages of another origin are refused")


def from_here(scope: Scope, headers: Headers) -> bool:
    """Whether a program on this machine asks, and no proxy for someone else."""
    client = scope.get("client")
    forwarded = any(
        name in ("forwarded", "x-real-ip", "via") or name.startswith("x-forwarded-") for name in headers
    )
    return client is not None and is_loopback(client[0]) and not forwarded


def _server(url: str) -> tuple[str, str]:
    """The name of the server that the URL names, and that name with the port; empty if it names none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", ""
    return (parts.hostname or "").rstrip("."), parts.netloc.lower()


def own_routes(gate: Gate, threads: RequestThreads) -> list[WebRoute]:
    return [
        WebRoute(
            route.path, _endpoint(gate, threads, route), methods=[route.method], name=route.operation.name
        )
        for route in ROUTES
    ]


_DOCS = Path(__file__).with_name("apidocs")
_DOCS_HEADERS = {
    "cache-control": "no-cache",
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def docs_routes() -> list[WebRoute]:
    """The API page for people: it shows in a browser what `/openapi.json` tells programs. Nothing is fetched
    from anywhere else."""
    return [
        WebRoute("/docs", _shows("page.html", "text/html")),
        WebRoute("/docs/page.css", _shows("page.css", "text/css")),
        WebRoute("/docs/page.js", _shows("page.js", "text/javascript")),
    ]


def _shows(name: str, media: str) -> Endpoint:
    content = (_DOCS / name).read_bytes()

    async def answer(request: Request) -> Response:
        return Response(content, 200, _DOCS_HEADERS, media)

    return answer


def _endpoint(gate: Gate, threads: RequestThreads, route: Route) -> Endpoint:
    decoder = msgspec.json.Decoder(settled(route.operation.request))

    async def answer(request: Request) -> Response:
        posted = route.method == "POST"
        body = await body_of(request, gate, gate.limits.body_bytes) if posted else Body()

        def read() -> Any:
            if not posted:
                return _from_query(request, route)
            try:
                return decoder.decode(body.read() or b"{}")
            except UNREADABLE as error:
                raise e.InvalidInput(f"the body can't be read: {error}") from None

        credentials = credentials_of(request, body.content)
        content = await threads.call(gate, route.operation, credentials, read, encode)
        return Response(content, route.status, HEADERS, "application/json")

    return answer


def _from_query(request: Request, route: Route) -> Any:
    fields: dict[str, str] = dict(request.path_params)
    for name, value in request.query_params.multi_items():
        if name in fields:
            raise e.InvalidInput(f"{name!r} is given twice")
        fields[name] = value
    try:
        return msgspec.convert(fields, settled(route.operation.request), strict=False)
    except msgspec.MsgspecError as error:
        raise e.InvalidInput(f"the query can't be read: {error}") from None


async def _refused(request: Request, raised: Exception) -> Response:
    assert isinstance(raised, e.SouvenanceError)  # noqa: S101 - Starlette calls this for nothing else
    return refusal(raised)


async def _unrouted(request: Request, raised: Exception) -> Response:
    assert isinstance(raised, HTTPException)  # noqa: S101 - Starlette calls this for nothing else
    if raised.status_code == 405:
        answer = refusal(e.MethodNotAllowed("this path has no such method"))
        answer.headers.update(raised.headers or {})
        return answer
    return refusal(e.NotFound("there is no such path", hint="See /openapi.json."))


async def _unexpected(request: Request, raised: Exception) -> Response:
    """A defect of ours: say so, and nothing about it."""
    body = {"error": "internal_error", "detail": "Souvenance failed", "hint": "See the server's log."}
    return json_answer(500, body)


_ALLOWED = "souvenance.allowed"


class RouteTable(BaseRoute):
    """Behaves as its routes would one after the other, but looks at few: those of the request's method whose
    paths have as many segments. It stands before the application: most requests are for one of them, and each
    layer of the framework costs as much as the gate's checks."""

    def __init__(self, routes: Iterable[WebRoute]) -> None:
        self.routes = tuple(routes)
        self._near: dict[tuple[str, int], list[WebRoute]] = defaultdict(list)
        for route in self.routes:
            for method in route.methods or ():
                self._near[method, route.path.count("/")].append(route)

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what one of the routes is for, and leave all else to the application."""
        route = self._found(scope) if scope["type"] == "http" else None
        if route is None:
            await app(scope, receive, send)
            return
        try:
            response = await route.endpoint(Request(scope, receive, send))
        except e.SouvenanceError as error:
            response = refusal(error)
        await response(scope, receive, send)

    def _found(self, scope: Scope) -> WebRoute | None:
        """The route of the request, and in its scope what is known of it then."""
        for route in self._near.get((scope["method"], scope["path"].count("/")), ()):
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                return route
        return None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Only for requests that none of the routes is for: whether one is for their path."""
        if scope["type"] != "http":
            return Match.NONE, {}
        others = [route for route in self.routes if route.matches(scope)[0] is Match.PARTIAL]
        allowed = sorted({method for route in others for method in route.methods or ()})
        return (Match.PARTIAL, {_ALLOWED: allowed}) if allowed else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise HTTPException(405, headers={"Allow": ", ".join(scope[_ALLOWED])})


_FRESH_SECONDS = 1.0
_PATIENCE_SECONDS = 2.0

_T = TypeVar("_T")


class StoreHealth:
    def __init__(self, probe: Callable[[], None], *, fresh: float = _FRESH_SECONDS) -> None:
        self._probe = probe
        self._fresh = fresh
        self._threads = ThreadPoolExecutor(1, "souvenance-store-health")
        self._under_way: Future[None] | None = None
        self._looked_at = float("-inf")
        self._trouble: e.SouvenanceError | None = None

    async def trouble(self) -> e.SouvenanceError | None:
        """What keeps the store from being reached; None if nothing does."""
        if time.monotonic() - self._looked_at < self._fresh:
            return self._trouble
        if self._under_way is None or self._under_way.done():
            self._under_way = self._threads.submit(self._look)
        if not await _ended(self._under_way):
            return e.StorageBusy("the store did not answer in time")
        return self._trouble

    async def ask(self, look: Callable[[], _T]) -> _T | None:
        """What is found by looking into the store; None if it can't be reached, or not in time."""
        if await self.trouble() is not None:
            return None
        asked = self._threads.submit(look)
        if not await _ended(asked) or asked.exception() is not None:
            return None
        return asked.result()

    def _look(self) -> None:
        found: e.SouvenanceError | None = None
        try:
            self._probe()
        except e.SouvenanceError as error:
            found = error
        except Exception:  # noqa: BLE001 - after any error the store is not there for requests
            found = e.StorageUnavailable("the store failed")
        self._trouble, self._looked_at = found, time.monotonic()


async def _ended(work: Future[_T]) -> bool:
    done, _ = await asyncio.wait({asyncio.wrap_future(work)}, timeout=_PATIENCE_SECONDS)
    return bool(done)


def health_routes(gate: Gate, threads: RequestThreads, observer: TelemetryObserver | None) -> list[WebRoute]:
    """Whether there are metrics to be seen depends on the observer."""
    store = StoreHealth(gate.probe)

    async def health(request: Request) -> Response:
        """That it runs, and how. It answers 200 as long as it does: to start it anew would mend no store."""
        trouble = await store.trouble()
        state = {
            "status": "ok" if trouble is None else "degraded",
            "version": __version__,
            "store": "ok" if trouble is None else trouble.code,
        }
        return json_answer(200, {**state, **gate.thinking()})

    async def ready(request: Request) -> Response:
        """Raises: SouvenanceError if requests can't be answered for now."""
        trouble = await store.trouble()
        if trouble is not None:
            kind = type(trouble) if isinstance(trouble, e.Unavailable) else e.StorageUnavailable
            raise kind(trouble.detail, hint=trouble.hint)
        return json_answer(200, {"status": "ready"})

    routes = [WebRoute("/health", health), WebRoute("/ready", ready)]
    if observer is not None and observer.metrics is not None:
        routes.append(WebRoute("/metrics", partial(_metrics, gate, threads, store, observer.metrics)))
    return routes


async def _metrics(
    gate: Gate, threads: RequestThreads, store: StoreHealth, metrics: Metrics, request: Request
) -> Response:
    """Raises: SouvenanceError."""
    if not _is_local(request):
        await threads.call(gate, METRICS, credentials_of(request, b""), Nothing)
    health = await store.ask(gate.health)
    content = metrics.text(health, store=await store.trouble() is None)
    return Response(content, 200, {**HEADERS, "content-type": metrics.content_type})


def _is_local(request: Request) -> bool:
    """Whether a program on this machine asks, by a name that only this machine has, and no proxy."""
    name, _ = _server(f"//{request.headers.get('host', '')}")
    return is_loopback(name) and from_here(request.scope, request.headers)
