"""Whether a line tells how a thing is: of two lines of one speaker that do, the newer one holds."""

from __future__ import annotations

import re
from collections.abc import Collection

from mnemon.domain import change, words
from mnemon.domain.pattern import pattern

_FRAME = pattern(
    r"\b(?:my|our|his|her|their|the|\w+['’]s) (?P<mine>(?:[\w'’-]+ ){0,4}?[\w-]+)"
    r"(?:['’]s(?!(?: [\w-]+){1,3} (?:is|are)\b)| is| are| isn['’]t)\b(?!\s+[\w]+ing\b)"
    r"|\bi(?:['’]m| am)(?: not)? (?:an? )?(?P<being>[\w-]+)|\bi (?P<doing>[\w-]+)"
    r"|\bnew (?P<novel>(?:[\w-]+ )?[\w-]+)"
)
_SENTENCE = pattern(r"[^.!?\n]+(?:[.!?]+(?=\w)[^.!?\n]+)*[.!?]*")
_TITLE = pattern(r"\b(dr|mrs?|ms|st|prof)\.(?= )", re.IGNORECASE)
_MEASURE = pattern(r"(?<![\w.,:])(\d[\d.,:]{0,15}) ?([^\W\d_]{1,12})\b")
_MONTH = r"(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber"
_VALUE = pattern(
    r"(?P<day>\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:mon|diens|donners|frei|sams|sonn)tag"
    r"|\bmittwoch|\b(?:lun|mar|mercre|jeu|vendre|same)di\b|\bdimanche"
    r"|\b(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)|[月火水木金土日]曜)"
    r"|(?P<clock>\b\d{1,2}(?::\d\d|h\d\d| uhr\b| o['’]clock| ?[ap]\.?m\b)|\d{1,2}時)"
    rf"|(?P<date>\b(?:{_MONTH}) \d{{1,2}}|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\b)"
    r"|(?P<number>(?<![\w.,:])\d+(?:[.,]\d+)*(?![\w:]))"
)
_BESIDE = pattern(r"(?=(?<![\w'’-])([\w-]+) ([\w-]+)(?![\w'’-]))")
_MOST = 1_000
"""How much of a line is read."""


def tells(text: str, terms: Collection[str]) -> bool:
    """Whether a sentence of the line tells how that is which these terms name, or that it has changed."""
    return any(_changes(one, terms) or _tells(one, terms) for one in _statements(text))


def changes(text: str, terms: Collection[str]) -> bool:
    """Whether a sentence of the line tells that something has changed, and holds one of these terms."""
    return any(_changes(one, terms) for one in _statements(text))


def has_changed(text: str, known: Collection[str]) -> bool:
    """Whether a verb of the line says that something of these terms has changed or come to an end."""
    return change.has_changed(text[:_MOST].lower()) and any(map(change.has_changed, _of(text, known)))


def is_so_now(text: str, known: Collection[str]) -> bool:
    """Whether the line says that something of these terms is so from now on, or new, or has changed."""
    low = text[:_MOST].lower()
    if "new" not in low and not change.is_so_now(low):
        return False
    return any(change.is_so_now(one) or _is_new(one, known) for one in _of(text, known))


def _of(text: str, known: Collection[str]) -> list[str]:
    """The statements of a line that hold such a term; if it is a single one, that."""
    found = _statements(text)
    return found if len(found) == 1 else [one for one in found if _holds(one, known)]


def _is_new(sentence: str, known: Collection[str]) -> bool:
    return any(_holds(found["novel"], known) for found in _FRAME.finditer(sentence) if found["novel"])


def values(text: str) -> dict[str, set[str]]:
    """The days of the week, clock times, dates and numbers that the line has, and those of each unit."""
    low = text[:_MOST].lower()
    found: dict[str, set[str]] = {}
    for value in _VALUE.finditer(low):
        found.setdefault(str(value.lastgroup), set()).add(value[0])
    for number, unit in _MEASURE.findall(low):
        found.setdefault(f"of {unit.removesuffix('s')}", set()).add(number)
    return found


def compounds(text: str) -> list[tuple[str, str]]:
    """The terms of words that stand side by side, as in 'car insurance'; what is new is no kind of it."""
    found = _BESIDE.findall(text[:_MOST].lower())
    return [
        (one, other)
        for first, last in found
        if words.STOP_WORDS.isdisjoint((first, last)) and first != "new" and first != "new"
        for one in words.asked(first)
        for other in words.asked(last)
    ]


def states(text: str) -> bool:
    """Whether the line states anything, and does not only ask."""
    return any(stated(text))


def stated(text: str) -> list[str]:
    """The sentences of a line that do not ask."""
    read = text[:_MOST]
    whole = _TITLE.sub(r"\1", read) if ". " in read else read
    return [one for one in _SENTENCE.findall(whole) if not one.endswith("?")]


def _statements(text: str) -> list[str]:
    return stated(text[:_MOST].lower())


def _changes(sentence: str, terms: Collection[str]) -> bool:
    return change.is_so_now(sentence) and _holds(sentence, terms)


def _tells(sentence: str, terms: Collection[str]) -> bool:
    if change.is_so_now(sentence):
        return False
    return any(_holds(found[str(found.lastgroup)], terms) for found in _FRAME.finditer(sentence))


def _holds(text: str, terms: Collection[str]) -> bool:
    return not words.terms(text).keys().isdisjoint(terms)
