"""Signs: what can be seen of a line at a glance, before any question is asked.

A line that tells something of its speaker, dated and counted, answers more questions than one that
asks. Signs are stored as blinded marks, like words.
"""

from __future__ import annotations

from souvenance.language.character_runs import Runs
from souvenance.patterns import pattern

ASKS = "asks"
SELF = "self"
NUMBER = "number"
TIME = "time"
EVERY = (ASKS, SELF, NUMBER, TIME)

_MOST = 4000
"""How much of a text is looked at."""

_WORDS = Runs(r"\w")
_DIGITS = Runs(r"\d")
_SPEAKER = "i my me mine we our us"
_SELVES = frozenset(_SPEAKER.split())
_COUNT = "one two three four five six seven eight nine ten dozen hundred twice once"
_NUMBERS = frozenset(_COUNT.split())
_SEVERAL = (
    "day week weekend month year morning evening monday tuesday wednesday thursday friday saturday sunday"
)
_CALENDAR = f"""
yesterday today tomorrow tonight last next ago {_SEVERAL} {_SEVERAL.replace(" ", "s ")}s
january february march april may june july august september october november december
summer winter spring autumn christmas birthday
"""
_TIMES = frozenset(_CALENDAR.split())
_TELLING = _SELVES | _NUMBERS | _TIMES
_YEAR = pattern(r"\b(?:19|20)\d\d\b")


def signs(text: str) -> list[str]:
    """The signs of a line, in the order of `EVERY`."""
    asks = text.rstrip().endswith(("?", "？", "؟"))
    text = text[:_MOST]
    low = text.lower()
    words = _TELLING.intersection(_WORDS.of(low))
    digits = _DIGITS.of(low)
    seen = (
        asks,
        not _SELVES.isdisjoint(words),
        digits or not _NUMBERS.isdisjoint(words),
        not _TIMES.isdisjoint(words) or (digits and _YEAR.search(low)),
    )
    return [sign for sign, is_there in zip(EVERY, seen, strict=True) if is_there]
