"""Orders: whether a text reads like orders to a model, or poses as its host.

One signal among several, and a small one: it knows the commonest English wordings and the marks of templates.
What a model is shown does not depend on it alone: see `domain.trust` and `domain.fence`.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from souvenance.language.characters import skeleton
from souvenance.patterns import pattern
from souvenance.pauses import pause

_RULE_WORDS = ("instruction", "prompt", "directive", "guideline", "guardrail")
_AI_WORDS = ("ai", "llm", "language model", "assistant", "agent", "chat ?bot")
_TO_FORGET = ("ignore", "disregard", "forget")
_UNBOUND = ("unrestricted", "unfiltered", "jailbroken")
_RULES = f"(?:{'|'.join(_RULE_WORDS)})s?"
_AI = f"(?:{'|'.join(_AI_WORDS)})s?"
_MUST = "(?:must|shall|should|will|has to|have to|needs? to|is to|are to)"
_SECRETS = (
    r"(?:api keys?|passwords?|credentials|private keys?|ssh keys?|access tokens?|secrets|seed phrases?)"
)
_THE_USER = r"\b(?:the|this|that) user\b(?! (?:interface|experience|guide|manual|table|model|account|name)\b)"

TO_A_MODEL = (
    rf"(?:{'|'.join(_TO_FORGET)}|override|bypass|discard|pay no attention to) "
    rf"(?:(?:all|any|of|the|your|my|these|those|previous|prior|earlier|above|existing|system|safety) ){{1,5}}"
    rf"{_RULES}\b",
    rf"(?:{'|'.join(_TO_FORGET)}) (?:everything|anything|all|what(?:ever)?)"
    r" (?:above|before\b|(?:that )?you(?:'ve been| were| have been| are) (?:told|instructed)(?! about))",
    r"(?:reveal|print|show|repeat|output|leak) (?:me )?(?:the |your )+(?:\w+ )?"
    r"(?:system (?:prompt|message)|instructions)\b",
    rf"(?:new|hidden|secret|important|your (?:new|real|true)) {_RULES}(?: (?:for|to) |:| are\b| is\b)",
    rf"(?:note|notice|message|attention|reminder) (?:to|for) (?:the |any |all |every ){{0,2}}{_AI}\b",
    rf"you are (?:now|no longer) (?:dan\b|in \w+ mode|bound by|an? (?:{'|'.join(_UNBOUND)}))",
    rf"if you(?:'re| are) (?:an? |the )?{_AI}\b",
    rf"new rules? (?:for|to) (?:the |every |any )?{_AI}:",
    rf"\b{_AI} (?:(?:who|that|which) )?(?:read|see|pars|process|summari[sz])(?:e?s|ing)? this(?: \w+)?,? "
    rf"{_MUST}\b",
    rf"(?:the|this|every|any|an) {_AI} (?:reading \w+ )?{_MUST} (?:now |always |never |also |first )*"
    r"(?:call|run|execute|invoke|send|delete|ignore|obey|reply|respond|answer|remember|store|tell|say)\b",
    rf"(?:remember|memori[sz]e|store|save|note|record|conclude)\b[^.!?]{{0,60}}{_THE_USER}",
    rf"(?:do not|don't|never|without) (?:tell|inform|alert|notify|ask)(?:ing)?\b[^.!?]{{0,20}}{_THE_USER}",
    rf"(?:send|forward|post|upload|e ?mail|leak) (?:all|any|every|your) (?:\w+ ){{0,3}}{_SECRETS}"
    r"(?: \w+){0,6} to (?:[^\s@]{1,64}@|https?:|www\.)",
)
MARKUP = (
    r"<\|?/?(?:im_start|im_end|system|endoftext|eot_id|start_header_id|assistant|developer)\b",
    r"\[/?(?:inst|system)\]|<</?sys>>",
    r"</?(?:system(?:[-_ ]\w+)?|instructions?|(?:tool|function)_(?:calls?|results?))>",
    r"\"(?:tool_calls?|function_call)\"\s*:",
    r"^#{2,} *(?:system|instructions?)\b",
    r"^[ \t>*#-]{0,20}(?:system|developer)(?: (?:prompt|message|note|override))?\**[ \t]*:",
)
_LIKE_ORDERS = tuple(map(pattern, TO_A_MODEL))
_LIKE_MARKUP = tuple(pattern(look, re.MULTILINE) for look in MARKUP)
_MARKS = ("<", "[", "_call", "##", "system", "developer")
_WORDS = (*_RULE_WORDS, *_TO_FORGET, *_UNBOUND, "dan", "mode", "bound", "system", "user", "@", "http", "www.")
"""Text without marks has no markup, and without words or an AI's name no order: to see that takes no time."""
_AIS = tuple(word.split()[0] for word in _AI_WORDS)
_NAMES_AN_AI = pattern(rf"(?:^|[\W_])(?:{'|'.join(_AIS)})")
_BETWEEN = pattern(r"[\s*_~`\"“”|\\/-]+")
_PIECE, _OVERLAP = 4_000, 400
"""A long text is looked through in pieces, so that no search keeps other threads waiting for long. No order
that is known here is longer than what two pieces share."""


_MOST_JUDGED = 20_000
_judged: dict[bytes, bool] = {}
"""Texts that were judged, by their digest: a line is judged whenever it is found."""


def reads_like_orders(text: str) -> bool:
    """Whether a text reads like orders to a model, or poses as its host."""
    key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    known = _judged.get(key)
    if known is None:
        seen = skeleton(text)
        known = any(_found_in(seen, start) for start in range(0, len(seen) or 1, _PIECE))
        if len(_judged) >= _MOST_JUDGED:
            _judged.clear()
        _judged[key] = known
    return known


def _found_in(seen: str, start: int) -> bool:
    pause()
    end = start + _PIECE + _OVERLAP
    holds = seen[start:end].__contains__
    if any(map(holds, _MARKS)) and any(look.search(seen, start, end) for look in _LIKE_MARKUP):
        return True
    if not any(map(holds, _WORDS)) and not (any(map(holds, _AIS)) and _NAMES_AN_AI.search(seen, start, end)):
        return False
    plain = _BETWEEN.sub(" ", seen[start:end])
    return any(look.search(plain) for look in _LIKE_ORDERS)
