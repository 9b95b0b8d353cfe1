"""A text and the day on which it was said, and the calendar seen from there: weeks, months, seasons and
feasts, and which one of them is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import MAXYEAR, MINYEAR, date

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


Yearly = Callable[[int], tuple[int, int]]
"""The first day of what comes once a year, and the day after its last one, in that year."""

_SURE, _GUESSED = 0.9, 0.6
_MONTHS_OF_SEASON = (3, 6, 9, 12)


def month_start(year: int, month: int) -> int:
    """The number of the first day of a month; months run on below 1 and above 12.

    Raises: ValueError for a year no calendar has.
    """
    more, month = divmod(month - 1, 12)
    return date(year + more, month + 1, 1).toordinal()


def day(year: int, number: int, of_month: int, certainty: float) -> Time:
    """Raises: ValueError for a day that is on no calendar."""
    first = date(year, number, of_month).toordinal()
    return days(first, first + 1, "day", certainty)


def month(year: int, number: int) -> Time:
    return days(*of_months(number)(year), "month", _SURE)


def years(first: int, last: int, certainty: float = _SURE) -> Time:
    """From the start of one year to the end of another."""
    start, past = date(first, 1, 1).toordinal(), date(last, 12, 31).toordinal() + 1
    return days(start, past, "year" if first == last else "years", certainty)


def days_from(said: TimeExpression, step: int) -> Time:
    """The day so many days after today, or before."""
    return days(said.today + step, said.today + step + 1, "day", _SURE)


def weekend(said: TimeExpression, step: int | None, lean: int) -> Time:
    """That of so many weeks from now, or as the text leans."""
    guessed = -1 if lean < 0 and said.weekday < 5 else 0
    saturday = said.monday + 5 + 7 * (guessed if step is None else step)
    return days(saturday, saturday + 2, "weekend", _GUESSED if step is None else _SURE)


def weekday(said: TimeExpression, which: int, step: int | None, lean: int) -> Time:
    """The day of that name: the latest one before today, this week's, next week's, or as the text leans."""
    ahead = (which - said.weekday) % 7
    if step == -1 or (step is None and lean < 0):
        day = said.today + ahead - 7
    elif step == 0:
        day = said.today + ahead - (7 if lean < 0 and ahead else 0)
    elif step is None:
        day = said.today + (ahead or 7)
    else:
        day = said.monday + 7 * step + which
    doubtful = step is None or (step == 1 and day - said.today > 7)
    return days(day, day + 1, "day", _GUESSED if doubtful else _SURE)


def of_months(first: int, count: int = 1) -> Yearly:
    return lambda year: (month_start(year, first), month_start(year, first + count))


def of_season(number: int) -> Yearly:
    return of_months(_MONTHS_OF_SEASON[number], 3)


def of_day(number: int, day: int, length: int = 1) -> Yearly:
    """A day of a month, in the years that have it."""

    def found(year: int) -> tuple[int, int]:
        start = date(year, number, day).toordinal()
        return start, start + length

    return found


def yearly(
    what: Yearly, said: TimeExpression, grain: Grain, step: int | None, lean: int, year: int | None = None
) -> Time | None:
    """The one that is meant of what comes every year: of a year, last, this, next, or as the text leans."""
    if year is not None:
        return days(*what(year), grain, 1.0)
    around = list(_around(what, said.year))
    if step == -1:
        around = [one for one in around if one[1] <= said.today][-1:]
    elif step == 1:
        around = [one for one in around if one[0] > said.today][:1]
    elif step == 0:
        around = [one for one in around if one[0] <= said.today < one[1]] or [
            one for one in around if date.fromordinal(one[0]).year == said.year
        ]
    elif lean < 0:
        around = [one for one in around if one[0] <= said.today][-1:]
    elif lean > 0:
        around = [one for one in around if one[1] > said.today][:1]
    if not around:
        return None
    nearest = min(around, key=lambda one: max(one[0] - said.today, said.today - one[1] + 1, 0))
    return days(*nearest, grain, _GUESSED if step is None else _SURE)


def on_weekday(what: Yearly, said: TimeExpression, which: int) -> int | None:
    """The year nearest to now, at most six away, in which that day has that name."""
    for far in range(7):
        for year in (said.year + far, said.year - far):
            for start, _ in _around(what, year, 0):
                if (start + 6) % 7 == which:
                    return year
    return None


def _around(what: Yearly, year: int, far: int = 4) -> Iterable[tuple[int, int]]:
    for near in range(max(MINYEAR, year - far), min(MAXYEAR, year + far) + 1):
        try:
            yield what(near)
        except ValueError:
            continue
