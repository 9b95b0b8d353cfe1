"""The HTTP door from outside: the gate's own `call`, over the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import httpx
import msgspec

from mnemon import errors
from mnemon.domain.proof import Bound
from mnemon.errors import InvalidInput, MnemonError, RateLimited, ServerUnreachable, Unsupported
from mnemon.gate.admission import Credentials
from mnemon.gate.messages import Request
from mnemon.gate.operation import Operation
from mnemon.surfaces.http.guard import is_loopback
from mnemon.surfaces.http.openapi import Error
from mnemon.surfaces.http.route import Route
from mnemon.surfaces.http.routes import BY_OPERATION

_TIMEOUT_SECONDS = 60.0


class RemoteGate:
    """A gate behind a URL; it answers and raises what the gate there answers and raises."""

    def __init__(self, url: str) -> None:
        base = httpx.URL(url.rstrip("/"))
        self._base = base.path.rstrip("/")
        # A cap for this machine is nothing for the environment's proxy to see.
        self._client = httpx.Client(
            base_url=base, timeout=_TIMEOUT_SECONDS, trust_env=not is_loopback(base.host)
        )

    def bind(self, operation: Operation, request: Request) -> Bound:
        route = _route(operation)
        path, body = _target(route, request)
        return Bound(route.method, f"{self._base}{path}", body)

    def call(self, operation: Operation, credentials: Credentials, request: Request) -> Any:
        """Raises: MnemonError."""
        route = _route(operation)
        path, body = _target(route, request)
        headers = {"content-type": "application/json"}
        if credentials.token:
            headers["authorization"] = f"Bearer {credentials.token}"
        if credentials.proof:
            headers["dpop"] = credentials.proof
        try:
            response = self._client.request(route.method, path, content=body, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeEncodeError) as error:
            raise ServerUnreachable(f"no answer from the server: {error}") from error
        if response.status_code != route.status:
            raise _raised(response)
        try:
            return msgspec.json.decode(response.content, type=operation.answer)
        except (msgspec.MsgspecError, ValueError):
            raise ServerUnreachable("what answers there is not Mnemon") from None

    def close(self) -> None:
        self._client.close()


def _route(operation: Operation) -> Route:
    """Raises: Unsupported."""
    if operation.name not in BY_OPERATION:
        raise Unsupported(
            f"{operation.name} is not served over HTTP",
            hint="Run it on the machine that has the data folder.",
        )
    return BY_OPERATION[operation.name]


def _target(route: Route, request: Request) -> tuple[str, bytes]:
    if route.method != "GET":
        return route.path, _encoded(request)
    fields = {name: value for name, value in msgspec.to_builtins(request).items() if value is not None}
    path = route.path
    for name in list(fields):
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", str(fields.pop(name)))
    return (f"{path}?{urlencode(fields)}" if fields else path), b""


def _encoded(request: Request) -> bytes:
    try:
        return msgspec.json.encode(request)
    except UnicodeEncodeError:
        raise InvalidInput("the request holds a lone surrogate") from None


def _raised(response: httpx.Response) -> MnemonError:
    try:
        told = msgspec.json.decode(response.content, type=Error)
    except (msgspec.MsgspecError, ValueError):
        return ServerUnreachable(f"the server answered {response.status_code}, and not as Mnemon does")
    kind = _BY_CODE.get(told.error, MnemonError)
    if kind is RateLimited:
        wait = response.headers.get("retry-after", "1")
        return RateLimited(told.detail, retry_after=int(wait) if wait.isdigit() else 1, hint=told.hint)
    return kind(told.detail, hint=told.hint)


def _every(kind: type[MnemonError]) -> Iterator[type[MnemonError]]:
    """The kinds that the tree of errors has; a surface may have its own beside them."""
    if kind.__module__ == errors.__name__:
        yield kind
    for child in kind.__subclasses__():
        yield from _every(child)


_BY_CODE = {kind.code: kind for kind in _every(errors.MnemonError)}
