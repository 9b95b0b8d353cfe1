"""Mnemon: long-term memory for AI agents, behind a gate.

    house = mnemon.open_house(mnemon.settings_from({}, "~/.mnemon"))

Importing this package loads nothing heavy; its parts are loaded when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mnemon.version import __version__

if TYPE_CHECKING:
    from mnemon.bootstrap import House, open_house
    from mnemon.config import Settings, settings_from
    from mnemon.errors import MnemonError

__all__ = ["House", "MnemonError", "Settings", "__version__", "open_house", "settings_from"]

_HOMES = {
    "House": "mnemon.bootstrap",
    "open_house": "mnemon.bootstrap",
    "Settings": "mnemon.config",
    "settings_from": "mnemon.config",
    "MnemonError": "mnemon.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
