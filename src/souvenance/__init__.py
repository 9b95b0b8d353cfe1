"""Souvenance: long-term memory for AI agents, behind a gate.

    with souvenance.open("~/.souvenance") as memory:
        memory.put("I live in Lisbon")
        print(memory.get("where do I live?")[0].text)

Importing this package loads nothing heavy; its parts are loaded when they are first named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from souvenance.version import __version__

if TYPE_CHECKING:
    from souvenance.config import Settings, settings_from
    from souvenance.errors import SouvenanceError
    from souvenance.installation import Installation, open_installation
    from souvenance.memory.asynchronous import AsyncMemory, AsyncPeer, AsyncSession, open_async
    from souvenance.memory.results import Conclusion, Context, Forgotten, Line, Message, framed
    from souvenance.memory.sync import Memory, Peer, Session, open

__all__ = [
    "AsyncMemory",
    "AsyncPeer",
    "AsyncSession",
    "Conclusion",
    "Context",
    "Forgotten",
    "Installation",
    "Line",
    "Memory",
    "Message",
    "Peer",
    "Session",
    "Settings",
    "SouvenanceError",
    "__version__",
    "framed",
    "open",
    "open_async",
    "open_installation",
    "settings_from",
]

_MODULES = {
    "souvenance.installation": ("Installation", "open_installation"),
    "souvenance.config": ("Settings", "settings_from"),
    "souvenance.errors": ("SouvenanceError",),
    "souvenance.memory.asynchronous": ("AsyncMemory", "AsyncPeer", "AsyncSession", "open_async"),
    "souvenance.memory.results": ("Conclusion", "Context", "Forgotten", "Line", "Message", "framed"),
    "souvenance.memory.sync": ("Memory", "Peer", "Session", "open"),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
