"""Observes each request and the background work, and tells log, metrics and traces."""

from __future__ import annotations

from contextvars import ContextVar
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from souvenance.errors import SouvenanceError
from souvenance.surfaces.http.telemetry.logs import Log
from souvenance.surfaces.http.telemetry.route_names import NOWHERE, UPKEEP, Places, RouteName

if TYPE_CHECKING:
    from souvenance.surfaces.http.telemetry.metrics import Metrics
    from souvenance.surfaces.http.telemetry.tracing import OpenSpan, Tracing

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
        self.places: Places = {}

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
            place = self.places.get(scope.get("endpoint"), NOWHERE)
            if self.metrics is not None:
                self.metrics.in_progress.dec()
                self.metrics.request(place, answering.status, seconds)
            if span is not None:
                span.end_request(place, answering.status, answering.error)
            if self.log is not None:
                self._tell(self.log, place, answering, seconds)

    def watch(self, kind: str, name: str) -> _Watched:
        return _Watched(self, kind, name)

    def _tell(self, log: Log, place: RouteName, answering: AnsweredRequest, seconds: float) -> None:
        if place.door == UPKEEP and 0 < answering.status < _FIRST_REFUSAL:
            return
        log.tell(
            "request",
            level="error" if not 0 < answering.status < _FIRST_FAULT else "info",
            door=place.door,
            operation=place.operation,
            status=answering.status,
            milliseconds=round(seconds * 1000, 2),
            **({"error": answering.error} if answering.error else {}),
        )


class _Watched:
    """One piece of work, from its beginning to its end."""

    __slots__ = ("_began", "_counts", "_kind", "_name", "_sight", "_span")

    def __init__(self, sight: TelemetryObserver, kind: str, name: str) -> None:
        self._sight = sight
        self._kind = kind
        self._name = name
        self._counts: dict[str, int] = {}

    def __enter__(self) -> _Watched:
        tracing = self._sight.tracing
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
        if self._sight.metrics is not None:
            self._sight.metrics.work(self._kind, self._name, outcome, seconds, self._counts)
        if self._span is not None:
            self._span.end(outcome, self._counts)


def code_of(error: BaseException) -> str:
    """How work ended that an error left, in a word of a small set."""
    if isinstance(error, SouvenanceError):
        return error.code
    return "broken_off" if isinstance(error, GeneratorExit) else "failed"
