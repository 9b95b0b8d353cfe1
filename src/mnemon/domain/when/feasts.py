"""Seasons and feasts: last summer, in the fall of 2021, at Christmas, on New Year's Eve."""

from __future__ import annotations

import re

from mnemon.domain.pattern import pattern
from mnemon.domain.when.almanac import Yearly, of_day, of_easter, of_nth, of_season, yearly
from mnemon.domain.when.lexicon import SEASON, SEASONS, either
from mnemon.domain.when.rule import WHICH, YEAR, Rule, follows, step_of, year_of
from mnemon.domain.when.said import Said, Time

_CHRISTMAS, _EVE, _NEW_YEAR, _EASTER = of_day(12, 24, 3), of_day(12, 24), of_day(12, 31, 2), of_easter(-2, 4)
_PLAIN: dict[str, Yearly] = {
    "christmas": _CHRISTMAS,
    "xmas": _CHRISTMAS,
    "easter": _EASTER,
    "thanksgiving": of_nth(11, 4, 3),
    "halloween": of_day(10, 31),
    "weihnachten": _CHRISTMAS,
    "ostern": _EASTER,
    "silvester": of_day(12, 31),
    "noël": _CHRISTMAS,
    "pâques": _EASTER,
    "navidad": _CHRISTMAS,
    "the holidays": of_day(12, 20, 14),
}
"""Feasts whose names also stand before things (Christmas tree), so that they need a preposition or a year."""
_DAYS: dict[str, Yearly] = {
    "christmas eve": _EVE,
    "day before christmas": _EVE,
    "day after christmas": of_day(12, 26),
    "christmas day": of_day(12, 25),
    "boxing day": of_day(12, 26),
    "new year's eve": of_day(12, 31),
    "new year's day": of_day(1, 1),
    "new year's": _NEW_YEAR,
    "valentine's day": of_day(2, 14),
    "valentine's": of_day(2, 14),
    "st patrick's day": of_day(3, 17),
    "st. patrick's day": of_day(3, 17),
    "independence day": of_day(7, 4),
    "4th of july": of_day(7, 4),
    "fourth of july": of_day(7, 4),
    "juneteenth": of_day(6, 19),
    "cinco de mayo": of_day(5, 5),
    "earth day": of_day(4, 22),
    "veterans day": of_day(11, 11),
    "martin luther king day": of_nth(1, 3, 0),
    "mlk day": of_nth(1, 3, 0),
    "mother's day": of_nth(5, 2, 6),
    "memorial day": of_nth(5, -1, 0),
    "father's day": of_nth(6, 3, 6),
    "labor day": of_nth(9, 1, 0),
    "black friday": of_nth(11, 4, 3, shift=1),
    "cyber monday": of_nth(11, 4, 3, shift=4),
    "ash wednesday": of_easter(-46),
    "palm sunday": of_easter(-7),
    "maundy thursday": of_easter(-3),
    "good friday": of_easter(-2),
    "easter sunday": of_easter(0),
    "easter monday": of_easter(1),
    "pentecost": of_easter(49),
    "heiligabend": _EVE,
    "karfreitag": of_easter(-2),
    "nochebuena": _EVE,
    "nochevieja": of_day(12, 31),
}
_FEASTS = _DAYS | _PLAIN
_LEAD = pattern(
    r"(?:\b(?:at|on|over|for|during|around|before|after|since|until|till|by|in|zu|an|à|en|por|seit|bis|vor|nach"
    r"|avant|après|desde|hasta)|\bthe\s+(?:day|week|weekend)\s+\w+)\s+$"
)
_THINGS = (
    r"(?!\s+(?:tree|present|gift|song|carol|card|market|movie|film|cookie|decoration|light|egg|bunny|costume|candy"
    r"|shopping|story|spirit|ornament|sweater|music|jumper|island)s?\b)"
)
_SEASON_LEAD = pattern(
    r"(?:\b(?:in|over|during|for|since|until|till|by|throughout|early|late|mid|before|after|(?:end|beginning|start|middle|half)\s+of|im|seit|bis|en|au|cet"
    r"|depuis|este|desde|hasta)\s+(?:the\s+|early\s+|late\s+|el\s+|la\s+)*|\bmid-)$"
)
_SEASON_THINGS = (
    r"(?!\s+(?:camp|school|job|program|dress|clothes|coat|jacket|olympics|sport|squash|roll|mattress|internship"
    r"|house|onion|water|cleaning|line|solstice)s?\b)"
)
_POSTPOSED = {"dernier": -1, "dernière": -1, "pasado": -1, "pasada": -1, "prochain": 1, "próximo": 1}


def _feast(match: re.Match[str], said: Said) -> Time | None:
    name = " ".join(match["feast"].split())
    name = (
        name.replace("new years", "new year's")
        .replace("valentines", "valentine's")
        .replace("mothers", "mother's")
    )
    name = name.replace("fathers", "father's")
    year = year_of(match, said)
    if (
        name in _PLAIN
        and year is None
        and not match["which"]
        and not follows(said, _LEAD, match.start("feast"))
    ):
        return None
    what = _FEASTS[name]
    step = step_of(match["which"]) if match["which"] else None
    lean = 0 if year is not None or step is not None else said.lean(match.start(), match.end())
    return yearly(what, said, "day" if name in _DAYS else "days", step, lean, year)


def _season(match: re.Match[str], said: Said) -> Time | None:
    name, which, year = match["season"], match["which"], year_of(match, said)
    after = _POSTPOSED.get(match["post"] or "")
    if year is None and not which and after is None:
        where = match.start("season")
        led = follows(said, _SEASON_LEAD, where)
        if not led or name == "été" or (name == "fall" and said.low.startswith(" of ", match.end())):
            return None
    step = step_of(which) if which else after
    if which == "this" and name == "winter" and said.month < 6:
        step = None
    lean = 0 if year is not None or step is not None else said.lean(match.start(), match.end())
    return yearly(of_season(SEASONS[name]), said, "season", step, lean, year)


_CUES = (
    "christmas xmas easter thanksgiving halloween weihnachten ostern silvester noël pâques navidad holidays"
    " boxing eve year years valentine valentines patrick independence july juneteenth cinco earth veterans"
    " king mlk mother mothers father fathers memorial labor friday cyber ash palm maundy pentecost"
    " heiligabend karfreitag nochebuena nochevieja"
)
_NAMES = either(_FEASTS).replace("'", "'?").replace(" ", r"\s+")
RULES = (
    Rule(
        frozenset(_CUES.split()),
        pattern(rf"\b(?:(?P<which>{WHICH})\s+)?(?P<feast>{_NAMES})\b{_THINGS}{YEAR}"),
        _feast,
    ),
    Rule(
        frozenset(SEASONS),
        pattern(
            rf"\b(?:(?P<which>{WHICH})\s+)?(?P<season>{SEASON})\b{_SEASON_THINGS}"
            rf"(?:\s+(?P<post>{either(_POSTPOSED)})\b)?{YEAR}"
        ),
        _season,
    ),
)
