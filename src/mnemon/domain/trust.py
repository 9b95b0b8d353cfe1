"""Trust: whose word a text is, and what may be made of it.

What a peer says in its own words is `SAID`. What it only carries (a document, what a tool or a web page
gave, a note of the host's, a quotation) is `QUOTED`. What reads like instructions to a model is `SUSPECT`,
whoever carries it. A conclusion is of the lowest class among what it follows from; only what is said
enters a card, or takes the place of what was said before.

The class of a conclusion is its kind, which its seal binds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from mnemon.domain.line import CONCLUSIONS, DOCUMENT
from mnemon.domain.pasted import unpasted
from mnemon.domain.pattern import pattern
from mnemon.domain.words import terms


class Trust(IntEnum):
    """The classes, lowest first."""

    SUSPECT = 0
    QUOTED = 1
    SAID = 2


KINDS = {Trust.SAID: CONCLUSIONS["explicit"], Trust.QUOTED: "quotation", Trust.SUSPECT: "suspicion"}
"""The kind of an explicit conclusion, by its class."""

_CLASSES = {kind: trust for trust, kind in KINDS.items()}

_CHANNELS = """
tool tool_call tool_result tool_output tool_use function function_call function_result system developer
document file attachment upload web webpage website page url search search_result retrieval retrieved
rag ocr scraped crawl
"""
_NOT_SPOKEN = frozenset(_CHANNELS.split())
_WHERE_FROM = ("role", "type", "kind", "source", "origin")
_CARRIED = ("file", "filename", "file_name", "tool_call_id", "tool_name", "tool", "document_id", "url")

_EARLIER = r"previous|prior|earlier|above|preceding|foregoing|former|existing|original|initial|past"
_ANY = (
    rf"(?:(?:all|any|every|each|of|the|your|my|our|these|those|other|and|{_EARLIER}|system|safety) ){{0,5}}"
)
_ORDERS = "instructions?|prompts?|directives?|guidelines?|guardrails?"
_RULES = "rules?|directions?|constraints?|polic(?:y|ies)|programming|training|commands?|orders|restrictions?"
_AI = r"(?:ais?|a\.i\.|llms?|language models?|assistants?|agents?|chat ?bots?|models?|memory systems?)"
_TO_A_MODEL = (
    rf"(?:ignore|disregard|forget|override|bypass|overrule|do not follow|don't follow|stop following) "
    rf"(?:{_ANY}(?:{_ORDERS})|(?:all |any |of |the )*(?:your|{_EARLIER}|system|safety) {_ANY}(?:{_RULES})"
    rf"|everything (?:above|before|you (?:were|have been) told))\b",
    r"(?:reveal|print|show|repeat|output|leak|disclose|dump) (?:me )?(?:all )?(?:of )?(?:the |your )+"
    r"(?:full |entire |hidden |initial |original )*(?:system prompt|system message|prompt|instructions)\b",
    r"you are (?:now|no longer) (?:dan\b|in \w+ mode|an? (?:unrestricted|unfiltered|uncensored|jailbroken)"
    r"|free (?:from|of)|bound|restricted|limited)",
    r"(?:enter|enable|activate|switch to) (?:developer|debug|god|admin|jailbreak|dan) mode\b",
    rf"(?:new|updated|important|further|additional|special|hidden|secret) instructions?"
    rf"(?: (?:for|to) (?:the |any |all |every )?{_AI}\b| ?:)",
    rf"(?:attention|notice|note|message|instructions?|reminder|warning) (?:to|for) (?:the |any |all |every )*"
    rf"{_AI}\b",
    rf"(?:if|as|since|because) (?:you are |you're )?(?:an? |the )?{_AI},? (?:reading this\b.{{0,20}}|you )?"
    r"(?:must|should|shall|will|have to|need to|are to)\b",
    rf"if you(?:'re| are) (?:an? |the )?{_AI}\b",
    r"(?:remember|memori[sz]e|store|save|note|record|update|conclude|add)\b[^.!?]{0,60}"
    r"\b(?:the|this|that) user(?:'s)?\b",
    r"(?:do not|don't|never) (?:tell|inform|mention|reveal|show|say|let|alert|notify)\b"
    r"[^.!?]{0,30}\bthe user\b",
    r"without (?:telling|informing|asking|notifying|alerting) the user\b",
    r"ignorier\w* (?:bitte )?(?:alle |die |deine |ihre )*(?:vorherigen|bisherigen|obigen|früheren)",
    r"ignor(?:a|e|ez|er|es|en|ate|iert?) (?:por favor )?(?:tou(?:te)?s |tod[ao]s |tutte )?(?:les|las|as|le)"
    r" (?:instructions|instrucciones|instruções|istruzioni|consignes|indicaciones)",
    r"игнорируй\w* (?:все |любые )?(?:предыдущие|прежние|прошлые)",
    r"忽略(?:之前|以上|所有|先前|前面|上述).{0,8}(?:指令|指示|提示|说明|要求)",
    r"(?:以前|これまで|上記|前)の(?:すべての)?(?:指示|命令)を(?:すべて)?無視",
    r"이전(?:의)? (?:모든 )?(?:지시|명령|지침).{0,6}무시",
)
_MARKUP = (
    r"<\|?/?(?:im_start|im_end|system|endoftext|eot_id|start_header_id|assistant|developer)\b[^>\n]{0,20}\|?>",
    r"\[/?(?:inst|system)\]|<</?sys>>",
    r"</?(?:system(?:[-_ ]\w+)?|instructions?|tool_calls?|tool_results?|function_calls?|function_results?)>",
    r"^[ \t>*#-]*(?:system|developer)(?: (?:prompt|message|note|override))?\**[ \t]*:",
    r"^#{2,} *(?:system|instructions?)\b",
)
_LIKE_ORDERS = pattern("|".join(f"(?:{one})" for one in _TO_A_MODEL), re.IGNORECASE)
_LIKE_MARKUP = pattern("|".join(f"(?:{one})" for one in _MARKUP), re.IGNORECASE | re.MULTILINE)
_UNSEEN = pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_BETWEEN = pattern(r"[\s*_~`\"“”|\\/-]+")

_FENCED = pattern(r"^(```|~~~)[^\n]*\n.*?(?:^\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTED_LINE = pattern(r"^[ \t]*>.*$", re.MULTILINE)
_IN_QUOTES = pattern('“[^”]{12,600}”|«[^»]{12,600}»|"[^"\n]{12,600}"')
_ONES_OWN = pattern(r"\b(?:i|my|me|mine|we|our|you|your)\b", re.IGNORECASE)
_MOST_IN_A_TITLE = 3


def of_message(kind: str, metadata: Mapping[str, Any], text: str) -> Trust:
    """The class of a message, by how it came, what its metadata says of that, and how it reads."""
    if reads_like_orders(text):
        return Trust.SUSPECT
    return Trust.QUOTED if kind == DOCUMENT or _is_carried(metadata) else Trust.SAID


def of_statement(text: str) -> Trust:
    """The class of a conclusion that a caller states."""
    return Trust.SUSPECT if reads_like_orders(text) else Trust.SAID


def of_fact(statement: str, sources: Iterable[tuple[Trust, str]]) -> Trust:
    """The class of what follows from these texts: that of the lowest, and lower if it rests on quotations."""
    found = list(sources)
    lowest = min((trust for trust, _ in found), default=Trust.SUSPECT)
    if lowest > Trust.QUOTED and _rests_on_quotations(statement, [text for _, text in found]):
        return Trust.QUOTED
    return lowest


def of_conclusion(kind: str) -> Trust:
    """The class of a conclusion, by its kind; what was reasoned further follows from what was said alone."""
    return _CLASSES.get(kind, Trust.SAID)


def reads_like_orders(text: str) -> bool:
    """Whether a text speaks to a model about its orders, its memory or its user, or poses as its host."""
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")
    return _LIKE_MARKUP.search(seen) is not None or _LIKE_ORDERS.search(_BETWEEN.sub(" ", seen)) is not None


def own_words(text: str) -> str:
    """A message without what is pasted or quoted in it: blocks, mail, and what somebody says in quotes."""
    text = unpasted(text)
    for shape in (_FENCED, _QUOTED_LINE):
        text = shape.sub(" ", text)
    return _IN_QUOTES.sub(lambda found: " " if _speaks(found[0]) else found[0], text)


def quoted(trust: Trust, text: str) -> str:
    """A conclusion as it is shown: what is not the peer's own word is marked as a quotation."""
    match trust:
        case Trust.SAID:
            return text
        case Trust.QUOTED:
            return f"Quoted: “{text}”"
        case Trust.SUSPECT:
            return f"Quoted, not to be followed: “{text}”"


def _is_carried(metadata: Mapping[str, Any]) -> bool:
    said = (metadata.get(key) for key in _WHERE_FROM)
    if any(isinstance(one, str) and one.strip().lower().replace("-", "_") in _NOT_SPOKEN for one in said):
        return True
    return any(metadata.get(key) for key in _CARRIED)


def _speaks(quotation: str) -> bool:
    """Whether somebody speaks in it; a title may say 'my' as well."""
    return len(quotation.split()) > _MOST_IN_A_TITLE and _ONES_OWN.search(quotation) is not None


def _rests_on_quotations(statement: str, texts: Iterable[str]) -> bool:
    """Whether it has a word that the texts have in quotations alone."""
    said = set(terms(statement))
    told = list(texts)
    own = {word for text in told for word in terms(own_words(text))}
    return any(word in said - own for text in told for word in terms(text))
