"""What time it is where the host's user lives, as the host is told; else where this machine is."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, tzinfo
from functools import cache
from importlib import import_module
from types import ModuleType

_CLOCK = "hermes_time"


def zone() -> tzinfo | None:
    """The time zone that the host is set to; None for the machine's own."""
    clock = sys.modules.get(_CLOCK) or _loaded()
    try:
        found = None if clock is None else clock.get_timezone()
    except Exception:  # noqa: BLE001 - whatever a host makes of its settings, there is a day to go by
        return None
    return found if isinstance(found, tzinfo) else None


def now() -> datetime:
    return datetime.now(UTC).astimezone(zone())


@cache
def _loaded() -> ModuleType | None:
    """The host's clock, if this is a host."""
    try:
        return import_module(_CLOCK)
    except ImportError:
        return None
