"""A stretch of time that a text speaks of, and how well two of them agree."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

EARLIEST = -62_135_596_800_000
"""The start of a span that has none: 'before June' said in July."""
LATEST = 253_402_300_800_000
"""The end of a span that has none: 'after next June'."""
_YEAR = 31_556_952_000

Grain = Literal["hours", "day", "days", "week", "weekend", "month", "season", "year", "years", "open"]


class Span(Struct, frozen=True):
    """From `start_ms` to just before `end_ms`, in milliseconds UTC; `phrase` is at `position` of the text.

    `certainty`: 1 for a date in full, 0.9 where when it was said settles it, about 0.6 where the year or
    week is guessed, below 0.5 for vague words like 'recently'.
    """

    start_ms: int
    end_ms: int
    phrase: str = ""
    position: int = 0
    grain: Grain = "day"
    certainty: float = 1.0

    @property
    def middle(self) -> int:
        return (self.start_ms + self.end_ms) // 2


def overlap(asked: Span, told: Span) -> float:
    """How well a time that was told fits one that is asked for, from 0 to 1.

    1 if it lies inside; down to a half while less and less of it does; from there it halves with each
    width of the asked span that lies between them. An open span is taken to be a year wide.
    """
    shared = min(asked.end_ms, told.end_ms) - max(asked.start_ms, told.start_ms)
    if shared > 0:
        return 0.5 + 0.5 * min(1.0, shared / max(1, min(_width(told), told.end_ms - told.start_ms)))
    return float(0.5 ** (1 - shared / _width(asked)))


def _width(span: Span) -> int:
    if span.start_ms == EARLIEST or span.end_ms == LATEST:
        return _YEAR
    return max(1, span.end_ms - span.start_ms)
