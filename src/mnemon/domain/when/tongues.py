"""Days and weeks counted from today, in German, French and Spanish."""

from __future__ import annotations

import re

from mnemon.domain.pattern import pattern
from mnemon.domain.when.almanac import of_season, weekday, yearly
from mnemon.domain.when.lexicon import COUNT, SEASONS, WEEKDAYS, count, either
from mnemon.domain.when.reckoning import distant, part_of, stepped
from mnemon.domain.when.rule import Rule, follows
from mnemon.domain.when.said import Said, Time, days

_SURE = 0.9
_DAYS = {
    "vorgestern": -2,
    "gestern": -1,
    "heute": 0,
    "morgen": 1,
    "übermorgen": 2,
    "avant-hier": -2,
    "hier": -1,
    "aujourd'hui": 0,
    "demain": 1,
    "après-demain": 2,
    "anteayer": -2,
    "ayer": -1,
    "hoy": 0,
    "mañana": 1,
    "pasado mañana": 2,
}
_PARTS = {
    "früh": "morning",
    "morgen": "morning",
    "vormittag": "morning",
    "nachmittag": "afternoon",
    "abend": "evening",
    "nacht": "night",
    "matin": "morning",
    "après-midi": "afternoon",
    "soir": "evening",
    "por la mañana": "morning",
    "por la tarde": "afternoon",
    "por la noche": "night",
}
_MORNING = pattern(r"\b(?:guten|am|jeden|diesen|den|bis|la|esta|cada|una|las)\s+$")
_FRENCH = pattern(r"\b(?:je|nous|vous|elle|ils?|avec|mon|ma|au|est|et|une|les|des|j'|c'|d')")
_UNITS = {
    "tag": "day",
    "tagen": "day",
    "tage": "day",
    "woche": "week",
    "wochen": "week",
    "wochenende": "weekend",
    "monat": "month",
    "monate": "month",
    "monaten": "month",
    "jahr": "year",
    "jahre": "year",
    "jahren": "year",
    "stunde": "hour",
    "stunden": "hour",
    "jour": "day",
    "jours": "day",
    "semaine": "week",
    "semaines": "week",
    "week-end": "weekend",
    "mois": "month",
    "année": "year",
    "an": "year",
    "ans": "year",
    "heure": "hour",
    "heures": "hour",
    "día": "day",
    "días": "day",
    "dias": "day",
    "semana": "week",
    "semanas": "week",
    "fin de semana": "weekend",
    "mes": "month",
    "meses": "month",
    "año": "year",
    "años": "year",
    "hora": "hour",
    "horas": "hour",
}
_BEFORE = {
    "letzt": -1,
    "vergangen": -1,
    "vorig": -1,
    "dies": 0,
    "nächst": 1,
    "kommend": 1,
    "ce": 0,
    "cet": 0,
    "cette": 0,
    "est": 0,
    "pasad": -1,
    "próxim": 1,
    "proxim": 1,
}
_AFTER = {
    "dernier": -1,
    "dernière": -1,
    "passé": -1,
    "passée": -1,
    "prochain": 1,
    "prochaine": 1,
    "pasado": -1,
    "pasada": -1,
    "próximo": 1,
    "próxima": 1,
    "que viene": 1,
    "que vient": 1,
}
_FOREIGN = [name for name in WEEKDAYS if not name.endswith("day") and len(name) > 4]
_SEASONS = [name for name in SEASONS if name not in ("spring", "summer", "autumn", "fall", "winter")]
_NOUN = either([*_UNITS, *_FOREIGN, *_SEASONS])


def _day(match: re.Match[str], said: Said) -> Time | None:
    name = " ".join(match["day"].split())
    if name == "hier" and not match["part"] and not _FRENCH.search(said.low):
        return None
    if name in ("morgen", "mañana") and follows(said, _MORNING, match.start()):
        return None
    time = days(said.today + _DAYS[name], said.today + _DAYS[name] + 1, "day", _SURE)
    return part_of(time, _PARTS[" ".join(match["part"].split())]) if match["part"] else time


def _far(match: re.Match[str], said: Said) -> Time | None:
    ahead = match["way"] in ("in", "dans", "dentro de", "en")
    if ahead and said.lean(match.start(), match.end()) < 0:
        return None
    least, most = count(match["count"])
    unit = _UNITS[match["unit"]]
    if unit == "weekend":
        return None
    return distant(said, unit, least, most) if ahead else distant(said, unit, -least, -most)


def _stepped(match: re.Match[str], said: Said) -> Time | None:
    noun = " ".join(match["noun"].split())
    if match["after"]:
        step = _AFTER[" ".join(match["after"].split())]
    elif match["before"]:
        step = next(value for stem, value in _BEFORE.items() if match["before"].startswith(stem))
    else:
        return None
    if noun in WEEKDAYS:
        return weekday(said, WEEKDAYS[noun], step, 0)
    if noun in SEASONS:
        return yearly(of_season(SEASONS[noun]), said, "season", step, 0)
    unit = _UNITS[noun]
    return stepped(unit, step, said) if unit in ("week", "weekend", "month", "year") else None


RULES = (
    Rule(
        frozenset(word for name in _DAYS for word in re.split(r"[ '-]", name))
        - {"avant", "après", "pasado", "d"},
        pattern(rf"\b(?P<day>{either(_DAYS)})\b(?:\s+(?P<part>{either(_PARTS)})\b)?".replace(" ", r"\s+")),
        _day,
    ),
    Rule(
        frozenset(_UNITS) - {"an", "mes"},
        pattern(
            rf"\b(?P<way>vor|in|il\s+y\s+a|dans|hace|dentro\s+de|en)\s+(?P<count>{COUNT})\s+"
            rf"(?P<unit>{either(_UNITS)})\b"
        ),
        _far,
    ),
    Rule(
        frozenset(word for name in [*_UNITS, *_FOREIGN, *_SEASONS] for word in re.split("[ -]", name))
        - {"an", "fin", "de", "week"},
        pattern(
            r"\b(?:(?P<before>(?:letzt|vergangen|vorig|dies|nächst|kommend)e[nrsm]?|cet?|cette|est[ea]"
            rf"|(?:pasad|próxim|proxim)[oa])\s+)?(?P<noun>{_NOUN})\b(?:\s+(?P<after>{either(_AFTER)})\b)?"
        ),
        _stepped,
    ),
)
