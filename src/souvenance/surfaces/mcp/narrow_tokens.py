"""Narrower caps for each errand: whatever cap came in, what a model can cause reaches one person alone."""

from __future__ import annotations

from souvenance.gate import messages as m
from souvenance.surfaces.mcp.gate_calls import Errand
from souvenance.surfaces.mcp.person import MemoryOwner

ERRANDS: dict[Errand, tuple[str, ...]] = {
    "read": ("get", "list", "snapshot"),
    "speak": ("put", "list"),
    "note": ("put", "list", "get"),
    "erase": ("get", "forget"),
}
"""The rights that each errand takes."""


def narrower(
    person: MemoryOwner,
    errand: Errand,
    *,
    read: tuple[str, ...] | None = None,
    write: str | None = None,
) -> m.Attenuate:
    """What the cap of an errand says; `read` and `write` are the namespaces, where an operator chose some."""
    written = None if write is None else (write,)
    session = person.session if errand == "speak" else None
    return m.Attenuate(
        sub=person.name,
        wid=person.workspace,
        data_class="memory",
        ops=tuple(op for op in ERRANDS[errand] if op in person.ops),
        namespaces_allowed=read if errand == "read" else written,
        peers=(person.name,),
        via=person.eyes,
        sessions=None if session is None else (session,),
    )
