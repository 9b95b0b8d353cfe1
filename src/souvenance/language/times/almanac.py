"""The calendar: weeks, months, seasons and feasts, and which one of them is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import MAXYEAR, MINYEAR, date

from souvenance.language.times import Grain
from souvenance.language.times.expressions import Time, TimeExpression, days

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


def month(year: int, number: int, certainty: float = _SURE) -> Time:
    return days(month_start(year, number), month_start(year, number + 1), "month", certainty)


def years(first: int, last: int, certainty: float = _SURE) -> Time:
    """From the start of one year to the end of another."""
    start, past = date(first, 1, 1).toordinal(), date(last, 12, 31).toordinal() + 1
    return days(start, past, "year" if first == last else "years", certainty)


def week(said: TimeExpression, step: int) -> Time:
    monday = said.monday + 7 * step
    return days(monday, monday + 7, "week", _SURE)


def weekend(said: TimeExpression, step: int, certainty: float) -> Time:
    saturday = said.monday + 5 + 7 * step
    return days(saturday, saturday + 2, "weekend", certainty)


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


def of_month(number: int) -> Yearly:
    return lambda year: (month_start(year, number), month_start(year, number + 1))


def of_season(number: int) -> Yearly:
    first = _MONTHS_OF_SEASON[number]
    return lambda year: (month_start(year, first), month_start(year, first + 3))


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
