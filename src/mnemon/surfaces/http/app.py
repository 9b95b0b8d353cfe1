"""The HTTP door: it reads a request, hands it to the gate, and writes the answer. Nothing else.

The cap is judged before the body is looked at, so a request without one learns nothing about
what a right request would be.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

import anyio.to_thread
import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as WebRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemon.domain.proof import Bound
from mnemon.errors import (
    BodyTooLarge,
    HostRefused,
    InvalidInput,
    MethodNotAllowed,
    MnemonError,
    NotFound,
    RateLimited,
    Unauthenticated,
)
from mnemon.gate.admission import Credentials
from mnemon.gate.gate import Gate
from mnemon.surfaces.http.guard import check_host, check_origin
from mnemon.surfaces.http.openapi import describe
from mnemon.surfaces.http.routes import ROUTES, Route
from mnemon.surfaces.http.statuses import status_of
from mnemon.version import __version__

_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_encode = msgspec.json.Encoder().encode

Endpoint = Callable[[Request], Awaitable[Response]]


def make_app(gate: Gate, *, allowed_hosts: Collection[str] | None = None) -> Guarded:
    """The ASGI application. `allowed_hosts` None means that it is served on loopback only."""
    description = _encode(describe(ROUTES, __version__))

    async def health(request: Request) -> Response:
        return _json(200, {"status": "ok", "version": __version__})

    async def openapi(request: Request) -> Response:
        return Response(description, media_type="application/json", headers=_HEADERS)

    app = Starlette(
        routes=[
            WebRoute("/health", health),
            WebRoute("/openapi.json", openapi),
            *(WebRoute(route.path, _endpoint(gate, route), methods=[route.method]) for route in ROUTES),
        ],
        exception_handlers={
            MnemonError: _refused,
            HTTPException: _unrouted,
            Exception: _unexpected,
        },
    )
    app.router.redirect_slashes = False
    return Guarded(app, allowed_hosts)


class Guarded:
    """The application behind the guard, which every request passes first, whatever it asks for."""

    def __init__(self, app: ASGIApp, allowed_hosts: Collection[str] | None) -> None:
        self._app = app
        self._allowed_hosts = allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._app
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            try:
                check_host(headers.get("host"), self._allowed_hosts)
                check_origin(headers.get("origin"), headers.get("host"))
            except HostRefused as error:
                answer = _refusal(error)
        await answer(scope, receive, send)


def _endpoint(gate: Gate, route: Route) -> Endpoint:
    decoder = msgspec.json.Decoder(route.operation.request)

    async def answer(request: Request) -> Response:
        body, complete = b"", True
        if route.method == "POST":
            body, complete = await _body(request, gate.limits.body_bytes)
        credentials = Credentials(
            _token(request), request.headers.get("dpop"), Bound(request.method, _target(request), body)
        )

        def read() -> Any:
            if not complete:
                raise BodyTooLarge(f"the body is larger than {gate.limits.body_bytes} bytes")
            return _from_query(request, route) if route.method == "GET" else _from_body(decoder, body)

        found = await anyio.to_thread.run_sync(gate.call, route.operation, credentials, read)
        return Response(_encode(found), route.status, _HEADERS, "application/json")

    return answer


async def _body(request: Request, most: int) -> tuple[bytes, bool]:
    """The body, or what came of it before it grew too large."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            return b"", False
        chunks.append(chunk)
    return b"".join(chunks), True


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() in ("bearer", "dpop") else None


def _target(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def _from_body(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body or b"{}")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the body can't be read: {error}") from None


def _from_query(request: Request, route: Route) -> Any:
    fields: dict[str, str] = dict(request.path_params)
    for name, value in request.query_params.multi_items():
        if name in fields:
            raise InvalidInput(f"{name!r} is given twice")
        fields[name] = value
    try:
        return msgspec.convert(fields, route.operation.request, strict=False)
    except msgspec.MsgspecError as error:
        raise InvalidInput(f"the query can't be read: {error}") from None


def _json(status: int, content: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(_encode(content), status, {**_HEADERS, **(headers or {})}, "application/json")


def _refusal(error: MnemonError) -> Response:
    headers: dict[str, str] = {}
    if isinstance(error, RateLimited):
        headers["retry-after"] = str(error.retry_after)
    elif error.retryable:
        headers["retry-after"] = "1"
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = f'Bearer error="invalid_token", error_description="{error.code}"'
    body = {"error": error.code, "detail": error.detail, "hint": error.hint}
    return _json(status_of(type(error)), body, headers)


async def _refused(request: Request, raised: Exception) -> Response:
    assert isinstance(raised, MnemonError)  # noqa: S101 - Starlette calls this for nothing else
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
    body = {"error": "internal_error", "detail": "Mnemon failed", "hint": "See the server's log."}
    return _json(500, body)
