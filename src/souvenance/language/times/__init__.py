"""Times that a question or a line speaks of.

Pure functions of the text and of when it was said; nothing here reads a clock. The rules are loaded when
they are first named, so that a module that only handles spans costs little to load.

How doubtful phrases are read:

- A bare weekday, month or day looks back or ahead as the nearest verb of its sentence does. Without a
  verb that tells, a weekday is the coming one and a month or a day of a month the nearest one.
- `this weekend` is that of the week the speaker is in, Sunday included; `next` means the following week,
  Monday first; `last Friday` is the latest Friday before today.
- 5/7/2023 has the month first unless only the other order is a date; 07.05.2023 has the day first, and
  needs two digits each or a preposition, because 1.2.2023 may be a version.
- Seasons are those of the northern half of the world; winter has the year in which it begins.
- What each language calls times stands in one JSON file per language; a text is read by the words of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from souvenance.language.times.search import spans as spans

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


def __getattr__(name: str) -> Any:
    if name not in ("may_tell", "spans"):
        raise AttributeError(name)
    from souvenance.language.times import search

    globals()[name] = found = getattr(search, name)
    return found
