"""Words beside a time that change it: early May, since March, the week before Christmas, from May to July."""

from __future__ import annotations

import re
from datetime import date

from mnemon.domain.pattern import pattern
from mnemon.domain.when.almanac import Unit, shifted
from mnemon.domain.when.lexicon import COUNT, WEEKDAYS, count
from mnemon.domain.when.reckoning import PART, part_of
from mnemon.domain.when.said import DAY, WORDS, Said, Time, day_of, days
from mnemon.domain.when.span import EARLIEST, LATEST

_FAR = 80
_TELLING = 0.3
"""A time less certain than this bounds nothing: 'up to lately'."""
_PART_AFTER = pattern(rf",?\s+(?:in\s+the\s+|at\s+)?{PART}\b(?!s)")
_SHARE = pattern(
    r"\b(?:(?P<early>early(?:\s+in)?|(?:the\s+)?(?:beginning|start)\s+of|anfang|début)"
    r"|(?P<mid>mid|(?:the\s+)?middle\s+of|mitte|mi)|(?P<late>late(?:\s+in)?|(?:the\s+)?end\s+of|ende|fin)"
    r"|(?P<first>(?:the\s+)?first\s+half\s+of)|(?P<second>(?:the\s+)?second\s+half\s+of)"
    r"|(?P<sooner>earlier(?:\s+in)?)|(?P<later>later(?:\s+in)?|(?:the\s+)?rest\s+of))[\s-]+(?:the\s+)?$"
)
_SHARES = {"early": (0, 2), "mid": (2, 4), "late": (4, 6), "first": (0, 3), "second": (3, 6)}
_STEPPED = pattern(
    rf"\b(?:the\s+)?(?:(?P<nth>first|second|third|fourth|last)\s+)?(?:(?P<count>{COUNT})\s+)?(?P<unit>days?|nights?|mornings?|evenings?|weeks?|weekends?|months?|years?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\s+(?P<way>before|after|following|prior\s+to|preceding|from|of|in"
    r"|starting|beginning)\s+(?:the\s+)?$"
)
_BOUND = pattern(
    r"\b(?:(?P<bound>(?:ever\s+)?since|not\s+before|before|prior\s+to|after|following)\s+"
    r"(?P<event>(?:the|my|our|his|her|their|your)\s+(?:[\w'-]+\s+){1,4}(?:on|in|at|of)\s+)?"
    r"|(?P<until>as\s+of|until|till|til|up\s+to|up\s+until|through|by|bis(?:\s+zum)?|jusqu'(?:en|au|à)|hasta)\s+"
    r"|(?P<foreign>ab|seit|depuis|avant|après|desde|antes\s+del?|después\s+del?)\s+)"
    r"(?:the\s+|sometime\s+in\s+|about\s+|around\s+|el\s+|le\s+|la\s+|dem\s+|den\s+)*$"
)
_SHARE_CUES = frozenset(
    {"early", "in", "of", "anfang", "début", "mid", "mitte", "mi", "late", "ende", "fin", "earlier", "later"}
)
_STEP_CUES = frozenset(
    {"before", "after", "following", "to", "preceding", "from", "of", "in", "starting", "beginning"}
)
_BOUND_CUES = frozenset(
    {"since", "before", "to", "after", "following", "of", "until", "till", "til", "through", "by", "bis"}
    | {"jusqu", "hasta", "ab", "seit", "depuis", "avant", "après", "desde", "antes", "después"}
)
_NTH = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_AFTER = ("after", "following", "après", "después")
_BEFORE = ("before", "prior", "avant", "antes")
_ONWARD = pattern(r"\s+(?:on\b(?!\s+(?:the|my|a)\b)|onwards?\b)")
_FROM = pattern(r"\bfrom\s+(?:the\s+)?$")
_TO = pattern(
    r"\s*(?:(?P<plain>to|through|until|till|bis|au|al|hasta)|(?P<dash>[-–—])|(?P<pair>and|und|et|y))\s*(?:the\s+)?$"
)
_OPENED = pattern(r"\b(?P<opener>between|from|zwischen|entre|von|vom|de|du|del|desde)\s+(?:the\s+)?$")


class Hit:
    """A time and the stretch of the text that speaks of it."""

    def __init__(self, begin: int, end: int, time: Time) -> None:
        self.begin = begin
        self.end = end
        self.time = time


