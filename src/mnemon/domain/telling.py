"""Whether a line tells how a thing is: of two lines of one speaker that do, the newer one holds."""

from __future__ import annotations

from collections.abc import Collection

from mnemon.domain import words
from mnemon.domain.pattern import pattern

_CHANGE = pattern(
    r"\b(?:now|actually|switched|changed|moved|no longer|any ?more|instead|bec[ao]me|lately|these days"
    r"|nowadays|turn(?:s|ed)? out|replaced|upgraded|renamed|rescheduled|postponed|extended|migrated|relocated"
    r"|stepped down|cut down|(?:pushed|went|goes|raised|lowered) (?:back |up |down |forward )?to"
    r"|since (?:today|yesterday|last|this|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b"
)
_GIVEN_UP = pattern(
    r"\b(?:(?:sold|quit|cancell?ed|ditched|replaced|gave up|given up|got rid of|stopped using)"
    r"(?: (?:the|my|our))?|dropped|(?:switched|migrated|moved) (?:away )?from(?: the| my| our)?"
    r"|no longer [\w-]+(?: (?:on|at|in|with|for|by))?(?: the| my| our)?) (?P<gone>[\w-]+(?: \d[\w.-]*)?)"
    r"(?=\s*(?:$|[,.;:!(]|(?:and|with|for|to|last|this|in|on|by|but|so|now|instead|because|today)\b))"
    r"|\bgave (?:the |my |our )?(?P<given>[\w-]+) away\b"
)
"""How one says that something is had, used or done no longer."""
_FRAME = pattern(
    r"\b(?:my|our|his|her|their|the|\w+['’]s) (?P<mine>(?:[\w'’-]+ ){0,4}?[\w-]+)"
    r"(?:['’]s(?!(?: [\w-]+){1,3} (?:is|are)\b)| is| are| isn['’]t)\b(?!\s+[\w]+ing\b)"
    r"|\bi(?:['’]m| am)(?: not)? (?:an? )?(?P<being>[\w-]+)|\bi (?P<doing>[\w-]+)"
    r"|\bnew (?P<novel>(?:[\w-]+ )?[\w-]+)"
)
_SENTENCE = pattern(r"[^.!?\n]+(?:[.!?]+(?=\w)[^.!?\n]+)*[.!?]*")
_MOST = 1_000
"""How much of a line is read."""


def tells(text: str, terms: Collection[str]) -> bool:
    """Whether a sentence of the line tells how that is which these terms name, or that it has changed."""
    return any(_changes(one, terms) or _tells(one, terms) for one in _statements(text))


def changes(text: str, terms: Collection[str]) -> bool:
    """Whether a sentence of the line tells that something has changed, and holds one of these terms."""
    return any(_changes(one, terms) for one in _statements(text))


def states(text: str) -> bool:
    """Whether the line states anything, and does not only ask."""
    return any(_statements(text))


def given_up(text: str) -> frozenset[str]:
    """The terms of what the line says is had, used or done no longer."""
    gone = (found[str(found.lastgroup)] for one in _statements(text) for found in _GIVEN_UP.finditer(one))
    return frozenset(term for one in gone for term in words.terms(one))


def _statements(text: str) -> list[str]:
    return [one for one in _SENTENCE.findall(text[:_MOST].lower()) if not one.endswith("?")]


def _changes(sentence: str, terms: Collection[str]) -> bool:
    return _CHANGE.search(sentence) is not None and _holds(sentence, terms)


def _tells(sentence: str, terms: Collection[str]) -> bool:
    if _CHANGE.search(sentence):
        return False
    return any(_holds(found[str(found.lastgroup)], terms) for found in _FRAME.finditer(sentence))


def _holds(text: str, terms: Collection[str]) -> bool:
    return not words.terms(text).keys().isdisjoint(terms)
