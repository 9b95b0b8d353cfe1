"""What is said of something else where its author is part of it: 'Painting calms me down'."""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemon.adapters.reason.edges import ended, opened, quotes_somebody, unreal
from mnemon.adapters.reason.lexicon import VERBS, base_of_ing, base_of_past, base_of_third, word_set
from mnemon.adapters.reason.person import quoted, they
from mnemon.adapters.reason.substance import substance
from mnemon.adapters.reason.verbs import ADVERBS
from mnemon.adapters.reason.voices import not_meant
from mnemon.domain.pattern import pattern

SELF_IN_IT = word_set("me my us our myself mine")
"""One of these stands in every such sentence."""

_MOST_CHARS = 220
_MOST_SUBJECT = 9
_ENOUGH = 2
_FINITE = word_set(
    """
    is are was were isn't aren't wasn't weren't has have had hasn't haven't hadn't does did doesn't didn't
    will won't can can't don't
    """
)
_UNCERTAIN = word_set(
    """
    if would wouldn't could might maybe perhaps probably possibly wish unless whether should shouldn't you
    your you're yours you've you'll you'd u ya yourself imagine let's lets please hope guess bet think
    """
)
_NO_SUBJECT = word_set(
    """
    i i'm i've i'll i'd we we're we've we'll it it's its that that's they they're they've he he's she
    she's his her their them there there's here here's much lots lot what what's which who who's how
    when where why and but or so because thanks thank congrats let check take look tell give show keep
    remember don't do does did is are was were can will have has had wow glad good great nice cool
    sounds looks just not no yes to all such one some another each my our me speaking sending wishing
    hoping seeing got gotta gonna been yesterday today tonight tomorrow
    """
)
_POINTERS = word_set("it that this these those them him her his their there")
_MINE = pattern(r"\b(?:me|my|myself|mine|I|I'm|I've)\b", re.IGNORECASE)
_CONTRACTED = pattern(r"(?P<noun>[A-Za-z-]+)'s$")
_SELF = pattern(r"\b(?:me|[Mm]y|myself|us|our|mine|I|I'm|I've|I'd|I'll|we|we're|we've)\b(?!-)")
_THEM = pattern(r"\b(?:they|them|their|they're|they've)\b", re.IGNORECASE)
_NAMED = {"me": "{}", "my": "{}'s", "myself": "{}", "mine": "{}'s"}
_BREAK = pattern(
    r"\s*(?:[;…]|\s[-–—]+\s(?!(?:an?|my|our|the)\s)"
    r"|,\s+(?:it|they|he|she|that|which|and it|and they|but it|so)\b).*$"
)


def around(sentence: str, about: str, dated: Callable[[str], str]) -> str | None:
    """The sentence with the peer's name where its author first comes in; None for what isn't certain."""
    text = opened(sentence.strip(" ()[]*_~-–—"))
    if len(text) > _MOST_CHARS or ": " in text or text.endswith("?") or unreal(text) or quotes_somebody(text):
        return None
    if not_meant(sentence):
        return None
    text = _BREAK.sub("", ended(text.rstrip(" .!…,;:")))
    words = text.lower().replace(",", "").split(" ")
    if not _UNCERTAIN.isdisjoint(words) or words[0] in _NO_SUBJECT or words[0] in ADVERBS or len(words) < 4:
        return None
    if words[:2] == ["a", "lot"]:
        return None
    at = _verb(words)
    first = _SELF.search(text)
    if at is None or first is None or substance(text) < _ENOUGH or len(text[: first.start()].split()) < at:
        return None
    if not _POINTERS.isdisjoint(words[1:at]) or (words[0] in _POINTERS and at < _ENOUGH):
        return None
    if _MINE.search(text) is None and not _happened(words[at]):
        return None
    told = dated(text)
    first = _SELF.search(told)
    if first is None or first[0] not in _NAMED or _THEM.search(told):
        return quoted(told, about)
    rest = they(told[first.end() :])
    return told[: first.start()] + _NAMED[first[0]].format(about) + rest


def _verb(words: list[str]) -> int | None:
    """Where the verb stands, counted from the subject's first word; None if there is none to be sure of."""
    for at in range(min(len(words), _MOST_SUBJECT)):
        word = words[at]
        if at and (word in _FINITE or base_of_third(word) or _past(words, at)):
            return at
        many = at > 0 and words[at - 1].endswith("s") and not words[at - 1].endswith(("ss", "'s"))
        if word in VERBS and word != "like" and (many or "like" in words[1 : at - 1]):
            return at
        if _CONTRACTED.match(word) and at + 2 < len(words):
            return at + 1
    return None


def _happened(verb: str) -> bool:
    """Whether the verb tells of something past: what holds for all of 'us' is a saying."""
    return verb in ("was", "were", "had", "did") or (verb not in _FINITE and base_of_past(verb) is not None)


def _past(words: list[str], at: int) -> bool:
    """Whether the word is a verb in the past, and not what a noun after it is like."""
    base = base_of_past(words[at])
    if base is None or base_of_ing(words[at]):
        return False
    return base in VERBS and words[at - 1] not in ("the", "a", "an", "of", "and", "with", "to", "by")
