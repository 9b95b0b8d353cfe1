"""Phrases that count from the day they are said on: yesterday, last week, two months ago, in three days."""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemon.domain.pattern import pattern
from mnemon.domain.when.almanac import (
    Unit,
    month,
    of_season,
    quarter,
    shifted,
    week,
    weekday,
    weekend,
    yearly,
    years,
)
from mnemon.domain.when.lexicon import COUNT, MONTH, SEASONS, SHORT_WEEKDAYS, WEEKDAY, WEEKDAYS, count
from mnemon.domain.when.rule import STEPS, WHICH, Rule, follows, step_of
from mnemon.domain.when.said import DAY, HOUR, Said, Time, day_of, days

_SURE, _ROUGH, _VAGUE, _DIM = 0.9, 0.7, 0.4, 0.2
_LONG = {
    "minute": HOUR // 60,
    "hour": HOUR,
    "day": DAY,
    "week": 7 * DAY,
    "month": 30 * DAY,
    "year": 365 * DAY,
}
_UNITS = {
    "min": "minute",
    "mins": "minute",
    "hr": "hour",
    "hrs": "hour",
    "night": "day",
    "fortnight": "week",
    "decade": "year",
}
_MANY = {"fortnight": 2, "decade": 10}
_UNIT = r"(?:minutes?|mins?|hours?|hrs?|days?|nights?|fortnights?|weeks?|months?|years?|decades?)"

PARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30), "noon": (11, 14)}
PART = r"(?:early\s+|late\s+)?(?P<part>morning|afternoon|evening|night)"


def part_of(time: Time, part: str) -> Time:
    """The hours of a day that its morning or evening has."""
    first, past = PARTS[part]
    return Time(time.start + first * HOUR, time.start + past * HOUR, "hours", time.certainty)


def unit_of(name: str) -> tuple[str, int]:
    """The unit that a match of a unit stands for, and how many of it."""
    single = name if name in _UNITS else name.rstrip("s")
    return _UNITS.get(single, single), _MANY.get(single, 1)


def distant(said: Said, unit: str, least: float, most: float) -> Time:
    """The time so many units away; negative for the past. A week is centred, months and years are whole."""
    least, most = min(least, most), max(least, most)
    loose = least != most
    if unit in ("minute", "hour"):
        half = _LONG[unit] // 2
        return Time(
            said.at + int(least * _LONG[unit]) - half,
            said.at + int(most * _LONG[unit]) + half,
            "hours",
            _VAGUE if loose else _SURE,
        )
    if least != int(least) or most != int(most):
        return _halved(said, unit, least)
    first, last = int(least), int(most)
    if unit == "day":
        return days(
            said.today + first, said.today + last + 1, "days" if loose else "day", _VAGUE if loose else _SURE
        )
    if unit == "week":
        certainty = _VAGUE if loose else _ROUGH
        return days(said.today + 7 * first - 3, said.today + 7 * last + 4, "days", certainty)
    if unit == "month":
        start, stop = month(said.year, said.month + first), month(said.year, said.month + last)
        return Time(start.start, stop.stop, "days" if loose else "month", _VAGUE if loose else _ROUGH)
    return years(said.year + first, said.year + last, _VAGUE if loose else _ROUGH)


def _halved(said: Said, unit: str, number: float) -> Time:
    """Half a year is six months, half a month two weeks."""
    if unit == "year":
        return distant(said, "month", round(number * 12), round(number * 12))
    middle = said.today + round(number * _LONG[unit] / DAY)
    return days(middle - 1, middle + 2, "days", _ROUGH)


_WORDS: dict[str, Callable[[Said], Time]] = {
    "the day before yesterday": lambda said: days(said.today - 2, said.today - 1, "day", _SURE),
    "day before yesterday": lambda said: days(said.today - 2, said.today - 1, "day", _SURE),
    "yesterday": lambda said: days(said.today - 1, said.today, "day", _SURE),
    "earlier today": lambda said: days(said.today, said.today + 1, "day", _SURE),
    "later today": lambda said: days(said.today, said.today + 1, "day", _SURE),
    "today": lambda said: days(said.today, said.today + 1, "day", _SURE),
    "tomorrow": lambda said: days(said.today + 1, said.today + 2, "day", _SURE),
    "the day after tomorrow": lambda said: days(said.today + 2, said.today + 3, "day", _SURE),
    "day after tomorrow": lambda said: days(said.today + 2, said.today + 3, "day", _SURE),
    "tonight": lambda said: part_of(days(said.today, said.today + 1, "day", _SURE), "night"),
    "last night": lambda said: part_of(days(said.today - 1, said.today, "day", _SURE), "night"),
    "the night before last": lambda said: part_of(days(said.today - 2, said.today, "day", _SURE), "night"),
    "the other day": lambda said: days(said.today - 10, said.today, "days", _VAGUE),
    "the other night": lambda said: days(said.today - 10, said.today, "days", _VAGUE),
    "the other week": lambda said: days(said.today - 28, said.today - 6, "days", _VAGUE),
    "the other month": lambda said: days(said.today - 100, said.today - 20, "days", _VAGUE),
    "recently": lambda said: days(said.today - 60, said.today + 1, "days", _DIM),
    "lately": lambda said: days(said.today - 60, said.today + 1, "days", _DIM),
}
_LIKE = pattern(r"\blike\s+(?:it\s+was\s+)?(?:just\s+|only\s+)?$")


