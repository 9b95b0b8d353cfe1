"""Corrections: 'not Berlin, Lisbon' puts one name in the place of another."""

from __future__ import annotations

import re

from mnemon.domain.pattern import pattern

_LEAD = (
    r"(?:(?:no|nope|sorry|oops|actually|wait|well|ah|oh|hmm|correction|i mean|i meant(?: to say)?|rather|it's"
    r"|it is|its|that's|that is|that should be|it should be|should be|make that|my mistake|my bad)\b"
    r"[\s,:;.!—–-]*)"
)
_VALUE = r"[^\s,;:.!?\"“”()]+(?: [^\s,;:.!?\"“”()]+){0,3}?"
_END = r"[\s.!]*$"
_NOT_BUT = pattern(
    rf"{_LEAD}*not (?:in |at |to )?(?P<wrong>{_VALUE})"
    r"(?:\s*[,;.—–-]+\s*(?:but |it's |i meant |i mean |rather )?| but )"
    rf"(?:in |at |to )?(?P<right>{_VALUE}){_END}",
    re.IGNORECASE,
)
_NOT_AFTER = pattern(
    rf"{_LEAD}+(?:in |at |to )?(?P<right>{_VALUE})"
    rf"\s*,?\s+(?:and )?not (?:in |at |to )?(?P<wrong>{_VALUE}){_END}",
    re.IGNORECASE,
)
_LONGEST = 120


def correction(text: str) -> tuple[str, str] | None:
    """What was wrong and what is right, if a message is such a correction and nothing else."""
    said = " ".join(text.split())
    if len(said) > _LONGEST:
        return None
    found = _NOT_AFTER.match(said) or _NOT_BUT.match(said)
    if found is None or found["wrong"].casefold() == found["right"].casefold():
        return None
    return found["wrong"], found["right"]


def corrected(text: str, wrong: str, right: str) -> str | None:
    """The text with the right word in the place of the wrong one; None if that is not in it."""
    shape = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.IGNORECASE)
    changed, times = shape.subn(lambda _: right, text)
    return changed if times else None
