"""Whom a pronoun means: 'She works as a nurse' after 'My sister Anna moved to Lyon'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mnemon.adapters.reason.lexicon import (
    ACQUAINTANCES,
    CHILDREN,
    PETS,
    RELATIVES,
    base_of_past,
    base_of_third,
    word_set,
)
from mnemon.adapters.reason.sentences import prose, split
from mnemon.adapters.reason.stems import stem
from mnemon.adapters.reason.values import NOT_A_NAME
from mnemon.domain.pattern import pattern
from mnemon.domain.words import STOP_WORDS, words

_SHE = word_set(
    """
    aunt daughter daughter-in-law fiancee fiancée girlfriend goddaughter godmother granddaughter grandma
    grandmother granny mama mom mother mother-in-law mum niece sister sister-in-law stepdaughter stepmom
    stepmother stepsister wife
    """
)
_HE = word_set(
    """
    boyfriend brother brother-in-law dad father father-in-law fiance fiancé godfather godson grandad
    granddad grandfather grandpa grandson husband nephew papa son son-in-law stepbrother stepdad stepfather
    stepson uncle
    """
)
_MANY = word_set("parents grandparents siblings in-laws folks relatives")
NOUNS = "|".join(
    sorted(map(re.escape, RELATIVES | ACQUAINTANCES | PETS | CHILDREN | _MANY), key=len, reverse=True)
)
"""Either of the words for somebody."""
_NAME = r"[A-ZÀ-Þ][\w-]+"
_THEIRS = pattern(
    rf"\b(?P<whose>[Mm]y|[Oo]ur|[Aa]n?|[Tt]he|[Hh]is|[Hh]er|[Tt]heir|{_NAME}'s) "
    rf"(?:(?!and\b)[a-z-]+ ){{0,2}}?(?P<noun>{NOUNS})(?P<many>s)?\b(?!'s(?! name is )|-)"
    rf"(?:(?:'s name is |,? (?:(?:is |was )?(?:named |called ))?)(?P<name>{_NAME}))?"
)
_ALONE = pattern(
    rf"(?:^|\b(?:and|with|met|visited|saw|called|meet|visit|see) |, )({_NAME})(?=(?: ([a-z']+))|'s|[,.!?;]|$)"
)
_AT_HOME = pattern(
    r"(?:^|\b(?:and|with|met|visited|saw|called|meet|visit|see|that|but|so) |, )"
    r"([Mm]um|[Mm]om|[Mm]ama|[Dd]ad|[Pp]apa|[Gg]randma|[Gg]randpa|[Gg]ranny|[Gg]randad)"
    r"(?= [a-z]|'s |[,.!?;]|$)"
)
"""Who is called by what they are to everyone at home."""
_PRONOUN = pattern(
    r"\b([Hh]e|[Ss]he|[Tt]hey|[Hh]is|[Hh]im|[Hh]er|[Tt]heir|[Tt]hem)\b(?:'(?:s|ll|d|ve|re)\b)?"
)
_KINDS = {"he": "he", "his": "he", "him": "he", "she": "she", "her": "she"}
_HERS = pattern(r" (?!(?:to|in|at|on|and|for|from|with|when|because|last|next|again|so|too|a|an|the)\b)[a-z]")
_DOES = word_set("is was has had will can and just also who would does still never always now")
_ANY = "he, she or they"
_AT_ONCE = 2
"""Over how many sentences somebody stays who is meant."""


class Somebody(NamedTuple):
    """Who was named: as it was said, by which stems, and by which pronoun they go ('' for he or she)."""

    said: str
    stems: frozenset[str]
    goes_by: str = ""

    def may_be(self, pronoun: str) -> bool:
        if pronoun == "they":
            return self.goes_by in (_ANY, "they")
        return self.goes_by in ("", _ANY, pronoun)


def meant(sentences: Sequence[str], before: str = "") -> list[Somebody | None]:
    """Whom the pronoun of each sentence means by the sentences before it, be it of an earlier message.

    None where there is no pronoun, or it may mean two.
    """
    if (len(sentences) == 1 and not before) or not any(map(_PRONOUN.search, sentences)):
        return [None] * len(sentences)
    earlier = [sentence for line in prose(before) for sentence in split(line)][-_AT_ONCE:]
    found: list[Somebody | None] = []
    here: list[Somebody] = []
    since = 0
    for sentence in (*earlier, *sentences):
        pronoun = _PRONOUN.search(sentence)
        who = _only(here, pronoun, sentence) if pronoun else None
        found.append(who)
        named = _named(sentence)
        if who or named:
            here, since = [*([who] if who else []), *(one for one in named if one != who)], 0
        elif since + 1 == _AT_ONCE:
            here = []
        else:
            since += 1
    return found[len(earlier) :]


def pointed_out(sentence: str, who: Somebody) -> str:
    """The sentence with whom it means in brackets behind the pronoun: 'She [Anna] works as a nurse'."""
    pronoun = _PRONOUN.search(sentence)
    if pronoun is None:
        return sentence
    word = pronoun[1].lower()
    owns = word in ("his", "their") or (word == "her" and _HERS.match(sentence, pronoun.end(1)) is not None)
    name = f"{who.said}'s" if owns else who.said
    return f"{sentence[: pronoun.end(1)]} [{name}]{sentence[pronoun.end(1) :]}"


def _only(here: Sequence[Somebody], pronoun: re.Match[str], sentence: str) -> Somebody | None:
    """The one whom the pronoun may mean, unless the sentence names somebody first."""
    if _named(sentence[: pronoun.start()]):
        return None
    kind = _KINDS.get(pronoun[1].lower(), "they")
    fitting = [one for one in here if one.may_be(kind)]
    return fitting[0] if len(fitting) == 1 and fitting[0].stems else None


def _named(sentence: str) -> list[Somebody]:
    """Who is named in a sentence, in order."""
    found: list[tuple[int, Somebody]] = []
    taken: set[str] = set()
    for one in _THEIRS.finditer(sentence):
        noun, name, whose = one["noun"], one["name"], one["whose"].lower()
        of_another = whose in ("his", "her", "their") or whose.endswith("'s")
        called = [name] if name else []
        known = called if of_another else [noun, *called]
        nouned = noun + (one["many"] or "")
        said = name or (f"{whose} {nouned}" if whose in ("my", "our") else nouned)
        found.append((one.start(), Somebody(said, _stems(known), _goes_by(noun, many=bool(one["many"])))))
        taken.update(called)
        if whose.endswith("'s"):
            taken.add(one["whose"].removesuffix("'s"))
    for one in _AT_HOME.finditer(sentence):
        found.append((one.start(1), Somebody(one[1], _stems([one[1]]), _goes_by(one[1].lower(), many=False))))
        taken.add(one[1])
    for one in _ALONE.finditer(sentence):
        name, does = one[1], one[2]
        if name in taken or name.lower() in STOP_WORDS or name.lower() in NOT_A_NAME:
            continue
        if one.start() == 0 and does and not _is_verb(does):
            continue
        found.append((one.start(1), Somebody(name, _stems([name]))))
    return [who for _, who in sorted(found, key=lambda one: one[0])]


def _goes_by(noun: str, *, many: bool) -> str:
    if many or noun in _MANY or noun in ("kids", "children", "twins", "sons", "daughters"):
        return "they"
    if noun in ("partner", "spouse"):
        return _ANY
    return "she" if noun in _SHE else "he" if noun in _HE else ""


def _is_verb(word: str) -> bool:
    return word in _DOES or base_of_third(word) is not None or base_of_past(word) is not None


def _stems(said: Sequence[str]) -> frozenset[str]:
    return frozenset(stem(word) for one in said for word in words(one))
