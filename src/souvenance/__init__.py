"""Souvenance: long-term memory for AI agents, behind a gate.

    house = souvenance.open_installation(souvenance.settings_from({}, "~/.souvenance"))

Importing this package loads nothing heavy; its parts are loaded when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from souvenance.version import __version__

if TYPE_CHECKING:
    from souvenance.config import Settings, settings_from
    from souvenance.errors import SouvenanceError
    from souvenance.installation import Installation, open_installation

__all__ = ["Installation", "Settings", "SouvenanceError", "__version__", "open_installation", "settings_from"]

_HOMES = {
    "Installation": "souvenance.installation",
    "open_installation": "souvenance.installation",
    "Settings": "souvenance.config",
    "settings_from": "souvenance.config",
    "SouvenanceError": "souvenance.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
