"""A text and the day on which it was said, and whether it looks back or ahead."""

from __future__ import annotations

from datetime import date

from msgspec import Struct

from souvenance.language.characters import Runs
from souvenance.language.times import Grain
from souvenance.language.times.lexicon import TimeLexicon
from souvenance.patterns import pattern

HOUR = 3_600_000
DAY = 24 * HOUR
_EPOCH = 719_163
_FAR = 200
"""How far from a phrase a word may stand that tells its tense."""
WORDS = Runs(r"[^\W\d_]")
_STOP = pattern(r"[.!?;\n](?!\d)")


class TimeExpression:
    """A text in small letters, said at `at` by the speaker's own clock. Days are numbered as by `date`."""

    def __init__(self, text: str, low: str, at: int, words: TimeLexicon) -> None:
        """Raises: ValueError or OverflowError for a moment no calendar has."""
        self.text = text
        self.low = low
        self.at = at
        self.words = words
        self.today = at // DAY + _EPOCH
        day = date.fromordinal(self.today)
        self.year, self.month, self.weekday = day.year, day.month, day.weekday()
        self.monday = self.today - self.weekday
        self._past, self._future = frozenset(words.past.split()), frozenset(words.future.split())
        self._tenseless, self._since = frozenset(words.tenseless.split()), frozenset(WORDS.of(words.since))

    def capital(self, position: int) -> bool:
        return self.text[position].isupper()

    def lean(self, begin: int, end: int) -> int:
        """-1 if the sentence looks back from the phrase, 1 if it looks ahead, 0 if it doesn't tell."""
        first = max((stop.end() for stop in _STOP.finditer(self.low, max(0, begin - _FAR), begin)), default=0)
        after = _STOP.search(self.low, end, end + _FAR)
        left = WORDS.of(self.low[max(first, begin - _FAR) : begin])
        if left and left[-1] in self._since:
            return -1
        right = WORDS.of(self.low[end : after.start() if after else end + _FAR])
        return next(filter(None, map(self._tense, (*reversed(left), *right))), 0)

    def _tense(self, word: str) -> int:
        if word in self._future:
            return 1
        if word in self._past:
            return -1
        ending = self.words.past_endings
        return -1 if ending and word.endswith(ending) and len(word) > 4 and word not in self._tenseless else 0


class Time(Struct, frozen=True):
    """A stretch of the speaker's own time, in milliseconds; `stop` is exclusive."""

    start: int
    stop: int
    grain: Grain
    certainty: float


class FramedTime(Struct):
    """A time and the stretch of the text that speaks of it."""

    begin: int
    end: int
    time: Time


def days(first: int, past: int, grain: Grain, certainty: float) -> Time:
    """The days from `first` up to but not including `past`, by their numbers."""
    return Time((first - _EPOCH) * DAY, (past - _EPOCH) * DAY, grain, certainty)


def day_of(moment: int) -> int:
    """The number of the day that a moment of local time falls on."""
    return moment // DAY + _EPOCH


def lowered(text: str) -> str:
    """The text in small letters, every character where it was; a line's end is the end of a phrase."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return low.replace("’", "'").replace("‘", "'").replace("\n", ";")