def narrowed(hit: Hit, said: Said, taken: bytearray) -> None:
    """The morning of the day, if that is what follows and no other time has taken the word."""
    part = _PART_AFTER.match(said.low, hit.end) if hit.time.grain == "day" else None
    if part and 1 not in taken[hit.end : part.end()]:
        hit.end, hit.time = part.end(), part_of(hit.time, part["part"])


def framed(hits: list[Hit], said: Said) -> list[Hit]:
    """The times as the words beside them have it, in the order of the text."""
    found: list[Hit] = []
    for hit in sorted(hits, key=lambda one: one.begin):
        floor = found[-1].end if found else 0
        _share(hit, said, floor)
        _step(hit, said, floor)
        if not (found and _joined(found[-1], hit, said, found[-2].end if len(found) > 1 else 0)):
            found.append(hit)
    for before, hit in zip([None, *found], found, strict=False):
        _bound(hit, said, before.end if before else 0)
    return found


def _left(hit: Hit, said: Said, floor: int) -> str:
    return said.low[max(floor, hit.begin - _FAR) : hit.begin]


def _ends_with(left: str, cues: frozenset[str]) -> bool:
    """Whether one of these words is the last one, or the last but 'the'."""
    return not cues.isdisjoint(WORDS.of(left)[-2:])


def _share(hit: Hit, said: Said, floor: int) -> None:
    """Early, mid, late, earlier or later in a stretch longer than a day."""
    time = hit.time
    left = _left(hit, said, floor)
    if time.grain in ("hours", "day") or not _ends_with(left, _SHARE_CUES):
        return
    share = _SHARE.search(left)
    if share is None:
        return
    name, start, stop = str(share.lastgroup), time.start, time.stop
    if name == "sooner":
        stop = min(stop, said.at + 1)
    elif name == "later":
        start = max(start, said.at)
    else:
        long = (stop - start) // DAY
        start, stop = (start + round(long * edge / 6) * DAY for edge in _SHARES[name])
    if start < stop:
        hit.begin -= len(share[0])
        hit.time = Time(start, stop, "days", time.certainty)


def _step(hit: Hit, said: Said, floor: int) -> None:
    """The week of a day, the Sunday before it, two months after it."""
    left = _left(hit, said, floor)
    step = _STEPPED.search(left) if _ends_with(left, _STEP_CUES) else None
    if step is None:
        return
    first, past = day_of(hit.time.start), day_of(hit.time.stop - 1) + 1
    moved = _moved(step, first, past, hit.time.certainty)
    if moved is not None:
        hit.begin -= len(step[0])
        hit.time = moved


def _moved(step: re.Match[str], first: int, past: int, certainty: float) -> Time | None:
    unit, way = step["unit"].rstrip("s"), step["way"].split()[0]
    if step["nth"]:
        many = round(count(step["count"])[1]) if step["count"] else 1
        return (
            _nth_within(unit, _NTH[step["nth"]], many, (first, past), certainty)
            if way in ("of", "in")
            else None
        )
    if way in ("of", "in", "starting", "beginning"):
        return None if step["count"] or way == "in" else _holding(unit, way, first, past, certainty)
    ahead = way in ("after", "following", "from")
    if unit in WEEKDAYS:
        day = (
            past + (WEEKDAYS[unit] - past - 6) % 7
            if ahead
            else first - 1 - (first - 1 + 6 - WEEKDAYS[unit]) % 7
        )
        return days(day, day + 1, "day", certainty)
    if unit == "weekend":
        saturday = past + (5 - past - 6) % 7 if ahead else first - 2 - (first - 2 + 6 - 5) % 7
        return days(saturday, saturday + 2, "weekend", certainty)
    if unit in ("night", "morning", "evening"):
        day = past if ahead else first - 1
        return part_of(days(day, day + 1, "day", certainty), unit)
    whole: Unit = (
        "day" if unit == "day" else "week" if unit == "week" else "month" if unit == "month" else "year"
    )
    if step["count"]:
        number = round(count(step["count"])[1])
        day = shifted(first, whole, number if ahead else -number)
        loose = 0 if whole == "day" or way == "from" else 3 if whole == "week" else 15
        return days(day - loose, day + loose + 1, "days" if loose else "day", certainty)
    if way == "from":
        return None
    edges = (past, shifted(past, whole, 1)) if ahead else (shifted(first, whole, -1), first)
    return days(*edges, "day" if whole == "day" else "days", certainty)


