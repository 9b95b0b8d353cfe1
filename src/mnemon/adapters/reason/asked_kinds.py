"""The kind of answer that a question wants: a number, a name, somebody, or whether something was so.

A line without one is no answer, however much of the question it speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from mnemon.adapters.reason.asked_labels import KIN
from mnemon.adapters.reason.lexicon import base_of_participle, base_of_past, base_of_third, word_set
from mnemon.adapters.reason.stems import stem
from mnemon.domain.denial import is_denial
from mnemon.domain.pattern import pattern
from mnemon.domain.words import words

_NUMBERED = (
    "price|cost|salary|wage|income|fee|bill|mark|grade|score|budget|balance|weight|height|dose|dosage|number"
    "|code|pin"
)
_HOW_MUCH = pattern(
    r"\bhow much (?:\w+ )?(?:did|does|do|is|are|was|were|will|would|am)\b"
    r"|\b(?:what|which)(?:'s| is| was| are| were)? (?:(?:my|our|the|his|her|their|\w+'s) (?:\w+ ){0,2})?"
    rf"(?P<what>{_NUMBERED})\b"
)
"""Whether a question in small letters asks for an amount or another number."""
_NUMBER = pattern(
    r"\d(?!\d*(?:st|nd|rd|th)\b)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|half|dozen|couple|twice"
    r"|nothing|free)\b(?!-)",
    re.IGNORECASE,
)
"""A number that is no day of a month."""
_NAME_OF = pattern(
    r"\bwhat(?:'s| is| are| was| were) .{1,60} (?:called|named)\b|\bnames? of (?!the user\b)"
    r"|\b(?:my|our|his|her|their|\w+'s) (?:\w+ )?\w+(?:'s|s') names?\b"
)
"""Whether it asks what somebody or something else than the peer is called."""
_CALLED = pattern(r"\b(?:called|named|name's|names? (?:is|are|was)|nicknamed|goes? by) \S", re.IGNORECASE)
_NAME = pattern(r"(?P<name>[A-ZÀ-Þ][\w'’-]+)(?P<next> [a-z]+)?")
_EMPLOYER = pattern(r"\b(?:employer|work)\b")
_AT = word_set("in at near on outside the")
_NO_NAMES = frozenset(
    map(
        stem,
        word_set(
            """
    i i'm i've i'll i'd mr mrs ms dr monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays
    friday fridays saturday saturdays sunday sundays january february march april may june july august
    september october november december
    """
        ),
    )
)
_TITLES = word_set("mr mrs ms dr prof")
_BEING = word_set("is was has had and")
_WHO = pattern(r"^\W*(?:and |so |but )?(?:with |to |for |from |by )?(?:who|whom|who's)\b")
_WHO_IS = pattern(r"^\W*(?:and |so |but )?who(?: is|'s| was| are| were) [^\s?]+(?: to me| again)?\W*$")
_SPEAKER = pattern(r"\bI\b")
_DID = pattern(r"^\W*(?:and |so |but )?did ")
_WAS = pattern(r"\b(?:was|were|had|been)\b|n't\b")

Test = Callable[[str, frozenset[str]], bool]
"""Whether a line, in the words of its author and by its stems, has one."""


def kinds_asked(question: str, about: str | None) -> tuple[Test, ...]:
    """What a line must have to answer a question, which is in small letters, and about a peer or anybody."""
    found: list[Test] = []
    if asks := _HOW_MUCH.search(question):
        noun = stem(asks["what"] or "much")
        found.append(lambda said, stems: noun in stems or _NUMBER.search(said) is not None)
    known = frozenset(map(stem, words(question))) | _NO_NAMES
    if asks_for_a_name(question):
        found.append(lambda said, _: _CALLED.search(said) is not None or _names(said, known, _AT))
    elif _WHO.match(question) and not _WHO_IS.match(question):
        at = _AT - {"at"} if _EMPLOYER.search(question) else _AT
        found.append(
            lambda said, _: (
                said == said.lower()
                or _names(said, known, at)
                or _kin(said, known)
                or (about is None and _SPEAKER.search(said) is not None)
            )
        )
    if _DID.match(question):
        found.append(lambda said, _: _tells_what_was(said))
    return tuple(found)


def asks_for_a_name(question: str) -> bool:
    """Whether a question in small letters asks what somebody or something else than the peer is called."""
    return _NAME_OF.search(question) is not None


def _names(said: str, known: frozenset[str], at: frozenset[str]) -> bool:
    """Whether it has a name that is none of the words known, and not right behind one of these."""
    for found in _NAME.finditer(said):
        if not known.isdisjoint(map(stem, words(found["name"]))):
            continue
        before = said[: found.start()].lower().split()
        if before and (before[-1][-1:] not in ".!?:" or before[-1].rstrip(".") in _TITLES):
            if before[-1] not in at:
                return True
        elif found["next"] and _is_verb(found["next"].strip()):
            return True
    return False


def _kin(said: str, known: frozenset[str]) -> bool:
    """Whether it speaks of somebody by what they are of somebody's, and not beside a name that is known."""
    spoken = [*said.split(), ""]
    return any(
        not KIN.isdisjoint(words(one)) and not (after[:1].isupper() and stem(after.lower()) in known)
        for one, after in pairwise(spoken)
    )


def _is_verb(word: str) -> bool:
    return word in _BEING or base_of_third(word) is not None or base_of_past(word) is not None


def _tells_what_was(said: str) -> bool:
    """Whether it tells of something that happened or was, or that it did not."""
    if _WAS.search(said.lower()) or is_denial(said):
        return True
    return any((base_of_past(word) or base_of_participle(word)) is not None for word in words(said))
