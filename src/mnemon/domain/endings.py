"""Endings: what tells of somebody by name, or of 'us', that is no more, as 'Rex died' or 'We broke up'.

Or that is so again after all: 'Rex came back'. In a few other languages, too, with what is no longer so.
Whether that is anything to the author is told by what is known of them: alone it may be the news.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mnemon.domain.abroad import may_tell, tells_of_an_end
from mnemon.domain.pattern import pattern
from mnemon.domain.pointed import pointed_out, points
from mnemon.domain.trust import own_words

_LEAD = (
    r"[^\w\"“”'‘’«»>]{0,9}(?:(?:sadly|unfortunately|so|well|btw|by the way|update|sad news|bad news|also|and"
    r"|but|hi|hey|today|long story(?: short)?|anyway|yesterday|last (?:week|night|month|year)"
    r"|this (?:morning|week|month)|actually|(?:good|great) news)\b"
    r"[\s,:;—–-]*)*"
)
_ADVERBS = (
    r"(?:(?:has|had|have|'ve|just|sadly|suddenly|recently|finally|unexpectedly|peacefully|actually|both) )*"
)
_NAME = r"(?-i:[A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)?)"
_MY = r"(?:my|our|the) (?:[\w-]+ ){0,2}?[\w-]+"
_GONE = (
    r"(?:died|passed away|passed on|is dead|is gone|ran away|went missing|was put down|was put to sleep"
    r"|is no longer with us|got run over|crossed the rainbow bridge|(?:dumped|divorced|broke up with) me"
    r"|left me(?! (?:at|in|on|to|with|when|now|over)\b))"
)
_PARTED = (
    r"(?:broke up|broken up|split up|separated|got divorced|are divorced|divorced|are no longer together"
    r"|are not together any ?more|aren't together any ?more|called it quits)"
)
_AGAIN = (
    r"(?:came back|come back|is back(?: home)?|came home|is home again"
    r"|and i (?:are|got|get|have got) back together)"
)
_GOT_BACK = (
    rf"(?:(?:(?:am|got|are|get|gotten) )?back (?:together|with {_NAME})|found {_NAME}(?: again)?"
    rf"|(?:got|bought) (?:{_NAME}|{_MY}) back)"
)
_EX = r"ex(?:[ -](?:wife|husband|spouse|partner|boyfriend|girlfriend|fianc[eé]e?))?"
_LAID_OFF = (
    rf"(?:they|{_NAME}|(?:my|the) (?:boss|company|employer|manager)) (?:(?:have|has|just|'ve|finally) )*"
    r"(?:laid me off|fired me|sacked me|let me go)"
)
_FELL_THROUGH = (
    rf"(?:(?:the|my) )?(?:{_NAME} (?:job|offer|position|role)"
    rf"|(?:job|offer|position|role) (?:at|with|from) {_NAME})"
    r" (?:has |just )*(?:fell|fallen) through"
)
_HAD_TO = r"(?:(?:had|have) to |decided to |finally |just )*"
_AWAY = (
    rf"(?:(?:put|putting) (?:{_NAME}|{_MY}) (?:down|to sleep)|(?:give|gave) (?:{_NAME}|{_MY}) (?:away|up)"
    rf"|(?:rehome|rehomed|sold|sell) (?:{_NAME}|{_MY})|outgr(?:ew|own) my [\w -]{{3,40}}? allergy"
    rf"|lost (?:{_NAME})|(?:put|putting) (?:him|her) (?:down|to sleep)|(?:give|gave) (?:him|her) (?:away|up)"
    rf"|(?:rehome|rehomed|lost|broke up with|split up with) (?:him|her)"
    rf"|say goodbye to (?:{_NAME}|{_MY}(?: {_NAME})?))"
)
_TAIL = (
    r"(?:,? (?:last|yesterday|today|this|in|on|at|of|from|after|when|two|three|four|five|six|a few|a couple"
    r"|\d+|because|again|recently|suddenly|peacefully|unexpectedly|over|now|and|so|but|for good|to cancer)\b"
    r"[^\"“”?]{0,80}|[,;] [^\"“”?]{3,80})?"
)
_OPENING = pattern(_LEAD, re.IGNORECASE)
_ENDING = pattern(
    rf"(?:(?:{_NAME}|[\w'-]+) {_ADVERBS}(?:{_GONE}|{_AGAIN})|we(?:'ve|'re)? {_ADVERBS}{_PARTED}"
    rf"|(?:{_NAME} and i|(?:me and|i and) {_NAME})(?: are|'ve)? {_ADVERBS}{_PARTED}"
    rf"|(?:i|we) {_ADVERBS}{_HAD_TO}{_AWAY}|(?:i|we)(?:'ve|'re|'m)? {_ADVERBS}{_GOT_BACK}"
    rf"|{_LAID_OFF}|{_FELL_THROUGH}|{_NAME} is (?:now )?my {_EX}){_TAIL}[\s.!…:(]*$|my {_EX} {_NAME}\b",
    re.IGNORECASE,
)
_SENTENCE = pattern(r"[^.!?\n…]+[.!?…]*")
_NOT_SO = pattern(
    r"\b(?:if|would|could|might|almost|nearly|dream\w*|nightmare|imagine|pretend|movie|film|cartoon|book|novel"
    r"|game|show|series|episode|season|chapter|(?<!long )story|anime|manga|scene|song|band|character|joking"
    r"|kidding|jk|lol|said|says|told me|lyrics|jokes?|laugh\w*|funny|hilarious|played|roleplay"
    r"|battery|phone|laptop|server|pc)\b",
    re.IGNORECASE,
)
_HINT = pattern(
    r"died|passed|dead|gone|away|missing|down|sleep|run over|rainbow|up\b|separated|divorced|together|quits"
    r"|rehome|sold|sell|allergy|lost|goodbye|back|found|home|no longer|\bex\b|dumped|left me|me off|fired"
    r"|sacked|let me|through",
    re.IGNORECASE,
)
"""One of these is in every such sentence."""
_LONGEST = 2000
_AT_ONCE = 2
"""How many sentences back somebody may be named whom a pronoun means."""


def endings(text: str, before: str = "") -> list[str]:
    """The sentences of a message that tell of such an end, as they were said after 'sadly' and the like.

    Whom 'he' means is told by the sentence before, be it the last of what was said `before` the message.
    """
    if len(text) > _LONGEST or not (_HINT.search(text) or may_tell(text)):
        return []
    own = own_words(text).replace("’", "'")
    if _NOT_SO.search(own):
        return []
    sentences = [" ".join(found[0].split()) for found in _SENTENCE.finditer(own)]
    return list(_told(sentences, [" ".join(one.split()) for one in _SENTENCE.findall(before[-_LONGEST:])]))


def _told(sentences: Sequence[str], before: Sequence[str]) -> Iterator[str]:
    for at, sentence in enumerate(sentences):
        said = _OPENING.sub("", sentence, count=1)
        if _ENDING.match(said):
            said = _bare(said)
            earlier = sentences[max(0, at - _AT_ONCE) : at] or before[-_AT_ONCE:]
            told = pointed_out(said, earlier) if points(said) else said
            if told:
                yield told
        elif tells_of_an_end(_bare(sentence)):
            yield _bare(sentence)


def _bare(sentence: str) -> str:
    return sentence.strip(" .!…:(")
