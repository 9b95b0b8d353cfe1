"""Which day is meant by 'yesterday' or 'on Saturday', where it is certain."""

from __future__ import annotations

import re
from datetime import date, timedelta

from mnemon.domain.moments import to_datetime
from mnemon.domain.pattern import pattern

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_STARTS = [weekday[:3] for weekday in _WEEKDAYS]
_NUMBERS = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
} | {"a": 1, "an": 1}
_WEEKDAY = "|".join((*_WEEKDAYS, "mon|tues?|wed|thurs?|fri|sat|sun"))
_MEANT = pattern(
    r"\b(?:(?P<day>the day after tomorrow|the day before yesterday|last night|tonight|this (?:morning"
    r"|afternoon|evening)|(?:yesterday|tomorrow|today))(?:\s+(?:morning|afternoon|evening|night))?"
    rf"|(?:(?P<which>on|this|last|next|this past|this coming)\s+)(?P<weekday>{_WEEKDAY})"
    r"(?!\s+(?:morning|afternoon|evening|night)s\b|'s\b)(?:\s+(?:morning|afternoon|evening|night))?"
    r"|(?P<span>last|this|next)\s+(?P<unit>weekend|week|month|year)|(?P<n>\d{1,3}|an?|one|two|three|four"
    r"|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"\s+(?P<units>day|week|month|year)s?\s+ago|in\s+(?P<m>\d{1,3}|an?|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve)"
    r"\s+(?P<later>day|week|month|year)s?(?:'\s+time)?)\b(?!'s|\s*\(\d)",
    re.IGNORECASE,
)
_CUE = pattern(
    r"\b(?:yester|tomorr|today|tonight|this |last |next |on (?:mon|tue|wed|thu|fri|sat|sun)| ago\b"
    r"|in (?:\d|an?\b|one|two|thr|fou|fiv|six|sev|eig|nin|ten|ele|twe))",
    re.IGNORECASE,
)
_DAY_MS = 86_400_000
_MONTH_DAYS = 30.44
_FEW_DAYS, _FEW_MONTHS, _MANY_MONTHS = 14, 2, 24
_OFFSETS = {
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "yesterday": -1,
    "last night": -1,
    "the day before yesterday": -2,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}


def ago(then: int, now: int) -> str:
    """How long ago something was, in days while they are few."""
    days = now // _DAY_MS - then // _DAY_MS
    if days < _FEW_DAYS:
        return {0: "today", 1: "yesterday"}.get(days, f"{days} days ago")
    if days < _FEW_MONTHS * _MONTH_DAYS:
        return f"about {round(days / 7)} weeks ago"
    months = round(days / _MONTH_DAYS)
    return f"about {months} months ago" if months < _MANY_MONTHS else f"about {round(months / 12)} years ago"


def dated(text: str, said_at: int, past: bool | None) -> str:
    """The text with the calendar day in brackets after each day it names.

    `past` tells whether it looks back or ahead; None leaves out the days for which that matters.
    """
    if _CUE.search(text) is None:
        return text
    try:
        said = to_datetime(said_at).date()
        return _MEANT.sub(lambda meant: _with_day(meant, said, past), text)
    except (OverflowError, ValueError):
        return text


def _with_day(meant: re.Match[str], said: date, past: bool | None) -> str:
    day = _day(meant, said, past)
    return f"{meant[0]} ({day})" if day else meant[0]


def _day(meant: re.Match[str], said: date, past: bool | None) -> str | None:
    if meant["day"]:
        return (said + timedelta(days=_OFFSETS[meant["day"].lower()])).isoformat()
    if meant["weekday"]:
        weekday = _STARTS.index(meant["weekday"].lower()[:3])
        found = _weekday(meant["which"].lower(), weekday, said, past)
        return found.isoformat() if found else None
    if meant["span"]:
        return _span(meant["span"].lower(), meant["unit"].lower(), said)
    if meant["n"]:
        return _distance(-_number(meant["n"]), meant["units"].lower(), said)
    return None if past is not False else _distance(_number(meant["m"]), meant["later"].lower(), said)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS[text.lower()]


def _weekday(which: str, weekday: int, said: date, past: bool | None) -> date | None:
    """That weekday; None where two are meant by as many people."""
    ahead = (weekday - said.weekday()) % 7
    if which == "on" and past is None:
        return None
    if ahead == 0:
        return said - timedelta(days=7) if which == "last" else None
    coming = said + timedelta(days=ahead)
    if which in ("last", "this past") or (which == "on" and past):
        return coming - timedelta(days=7)
    if which == "next":
        return coming if coming.isocalendar()[:2] != said.isocalendar()[:2] else None
    return None if past and which == "this" else coming


def _span(span: str, unit: str, said: date) -> str | None:
    step = {"last": -1, "this": 0, "next": 1}[span]
    if unit == "week":
        return f"week of {(said - timedelta(days=said.weekday()) + timedelta(weeks=step)).isoformat()}"
    if unit == "month":
        return _month(said, step)
    if unit == "year":
        return str(said.year + step)
    saturday = said + timedelta(days=5 - said.weekday())
    if step == 1 and said.weekday() < 5:
        return None
    if step == -1:
        saturday -= timedelta(days=7)
    return f"weekend of {(saturday + timedelta(days=7 if step == 1 else 0)).isoformat()}"


def _distance(step: int, unit: str, said: date) -> str:
    if unit == "day":
        return (said + timedelta(days=step)).isoformat()
    if unit == "week":
        return f"about {(said + timedelta(weeks=step)).isoformat()}"
    return _month(said, step) if unit == "month" else str(said.year + step)


def _month(said: date, step: int) -> str:
    year, month = divmod(said.year * 12 + said.month - 1 + step, 12)
    return f"{year:04d}-{month + 1:02d}"