def _word(match: re.Match[str], said: Said) -> Time | None:
    named = " ".join(match["word"].split())
    if named == "yesterday" and follows(said, _LIKE, match.start()):
        return None
    if named == "today" and said.low.startswith(" show", match.end()):
        return None
    return _WORDS[named](said)


def _this_part(match: re.Match[str], said: Said) -> Time | None:
    today = days(said.today, said.today + 1, "day", _SURE)
    return part_of(today, match["part"])


def _some_part(match: re.Match[str], said: Said) -> Time | None:
    """The morning that the sentence leans to: the next, the latest or today's."""
    lean = said.lean(match.start(), match.end())
    day = days(said.today, said.today + 1, "day", _VAGUE)
    time = part_of(day, match["part"])
    shift = DAY if lean > 0 and time.start <= said.at else -DAY if lean < 0 and time.start > said.at else 0
    return Time(time.start + shift, time.stop + shift, time.grain, time.certainty)


_AGES = {
    "minute": (-30, -2),
    "hour": (-12, -2),
    "day": (-10, -2),
    "week": (-8, -2),
    "month": (-12, -2),
    "year": (-15, -2),
}


def _ago(match: re.Match[str], said: Said) -> Time | None:
    if match["ages"]:
        if match["ages"].startswith(("a while", "some time", "quite a while")):
            return days(said.today - 365, said.today - 13, "days", _DIM)
        return years(max(1, said.year - 20), said.year - 1, _DIM)
    unit, many = unit_of(match["unit"])
    if not match["count"]:
        return None if match["back"] else distant(said, unit, *_AGES[unit])
    least, most = count(match["count"])
    half = 0.5 if match["half"] else 0.0
    least, most = -(least + half) * many, -(most + half) * many
    if match["from"] == "today" and unit in ("week", "month", "year") and least == most == int(least):
        whole: Unit = "week" if unit == "week" else "month" if unit == "month" else "year"
        day = shifted(said.today, whole, int(least))
        return days(day, day + 1, "day", _SURE)
    if many > 1 and unit == "year":
        return years(said.year + int(least) - 2, said.year + int(most) + 2, _VAGUE)
    return distant(said, unit, least, most)


def _nth_ago(match: re.Match[str], said: Said) -> Time | None:
    """Two Fridays ago, three summers ago."""
    number = int(count(match["count"])[0])
    name = match["name"].rstrip("s") if match["name"] != "christmas" else match["name"]
    if name == "weekend":
        return weekend(said, -number, _ROUGH)
    if name == "quarter":
        return quarter(said, -number, _ROUGH)
    if name in SEASONS:
        last = yearly(of_season(SEASONS[name]), said, "season", -1, 0)
        if last is None:
            return None
        began = shifted(day_of(last.start), "year", 1 - number)
        return days(began, shifted(began, "month", 3), "season", _ROUGH)
    last = weekday(said, WEEKDAYS[name], -1, 0)
    back = (number - 1) * 7 * DAY
    return Time(last.start - back, last.stop - back, "day", _ROUGH)


_RATE = pattern(r"\b(?:times?|once|twice|(?:read|finished|done|back)\s+it)\s+$")


def _ahead(match: re.Match[str], said: Said) -> Time | None:
    """In three days, a month from now; no time where it tells how long something took."""
    lean = 1 if match["now"] else said.lean(match.start(), match.end())
    if lean < 0 or follows(said, _RATE, match.start()):
        return None
    unit, many = unit_of(match["unit"])
    least, most = (number * many for number in count(match["count"]))
    if match["within"]:
        until = distant(said, unit, most, most)
        return Time(said.at, max(until.stop, said.at + 1), "days", 0.5)
    time = distant(said, unit, least, most)
    return time if lean else Time(time.start, time.stop, time.grain, min(time.certainty, 0.5))


