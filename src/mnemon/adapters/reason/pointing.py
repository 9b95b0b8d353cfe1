"""What a text only points at ('it', 'them'), and whether something in it has a name."""

from __future__ import annotations

import re

from mnemon.adapters.reason.lexicon import ACQUAINTANCES, RELATIVES
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.substance import substance
from mnemon.domain.pattern import pattern

_POINTERS = pattern(
    r"\b(?:it|its|they|them|their|she|her|he|him|his|one)\b|\b(?:this|that|those)(?=\?)", re.IGNORECASE
)
_NO_THING = either(
    """
    one, ones, thing, things, time, moment, moments, way, part, day, lot, bit, sense, sounds?, looks?, must,
    was, is, has, pic, pics, photo, photos, picture, pictures, job, news, idea, dream
    """
)
_PRAISE = either(
    "great, awesome, amazing, cool, nice, good, huge, big, beautiful, cute, lovely, wonderful, new"
)
_NAMED = pattern(
    r"\b(?i:the|your|that|this|those|these|an?|any|kind of|which|more|other)"
    rf"(?: (?:{_PRAISE})\b)* (?!(?:{_NO_THING}|{_PRAISE})\b)[a-z][a-z-]{{2,}}"
    r"|(?<=[a-z] )[A-Z][a-z]+|\bdoing (?!it|that|this)\w+"
)
_OWNED = pattern(rf"\b(?i:my|our) (?!(?:{_NO_THING})\b)[a-z]")
_PERSONS = RELATIVES | ACQUAINTANCES | {"friend", "friends"}
_LEFT_OPEN = pattern(
    r"\b(?:it|him|them|her(?=$|[,.;!]| (?:and|to|for|with|in|at|on|when|from|after|last)\b))\b"
    r"(?! (?:happen|work|out|all in|easy|slow|up|to)\b)"
)
_ENOUGH = 2
_FEW = 4


def points(text: str) -> bool:
    """Whether it is about something by a pronoun."""
    return _POINTERS.search(text) is not None


def names(text: str) -> bool:
    """Whether a noun with its article, or a name, is in it."""
    return _NAMED.search(text) is not None


def names_own(text: str) -> bool:
    """Whether it names something, be it only as its author's: 'my bowl'."""
    return names(text) or _OWNED.search(text) is not None


def leaves_open(text: str) -> bool:
    """Whether it says 'it' or 'him' of something that it does not name before."""
    found = _LEFT_OPEN.search(text)
    if found is None:
        return False
    before = text[: found.start()]
    words = before.lower().split()
    if found[0] == "it" and len(words) < _FEW and not _PERSONS.isdisjoint(words):
        return True
    return substance(before) < _ENOUGH and not names(before)
