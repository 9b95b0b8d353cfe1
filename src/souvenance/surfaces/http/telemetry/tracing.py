"""The traces: a span for each request, what it asks of the gate, each transaction and each call of a model.

OpenTelemetry's own variables say where they go, and how many. The provider is this server's alone, so
that libraries which trace into a common one can't put a word of a request into it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextvars import Token

from msgspec import Struct
from opentelemetry import context as contexts
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import Scope

from souvenance.domain.telemetry import CURRENT, RouteName
from souvenance.version import __version__

_FLUSH_SECONDS = 2.0
_FIRST_FAULT = 500
_HOLDS_OTHERS = "operation"
"""The kind of work that other work happens in; all else is too short, or ends in another thread."""
_CLIENT = "model"


class OpenSpan(Struct):
    """A span under way; while it is, others are inside it if it holds others."""

    span: Span
    token: Token[contexts.Context] | None

    def end(self, outcome: str, counts: Mapping[str, int]) -> None:
        self.span.set_attribute("souvenance.outcome", outcome)
        for what, number in counts.items():
            self.span.set_attribute(f"souvenance.{what}", number)
        self._close(failed=outcome != "ok")

    def end_request(self, route: RouteName, status: int, error: str) -> None:
        self.span.update_name(f"{route.door} {route.operation}")
        self.span.set_attribute("souvenance.door", route.door)
        self.span.set_attribute("souvenance.operation", route.operation)
        if status:
            self.span.set_attribute("http.response.status_code", status)
        if error:
            self.span.set_attribute("error.type", error)
        self._close(failed=not 0 < status < _FIRST_FAULT)

    def _close(self, *, failed: bool) -> None:
        if failed:
            self.span.set_status(Status(StatusCode.ERROR))
        self.span.end()
        if self.token is not None:
            contexts.detach(self.token)


class Tracing:
    def __init__(self) -> None:
        named = Resource({SERVICE_NAME: "souvenance", SERVICE_VERSION: __version__})
        self._provider = TracerProvider(resource=named.merge(_from_variables()), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("souvenance", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def request(self, scope: Scope) -> OpenSpan:
        """A request, inside the client's own span if it names one."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
            if name in (b"traceparent", b"tracestate")
        }
        parent = self._propagator.extract(headers, contexts.Context())
        about = {"http.request.method": scope["method"], "souvenance.request_id": CURRENT.get()}
        span = self._tracer.start_span("request", parent, SpanKind.SERVER, about)
        return OpenSpan(span, contexts.attach(set_span_in_context(span, parent)))

    def work(self, kind: str, name: str) -> OpenSpan:
        """A piece of work of one of the kinds that an observer sees."""
        of = SpanKind.CLIENT if kind == _CLIENT else SpanKind.INTERNAL
        current = CURRENT.get()
        about = {"souvenance.request_id": current} if current else None
        span = self._tracer.start_span(f"{kind} {name}", kind=of, attributes=about)
        token = contexts.attach(set_span_in_context(span)) if kind == _HOLDS_OTHERS else None
        return OpenSpan(span, token)

    def close(self) -> None:
        """Send what is left, if that can be done in a moment."""
        ending = threading.Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(_FLUSH_SECONDS)


def _from_variables() -> Resource:
    """What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say, and nothing that is guessed."""
    attributes = Resource.create().attributes
    guessed = str(attributes.get(SERVICE_NAME, "")).startswith("unknown_service")
    return Resource(
        {name: value for name, value in attributes.items() if not (guessed and name == SERVICE_NAME)}
    )
