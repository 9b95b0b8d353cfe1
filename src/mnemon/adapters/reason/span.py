"""The few words that a question asks for: the day, the place, the person, the number."""

from __future__ import annotations

import re

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
_WORD = pattern(r"[^\W\d_]+")
_NAME = r"[A-ZÀ-Þ][\w'-]+"
_NAMED = pattern(rf"(?<=[\w,'] ){_NAME}(?:(?: and| &)? {_NAME})*")
_WHO_IS = pattern(r"^\W*(?:and |so |but )?who(?: is|'s| was| are| were)\b")
_WITH = pattern(
    r"\b(?:with|by|to|from) (their (?!own\b)(?:[a-z-]+ ){0,2}?[a-z-]+)"
    r"(?= in| at| on| to| last| next| \(|,|\.|$)"
)


def span(question: str, text: str, about: str | None) -> str | None:
    """What of the text answers a 'when', 'where', 'who' or 'how many'; None if none is asked or told.

    The question is in small letters.
    """
    words = question.split()
    if "how long ago" in question:
        return _first(_AGO, text) or _first(_BRACKETS, text, 1)
    if "how long" in question:
        return _first(_LASTED, text)
    if "since when" in question:
        return _first(_SINCE, text) or _first(_CALENDAR, text)
    if ASKS_WHEN.search(question):
        return _first(_BRACKETS, text, 1) or _first(_CALENDAR, text)
    if "how old" in question:
        return _age(question, text) or _counted(text)
    if "how many" in question:
        return _counted(text)
    if "where" in words or _asks(question, "which city", "what city", "which country", "what country"):
        return _place(question, text)
    if "who" in words or "whom" in words:
        return _person(question, text, about)
    return None


def _asks(question: str, *openings: str) -> bool:
    return any(opening in question for opening in openings)


def _first(shape: re.Pattern[str], text: str, group: int = 0) -> str | None:
    found = shape.search(text)
    return found[group] if found else None


def _age(question: str, text: str) -> str | None:
    """The number that is told of whom the question names last: 7 of 'Leo is 4 and Ida is 7'."""
    named = question.rstrip(" ?").rpartition(" ")[2]
    found = re.search(
        rf"\b{re.escape(named)}\b(?: has just)?(?: is| was| turned|'s) (\d+)", text, re.IGNORECASE
    )
    return found[1] if found else None


def _counted(text: str) -> str | None:
    for found in _COUNT.finditer(_BRACKETS.sub("", text)):
        if not (found[1].isdigit() and len(found[1]) == 4):
            return found[0]
    return None


def _place(question: str, text: str) -> str | None:
    """The place with a name that the question hasn't named itself, behind the word that it is asked with."""
    asked = content_stems(question)[-1:]
    behind = next((found.end() for found in _WORD.finditer(text) if stem(found[0].lower()) in asked), 0)
    for found in _PLACE.finditer(text, behind):
        place = values.named_place(text[found.end() :])
        if place and place.split()[-1].lower() not in values.NOT_A_NAME and place.lower() not in question:
            return place
    return None


def _person(question: str, text: str, about: str | None) -> str | None:
    if whose := _whose(question, text):
        return whose
    for found in _NAMED.finditer(text):
        name = found[0]
        if text[: found.start()].rstrip().rpartition(" ")[2].lower() in ("in", "at", "near", "on"):
            continue
        if name.lower() not in values.NOT_A_NAME and name.lower() not in question and name != about:
            return name
    return _first(_WITH, text, 1)


def _whose(question: str, text: str) -> str | None:
    """'ann's sister' for 'who is Ana', from 'ann's sister Ana lives in Madrid'."""
    if not _WHO_IS.match(question):
        return None
    for found in _NAMED.finditer(text):
        if found[0].lower() in question.rstrip("?").split():
            before = text[: found.start()].rstrip().split()
            if len(before) > 1 and before[-2].endswith("'s"):
                return " ".join(before[-2:])
    return None
