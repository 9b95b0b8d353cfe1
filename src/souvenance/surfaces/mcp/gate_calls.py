"""How this door asks the gate: each call for an errand, with whatever cap that errand has."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from souvenance.errors import CapScopeMismatch, NotFound
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation

Errand = Literal["read", "speak", "note", "erase"]
"""To look, to say something in the session, to keep something that is in none, to forget."""


class Asks(Protocol):
    async def __call__(self, errand: Errand, operation: Operation, request: Request) -> Any:
        """What the gate answers. Raises: SouvenanceError."""
        ...


async def found(asks: Asks, operation: Operation, request: Request) -> Any:
    """The answer; None if there is no such thing, or none for this cap. Raises: SouvenanceError."""
    try:
        return await asks("read", operation, request)
    except (NotFound, CapScopeMismatch):
        return None
