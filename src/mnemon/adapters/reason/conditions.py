"""What a line tells as possible only: under a condition, wished for, or nearly so."""

from __future__ import annotations

import re

from mnemon.domain.pattern import pattern

_JOINT = pattern(r"; |, but |\bbut |[.!?] ")
_POSSIBLE = pattern(
    r"\b(?:if|unless|whether|might|maybe|perhaps|would|could|i'd|we'd|imagin(?:e|ing)|suppos(?:e|ing)"
    r"|almost|nearly|(?:wish|hope|dream|want)(?:s|es|ed)?|(?:hoping|dreaming|wishing|wanting) (?:to|of|for)"
    r"|thinking (?:of|about)|consider(?:s|ing)?|(?:was|were) (?:going|supposed|about) to)\b",
    re.IGNORECASE,
)
_THEN = pattern(
    r"\b(?:when|once|as soon as|after|until) (?:i|we|he|she|they|the|my|our|their)\b", re.IGNORECASE
)
_TO_COME = pattern(r"\b(?:will|\w+'ll|going to|(?:am|is|are|\w+'m|\w+'re) \w+ing)\b", re.IGNORECASE)


def only_possible(value: str, text: str, question: str) -> bool:
    """Whether a text tells the value as what may be, which the question in small letters does not ask."""
    if _is_possible(question):
        return False
    at = text.find(value)
    start = max((joint.end() for joint in _JOINT.finditer(text, 0, max(at, 0))), default=0)
    end = _JOINT.search(text, at + len(value))
    return _is_possible(text[start : end.start() if end else len(text)])


def _is_possible(text: str) -> bool:
    if _POSSIBLE.search(text):
        return True
    return _THEN.search(text) is not None and _TO_COME.search(text) is not None
