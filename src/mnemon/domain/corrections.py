"""Corrections: 'not Berlin, Lisbon' puts one name in the place of another."""

from __future__ import annotations

import re
from functools import lru_cache

from mnemon.domain.abroad import put_right
from mnemon.domain.pattern import pattern

_IT_IS = (
    r"(?:it|that|he|she|they|there)(?:'s|'re| is| are| was| were| should be| should have been)"
    r"|its|(?:his|her|its|their|the|my) (?:[\w'-]+ ){1,3}?(?:is|are|was|were|should be)"
)
_LEAD = (
    r"(?:(?:no|nope|sorry|oops|oh no|actually|wait|well|ah|oh|hmm|correction|typo|edit|i mean"
    rf"|i meant(?: to say)?|rather|{_IT_IS}|should be|make that|my mistake|my bad|scratch that|i was wrong)\b"
    r"[\s,:;.!—–-]*(?:(?:called|named|spelled|spelt|on) )*)"
)
_VALUE = (
    r"[^\s,;:.!?\"“”()]+(?: (?!(?:for|because|when|since|so|but|and|is|are|was|he|she|it|with|please|to)\b)"
    r"[^\s,;:.!?\"“”()]+){0,3}?"
)
_END = r"[\s.!,]*(?:(?:sorry|typo|my bad|my mistake|oops|lol|haha)[\s.!,]*)*$"
_AT = r"(?:in |at |to |on )?"
_NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten)"
_NOT_BUT = pattern(
    rf"{_LEAD}*not {_AT}(?P<wrong>{_VALUE})"
    r"(?:\s*[,;.—–-]+\s*(?:but |it's |i meant |i mean |rather )?| but )"
    rf"{_AT}(?P<right>{_VALUE}){_END}",
    re.IGNORECASE,
)
_NOT_AFTER = pattern(
    rf"(?:{_LEAD}+|(?={_NUMBER}\b)){_AT}(?P<right>{_VALUE})"
    rf"\s*,?\s+(?:and )?not {_AT}(?P<wrong>{_VALUE}){_END}",
    re.IGNORECASE,
)
_MEANT = pattern(
    rf"{_LEAD}*i (?:said|wrote|typed) {_AT}(?P<wrong>{_VALUE}),? (?:but )?(?:i )?"
    rf"(?:meant|should(?:'ve| have) (?:said|been)) {_AT}(?P<right>{_VALUE}){_END}",
    re.IGNORECASE,
)
_NAMES_NO_WRONG = pattern(
    r"(?:(?:sorry|oops|no|wait|oh|ah|actually|(?:my )?typo|my bad|my mistake)"
    r"[\s,:;.!—–-]*)*(?:(?:i meant(?: to say| to write)?|correction:?"
    r"|\*|typo:?|make that|should be|(?:sorry|oops)[,:]? (?:it's|his name is|her name is|its name is))\s*)"
    rf"{_AT}(?P<right>{_VALUE}){_END}|\*?(?P<marked>[^\s,;:.!?*\"]{{2,30}})\*$",
    re.IGNORECASE,
)
_WRONGLY = r"correction|typo|my mistake|my bad|scratch that|i was wrong|i made a mistake|i misspoke"
_TAKES_BACK = pattern(
    rf"(?:(?:no|wait|oh|ah|hi|hey|sorry|oops)[\s,:;.!—–-]+)*(?:{_WRONGLY})\b"
    r"(?!.*\b(?:also|too|as well|forgot)\b)",
    re.IGNORECASE,
)
_OWNS_UP = pattern(rf"\b(?:{_WRONGLY}|sorry|oops|i mean|i meant|i said|i wrote|i typed)\b", re.IGNORECASE)
_DAYS = r"(?: \([^()]*\d{4}-\d\d[^()]*\))?"
_NAMED = pattern(r"[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)*(?: \([\w ]+\))?$")
_LONGEST = 120
_KEPT = 64


def correction(text: str) -> tuple[str, str] | None:
    """What was wrong and what is right, if a message is such a correction and nothing else."""
    said = put_right(" ".join(text.replace("’", "'").split()))
    if len(said) > _LONGEST:
        return None
    found = _NOT_AFTER.match(said) or _NOT_BUT.match(said) or _MEANT.match(said)
    if found is None or found["wrong"].casefold() == found["right"].casefold():
        return None
    wrong, right = found["wrong"], found["right"]
    if found.start("right") == 0 and wrong.islower():
        right = right[:1].lower() + right[1:]
    return wrong, right


def amendment(text: str) -> str | None:
    """What is right, if a message says only that, of what was said right before: 'Oops, I meant Lisbon'."""
    said = put_right(" ".join(text.replace("’", "'").split()))
    found = _NAMES_NO_WRONG.match(said) if len(said) <= _LONGEST else None
    return (found["right"] or found["marked"]) if found else None


def owns_up(text: str) -> bool:
    """Whether its author says to have said something wrong, and not only what they would rather have."""
    return _OWNS_UP.search(put_right(text)) is not None


def takes_back(text: str) -> bool:
    """Whether a message begins by saying that something was said wrong."""
    return _TAKES_BACK.match(text) is not None


def looks_like(value: str, right: str) -> bool:
    """Whether one may stand for the other by its looks: both names, or both numbers or days."""
    if any(map(str.isdigit, right)):
        return any(map(str.isdigit, value))
    return _NAMED.match(value) is not None and _NAMED.match(right) is not None


def corrected(text: str, wrong: str, right: str) -> str | None:
    """The text with the right word in the place of the wrong one, undated; None if that is not in it.

    What both have in common need not be said of both: '14 May, not 15'.
    """
    changed, times = _shape(wrong, right).subn(lambda _: right, text)
    return changed if times else None


@lru_cache(_KEPT)
def _shape(wrong: str, right: str) -> re.Pattern[str]:
    words = right.split()
    more = len(words) - len(wrong.split())
    head, tail = (" ".join(words[:more]), " ".join(words[-more:])) if more > 0 else ("", "")
    before = rf"(?:{re.escape(head)} )?" if head else ""
    after = rf"(?: {re.escape(tail)})?" if tail else ""
    return re.compile(rf"(?<!\w){before}{re.escape(wrong)}{after}(?!\w){_DAYS}", re.IGNORECASE)
