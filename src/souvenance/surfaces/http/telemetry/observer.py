"""Observes requests and background work for the log, metrics and traces that the settings ask for."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from souvenance.domain import ulid
from souvenance.domain.telemetry import CURRENT, HEADER, RouteName, TelemetrySettings, is_plain
from souvenance.errors import SouvenanceError
from souvenance.extras import importing, install
from souvenance.surfaces.http.telemetry.logs import Log

if TYPE_CHECKING:
    from souvenance.surfaces.http.telemetry.metrics import Metrics
    from souvenance.surfaces.http.telemetry.tracing import OpenSpan, Tracing


NOWHERE = RouteName("none", "none")
"""Where no door is, or where the guard let nobody in."""
UPKEEP = "upkeep"
"""The door of the operator."""

RouteNames = dict[Any, RouteName]
"""By what answers there."""


def names_of(door: str, routes: Iterable[BaseRoute], by: str = "path") -> RouteNames:
    """The names of a door's routes: their paths as they spell them, or another attribute that they have."""
    named = ((getattr(route, "endpoint", None), route) for route in routes)
    return {answer: RouteName(door, getattr(route, by)) for answer, route in named if answer is not None}


_FIRST_REFUSAL = 400
_FIRST_FAULT = 500


class ObservedRequest:
    """A request that is being answered, and what is known of its answer."""

    __slots__ = ("_began", "_observer", "_scope", "_span", "error", "status")

    def __init__(self, observer: TelemetryObserver, scope: Scope) -> None:
        self.status = 0
        """0 until the answer begins."""
        self.error = ""
        """The code of what was refused or failed."""
        self._observer = observer
        self._scope = scope
        self._span = None if observer.tracing is None else observer.tracing.request(scope)
        if observer.metrics is not None:
            observer.metrics.in_progress.inc()
        self._began = perf_counter()

    def end(self) -> None:
        seconds = perf_counter() - self._began
        observer, route = self._observer, self._observer.route_names.get(self._scope.get("endpoint"), NOWHERE)
        if observer.metrics is not None:
            observer.metrics.in_progress.dec()
            observer.metrics.request(route, self.status, seconds)
        if self._span is not None:
            self._span.end_request(route, self.status, self.error)
        if observer.log is not None and not (route.door == UPKEEP and 0 < self.status < _FIRST_REFUSAL):
            observer.log.request(
                level="error" if not 0 < self.status < _FIRST_FAULT else "info",
                door=route.door,
                operation=route.operation,
                status=self.status,
                milliseconds=round(seconds * 1000, 2),
                **({"error": self.error} if self.error else {}),
            )


_ANSWERING: ContextVar[ObservedRequest | None] = ContextVar("souvenance.answering", default=None)


def note(error: SouvenanceError) -> None:
    """Remember why the request at hand is refused, for the log, metrics and traces."""
    answering = _ANSWERING.get()
    if answering is not None:
        answering.error = error.code


class TelemetryObserver:
    """An `Observer` for the gate; requests are observed by `answer_observed`."""

    def __init__(self, *, log: Log | None, metrics: Metrics | None, tracing: Tracing | None) -> None:
        self.log = log
        self.metrics = metrics
        self.tracing = tracing
        self.route_names: RouteNames = {}

    def watch(self, kind: str, name: str) -> _Watched:
        return _Watched(self, kind, name)


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

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        seconds = perf_counter() - self._began
        outcome = "ok" if error is None else "failed"
        if isinstance(error, SouvenanceError):
            outcome = error.code
            note(error)
        elif isinstance(error, GeneratorExit):
            outcome = "broken_off"
        if self._observer.metrics is not None:
            self._observer.metrics.work(self._kind, self._name, outcome, seconds, self._counts)
        if self._span is not None:
            self._span.end(outcome, self._counts)


_HEADER = HEADER.encode()
_UPSTREAM = b"x-upstream-request-id"
"""What an endpoint behind us calls the request."""


async def answer_observed(
    observer: TelemetryObserver | None, answer: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Passes requests and answers on as they come: nothing of a body is held back."""
    request_id = _id_of_client(scope["headers"]) or ulid.compose(
        time.time_ns() // 1_000_000, os.urandom(ulid.ENTROPY_BYTES)
    )
    CURRENT.set(request_id)
    observed = None if observer is None else ObservedRequest(observer, scope)
    _ANSWERING.set(observed)

    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = message.get("headers", ())
            others = [(_UPSTREAM if name == _HEADER else name, value) for name, value in headers]
            message["headers"] = [*others, (_HEADER, request_id.encode("ascii"))]
            if observed is not None:
                observed.status = message["status"]
        await send(message)

    try:
        await answer(scope, receive, tell)
    finally:
        if observed is not None:
            observed.end()


def _id_of_client(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The client's id for its request, if it may be taken over."""
    for name, value in headers:
        if name == _HEADER:
            text = value.decode("latin-1")
            return text if is_plain(text) else None
    return None


_logger = logging.getLogger("souvenance.telemetry")


@contextmanager
def observing(asked: TelemetrySettings, log: Log) -> Iterator[TelemetryObserver | None]:
    """What sees the server meanwhile; None if nothing is asked for. Raises: Misconfigured."""
    metrics = _metrics() if asked.metrics else None
    tracing = _tracing() if asked.traces else None
    if metrics is None and tracing is None and not log.tells_requests:
        yield None
        return
    try:
        yield TelemetryObserver(log=log if log.tells_requests else None, metrics=metrics, tracing=tracing)
    finally:
        if tracing is not None:
            tracing.close()


def _metrics() -> Metrics:
    with importing("metrics", "SOUVENANCE_METRICS is set, and prometheus-client"):
        from souvenance.surfaces.http.telemetry.metrics import Metrics
    return Metrics()


def _tracing() -> Tracing | None:
    """None where it is not installed: the variables may be meant for other programs."""
    try:
        from souvenance.surfaces.http.telemetry.tracing import Tracing
    except ImportError:
        _logger.warning(f"OTEL_EXPORTER_OTLP_ENDPOINT is set and nothing traces: {install('traces')}")
        return None
    return Tracing()
