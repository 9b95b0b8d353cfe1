"""Dates, months and years that are named or written in digits."""

from __future__ import annotations

import re
from datetime import date

from mnemon.domain.pattern import pattern
from mnemon.domain.when.almanac import month, of_day, of_month, of_quarter, on_weekday, yearly, years
from mnemon.domain.when.lexicon import MONTH, MONTHS, OPEN_MONTHS, VERBS, WEEKDAY, WEEKDAYS
from mnemon.domain.when.rule import NUMBER, WHICH, YEAR, Rule, century, follows, step_of, year_of
from mnemon.domain.when.said import Said, Time, day_of, days

_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_FIRST_DAYS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINALS = {name: number for number, name in enumerate(_FIRST_DAYS.split(), 1)}
_RANGE = r"\s*(?:-|–|—|to|through|until|and|&|bis|und|au|et|al|y)\s*"
_NAMED_DAY = rf"(?:(?P<weekday>{WEEKDAY})\.?,?\s+(?:the\s+|den\s+|dem\s+|le\s+|el\s+)?)?"

DAY_FIRST = (
    rf"(?<![\w.,:/$€£#-]){_NAMED_DAY}(?:(?P<day>{_DAY})(?P<th>st|nd|rd|th|\.|er|º)?"
    rf"(?:{_RANGE}(?P<to>{_DAY})(?:st|nd|rd|th|\.)?)?|(?:the\s+)?(?P<ordinal>{'|'.join(_ORDINALS)})(?=\s+of\b))"
    rf"\s+(?P<of>of\s+|de\s+)?(?P<month>{MONTH})\b(?:\.(?=\s+(?:19|20)\d\d))?{YEAR}"
)
MONTH_FIRST = (
    rf"\b{_NAMED_DAY}(?P<month>{MONTH})\.?\s+(?:the\s+)?(?P<day>{_DAY})(?!\d)(?P<th>st|nd|rd|th)?"
    rf"(?:{_RANGE}(?P<to>{_DAY})(?!\d)(?:st|nd|rd|th)?\b(?!\s*(?:am|pm|{MONTH})\b|[:.]\d))?"
    rf"(?![:/]\d|[.,]\d|%|\s*(?:am|pm|percent|times)\b){YEAR}"
)
_DATED = r"\b(?:on|by|since|until|till|before|after|from|of|and|to|through|the|am|vom|den|le|el|du|der)\s+$"


def _day_of_month(match: re.Match[str], said: Said) -> Time | None:
    """A day of a named month, or several in a row."""
    name = match["month"]
    ordinal = match.groupdict().get("ordinal")
    day = _ORDINALS[ordinal] if ordinal else int(match["day"])
    year = year_of(match, said)
    plain = not (ordinal or match["th"] or match.groupdict().get("of") or match["weekday"])
    written = not plain or year is not None or said.capital(match.start("month"))
    led = follows(said, _LEADS_DATE, match.start())
    if (
        name in VERBS
        and not written
        and not (led and match.re.groupindex["day"] > match.re.groupindex["month"])
    ):
        return None
    german = match["th"] == "." and (match["weekday"] or follows(said, _LEADS_GERMAN, match.start()))
    if match["th"] == "." and year is None and not german:
        return None
    length = int(match["to"]) - day + 1 if match["to"] else 1
    if length < 1:
        return None
    what = of_day(MONTHS[name], day, length)
    if year is None and match["weekday"]:
        year = on_weekday(what, said, WEEKDAYS[match["weekday"]])
    lean = 0 if year is not None else said.lean(match.start(), match.end())
    return yearly(what, said, "day" if length == 1 else "days", None, lean, year)


_LEADS_DATE = pattern(_DATED)
_LEADS_GERMAN = pattern(r"\b(?:am|vom|den|dem|der|bis|zum|seit|ab|und)\s+$")
_ISO = (
    r"(?<![\w./-])(?P<year>(?:19|20)\d\d)(?P<sep>[-/.])(?P<month>0[1-9]|1[0-2]|[1-9])(?P=sep)"
    rf"(?P<day>{_DAY})(?=t\d|\b)(?![-/]\w|\.\d)"
)
_SLASHED = (
    r"(?<![\w./-])(?P<one>\d{1,2})(?P<sep>[-/])(?P<two>\d{1,2})(?P=sep)(?P<year>(?:19|20)\d\d|\d\d)"
    r"(?![\w/-]|\.\d)"
)
_DOTTED = r"(?<![\w./-])(?P<one>\d{1,2})\.\s?(?P<two>\d{1,2})\.\s?(?P<year>(?:19|20)\d\d|\d\d)(?![\w/-]|\.\d)"
_NO_DATE = pattern(r"(?:\bv|version|release|build|update|firmware|python|node|ip|[$€£#])\s*$")
_BEFORE_DOTTED = pattern(
    r"\b(?:on|by|since|until|before|after|from|am|vom|den|bis|zum|ab|seit|le|el|du|born|date:?)\s+$"
)


