"""The metrics: what a server counts, for Prometheus. No label holds a name that a person gave."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from souvenance.domain.telemetry import RouteName
from souvenance.gate.health import Health
from souvenance.version import __version__

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

_COUNTERS: dict[str, tuple[str, ...]] = {
    "souvenance_requests_total": ("Requests, by status; 0 without an answer.", "door", "operation", "status"),
    "souvenance_operations_total": ("Requests to the gate, by code of refusal.", "operation", "outcome"),
    "souvenance_lines_total": ("Lines that operations stored, gave or erased.", "operation"),
    "souvenance_store_transactions_total": ("Transactions, by code of failure.", "kind", "outcome"),
    "souvenance_model_calls_total": ("Calls of models, by code of failure.", "task", "outcome"),
    "souvenance_model_tokens_total": ("Tokens of good calls.", "task"),
    "souvenance_work_total": ("Work behind the requests, by code of failure.", "kind", "outcome"),
}
_HISTOGRAMS: dict[str, tuple[str, ...]] = {
    "souvenance_request_seconds": ("How long requests took, answers included.", "door", "operation"),
    "souvenance_operation_seconds": ("How long the gate took, audit row included.", "operation"),
    "souvenance_store_seconds": ("How long a transaction took, waiting for it included.", "kind"),
    "souvenance_model_seconds": ("How long a call took.", "task"),
    "souvenance_work_seconds": ("How long a piece of work took.", "kind"),
}
_GAUGES: dict[str, tuple[str, ...]] = {
    "souvenance_build_info": ("Always 1; which version runs.", "version", "python"),
    "souvenance_requests_in_progress": ("Requests that are being answered.",),
    "souvenance_store_up": ("1 if the store can be reached, else 0.",),
    "souvenance_model_resting": ("1 if the model is left alone for now: it fails, or its budget is spent.",),
    "souvenance_model_calls_left": ("Calls that the budget of the installation still allows.", "period"),
    "souvenance_model_tokens_left": ("Tokens that the budget of the installation still allows.", "period"),
    "souvenance_work_waiting": ("Jobs that are due and nobody does.",),
    "souvenance_work_oldest_seconds": ("For how long the first of them has been due; 0 if none is.",),
    "souvenance_embedding_behind": ("1 if lines wait for their vectors, else 0.",),
    "souvenance_embedder_resting": ("1 if the embedder fails: search is by words meanwhile.",),
}
"""The meaning and the labels of each metric."""
_OF_WORK = {
    "operation": ("souvenance_operations_total", "souvenance_operation_seconds"),
    "store": ("souvenance_store_transactions_total", "souvenance_store_seconds"),
    "model": ("souvenance_model_calls_total", "souvenance_model_seconds"),
    "work": ("souvenance_work_total", "souvenance_work_seconds"),
}
"""What counts and times each kind of work that an observer sees."""


class Metrics:
    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.all: dict[str, Any] = {
            **{name: self._made(Counter, name, *about) for name, about in _COUNTERS.items()},
            **{name: self._made(Gauge, name, *about) for name, about in _GAUGES.items()},
            **{
                name: self._made(Histogram, name, *about, buckets=_SECONDS)
                for name, about in _HISTOGRAMS.items()
            },
        }
        self.in_progress: Gauge = self.all["souvenance_requests_in_progress"]
        self.all["souvenance_build_info"].labels(__version__, platform.python_version()).set(1)
        self._children: dict[tuple[str, ...], Any] = {}

    def _made(self, kind: Any, name: str, meaning: str, *labels: str, **options: Any) -> Any:
        return kind(name, meaning, labels, registry=self._registry, **options)

    def request(self, route: RouteName, status: int, seconds: float) -> None:
        self._child("souvenance_requests_total", *route, str(status)).inc()
        self._child("souvenance_request_seconds", *route).observe(seconds)

    def work(self, kind: str, name: str, outcome: str, seconds: float, counts: Mapping[str, int]) -> None:
        """A piece of work of one of the kinds that an observer sees."""
        counter, histogram = _OF_WORK[kind]
        self._child(counter, name, outcome).inc()
        self._child(histogram, name).observe(seconds)
        for what, number in counts.items():
            if number:
                self._child(
                    "souvenance_lines_total" if what == "lines" else "souvenance_model_tokens_total", name
                ).inc(number)

    def text(self, health: Health | None, *, store: bool) -> bytes:
        """All of it, as Prometheus reads it. Without `health`, its gauges keep their last values."""
        self.all["souvenance_store_up"].set(store)
        if health is not None:
            self._take(health)
        return generate_latest(self._registry)

    def _take(self, health: Health) -> None:
        self.all["souvenance_work_waiting"].set(health.work_waiting)
        self.all["souvenance_work_oldest_seconds"].set(health.work_oldest_ms / 1000)
        self.all["souvenance_embedding_behind"].set(health.embedding_behind)
        self.all["souvenance_embedder_resting"].set(health.embedder_rests)
        self.all["souvenance_model_resting"].set(health.model_rests)
        if (left := health.left) is not None:
            self._child("souvenance_model_calls_left", "hour").set(left.calls_this_hour)
            self._child("souvenance_model_calls_left", "day").set(left.calls_today)
            self._child("souvenance_model_tokens_left", "hour").set(left.tokens_this_hour)
            self._child("souvenance_model_tokens_left", "day").set(left.tokens_today)

    def _child(self, name: str, *labels: str) -> Any:
        """The metric with those labels: looked up once, for to look it up costs more than to count."""
        key = (name, *labels)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = self.all[name].labels(*labels)
        return found
