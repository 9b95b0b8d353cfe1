"""Whether a line tells how a thing is: of two lines of one speaker that do, the newer one holds."""

from __future__ import annotations

from collections.abc import Collection

from mnemon.domain import words
from mnemon.domain.pattern import pattern

_CHANGE = pattern(
    r"\b(?:now|actually|switched|changed|moved|no longer|any ?more|instead|bec[ao]me|lately|these days"
    r"|nowadays|turn(?:s|ed)? out|replaced|upgraded)\b"
)
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
    sentences = _SENTENCE.findall(text[:_MOST].lower())
    return any(_tells(one, terms) for one in sentences if not one.endswith("?"))


def _tells(sentence: str, terms: Collection[str]) -> bool:
    if _CHANGE.search(sentence):
        return _holds(sentence, terms)
    return any(_holds(found[str(found.lastgroup)], terms) for found in _FRAME.finditer(sentence))


def _holds(text: str, terms: Collection[str]) -> bool:
    return not words.terms(text).keys().isdisjoint(terms)
