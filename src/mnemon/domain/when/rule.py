"""A rule: words that announce a phrase, the phrase's shape, and how it is read."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from mnemon.domain.when.said import Said, Time

NUMBER = "0"
"""The cue of a rule for phrases made of digits."""
SCRIPT = "文"
"""The cue of a rule for phrases in scripts whose words run into each other."""
STEPS = {
    "last": -1,
    "past": -1,
    "previous": -1,
    "this": 0,
    "current": 0,
    "next": 1,
    "coming": 1,
    "upcoming": 1,
}
WHICH = r"(?:this\s+(?:past|last|coming|upcoming)|last|past|previous|this|current|next|coming|upcoming)"
YEAR = (
    r"(?:(?:,\s*|,?\s+)(?:of\s+|in\s+|del?\s+)?(?P<year>(?:19|20)\d\d)(?!\d|[.,:/-]\d|%)"
    r"|,?\s+(?:of\s+|in\s+)?'(?P<short>\d\d)\b(?!')|,?\s+(?:of\s+)?(?P<near>last|this|next)\s+year\b)?"
)


class Rule(Struct, frozen=True):
    """`read` gives None for a match that is no time after all. The group `core`, if any, is the phrase."""

    cues: frozenset[str]
    shape: re.Pattern[str]
    read: Callable[[re.Match[str], Said], Time | None]
    beside: frozenset[str] = frozenset()
    """Words of which the phrase has one, too: without any of them, its shape need not be looked for."""

    def announced(self, words: frozenset[str]) -> bool:
        """Whether a text with these words may have such a phrase."""
        return not self.cues.isdisjoint(words) and (not self.beside or not self.beside.isdisjoint(words))


def step_of(which: str) -> int:
    """-1, 0 or 1 for a match of WHICH."""
    return STEPS[which.split()[-1]]


def year_of(match: re.Match[str], said: Said) -> int | None:
    """The year that a match of YEAR gives, if it gives one."""
    if match["year"]:
        return int(match["year"])
    if match["short"]:
        return century(int(match["short"]), said)
    if match["near"]:
        return said.year + STEPS[match["near"]]
    return None


def century(short: int, said: Said) -> int:
    """The year that two digits stand for: up to twenty years ahead of when it was said, else before that."""
    year = said.year // 100 * 100 + short
    return year - 100 if year > said.year + 20 else year


def follows(said: Said, lead: re.Pattern[str], begin: int) -> re.Match[str] | None:
    """What stands right before a position, if it is one of the leads; the pattern ends in `$`."""
    return lead.search(said.low[max(0, begin - 48) : begin])
