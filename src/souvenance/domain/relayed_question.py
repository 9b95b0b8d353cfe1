"""A question that an agent asks on somebody's behalf: what it wants to know, and what the person wrote."""

from __future__ import annotations

_WROTE = "\n\nThe person just wrote:\n"
ADDED = len(_WROTE)
"""How much longer it is than both."""


def relayed(wanted: str, wrote: str) -> str:
    return _WROTE.join(filter(None, (wanted, wrote)))


def taken_apart(question: str) -> tuple[str, str]:
    """What an agent wants to know, empty if none relays it, and what is asked for by the person."""
    wanted, _, wrote = question.rpartition(_WROTE)
    return wanted, wrote
