"""Sets telemetry up by the settings; what is not asked for is not loaded."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from souvenance.domain.telemetry import SeenSettings
from souvenance.errors import Misconfigured
from souvenance.extras import install
from souvenance.surfaces.http.telemetry.logs import Log
from souvenance.surfaces.http.telemetry.observer import TelemetryObserver

if TYPE_CHECKING:
    from souvenance.surfaces.http.telemetry.metrics import Metrics
    from souvenance.surfaces.http.telemetry.tracing import Tracing

_log = logging.getLogger("souvenance.seen")


@contextmanager
def seeing(asked: SeenSettings, log: Log) -> Iterator[TelemetryObserver | None]:
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
        _log.warning(f"OTEL_EXPORTER_OTLP_ENDPOINT is set and nothing traces: {install('traces')}")
        return None
    return Tracing()
