"""The few words that a question asks for: the day, the place, the person, the number."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from mnemon.adapters.reason import values
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.domain.pattern import pattern

ASKS_WHEN = pattern(
    r"^(?:and |so |but )?when\b|\bwhen (?:did|do|does|was|were|is|are|will|has|have|had)\b"
    r"|\b(?:what|which) (?:date|day|time|year|month)\b|\bhow long\b|\bsince when\b"
)
"""Whether a question in small letters asks for a time; 'how she feels when …' does not."""

_BRACKETS = pattern(r"\((?:about )?((?:week(?:end)? of )?\d{4}(?:-\d\d){0,2})\)")
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_WEEKDAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
_CALENDAR = pattern(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    rf"|(?:in|since|by) {_MONTH}(?: \d{{4}})?|(?:in|since) \d{{4}}|(?:on|every) {_WEEKDAY}"
    r"|at \d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?)"
)
_LASTED = pattern(
    r"\b(?:for (?:about |over |almost |nearly )?(?:\w+ )?\w+ (?:years?|months?|weeks?|days?|hours?)"
    r"|since [\w ]{2,24})\b"
)
_SINCE = pattern(r"\bsince (?:\d{4}|[\w ]{2,24})\b")
_AGO = pattern(r"\b(?:about |over |almost |nearly )?\w+ (?:years?|months?|weeks?|days?|hours?) ago\b")
_PLACE = pattern(r"\b(?:in|at|to|from|near|outside) (?=(?:the )?[A-ZÀ-Þ])")
_COUNT = pattern(
    r"\b(\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice|both)\b"
    r"(?: (?!(?:and|or|but|of|in|at|on|to|for|with|from|is|was|when|because|so|now)\b)[a-z][\w-]*)?"
)
_JOINT = pattern(r"(?:,|;|\band\b|\bbut\b|\bthen\b|\bwhile\b) ")
_TOLD = pattern(r"[^\W_]+")
_WORD = pattern(r"[^\W\d_]+")
_NAME = r"[A-ZÀ-Þ][\w'-]+"
_NAMED = pattern(rf"(?<=[\w,'] ){_NAME}(?:(?: and| &)? {_NAME})*")
_WHO_IS = pattern(
    r"^\W*(?:and |so |but )?who(?: is|'s| was| are| were) (?P<whom>[^\s?]+)(?: to me| again)?\W*$"
)
_WITH = pattern(
    r"\b(?:with|by|to|from) (their (?!own\b)(?:[a-z-]+ ){0,2}?[a-z-]+)"
    r"(?= in| at| on| to| last| next| \(|,|\.|$)"
)


class _Value(NamedTuple):
    """What may be asked for, and where in the text it begins."""

    at: int
    said: str


def span(question: str, text: str, about: str | None) -> str | None:
    """What of the text answers a 'when', 'where', 'who' or 'how many'; None if none is asked or told.

    Where a text tells several, it is the one beside most of what is asked about, if there is one such. The
    question is in small letters.
    """
    if "how old" in question and (age := _age(question, text)):
        return age
    if ("who" in question.split() or "whom" in question.split()) and (whose := _whose(question, text)):
        return whose
    return _aptest(question, text, _values(question, text, about))


def _values(question: str, text: str, about: str | None) -> list[_Value]:
    """All that the text tells of what is asked for."""
    words = question.split()
    if "how long ago" in question:
        return _every(_AGO, text) or _every(_BRACKETS, text, 1)
    if "how long" in question:
        return _every(_LASTED, text)
    if "since when" in question:
        return _every(_SINCE, text) or _every(_CALENDAR, text)
    if ASKS_WHEN.search(question):
        return _every(_BRACKETS, text, 1) or _every(_CALENDAR, text)
    if "how old" in question or "how many" in question:
        return _counted(text)
    if "where" in words or _asks(question, "which city", "what city", "which country", "what country"):
        return _places(question, text)
    if "who" in words or "whom" in words:
        return _people(question, text, about)
    return []


def _aptest(question: str, text: str, values: Sequence[_Value]) -> str | None:
    """The value in the part of the text that holds most of the question; None if others may be meant."""
    if not values:
        return None
    ends = [*(joint.start() for joint in _JOINT.finditer(text)), len(text)]
    asked = content_stems(question)
    held = [_held(text[start:end], asked) for start, end in pairwise([0, *ends])]
    most = max(held)
    best = {value.said for value in values if held[bisect_right(ends, value.at)] == most}
    return best.pop() if len(best) == 1 else None


def _held(part: str, asked: Sequence[str]) -> float:
    """How much of the question a part holds: names count twice, its last word half as much again."""
    told = [word[0] for word in _TOLD.finditer(part)]
    names = {stem(word.lower()): word[0].isupper() or word.isdigit() for word in told}
    return sum(1.0 + names[one] + 0.5 * (one == asked[-1]) for one in set(asked) if one in names)


def _asks(question: str, *openings: str) -> bool:
    return any(opening in question for opening in openings)


def _every(shape: re.Pattern[str], text: str, group: int = 0) -> list[_Value]:
    return [_Value(found.start(), found[group]) for found in shape.finditer(text)]


def _age(question: str, text: str) -> str | None:
    """The number that is told of whom the question names last: 7 of 'Leo is 4 and Ida is 7'."""
    named = question.rstrip(" ?").rpartition(" ")[2]
    found = re.search(
        rf"\b{re.escape(named)}\b(?: has just)?(?: is| was| turned|'s) (\d+)", text, re.IGNORECASE
    )
    return found[1] if found else None


def _counted(text: str) -> list[_Value]:
    plain = _BRACKETS.sub(lambda day: " " * len(day[0]), text)
    return [
        _Value(found.start(), found[0])
        for found in _COUNT.finditer(plain)
        if not (found[1].isdigit() and len(found[1]) == 4)
    ]


def _places(question: str, text: str) -> list[_Value]:
    """The places with names that the question hasn't named itself, behind the word that it is asked with.

    Of where somebody went from and to, where to.
    """
    asked = content_stems(question)[-1:]
    behind = next((found.end() for found in _WORD.finditer(text) if stem(found[0].lower()) in asked), 0)
    found: list[tuple[str, _Value]] = []
    for place in _PLACE.finditer(text, behind):
        name = values.named_place(text[place.end() :])
        if name and name.split()[-1].lower() not in values.NOT_A_NAME and name.lower() not in question:
            found.append((place[0], _Value(place.start(), name)))
    reached = [value for way, value in found if way != "from "]
    return reached or [value for _, value in found]


def _people(question: str, text: str, about: str | None) -> list[_Value]:
    named = []
    for found in _NAMED.finditer(text):
        name = found[0]
        if text[: found.start()].rstrip().rpartition(" ")[2].lower() in ("in", "at", "near", "on"):
            continue
        if name.lower() not in values.NOT_A_NAME and name.lower() not in question and name != about:
            named.append(_Value(found.start(), name))
    return named or _every(_WITH, text, 1)


def _whose(question: str, text: str) -> str | None:
    """'ann's sister' for 'who is Ana', from 'ann's sister Ana lives in Madrid'."""
    asked = _WHO_IS.match(question)
    if asked is None:
        return None
    for found in _NAMED.finditer(text):
        if found[0].lower() == asked["whom"]:
            before = text[: found.start()].rstrip().split()
            if len(before) > 1 and before[-2].endswith("'s"):
                return " ".join(before[-2:])
    return None
