"""The small signs in a clause: a name, a day, a habit, something pointed at."""

from __future__ import annotations

import re

from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.substance import substance
from mnemon.adapters.reason.verbs import HABITS
from mnemon.domain.pattern import pattern

_SEASONS = either(
    """
    week, weekend, month, year, morning, afternoon, evening, night, summer, spring, fall, autumn, winter,
    season, semester, term, past, coming, monday, tuesday, wednesday, thursday, friday, saturday, sunday,
    january, february, march, april, may, june, july, august, september, october, november, december,
    christmas, days
    """
)
_POINTED_AT = either(
    r"""
    it, it's, that, (?:this|these|those)(?= (?:one|is|was|in|at|to|for|and|with|so)\b|\W*$), them, him,
    her, he, she, so(?=\W*$), what, why, there, here, everything, anything, nothing, something,
    all(?! (?:kinds|sorts|types|my|the|over|day)), stuff, things, how(?! to), one(?=$|\W), ones, 'em, some of,
    most of, both of, each of, his, their, its, on for, on since, on lately
    """
)
_ELSEWHERE = pattern(
    rf"(?:{_POINTED_AT})\b(?!/)(?!\s+(?:{_SEASONS}))"
    r"|.*\b(?:that|this|here|there)$"
    r"|.*\b(?:to|of|in|at|for|with) that \w+$"
    r"|(?:\S+ ){0,7}(?:it|them|those|these)$"
    r"|(?:.* )?(?:to|a|an|the|of|my|with|for)$",
    re.IGNORECASE,
)
_SHOWN = pattern(
    rf"\b(?:this|these|those)\s+(?!(?:past|coming|last)?\s?(?:{_SEASONS}))",
    re.IGNORECASE,
)
_POINTERS = frozenset(["it", "it,", "it's", "them", "him", "them,", "it.", "it!"])
_PROPER = pattern(r"(?<=[\w,&'] )(?:\"?[A-Z][\w'&.-]+)|^[A-Z]\w+|\"[A-Z“]")
_OWN = pattern(r"\b(?:my|our|me|called|named)\b")
_FREQUENT = pattern(
    r"\b(?:every|each (?:day|week|month|year|morning|evening|night)|usually|often|daily|weekly|monthly"
    r"|twice|once a|times a|per (?:day|week|month)|a (?:day|week|month|year)|mornings|evenings|nights"
    r"|weekends|afternoons|(?:mon|tues|wednes|thurs|fri|satur|sun)days|all the time|regularly|since"
    r"|for (?:years|months|weeks|ages|over|about|almost|nearly|\d|a (?:while|year|month|week)|the (?:past"
    r"|last)|two|three|four|five|six|seven|eight|nine|ten))\b",
    re.IGNORECASE,
)
_WHEN = pattern(
    r"\b(?:today|tonight|yesterday|tomorrow|ago|recently|lately|soon|(?:last|next|this) \w+|in (?:19|20)\d\d"
    r"|(?:january|february|march|april|may|june|july|august|september|october|november|december) \d"
    r"|\d(?:st|nd|rd|th)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|\d ?[ap]m)\b",
    re.IGNORECASE,
)
_ENOUGH = 2
_LATELY = word_set("finally just lately recently")


def names_something(text: str) -> bool:
    """Whether a proper name is in it."""
    return _PROPER.search(text) is not None


def tells_when(text: str) -> bool:
    return _WHEN.search(text) is not None


def of_their_own(text: str) -> bool:
    return _OWN.search(text) is not None


def often(clause: Clause) -> bool:
    return not HABITS.isdisjoint(clause.group.adverbs) or _FREQUENT.search(clause.rest) is not None


def specific(clause: Clause) -> bool:
    """Whether it names anything: a person, a place, a number, a day, a habit, something of theirs."""
    rest = clause.rest
    return (
        clause.prefix != ""
        or names_something(rest)
        or any(char.isdigit() for char in rest)
        or of_their_own(rest)
        or not _LATELY.isdisjoint(clause.group.adverbs)
        or often(clause)
        or tells_when(rest)
    )


def elsewhere(rest: str) -> bool:
    """Whether it is about something that was pointed at or named before."""
    if not _POINTERS.isdisjoint(rest.lower().split(" ", 4)[:4]) or _ELSEWHERE.match(rest):
        return True
    return _SHOWN.search(rest) is not None and substance(rest) < _ENOUGH
