"""What time it is where the host's user lives, as the host is told; else where this machine is."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, tzinfo
from importlib import import_module

_SETTINGS = "hermes_cli.config"
"""What the host's clock reads its settings by. A host has loaded it; only there it costs nothing to ask."""


def zone() -> tzinfo | None:
    """The time zone that the host is set to; None for the machine's own."""
    if _SETTINGS not in sys.modules:
        return None
    try:
        found = import_module("hermes_time").get_timezone()
    except Exception:  # noqa: BLE001 - whatever a host makes of its settings, there is a day to go by
        return None
    return found if isinstance(found, tzinfo) else None


def now() -> datetime:
    return datetime.now(UTC).astimezone(zone())
