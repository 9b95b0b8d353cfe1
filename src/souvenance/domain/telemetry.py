"""What of a server can be seen from outside: its settings, and the id of the request that is being answered.

The id stands in the answer, in logs and traces, and in calls onward."""

from __future__ import annotations

from contextvars import ContextVar
from typing import NamedTuple

from msgspec import Struct

from souvenance.patterns import pattern

TEXT, REQUESTS, JSON, OFF = "text", "requests", "json", "off"
LOGS = (TEXT, REQUESTS, JSON, OFF)


class TelemetrySettings(Struct, frozen=True):
    """`souvenance.settings` says what the log and the metrics are."""

    log: str = TEXT
    metrics: bool = False
    traces: bool = False
    """Whether it sends OpenTelemetry traces to where the standard variables say."""


class RouteName(NamedTuple):
    """What a request asks for, as metrics and traces name it."""

    door: str
    operation: str


HEADER = "x-request-id"
CURRENT: ContextVar[str] = ContextVar("souvenance.request_id", default="")
"""The id of the request that this thread or task works for; empty if it works for none."""

_PLAIN = pattern(r"[A-Za-z0-9._:=+/-]{1,128}\Z")


def is_plain(text: str) -> bool:
    """Whether someone else's id may be taken over: short, and nothing in it that is more than an id."""
    return _PLAIN.match(text) is not None


def onward() -> dict[str, str]:
    """The header that passes the request's id on to servers that are called for it."""
    current = CURRENT.get()
    return {HEADER: current} if current else {}
