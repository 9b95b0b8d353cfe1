"""Endings: what tells of somebody by name, or of 'us', that is no more, as 'Rex died' or 'We broke up'.

Whether that is anything to the author is told by what is known of them: alone it may be the news.
"""

from __future__ import annotations

import re

from mnemon.domain.pattern import pattern
from mnemon.domain.trust import own_words

_LEAD = (
    r"(?:(?:sadly|unfortunately|so|well|btw|by the way|update|sad news|bad news|also|and|but|hi|hey|today"
    r"|yesterday|last (?:week|night|month|year)|this (?:morning|week|month))\b[\s,:;—–-]*)*"
)
_ADVERBS = (
    r"(?:(?:has|had|have|'ve|just|sadly|suddenly|recently|finally|unexpectedly|peacefully|actually|both) )*"
)
_NAME = r"(?-i:[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)?)"
_MY = r"(?:my|our|the) (?:[\w-]+ ){0,2}?[\w-]+"
_GONE = (
    r"(?:died|passed away|passed on|is dead|is gone|ran away|went missing|was put down|was put to sleep"
    r"|got run over|crossed the rainbow bridge)"
)
_PARTED = (
    r"(?:broke up|broken up|split up|separated|got divorced|are divorced|divorced|are no longer together"
    r"|are not together any ?more|aren't together any ?more|called it quits)"
)
_HAD_TO = r"(?:(?:had|have) to |decided to |finally |just )*"
_AWAY = (
    rf"(?:(?:put|putting) (?:{_NAME}|{_MY}) (?:down|to sleep)|(?:give|gave) (?:{_NAME}|{_MY}) (?:away|up)"
    rf"|(?:rehome|rehomed|sold|sell) (?:{_NAME}|{_MY})|outgr(?:ew|own) my [\w -]{{3,40}}? allergy"
    rf"|lost (?:{_NAME}))"
)
_TAIL = (
    r"(?:,? (?:last|yesterday|today|this|in|on|at|of|from|after|when|two|three|four|five|six|a few|a couple"
    r"|\d+|because|recently|suddenly|peacefully|unexpectedly|over|now|and|so|but|for good|to cancer)\b"
    r"[^\"“”?]{0,80})?"
)
_ENDING = pattern(
    rf"{_LEAD}(?:(?:{_NAME}|[\w'-]+) {_ADVERBS}{_GONE}|we(?:'ve|'re)? {_ADVERBS}{_PARTED}"
    rf"|(?:i|we) {_ADVERBS}{_HAD_TO}{_AWAY}){_TAIL}[\s.!…:(]*$",
    re.IGNORECASE,
)
_SENTENCE = pattern(r"[^.!?\n…]+[.!?…]*")
_NOT_SO = pattern(
    r"\b(?:if|would|could|might|almost|nearly|dream\w*|nightmare|imagine|pretend|movie|film|book|novel|game"
    r"|show|series|episode|season|chapter|story|anime|manga|scene|song|band|character|joking|kidding|jk|lol"
    r"|said|says|told me|lyrics|played|roleplay|battery|phone|laptop|server|pc)\b",
    re.IGNORECASE,
)
_HINT = pattern(
    r"died|passed|dead|gone|away|missing|down|sleep|run over|rainbow|up\b|separated|divorced|together|quits"
    r"|rehome|sold|sell|allergy|lost",
    re.IGNORECASE,
)
"""One of these is in every such sentence."""
_LONGEST = 2000


def endings(text: str) -> list[str]:
    """The sentences of a message that tell of such an end, as they were said."""
    if len(text) > _LONGEST or not _HINT.search(text):
        return []
    own = own_words(text).replace("’", "'")
    if _NOT_SO.search(own):
        return []
    return [
        said.rstrip(" .!…:(")
        for said in (" ".join(found[0].split()) for found in _SENTENCE.finditer(own))
        if _ENDING.match(said)
    ]