def _stretch(match: re.Match[str], said: Said) -> Time | None:
    """The last three weeks, the next few days: up to now or from now on."""
    step, several = STEPS[match["which"]], match["unit"].endswith("s")
    trailing = match["which"] == "past" or (match["which"] == "last" and match["the"])
    if not (match["count"] or several or trailing):
        return None
    unit, many = unit_of(match["unit"])
    least, most = count(match["count"]) if match["count"] else (1, 1)
    if several and not match["count"]:
        most = 8 if unit in ("day", "week") else 5
    long = int(max(least, most) * many * _LONG[unit])
    certainty = _ROUGH if least == most else _VAGUE
    if unit in ("minute", "hour"):
        return Time(
            min(said.at, said.at + step * long), max(said.at, said.at + step * long), "hours", certainty
        )
    far = long // DAY
    if step < 0:
        return days(said.today - far, said.today + 1, "days", certainty)
    return days(said.today, said.today + far + 1, "days", certainty)


def _stepped(match: re.Match[str], said: Said) -> Time | None:
    """Last week, this month, next year, the weekend before last."""
    step = step_of(match["which"]) if match["which"] else {"last": -2, "next": 2}[match["far"]]
    return stepped(match["unit"] or match["far_unit"], step, said)


def stepped(unit: str, step: int, said: Said) -> Time | None:
    """The week, weekend, month, quarter, year or decade so many away from this one."""
    if unit == "week":
        return week(said, step)
    if unit == "weekend":
        return weekend(said, step, 0.6 if step == 1 and said.weekday < 4 else _SURE)
    if unit == "month":
        return month(said.year, said.month + step)
    if unit == "quarter":
        return quarter(said, step)
    if unit == "year":
        return years(said.year + step, said.year + step)
    first = (said.year // 10 + step) * 10
    return years(first, first + 9)


_AROUND: dict[str, tuple[Unit, int]] = {"year": ("year", 15), "month": ("month", 4), "week": ("week", 1)}
"""How many days before and after the same day of another are the same time."""


def _same_time(match: re.Match[str], said: Said) -> Time:
    """This time last year, last month or last week: around the day so long ago, and not the whole of it."""
    unit, far = _AROUND[match["unit"]]
    middle = shifted(said.today, unit, -1)
    return days(middle - far, middle + far + 1, "days", _ROUGH)


_OVER = pattern(r"\bover\s+$")


def _weekend(match: re.Match[str], said: Said) -> Time | None:
    """The weekend, by how the sentence leans: the latest begun or the coming one."""
    lean = said.lean(match.start(), match.end()) or (-1 if follows(said, _OVER, match.start()) else 0)
    return weekend(said, -1 if lean < 0 and said.weekday < 5 else 0, 0.6)


_ROUTINE = pattern(
    r"\b(?:a|every|each|most|other|all|los|todos|cada|jeden|chaque|black|good|taco|ruby|super\s+bowl)\s+$"
)
_OF_ANOTHER = pattern(
    rf"\s+(?:of|in)\s+(?:{MONTH}\b|(?:19|20)\d\d)|\s+(?:before|after|following|prior\s+to|preceding)\s+(?:the\b|my\b|our\b|\d|[a-z]+\s+\d|last\b)"
)
_OF_ANOTHER_BEGINS = pattern(r"\s+(?:of|in|before|after|following|prior|preceding)\b")
_NAME = pattern(r" [A-Z][a-z]")
_BY_NAME = pattern(r"\b(?:on|by|until|till|since|before|after|from|last|next)\s+$")


def _is_of_another(low: str, end: int) -> bool:
    """Whether a weekday is told by another time, as in 'the Friday before Easter'."""
    return bool(_OF_ANOTHER_BEGINS.match(low, end) and _OF_ANOTHER.match(low, end))


def _weekday(match: re.Match[str], said: Said) -> Time | None:
    name, which = match["day"], match["which"]
    if follows(said, _ROUTINE, match.start("core")) or _is_of_another(said.low, match.end("day")):
        return None
    if name in SHORT_WEEKDAYS:
        bare = which in (None, "this") or name == "sun"
        led = not bare or follows(said, _BY_NAME, match.start("day"))
        if not led or not said.capital(match.start("day")) or _NAME.match(said.text, match.end("day")):
            return None
    if beside := match["week"] or match["early"]:
        monday = said.monday + 7 * STEPS[beside]
        return days(monday + WEEKDAYS[name], monday + WEEKDAYS[name] + 1, "day", _SURE)
    step = step_of(which) if which else None
    if which == "this coming":
        return weekday(said, WEEKDAYS[name], None, 1)
    return weekday(said, WEEKDAYS[name], step, 0 if step else said.lean(match.start(), match.end()))


_WORD_CUES = {"yesterday", "today", "tomorrow", "tonight", "night", "recently", "lately", "other"}
_UNIT_NAMES = frozenset(name for unit in (*_LONG, *_UNITS) for name in (unit, f"{unit}s"))
_UNIT_CUES = frozenset(_LONG) | {f"{unit}s" for unit in _LONG}
_UNIT_CUES |= {"mins", "decades", "fortnight", "fortnights"}
RULES = (
    Rule(
        frozenset({"ago", "back"}),
        pattern(
            r"\b(?<!\bhow )(?<!\bhow many )"
            rf"(?:(?P<ages>(?:quite\s+)?a\s+while|some\s+time|a\s+long\s+time|ages|long)|(?:(?P<count>{COUNT})\s+)?"
            rf"(?P<unit>{_UNIT})(?P<half>\s+and\s+a\s+half)?)\s+(?:ago(?:\s+(?P<from>today)\b)?|(?P<back>back))\b"
        ),
        _ago,
        _UNIT_NAMES | {"while", "time", "ages", "long"},
    ),
    Rule(
        frozenset(_WORD_CUES),
        pattern(
            r"\b(?P<word>(?:the\s+)?day\s+(?:before\s+yesterday|after\s+tomorrow)|(?:earlier\s+|later\s+)?today"
            r"|yesterday|tomorrow|tonight|last\s+night|the\s+night\s+before\s+last"
            r"|the\s+other\s+(?:day|night|week|month)|recently|lately)\b"
        ),
        _word,
    ),
    Rule(frozenset(PARTS), pattern(rf"\bthis\s+{PART}\b"), _this_part),
    Rule(
        frozenset({"ago"}),
        pattern(
            rf"\b(?P<count>{COUNT})\s+(?P<name>weekend|quarter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn"
            r"|fall|winter)s?\s+ago\b"
        ),
        _nth_ago,
    ),
    Rule(
        frozenset(WEEKDAYS),
        pattern(
            rf"(?P<core>(?:\b(?P<early>last|this|next)\s+week(?:'s)?,?\s+(?:on\s+)?|\b(?P<which>{WHICH})\s+)?\b(?P<day>{WEEKDAY})\b(?!s\b)(?:'s)?(?:\s+(?:of\s+)?"
            r"(?P<week>last|this|next)\s+week\b)?(?!\s+(?:mornings|afternoons|evenings|nights|school|roast|times)\b))"
        ),
        _weekday,
    ),
    Rule(
        frozenset({"time"}),
        pattern(r"\b(?:this|the\s+same|same)\s+time\s+last\s+(?P<unit>year|month|week)\b"),
        _same_time,
        frozenset({"last"}),
    ),
    Rule(
        _UNIT_CUES,
        pattern(
            r"\b(?P<the>(?:the|these|those|my|our)\s+)?(?P<which>last|past|previous|next|coming|upcoming)\s+"
            rf"(?:(?P<count>{COUNT})\s+)?(?P<unit>{_UNIT})\b(?!\s+of\b)"
        ),
        _stretch,
        frozenset({"last", "past", "previous", "next", "coming", "upcoming"}),
    ),
    Rule(
        frozenset({"week", "weekend", "month", "quarter", "year", "decade"}),
        pattern(
            rf"\b(?:(?P<which>{WHICH})\s+(?P<unit>week|weekend|month|quarter|year|decade)\b(?!\s+of\b)"
            r"(?!(?<=quarter)\s+(?:hour|mile|century|moon|pounder|inch|final|back|horse))"
            r"|the\s+(?P<far_unit>week|weekend|month|year)\s+(?:before|after)\s+(?P<far>last|next)\b)"
        ),
        _stepped,
    ),
    Rule(
        frozenset({"week", "month", "year"}),
        pattern(
            r"\b(?:end|beginning|start|middle|half|rest)\s+of\s+(?P<core>the\s+(?P<unit>week|month|year))\b"
        ),
        lambda match, said: stepped(match["unit"], 0, said),
    ),
    Rule(
        frozenset({"weekend"}),
        pattern(r"\b(?:the|my|your|our)\s+weekend\b(?!\s+(?:of|before|after)\b)"),
        _weekend,
    ),
    Rule(
        _UNIT_CUES,
        pattern(
            rf"\b(?:in|(?P<within>within))\s+(?:about\s+|around\s+|another\s+|just\s+|less\s+than\s+)?"
            rf"(?P<count>{COUNT})\s+(?P<unit>{_UNIT})(?P<now>'?\s+time\b)?(?!\s+of\b)\b"
        ),
        _ahead,
        frozenset({"in", "within"}),
    ),
    Rule(
        frozenset({"now", "today"}),
        pattern(
            rf"\b(?P<within>(?!))?(?P<count>{COUNT})\s+(?P<unit>{_UNIT})\s+(?P<now>from\s+(?:now|today))\b"
        ),
        _ahead,
        frozenset({"from"}),
    ),
    Rule(
        frozenset(PARTS),
        pattern(rf"\b(?:in|during)\s+the\s+{PART}\b(?![s-])"),
        _some_part,
    ),
)