def _iso(match: re.Match[str], said: Said) -> Time | None:
    return _calendar(int(match["year"]), int(match["month"]), int(match["day"]), 1.0)


def _slashed(match: re.Match[str], said: Said) -> Time | None:
    """Month first, as most of the web writes it with slashes, unless only day first is a date."""
    one, two, year = int(match["one"]), int(match["two"]), int(match["year"])
    if len(match["year"]) == 2 and match["sep"] == "-":
        return None
    year = century(year, said) if len(match["year"]) == 2 else year
    if one > 12:
        return _calendar(year, two, one, 0.9)
    return _calendar(year, one, two, 0.9 if two > 12 or one == two else 0.6)


def _dotted(match: re.Match[str], said: Said) -> Time | None:
    if follows(said, _NO_DATE, match.start()):
        return None
    padded = len(match["one"]) == len(match["two"]) == 2
    if not (padded and len(match["year"]) == 4) and not follows(said, _BEFORE_DOTTED, match.start()):
        return None
    year = int(match["year"])
    year = century(year, said) if year < 100 else year
    return _calendar(year, int(match["two"]), int(match["one"]), 0.9)


def _short(match: re.Match[str], said: Said) -> Time | None:
    one, two = int(match["one"]), int(match["two"])
    one, two = (two, one) if one > 12 else (one, two)
    if not (1 <= one <= 12 and 1 <= two <= 31):
        return None
    return yearly(of_day(one, two), said, "day", None, said.lean(match.start(), match.end()))


def _calendar(year: int, number: int, day: int, certainty: float) -> Time:
    """Raises: ValueError for a day that is on no calendar."""
    first = date(year, number, day).toordinal()
    return days(first, first + 1, "day", certainty)


_LEADS_MONTH = pattern(
    r"(?:\b(?:in|since|until|till|til|by|during|before|after|around|through|throughout|early|late|mid|of|between"
    r"|im|seit|bis|ab|anfang|ende|mitte|en|depuis|fin|début|desde|hasta|(?:finales|principios|mediados|mes)\s+de)\s+|\bmid-)$"
)
_FROM_MONTH = pattern(r"\bfrom\s+$")
_ONWARD = pattern(r"\s+(?:on|onward|onwards|until|till|to|through)\b")
_NOT_A_MONTH = pattern(r"\s+(?:be|have|not|i|you|we|the|he|she|they|it|or\s+may)\b")


def _month(match: re.Match[str], said: Said) -> Time | None:
    name, which = match["month"], match["which"]
    year = year_of(match, said)
    where = match.start("month")
    capital = said.capital(where)
    if (name == "mars" and capital) or (year is None and name in VERBS and which and not capital):
        return None
    if year is None and not which and name not in OPEN_MONTHS:
        led = follows(said, _LEADS_MONTH, where) or (
            follows(said, _FROM_MONTH, where) and _ONWARD.match(said.low, match.end())
        )
        if not led or (name in VERBS and not capital and _NOT_A_MONTH.match(said.low, match.end())):
            return None
    step = step_of(which) if which else None
    lean = 0 if year is not None or step is not None else said.lean(match.start(), match.end())
    return yearly(of_month(MONTHS[name]), said, "month", step, lean, year)


def _months(match: re.Match[str], said: Said) -> Time | None:
    """From one month to another."""
    first, last, year = MONTHS[match["first"]], MONTHS[match["last"]], year_of(match, said)
    words = {match["first"], match["last"]} & VERBS
    if match["pair"] and not match["from"] and last != first % 12 + 1:
        return None
    if words and not (
        match["from"] or (said.capital(match.start("first")) and said.capital(match.start("last")))
    ):
        return None
    if match["begun"]:
        begun = int(match["begun"])
        ended = begun + (last < first) if year is None else year
    elif year is not None:
        begun, ended = year - (last < first), year
    else:
        lean = said.lean(match.start(), match.end())
        meant = yearly(of_month(last), said, "month", None, lean)
        if meant is None:
            return None
        ended = date.fromordinal(day_of(meant.start)).year
        begun = ended - (last < first)
    start, stop = month(begun, first), month(ended, last)
    certainty = 0.6 if year is None else 1.0
    return Time(start.start, stop.stop, "days", certainty) if start.start < stop.stop else None