def _nth_within(unit: str, number: int, many: int, edges: tuple[int, int], certainty: float) -> Time | None:
    """The first or last week, weekend, weekday or days of a longer stretch."""
    first, past = edges
    if unit in WEEKDAYS or unit == "weekend":
        which = WEEKDAYS.get(unit, 5)
        day = (
            first + (which - first - 6) % 7 + 7 * number if number >= 0 else past - 1 - (past + 5 - which) % 7
        )
        return days(
            day, day + (2 if unit == "weekend" else 1), "weekend" if unit == "weekend" else "day", certainty
        )
    if unit not in ("day", "week"):
        return None
    long = many * (7 if unit == "week" else 1)
    day = first + long * number if number >= 0 else past - long
    return days(day, day + long, "day" if long == 1 else "week" if long == 7 else "days", certainty)


def _holding(unit: str, way: str, first: int, past: int, certainty: float) -> Time | None:
    """The week or weekend that a day lies in, or a part of that day."""
    monday = first - (first + 6) % 7
    if unit == "week":
        start = monday if way == "of" else first
        return days(start, start + 7, "week", certainty)
    if unit == "weekend":
        return days(monday + 5, monday + 7, "weekend", certainty)
    if unit in ("night", "morning", "evening") and past - first == 1:
        return part_of(days(first, past, "day", certainty), unit)
    return None


def _joined(one: Hit, other: Hit, said: Said, floor: int) -> bool:
    """Whether two times are the ends of one, which the first then becomes."""
    to = _TO.fullmatch(said.low, one.end, other.begin)
    if to is None:
        return False
    start, stop = _paired(one.time, other.time)
    if start >= stop:
        return False
    opened = _OPENED.search(_left(one, said, floor))
    if to["pair"] and (opened is None or opened["opener"] not in ("between", "zwischen", "entre")):
        return False
    if to["plain"] and opened is None:
        return False
    if opened:
        one.begin -= len(opened[0])
    one.end = other.end
    one.time = Time(start, stop, "days", max(one.time.certainty, other.time.certainty))
    return True


def _paired(one: Time, other: Time) -> tuple[int, int]:
    """From the start of one day to the end of another; a guessed one lies in the other's year, or week."""
    if {one.grain, other.grain} != {"day"}:
        return one.start, other.stop
    first, last = day_of(one.start), day_of(other.start)
    if one.certainty < other.certainty == 1:
        first = shifted(first, "year", _year(last) - _year(first))
        first = shifted(first, "year", -1) if first > last else first
    elif other.certainty < one.certainty == 1:
        last = shifted(last, "year", _year(first) - _year(last))
        last = shifted(last, "year", 1) if last < first else last
    elif 0 < first - last < 7:
        last += 7
    pair = days(first, last + 1, "days", 1)
    return pair.start, pair.stop


def _year(day: int) -> int:
    return date.fromordinal(day).year


def _bound(hit: Hit, said: Said, floor: int) -> None:
    """Since, before, after or until a time: up to now where it lies behind, from now where it lies ahead."""
    left, time = _left(hit, said, floor), hit.time
    onward = _ONWARD.match(said.low, hit.end)
    opened = _FROM.search(left) if onward else None
    bound = opened or (None if _BOUND_CUES.isdisjoint(WORDS.of(left)) else _BOUND.search(left))
    if bound is None or time.certainty < _TELLING:
        return
    now = (said.at // DAY + 1) * DAY
    word = (bound["bound"] or bound["until"] or bound["foreign"]).split()[0] if not opened else "from"
    event = not opened and bound["event"]
    if word in _AFTER:
        start = time.start if event else time.stop
        stop = now if start < now else LATEST
    elif word in _BEFORE or (not opened and bound["until"]):
        stop = time.start if word in _BEFORE and not event else time.stop
        start = said.at // DAY * DAY if stop > now and word != "as" else EARLIEST
    else:
        start = time.start
        stop = max(now, time.stop) if start < now else LATEST
    if start < stop:
        hit.begin -= len(bound[0])
        hit.end = onward.end() if opened and onward else hit.end
        hit.time = Time(start, stop, "open", time.certainty)
