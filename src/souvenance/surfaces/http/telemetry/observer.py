"""Observes requests and background work, and tells the log, metrics and traces that the settings ask for."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from souvenance.domain import ulid
from souvenance.domain.request_id import CURRENT, HEADER, is_plain
from souvenance.domain.telemetry import SeenSettings
from souvenance.errors import Misconfigured, SouvenanceError
from souvenance.extras import install
from souvenance.surfaces.http.route import Route
from souvenance.surfaces.http.telemetry.logs import Log

if TYPE_CHECKING:
    from souvenance.surfaces.http.telemetry.metrics import Metrics
    from souvenance.surfaces.http.telemetry.tracing import OpenSpan, Tracing


class RouteName(NamedTuple):
    door: str
    operation: str


NOWHERE = RouteName("none", "none")
"""Where no door is, or where the guard let nobody in."""
UPKEEP = "upkeep"
"""The door of whoever looks after the server."""

RouteNames = dict[Any, RouteName]
"""By what answers there."""


def names_of(door: str, routes: Iterable[BaseRoute], table: Iterable[Route] = ()) -> RouteNames:
    """The names of a door's routes: the operations in its table, or else their paths as routes spell them."""
    named = {(route.method, route.path): route.operation.name for route in table}
    found: RouteNames = {}
    for route in routes:
        path: str = getattr(route, "path", "")
        methods: Iterable[str] = getattr(route, "methods", None) or ("",)
        known = (named.get((method, path.rstrip("/"))) for method in methods)
        if (endpoint := getattr(route, "endpoint", None)) is not None:
            found[endpoint] = RouteName(door, next(filter(None, known), path))
    return found


OK = "ok"
_FIRST_REFUSAL = 400
_FIRST_FAULT = 500


class AnsweredRequest:
    """What is known of an answer while it is made."""

    __slots__ = ("error", "status")

    def __init__(self) -> None:
        self.status = 0
        """0 until it begins."""
        self.error = ""
        """The code of what was refused or failed."""


_ANSWERING: ContextVar[AnsweredRequest | None] = ContextVar("souvenance.answering", default=None)


def note(error: SouvenanceError) -> None:
    """Remember why the request at hand is refused, for whoever sees it pass."""
    answering = _ANSWERING.get()
    if answering is not None:
        answering.error = error.code