_YEARS_LEAD = pattern(
    r"\b(?:in|since|until|till|by|during|before|after|around|year|late|early|mid|circa|throughout|end\s+of"
    r"|beginning\s+of|start\s+of|half\s+of|middle\s+of|class\s+of|back\s+in|seit|bis|im\s+jahre?|en|depuis|desde"
    r"|hasta|through)[\s-]+(?:early\s+|late\s+|mid-?\s*|about\s+|around\s+)?$"
)
_WARM = pattern(r"mid-|degrees|fahrenheit|celsius|°|%")
_DECADE_LEAD = pattern(r"\bthe\s+(?:early\s+|late\s+|mid-?\s*)?$")
_THINGS = (
    r"(?!\s*(?:%|€|\$|£|°|k\b|px\b|x\s*\d|(?:people|men|women|words|dollars|euros|pounds|meters|metres|miles|feet"
    r"|km|steps|points|calories|times|items|users|pages|hours|minutes|seconds|days|years|lines|tokens|others)\b))"
)


def _year(match: re.Match[str], said: Said) -> Time | None:
    if match["last"]:
        first, last = int(match["first"]), int(match["last"])
        return years(first, last, 1.0) if 1900 <= first < last <= 2100 else None
    year = int(match["first"])
    return years(year, year, 1.0) if follows(said, _YEARS_LEAD, match.start()) else None


def _decade(match: re.Match[str], said: Said) -> Time | None:
    if not follows(said, _DECADE_LEAD, match.start()):
        return None
    first = int(match["core"].strip("'s"))
    if first < 100 and _WARM.search(said.low[match.start() - 4 : match.end() + 24]):
        return None
    if first < 100:
        first += 2000 if first < 30 else 1900
    return years(first, first + 9)


_QUARTER_LEAD = pattern(
    r"(?:\b(?:in|since|until|till|by|during|before|after|around|through|throughout|early|late|for|of|last|this|next|our"
    r"|their|the|end|mid|im|seit|bis)\s+|\bmid-)$"
)
_QUARTER_THINGS = pattern(
    r"(?:'s)?\s+(?:was|were|is|will|went|looks?|goals?|results?|numbers|reports?|earnings|revenue|sales|targets?|review"
    r"|planning|budget|okrs?|forecast|deadline|launch|starts?|ends?|onwards?)\b"
)
_QUARTERS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_QUARTERS |= {"last": 4, "final": 4}


def _quarter(match: re.Match[str], said: Said) -> Time | None:
    """A quarter of a year by its number; without a year, the one that the sentence leans to."""
    number = int(match["quarter"]) if match["quarter"] else _QUARTERS[match["nth"]]
    year = int(match["begun"]) if match["quarter"] and match["begun"] else year_of(match, said)
    if year is None:
        if not match["quarter"] or not said.capital(match.start("quarter") - 1):
            return None
        led = follows(said, _QUARTER_LEAD, match.start())
        if not (led or _QUARTER_THINGS.match(said.low, match.end())):
            return None
    lean = 0 if year is not None else said.lean(match.start(), match.end())
    return yearly(of_quarter(number), said, "days", None, lean, year)


def _short_year(match: re.Match[str], said: Said) -> Time | None:
    year = century(int(match["digits"]), said)
    return years(year, year) if follows(said, _YEARS_LEAD, match.start()) else None


_DECADES = {"thirties": 1930, "forties": 1940, "fifties": 1950, "sixties": 1960, "seventies": 1970}
_DECADES |= {"eighties": 1980, "nineties": 1990}


def _named_decade(match: re.Match[str], said: Said) -> Time | None:
    if _WARM.search(said.low[max(0, match.start() - 4) : match.end() + 24]):
        return None
    return years(_DECADES[match["core"]], _DECADES[match["core"]] + 9)


_NTH_LEAD = pattern(r"\b(?:on|by|until|till|since|before|after|from)\s+(?:the\s+)?$")


def _nth(match: re.Match[str], said: Said) -> Time | None:
    """A day of a month that is last, this or next, or of the month that the sentence leans to."""
    day = int(match["day"])
    if match["near"]:
        step = step_of(match["near"])
    elif match["weekday"] or follows(said, _NTH_LEAD, match.start()):
        step = None
    else:
        return None
    steps = [step] if step is not None else _leaning(said.lean(match.start(), match.end()))
    for months in steps:
        more, number = divmod(said.month - 1 + months, 12)
        found = _in_month(said.year + more, number + 1, day)
        if found is None or (
            step is None and match["weekday"] and (found + 6) % 7 != WEEKDAYS[match["weekday"]]
        ):
            continue
        if step is None and not match["weekday"] and months == 0 and _passed(found, said, steps):
            continue
        return days(found, found + 1, "day", 0.9 if step is not None else 0.6)
    return None


