"""Moving: whether a question asks where its asker lives, and whether a line tells that its speaker has moved.

The two share no word, and lie far from each other in meaning. To what somebody "moved" in English may be
anything, a team or a tool: only what can be nothing but a home counts.
"""

from __future__ import annotations

from mnemon.domain import telling, words
from mnemon.domain.bystanders import bystanders
from mnemon.domain.pattern import pattern

_ASKS = pattern(
    r"\b(?:where|(?:what|which) \w+)(?: on earth)? (?:do|am|are) (?:i|we) (?:\w+ )?(?:live|living|based)\b"
    r"|\b(?:my|our) (?:home )?address\b|\bwhere(?:['’]s| is) (?:my|our) (?:home|house|flat|apartment)\b"
    r"|\bwo (?:wohne|lebe) ich\b|\bwo (?:wohnen|leben) wir\b"
    r"|\bd[oó]nde (?:vivo|vivimos)\b"
    r"|\boù (?:est-ce que |est-ce qu['’])?(?:j['’]habite|je vis|nous habitons|on habite|habitons-nous)\b"
    r"|\bonde (?:vivo|moro|vivemos|moramos)\b"
    r"|どこに住んで|住んでいるのはどこ|住在哪"
)
DWELLINGS = "flat|apartment|house|home|place|condo|studio|cottage|bungalow"
"""To move into one of them is to move house."""
_DWELLING = rf"(?:my|our|an?|the) (?:[\w-]+ ){{0,3}}?(?:{DWELLINGS})\b"
_MOVED = pattern(
    r"(?:\b(?:i|we)(?:['’](?:ve|m|re))?|^\W*)(?: ?\b(?:have|are|am|just|finally|recently|all|both|now|only))*"
    rf" ?\b(?:moved (?:in|house|home|(?:in)?to {_DWELLING})|relocated to)\b"
    r"|\bgot the keys (?:to|for)\b|\bnew (?:place|flat|house|apartment|home) in\b"
    r"|\b(?:ich|wir)\b.{0,60}\b(?:um|ein|weg)?gezogen\b"
    r"|\b(?:me he|nos hemos) mudado\b|\bme mudé\b|\bnos mudamos\b"
    r"|\b(?:j['’]ai|on a|nous avons) (?:\w+ )?(?:démé|emmé|amé)nagé\b"
    r"|\b(?:mudei-me|mudei|mudámo-nos|mudámos)\b"
)
_MOVED_EASTERN = pattern(r"^(?:(?!(?<![私僕俺])が).)*引っ越し(?:た|て|まし)|搬(?:到|去|进|家)")
_UNSURE = pattern(
    r"\b(?:if|when|might|would|could|before|wenn|als|falls|bevor|würde|cuando|antes|quand|avant)\b"
    r"|予定|つもり|もし|如果|打算|想"
)
TERMS = tuple(
    words.terms(
        "moved relocated keys place gezogen umgezogen eingezogen mudado mudé mudamos déménagé emménagé mudei"
        " 引っ越し 搬到"
    )
)
"""By which such lines are found."""


def asks_for_home(question: str) -> bool:
    """The question is in small letters."""
    return _ASKS.search(question) is not None


def moved(text: str) -> bool:
    """Whether a sentence of the line tells that its speaker lives somewhere else now."""
    return any(_moved(one.lower()) for one in telling.stated(text))


def _moved(sentence: str) -> bool:
    if _UNSURE.search(sentence):
        return False
    if _MOVED.search(sentence):
        return True
    return not sentence.isascii() and bool(_MOVED_EASTERN.search(sentence)) and not bystanders(sentence)
