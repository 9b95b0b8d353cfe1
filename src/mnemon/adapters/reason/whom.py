"""Whom a question asks about, and whom a statement tells of: the peer, or somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mnemon.adapters.reason.clauses import Clause, clauses
from mnemon.adapters.reason.lexicon import ACQUAINTANCES, PETS, RELATIVES, base_of_third, word_set
from mnemon.adapters.reason.stems import stem
from mnemon.domain.pattern import pattern
from mnemon.domain.words import words

_CHILD = word_set("child children kid kids baby toddler twins")
_PARTNER = word_set("spouse partner")
_PET = word_set("pet pets")
_DOG = word_set("dog puppy pup beagle bulldog chihuahua corgi dachshund husky labrador poodle retriever")
_CAT = word_set("cat kitten kitty")
_CALLED_ALIKE = [
    (word_set("mother mom mum mama"), word_set("parent parents")),
    (word_set("father dad papa"), word_set("parent parents")),
    (word_set("sister"), word_set("sibling siblings twin")),
    (word_set("brother"), word_set("sibling siblings twin")),
    (word_set("husband"), _PARTNER),
    (word_set("wife"), _PARTNER),
    (word_set("boyfriend"), _PARTNER),
    (word_set("girlfriend"), _PARTNER),
    (word_set("fiance fiancé fiancee fiancée"), _PARTNER),
    (word_set("son sons"), _CHILD),
    (word_set("daughter daughters"), _CHILD),
    (word_set("grandma grandmother granny"), word_set("grandparents")),
    (word_set("grandpa grandfather grandad granddad"), word_set("grandparents")),
    (word_set("friend bestie"), word_set("friends")),
    (word_set("flatmate housemate roommate"), frozenset[str]()),
    (word_set("boss manager"), frozenset[str]()),
    (word_set("colleague coworker"), frozenset[str]()),
    (word_set("neighbor neighbour"), frozenset[str]()),
    (word_set("doctor dr"), frozenset[str]()),
    (_DOG, _PET),
    (_CAT, _PET),
    *((frozenset([pet]), _PET) for pet in PETS - _DOG - _CAT - _PET),
]
"""Words for the same somebody, and the wider ones that may mean them too."""
_SOMEBODY = RELATIVES | ACQUAINTANCES | PETS | frozenset[str]().union(*(a | b for a, b in _CALLED_ALIKE))
_ANY = "|".join(sorted(map(re.escape, _SOMEBODY), key=len, reverse=True))
_OF_THEIRS = pattern(
    rf"\b(?:my|our|his|her|their|your|[^\W\d_][\w-]*'s) (?:[a-z-]+ ){{0,2}}?({_ANY})s?(?:'s?)?(?![\w-])"
)
_POSSESSED = pattern(
    r"\b(?:my|our|his|her|their|your|(?!(?:what|who|where|when|how|it|that|there|let)'s)\w+'s) "
)
_SPEAKS_OF_SELF = pattern(r"\b(?:i|i'm|i've|i'd|we|we're|we've)\b")
_OWN = pattern(r"\b(?:i|i'm|i've|i'll|i'd|my|me|mine|we|we're|we've|our|us)\b", re.IGNORECASE)
_NAMED = pattern(
    r"\b(?i:is|are|was|were|can|does|did|do|has|had|will|would|should) ([A-ZÀ-Þ][\w-]*)(?= \w|\?|$)"
    r"|\b([A-ZÀ-Þ][\w-]*)'s\b",
)
_HEAD = pattern(rf"(?:^|.* )({_ANY})s?(?:'s\b.*|((?:,? [A-ZÀ-Þ][\w'-]*)*),?)$")
_AND = pattern(r", and |, | and ")
_WITH_THEM = pattern(r"\b(?:me|us|them)\b")
_BEING = word_set("is was has")
_THIRD = pattern(r"(?:[A-ZÀ-Þ][\w-]*|[Hh]e|[Ss]he) (?:now |also |still |currently )?([a-z]+s)\b")
_NO_ONE = r"(?!(?:It|That|This|There|Here|What|Where|How|Who|Let|Today|Everything)'s)"
_IS_ANOTHER = pattern(
    rf"{_NO_ONE}[A-ZÀ-Þ][\w-]*'s (?:(?:an?|not|been|got|\w+ing)\b"
    rf"|(?:[a-z-]+ ){{0,2}}?(?:{_ANY}) (?:is|was|has)\b)"
)
"""'Tom's a diabetic', 'Tom's wife is a vegan'."""
_TOLD_BY_ANOTHER = pattern(
    r"^\W*(?!(?:i|we)\b)[^\"“”']{1,60} (?:told (?:me|us)|said|says)\b[^\"“”']{0,12}[\"“”']", re.IGNORECASE
)


def somebody_of_theirs(question: str, about: str | None) -> frozenset[str]:
    """What the one whom a question in small letters is about may be called, as in 'where does my mum live'.

    Nothing if it is about the peer, who may have done something with that one.
    """
    possessed = _POSSESSED.search(question)
    found = _OF_THEIRS.match(question, possessed.start()) if possessed else None
    if found is None or _SPEAKS_OF_SELF.search(question):
        return frozenset()
    if about and re.search(rf"(?<!\w){re.escape(about.lower())}(?!\w|'s)", question):
        return frozenset()
    return called_alike(found[1])


def called_alike(noun: str) -> frozenset[str]:
    """The words that may mean the same somebody."""
    return frozenset([noun]).union(*(ones | wider for ones, wider in _CALLED_ALIKE if noun in ones | wider))


def tells_of_them(nouns: frozenset[str], texts: Iterable[str]) -> frozenset[str]:
    """The stems by which a statement names them: the nouns, and the names that texts have beside these."""
    return frozenset(stem(word) for name in (*nouns, *names_beside(nouns, texts)) for word in words(name))


def names_beside(nouns: frozenset[str], texts: Iterable[str]) -> list[str]:
    """The names that texts have beside such a noun: 'my sister Anna', 'our dog is called Rex'."""
    nouned = "|".join(sorted(map(re.escape, nouns), key=len, reverse=True))
    called = re.compile(
        rf"\b(?:{nouned})s?(?:'s name)?[,:]? (?:(?:is |are )?(?:named |called )?)"
        r"([A-ZÀ-Þ][\w-]+(?:(?:, | and |, and )[A-ZÀ-Þ][\w-]+)*)"
    )
    named = (found[1] for text in texts for found in called.finditer(text))
    return list(dict.fromkeys(name for some in named for name in _AND.split(some)))


def speaks_of_self(sentence: str) -> bool:
    """Whether somebody says in it what they do or are themselves."""
    return _SPEAKS_OF_SELF.search(sentence.lower()) is not None


def named_in(question: str) -> frozenset[str]:
    """The stems of the names of whom a question is about: 'is Jonas allergic', 'Tom's job'."""
    if _OWN.search(question):
        return frozenset()
    found = (match[1] or match[2] for match in _NAMED.finditer(question))
    return frozenset(stem(word) for name in found for word in words(name))


def tells_of_another(sentence: str, question: str) -> bool:
    """Whether a sentence in its author's words tells of somebody else alone: 'my sister lives in Rome'.

    Not of one whom the question names, too.
    """
    if _TOLD_BY_ANOTHER.search(sentence):
        return True
    if (another := _IS_ANOTHER.match(sentence)) and not speaks_of_self(sentence):
        return frozenset(map(stem, words(question))).isdisjoint(map(stem, words(another[0])))
    if parsed := clauses(sentence):
        named = frozenset(map(stem, words(question)))
        subjects = [_other_subject(clause) for clause in parsed]
        return all(subject and named.isdisjoint(subject) for subject in subjects)
    third = _THIRD.match(sentence)
    if third is None or _OWN.search(sentence):
        return False
    return third[1] in _BEING or base_of_third(third[1]) is not None


def _other_subject(clause: Clause) -> frozenset[str]:
    """The stems of whom of theirs a clause tells something that the peer has no part in."""
    head = _HEAD.match(clause.owned) if clause.subject in ("my", "our") else None
    if head is None or _WITH_THEM.search(clause.rest):
        return frozenset()
    return frozenset(stem(word) for part in (head[1], head[2] or "") for word in words(part))