def _leaning(lean: int) -> list[int]:
    return [0, -1, -2, 1, 2] if lean < 0 else [0, 1, -1, 2, -2]


def _passed(day: int, said: Said, steps: list[int]) -> bool:
    """Whether the day of this month lies on the wrong side of today."""
    return day > said.today if steps[1] == -1 else day < said.today


def _in_month(year: int, number: int, day: int) -> int | None:
    try:
        return date(year, number, day).toordinal()
    except ValueError:
        return None


_NAMES = frozenset(MONTHS)
_DIGITS = frozenset({NUMBER})
_BEFORE_NTH = (
    rf"\b(?:(?P<weekday>{WEEKDAY})\s+)?(?:the\s+)?(?<![\w.])(?P<day>{_DAY})(?:st|nd|rd|th)\b"
    r"(?:\s+of\s+(?P<near>last|this|next)\s+month\b|(?=\s*(?:[.,;!?)]|$)"
    r"|\s+(?:at|and|to|in|for|we|i|with|so|but|because|it|she|he|they|if|when)\b))"
)
RULES = (
    Rule(_DIGITS, pattern(_ISO), _iso),
    Rule(_DIGITS, pattern(_SLASHED), _slashed),
    Rule(_DIGITS, pattern(_DOTTED), _dotted),
    Rule(
        _DIGITS,
        pattern(
            r"\b(?:on|by|until|since|before|after)\s+(?P<core>(?P<one>\d{1,2})/(?P<two>\d{1,2}))(?![\w/]|\.\d|-\d|%)"
        ),
        _short,
    ),
    Rule(_NAMES, pattern(MONTH_FIRST), _day_of_month, _DIGITS),
    Rule(_NAMES, pattern(DAY_FIRST), _day_of_month, _DIGITS.union(_ORDINALS)),
    Rule(
        _NAMES,
        pattern(
            rf"(?P<from>\b(?:between|from)\s+(?:early\s+|late\s+|mid-?\s*)?)?\b(?P<first>{MONTH})\b"
            rf"(?:\s+(?P<begun>(?:19|20)\d\d))?(?:\s+(?:to|until|till|through|bis|à|a|(?P<pair>and|und|et|y))\s+|\s?[-–—]\s?)"
            rf"(?:early\s+|late\s+|mid-?\s*)?(?P<last>{MONTH})\b(?!\s+\d{{1,2}}\b){YEAR}"
        ),
        _months,
    ),
    Rule(_NAMES, pattern(rf"\b(?:(?P<which>{WHICH})\s+)?(?P<month>{MONTH})\b{YEAR}"), _month),
    Rule(_DIGITS, pattern(_BEFORE_NTH), _nth),
    Rule(
        _DIGITS.union({"quarter"}),
        pattern(
            rf"\b(?:(?:(?P<begun>(?:19|20)\d\d)[\s-]?)?q(?P<quarter>[1-4])\b(?![:.)]\s|\.\d|/)"
            rf"|(?P<nth>{'|'.join(_QUARTERS)})\s+quarter\b){YEAR}"
        ),
        _quarter,
    ),
    Rule(_DIGITS, pattern(r"(?<![\w'])'(?P<digits>\d\d)\b(?!['\w-]|\s?(?:%|inch|cm|degrees))"), _short_year),
    Rule(
        frozenset(_DECADES),
        pattern(rf"\bthe\s+(?:(?:early|late|mid)[\s-]+)?(?P<core>{'|'.join(_DECADES)})\b"),
        _named_decade,
    ),
    Rule(
        _DIGITS,
        pattern(
            r"(?:(?<![\w.,/$€£#-])|(?<=\bmid-))(?P<first>(?:19|20)\d\d)(?:(?:\s?[-–—]\s?|\s+(?:to|and|until|bis)\s+)"
            rf"(?P<last>(?:19|20)\d\d))?(?![\w%-]|[.,:/]\d){_THINGS}"
        ),
        _year,
    ),
    Rule(_DIGITS, pattern(r"(?P<core>(?<![\w.,$€£#])(?:19|20)\d0s|(?<![\w.,$€£#])'?[1-9]0s)\b"), _decade),
)
