"""How what is known of a peer is written down, and how a budget of tokens is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from mnemon.domain.moments import to_datetime

_Item = TypeVar("_Item")

HEADINGS = {
    "explicit": "Explicit Observations",
    "deductive": "Deductive Observations",
    "inductive": "Inductive Observations",
    "contradiction": "Contradictions",
}


class Conclusion(Struct, frozen=True):
    """A statement about a peer, as it is shown. `at` is when what it rests on was said."""

    level: str
    text: str
    at: int
    premises: tuple[str, ...] = ()


def render(conclusions: Sequence[Conclusion]) -> str:
    """The conclusions by level, oldest first in each; empty if there are none."""
    parts: list[str] = []
    for level, heading in HEADINGS.items():
        held = sorted((one for one in conclusions if one.level == level), key=lambda one: one.at)
        if held:
            parts.append(f"## {heading}\n\n" + "\n".join(_entry(one) for one in held))
    return "\n\n".join(parts)


def _entry(one: Conclusion) -> str:
    told = f"[{to_datetime(one.at):%Y-%m-%d %H:%M:%S}] {one.text}"
    return "\n".join((told, *(f"    - {premise}" for premise in one.premises)))


def fitting(newest_first: Sequence[_Item], tokens: Callable[[_Item], int], budget: int) -> list[_Item]:
    """The newest items that fit the budget together, back in their own order."""
    kept: list[_Item] = []
    for item in newest_first:
        budget -= tokens(item)
        if budget < 0:
            break
        kept.append(item)
    return kept[::-1]
