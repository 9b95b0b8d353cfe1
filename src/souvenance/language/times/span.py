"""A stretch of time that a text speaks of."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

EARLIEST = -62_135_596_800_000
"""The start of a span that has none: 'before June' said in July."""
LATEST = 253_402_300_800_000
"""The end of a span that has none: 'after next June'."""

Grain = Literal["hours", "day", "days", "week", "weekend", "month", "season", "year", "years", "open"]


class TimeSpan(Struct, frozen=True):
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
