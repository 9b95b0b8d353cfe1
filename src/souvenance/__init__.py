"""Souvenance: long-term memory for AI agents, behind a gate.

    house = souvenance.open_house(souvenance.settings_from({}, "~/.souvenance"))

Importing this package loads nothing heavy; its parts are loaded when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from souvenance.version import __version__

if TYPE_CHECKING:
    from souvenance.bootstrap import House, open_house
    from souvenance.config import Settings, settings_from
    from souvenance.errors import SouvenanceError

__all__ = ["House", "Settings", "SouvenanceError", "__version__", "open_house", "settings_from"]

_HOMES = {
    "House": "souvenance.bootstrap",
    "open_house": "souvenance.bootstrap",
    "Settings": "souvenance.config",
    "settings_from": "souvenance.config",
    "SouvenanceError": "souvenance.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
