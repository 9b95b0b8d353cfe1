"""Signs: what can be seen of a line at a glance, before any question is asked.

A line that tells something of its speaker, dated and counted, answers more questions than one that
asks. Signs are stored as blinded marks, like words.
"""

from __future__ import annotations

from mnemon.domain.pattern import pattern

ASKS = "asks"
SELF = "self"
NUMBER = "number"
TIME = "time"
NAME = "name"
EVERY = (ASKS, SELF, NUMBER, TIME, NAME)

_MOST = 4000
"""How much of a text is looked at."""

_SELF = pattern(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|we|we're|we've|our|us)\b")
_NUMBER = pattern(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|twice|once)\b")
_TIME = pattern(
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|days?|weeks?|weekends?|months?|years?|mornings?|evenings?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|summer|winter|spring|autumn|christmas|birthday|(?:19|20)\d\d)\b"
)
_NAME = pattern(r"(?<=[a-z,] )[A-Z][a-z]+")


def signs(text: str) -> list[str]:
    """The signs of a line, in the order of `EVERY`."""
    asks = text.rstrip().endswith(("?", "？", "؟"))
    text = text[:_MOST].replace("’", "'")
    low = text.lower()
    seen = (
        asks,
        _SELF.search(low),
        _NUMBER.search(low),
        _TIME.search(low),
        _NAME.search(text),
    )
    return [sign for sign, is_there in zip(EVERY, seen, strict=True) if is_there]
