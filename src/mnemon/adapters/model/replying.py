"""What a short reply says with the question right before it: 'Do you keep bees?' 'Yes.'

A yes says what was asked, a no that it is not so, and anything else only what it names itself. To what is no
question a short reply says nothing: 'I remember that you love Rust.' 'Fix line 12.'
"""

from __future__ import annotations

import re

from mnemon.adapters.model.denying import denies
from mnemon.adapters.model.support import Ground, parts
from mnemon.adapters.reason.consent import NO, YES
from mnemon.adapters.reason.sentences import split
from mnemon.domain.pattern import pattern
from mnemon.domain.words import words

_SHORT_REPLY = 6
_YES = pattern(
    rf"\W*(?:(?:oh|well|haha|hm+)\W+)?(?:(?:{YES}|sure|certainly|exactly|right|true|i have|i did|we do|we are"
    r"|we have|ja|jawohl|sí|si|claro|oui|sim|да)(?!\w)|[是对對嗯]|はい|うん|ええ|네|예|응|👍)",
    re.IGNORECASE,
)
_NO = pattern(
    rf"\W*(?:(?:oh|well|haha|hm+)\W+)?(?:(?:{NO}|nein|nee|non|não|нет)(?!\w)|[不没沒]|いいえ|いや|아니)",
    re.IGNORECASE,
)
_NO_ANSWER = pattern(
    r"\b(?:no (?:idea|clue|problem|worries|comment|thanks|thank you)|not sure|maybe|perhaps|dunno|idk"
    r"|(?:don['’]t|do not) know)\b",
    re.IGNORECASE,
)
_EITHER = pattern(r"\bor\b|还是|還是", re.IGNORECASE)
_YOU = {"you're": "I am", "you’re": "I am", "you": "I", "your": "my", "yours": "mine", "yourself": "myself"}
_TO_YOU = pattern(rf"\b(?:{'|'.join(sorted(_YOU, key=len, reverse=True))})\b", re.IGNORECASE)


def is_short(reply: str) -> bool:
    return len(words(reply)) <= _SHORT_REPLY


def asked_and_said(before: str, reply: str, claimed: str) -> list[str]:
    """The texts that a claim may rest on: the reply, and the question as far as the reply takes it up."""
    questions = [one for one in split(before) if one.rstrip(" \"'”’)").endswith(("?", "？"))]
    if not questions or _NO_ANSWER.search(reply):
        return [reply]
    last = questions[-1]
    if _YES.match(reply):
        return [reply] if _EITHER.search(last) else [reply, _as_said(last)]
    if _NO.match(reply) or denies(reply):
        return [reply, *(f"not {part.strip()}." for part in parts(_as_said(last)) if part.strip())]
    if Ground([reply]).shared(claimed) == 0:
        return [reply]
    return [reply, *map(_as_said, questions)]


def _as_said(question: str) -> str:
    """A question as whom it is put to would say it."""
    told = _TO_YOU.sub(lambda found: _YOU[found[0].lower()], question)
    return told.replace("?", ".").replace("？", "。")
