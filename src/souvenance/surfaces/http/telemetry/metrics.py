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

from souvenance.gate.health import Health
from souvenance.surfaces.http.telemetry.route_names import RouteName
from souvenance.version import __version__

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_HOUR, _DAY = "hour", "day"


class Metrics:
    """One for each server."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._build = self._gauge(
            "souvenance_build_info", "Always 1; which version runs.", "version", "python"
        )
        self._build.labels(__version__, platform.python_version()).set(1)
        self._count_requests()
        self._count_store_and_models()
        self._count_work()
        self._by_kind = {
            "operation": (self._operations, self._operation_seconds),
            "store": (self._transactions, self._transaction_seconds),
            "model": (self._model_calls, self._model_seconds),
            "work": (self._work_done, self._work_seconds),
        }
        self._children: dict[tuple[Any, ...], Any] = {}

    def _count_requests(self) -> None:
        self._requests = self._counter(
            "souvenance_requests_total",
            "Requests, by status; 0 without an answer.",
            "door",
            "operation",
            "status",
        )
        self._request_seconds = self._histogram(
            "souvenance_request_seconds",
            "How long requests took, answers included.",
            "door",
            "operation",
        )
        self.in_progress = self._gauge("souvenance_requests_in_progress", "Requests that are being answered.")
        self._operations = self._counter(
            "souvenance_operations_total",
            "Requests to the gate, by code of refusal.",
            "operation",
            "outcome",
        )
        self._operation_seconds = self._histogram(
            "souvenance_operation_seconds", "How long the gate took, audit row included.", "operation"
        )
        self._lines = self._counter(
            "souvenance_lines_total", "Lines that operations stored, gave or erased.", "operation"
        )

    def _count_store_and_models(self) -> None:
        self._transactions = self._counter(
            "souvenance_store_transactions_total", "Transactions, by code of failure.", "kind", "outcome"
        )
        self._transaction_seconds = self._histogram(
            "souvenance_store_seconds", "How long a transaction took, waiting for it included.", "kind"
        )
        self._store_up = self._gauge("souvenance_store_up", "1 if the store can be reached, else 0.")
        self._model_calls = self._counter(
            "souvenance_model_calls_total", "Calls of models, by code of failure.", "task", "outcome"
        )
        self._model_seconds = self._histogram("souvenance_model_seconds", "How long a call took.", "task")
        self._model_tokens = self._counter("souvenance_model_tokens_total", "Tokens of good calls.", "task")
        self._model_resting = self._gauge(
            "souvenance_model_resting",
            "1 if the model is left alone for now: it fails, or its budget is spent.",
        )
        self._model_calls_left = self._gauge(
            "souvenance_model_calls_left", "Calls that the budget of the installation still allows.", "period"
        )
        self._model_tokens_left = self._gauge(
            "souvenance_model_tokens_left",
            "Tokens that the budget of the installation still allows.",
            "period",
        )

    def _count_work(self) -> None:
        self._work_done = self._counter(
            "souvenance_work_total", "Work behind the requests, by code of failure.", "kind", "outcome"
        )
        self._work_seconds = self._histogram(
            "souvenance_work_seconds", "How long a piece of work took.", "kind"
        )
        self._work_waiting = self._gauge("souvenance_work_waiting", "Jobs that are due and nobody does.")
        self._work_oldest = self._gauge(
            "souvenance_work_oldest_seconds", "For how long the first of them has been due; 0 if none is."
        )
        self._behind = self._gauge(
            "souvenance_embedding_behind", "1 if lines wait for their vectors, else 0."
        )
        self._embedder_resting = self._gauge(
            "souvenance_embedder_resting", "1 if the embedder fails: search is by words meanwhile."
        )

    def request(self, place: RouteName, status: int, seconds: float) -> None:
        self._child(self._requests, *place, str(status)).inc()
        self._child(self._request_seconds, *place).observe(seconds)

    def work(self, kind: str, name: str, outcome: str, seconds: float, counts: Mapping[str, int]) -> None:
        """A piece of work of one of the kinds that an observer is told of."""
        counter, histogram = self._by_kind[kind]
        self._child(counter, name, outcome).inc()
        self._child(histogram, name).observe(seconds)
        for what, number in counts.items():
            if number:
                self._child(self._lines if what == "lines" else self._model_tokens, name).inc(number)

    def told(self, vitals: Health | None, *, store: bool) -> bytes:
        """All of it, as Prometheus reads it. Without vitals, what they tell stays as it was told last."""
        self._store_up.set(store)
        if vitals is not None:
            self._take(vitals)
        return generate_latest(self.registry)

    def _take(self, vitals: Health) -> None:
        self._work_waiting.set(vitals.work_waiting)
        self._work_oldest.set(vitals.work_oldest_ms / 1000)
        self._behind.set(vitals.embedding_behind)
        self._embedder_resting.set(vitals.embedder_rests)
        self._model_resting.set(vitals.model_rests)
        if (left := vitals.left) is not None:
            self._model_calls_left.labels(_HOUR).set(left.calls_this_hour)
            self._model_calls_left.labels(_DAY).set(left.calls_today)
            self._model_tokens_left.labels(_HOUR).set(left.tokens_this_hour)
            self._model_tokens_left.labels(_DAY).set(left.tokens_today)

    def _child(self, metric: Any, *labels: str) -> Any:
        """The metric with those labels: looked up once, for to look it up costs more than to count."""
        key = (metric, *labels)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = metric.labels(*labels)
        return found

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(name, meaning, labels, registry=self.registry)

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(name, meaning, labels, registry=self.registry)

    def _histogram(self, name: str, meaning: str, *labels: str) -> Histogram:
        return Histogram(name, meaning, labels, registry=self.registry, buckets=_SECONDS)
