"""What of a server can be seen from outside, by what its settings say."""

from __future__ import annotations

from msgspec import Struct

TEXT, JSON, OFF = "text", "json", "off"
LOGS = (TEXT, JSON, OFF)


class SeenSettings(Struct, frozen=True):
    log: str = TEXT
    """How the server logs: in lines for people, as one JSON object per line, or not at all."""
    metrics: bool = False
    """Whether it counts, and tells Prometheus."""
    traces: bool = False
    """Whether it sends OpenTelemetry traces to where the standard variables say."""