class TelemetryObserver:
    """An `Observer` for the gate, and what requests pass at the door."""

    def __init__(self, *, log: Log | None, metrics: Metrics | None, tracing: Tracing | None) -> None:
        self.log = log
        self.metrics = metrics
        self.tracing = tracing
        self.route_names: RouteNames = {}

    async def request(self, answer: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass."""
        answering = AnsweredRequest()
        _ANSWERING.set(answering)
        span = None if self.tracing is None else self.tracing.request(scope)

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                answering.status = message["status"]
            await send(message)

        if self.metrics is not None:
            self.metrics.in_progress.inc()
        began = perf_counter()
        try:
            await answer(scope, receive, tell)
        finally:
            seconds = perf_counter() - began
            route = self.route_names.get(scope.get("endpoint"), NOWHERE)
            if self.metrics is not None:
                self.metrics.in_progress.dec()
                self.metrics.request(route, answering.status, seconds)
            if span is not None:
                span.end_request(route, answering.status, answering.error)
            if self.log is not None:
                self._tell(self.log, route, answering, seconds)

    def watch(self, kind: str, name: str) -> _Watched:
        return _Watched(self, kind, name)

    def _tell(self, log: Log, route: RouteName, answering: AnsweredRequest, seconds: float) -> None:
        if route.door == UPKEEP and 0 < answering.status < _FIRST_REFUSAL:
            return
        log.tell(
            "request",
            level="error" if not 0 < answering.status < _FIRST_FAULT else "info",
            door=route.door,
            operation=route.operation,
            status=answering.status,
            milliseconds=round(seconds * 1000, 2),
            **({"error": answering.error} if answering.error else {}),
        )


class _Watched:
    """One piece of work, from its beginning to its end."""

    __slots__ = ("_began", "_counts", "_kind", "_name", "_observer", "_span")

    def __init__(self, observer: TelemetryObserver, kind: str, name: str) -> None:
        self._observer = observer
        self._kind = kind
        self._name = name
        self._counts: dict[str, int] = {}

    def __enter__(self) -> _Watched:
        tracing = self._observer.tracing
        self._span: OpenSpan | None = None if tracing is None else tracing.work(self._kind, self._name)
        self._began = perf_counter()
        return self

    def count(self, what: str, number: int) -> None:
        self._counts[what] = number

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = perf_counter() - self._began
        outcome = OK if error is None else code_of(error)
        if isinstance(error, SouvenanceError):
            note(error)
        if self._observer.metrics is not None:
            self._observer.metrics.work(self._kind, self._name, outcome, seconds, self._counts)
        if self._span is not None:
            self._span.end(outcome, self._counts)


def code_of(error: BaseException) -> str:
    """How work ended that an error left, in a word of a small set."""
    if isinstance(error, SouvenanceError):
        return error.code
    return "broken_off" if isinstance(error, GeneratorExit) else "failed"


_HEADER = HEADER.encode()
_UPSTREAM = b"x-upstream-request-id"
"""What an endpoint behind us calls the request."""

_Headers = Iterable[tuple[bytes, bytes]]


class TelemetryMiddleware:
    """Lets requests through to whoever answers, as they come and go: nothing of a body is held back."""

    def __init__(self, observer: TelemetryObserver | None = None) -> None:
        self._observer = observer

    async def __call__(self, answer: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = _id_of_client(scope["headers"]) or _new_id()
        CURRENT.set(request_id)
        own = (_HEADER, request_id.encode("ascii"))

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*_renamed(message.get("headers", ())), own]
            await send(message)

        if self._observer is None:
            await answer(scope, receive, tell)
        else:
            await self._observer.request(answer, scope, receive, tell)


def _id_of_client(headers: _Headers) -> str | None:
    """The client's id for its request, if it may be taken over."""
    for name, value in headers:
        if name == _HEADER:
            text = value.decode("latin-1")
            return text if is_plain(text) else None
    return None


def _new_id() -> str:
    return ulid.compose(time.time_ns() // 1_000_000, os.urandom(ulid.ENTROPY_BYTES))


def _renamed(headers: _Headers) -> list[tuple[bytes, bytes]]:
    return [(_UPSTREAM if name == _HEADER else name, value) for name, value in headers]


_logger = logging.getLogger("souvenance.seen")


@contextmanager
def observing(asked: SeenSettings, log: Log) -> Iterator[TelemetryObserver | None]:
    """What sees the server meanwhile; None if nothing is asked for.

    Raises: Misconfigured.
    """
    metrics = _metrics() if asked.metrics else None
    tracing = _tracing() if asked.traces else None
    if metrics is None and tracing is None and not log.structured:
        yield None
        return
    try:
        yield TelemetryObserver(log=log if log.structured else None, metrics=metrics, tracing=tracing)
    finally:
        if tracing is not None:
            tracing.close()


def _metrics() -> Metrics:
    try:
        from souvenance.surfaces.http.telemetry.metrics import Metrics
    except ImportError:
        raise Misconfigured(
            "SOUVENANCE_METRICS is set, and prometheus-client is not installed",
            hint=f"Run: {install('metrics')}",
        ) from None
    return Metrics()


def _tracing() -> Tracing | None:
    """None where it is not installed: the variables may be meant for other programs."""
    try:
        from souvenance.surfaces.http.telemetry.tracing import Tracing
    except ImportError:
        _logger.warning(f"OTEL_EXPORTER_OTLP_ENDPOINT is set and nothing traces: {install('traces')}")
        return None
    return Tracing()
