"""When something is said to be so: now, once, not yet, or only meant; for English, by the verb alone.

Of another language, and of a verb that is not known, nothing is said, and so nothing is held against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mnemon.adapters.reason.lexicon import (
    base_of_ing,
    base_of_participle,
    base_of_past,
    base_of_third,
    word_set,
)
from mnemon.adapters.reason.verbs import ADVERBS
from mnemon.domain.pattern import pattern

NOW, PAST, ENDED, AHEAD, MEANT, PERFECT, UNDERGONE = (
    "now",
    "past",
    "ended",
    "ahead",
    "meant",
    "perfect",
    "undergone",
)
"""So it is, was, was and is no longer, will be, is wished or refused, has been, was done to somebody."""

LIGHT = frozenset(["be", "have"])
"""Verbs that say nothing by themselves."""

_SHORT = {
    "won't": "will not",
    "can't": "can not",
    "cannot": "can not",
    "n't": " not",
    "'ll": " will",
    "'m": " am",
    "'re": " are",
    "'ve": " have",
    "'d": " would",
}
_SHORTENED = pattern("|".join(map(re.escape, _SHORT)))
_IS = pattern(r"\b(he|she|it|that|there|who)'s\b")
_TOKEN = pattern(r"[^\W\d_][\w'-]*")
_BEING = frozenset(["am", "is", "are", "be"])
_WAS = frozenset(["was", "were"])
_HAS = frozenset(["have", "has", "having"])
_PASSED_OVER = ADVERBS | word_set("not be to of about i you we start go both back also ever my on")
"""What may stand between a verb and the one that it hangs on."""
_AHEAD = frozenset(["will", "gonna", "shall"])
_MEANT = pattern(
    r"wanna|would|want(?:s|ed|ing)?|hop(?:e|es|ed|ing)|plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|aim(?:s|ed|ing)?"
    r"|dream(?:s|ed|t|ing)?|wish(?:es|ed|ing)?|refus(?:e|es|ed|ing)|declin(?:e|es|ed|ing)"
    r"|expect(?:s|ed|ing)?|thinking|consider(?:s|ed|ing)?|could|might|may|should"
)
_ONCE = frozenset(["formerly", "previously"])
_FELT = word_set(
    "like love enjoy adore hate dislike prefer want need hope wish plan think feel mean look wonder try"
)
"""What was felt on an occasion is felt still, or said politely: 'I loved Paris', 'I wanted to ask'."""


class Verb(NamedTuple):
    """Which verb, and when; no lemma where it hangs on another that says whether it is so at all."""

    lemma: str
    tense: str


def tokens(text: str) -> list[str]:
    """The words of an English clause in small letters, none of them shortened."""
    told = _IS.sub(r"\1 is", text.lower().replace("’", "'"))
    return _TOKEN.findall(_SHORTENED.sub(lambda found: _SHORT[found[0]], told))


def verb_of(said: Sequence[str]) -> Verb | None:
    """The verb of what is said of somebody in the third person: of 'lives in Rome'."""
    once = not _ONCE.isdisjoint(said[:2]) or list(said[:2]) == ["no", "longer"]
    said = [word for word in said if word not in ADVERBS and word not in _ONCE]
    if said[:2] == ["no", "longer"]:
        said = said[2:]
    if not said:
        return None
    found = _verb(said[0], said[1:])
    return found._replace(tense=ENDED) if found and once else found


def _verb(first: str, rest: Sequence[str]) -> Verb | None:
    after = next((word for word in rest if word != "not"), "")
    if first in _BEING or first in _WAS:
        if after == "going" and list(rest[1:2]) == ["to"]:
            return Verb("", AHEAD)
        going = base_of_ing(after)
        return Verb(going or "be", PAST if first in _WAS else NOW)
    if first == "used" and after == "to":
        return Verb(next(iter(rest[1:]), ""), ENDED)
    if first in ("does", "do", "did"):
        return Verb(after, PAST if first == "did" else NOW)
    if first in _AHEAD or first == "can" or _MEANT.fullmatch(first):
        return Verb("", AHEAD if first in _AHEAD else MEANT)
    if first in _HAS and base_of_participle(after):
        return Verb(base_of_participle(after) or "", PERFECT)
    if base := base_of_third(first):
        return Verb(base, NOW)
    base = base_of_past(first)
    return Verb(base, PAST) if base else None


def ways(said: Sequence[str], lemma: str) -> frozenset[str]:
    """When a clause says that verb, for each time that it does; nothing if it does not."""
    return frozenset(way for at in range(len(said)) if (way := _way(said, at, lemma)))


def _way(said: Sequence[str], at: int, lemma: str) -> str:
    word = said[at]
    if lemma == "be":
        if word == "been":
            return PERFECT
        if word in _WAS:
            return UNDERGONE if _passive(said, at) else PAST
        return _hung(said, at) if word in _BEING else ""
    if word == lemma or base_of_third(word) == lemma or base_of_ing(word) == lemma:
        return _hung(said, at)
    if base_of_past(word) != lemma and base_of_participle(word) != lemma:
        return ""
    before = next((one for one in reversed(said[:at]) if one not in ADVERBS and one != "not"), "")
    if before in _HAS:
        return PERFECT
    return NOW if before in _BEING else PAST


def _passive(said: Sequence[str], at: int) -> bool:
    after = next((word for word in said[at + 1 : at + 4] if word not in ADVERBS and word != "not"), "")
    return after == "born" or base_of_participle(after) is not None or after.endswith("ed")


def _hung(said: Sequence[str], at: int) -> str:
    """When it is by the verb that it hangs on: 'to live' in 'I used to live'."""
    to = False
    for word in reversed(said[max(0, at - 6) : at]):
        if to and word in ("used", "going", "about"):
            return ENDED if word == "used" else AHEAD
        if word not in _PASSED_OVER:
            if word == "did" or word in _WAS:
                return PAST
            return AHEAD if word in _AHEAD else MEANT if _MEANT.fullmatch(word) else NOW
        to = to or word == "to"
    return NOW


def fits(verb: Verb, said: Sequence[str], *, dated: bool) -> bool:
    """Whether a clause says the verb when the fact says it, as far as it says it at all.

    `dated` is whether the fact tells a day, as in 'flies to Rome tomorrow'.
    """
    found = ways(said, verb.lemma) - {UNDERGONE} if verb.lemma else frozenset[str]()
    if not found:
        return True
    if verb.tense == ENDED:
        return found != {NOW}
    if verb.tense == PAST:
        return not found <= {AHEAD, MEANT}
    if verb.tense != NOW or NOW in found or PERFECT in found:
        return True
    return (PAST in found and verb.lemma in _FELT) or (AHEAD in found and dated)
