"""What a statement denies: 'no longer lives in Berlin' undoes the home, and not what else names Berlin."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from mnemon.domain.pattern import pattern
from mnemon.domain.wording import plain

_DENIAL = pattern(
    r"\b(?:no longer|any ?more|not|never|used to|stopped|quit|left|gave up|resigned|retired|broke up|split up"
    r"|separated|divorced|moved (?:away|out)|sold|lost|died|passed away)\b|n't\b"
)
_LEAVING = r"work\w*|job|quit|left|resign\w*|fired|laid off|retired?|employed"
_DIED = r"\b(?:died|passed away|is dead)\b"
_PARTED = rf"{_DIED}|\b(?:broke up|split up|separated|divorced|(?:no longer|not) together)\b"
_WED = frozenset(["husband", "wife", "spouse", "partner"])
_PARTNERS = _WED | frozenset(["boyfriend", "girlfriend", "fiance", "fiancé", "fiancee", "fiancée"])
_CUES = {
    "lives in": pattern(r"\b(?:liv(?:e|es|ed|ing)|moved (?:away|out)|based)\b"),
    "works as": pattern(rf"\b(?:{_LEAVING})\b"),
    "works at": pattern(rf"\b(?:{_LEAVING})\b"),
    "works in": pattern(rf"\b(?:{_LEAVING})\b"),
    "studies": pattern(r"\b(?:stud(?:y|ies|ied|ying)|quit|dropped)\b"),
    "pet": pattern(
        rf"{_DIED}|\b(?:have|has|had|owns?|sold|lost|gave|(?:is|was) not|not (?:named|called)|ran away)\b"
    ),
    "likes": pattern(r"\b(?:likes?|liked|loves?|loved|enjoys?|fond|into|fan)\b"),
    "dislikes": pattern(r"\b(?:dislikes?|hates?|minds?)\b"),
    "speaks": pattern(r"\b(?:speaks?|spoke)\b"),
    **dict.fromkeys(_PARTNERS, pattern(rf"{_PARTED}|\b(?:is|are|with|has|have|left|divorced)\b")),
}
_OTHERWISE = pattern(
    rf"{_DIED}|\b(?:is|are|am|be|was|were|with|has|have)\b|(?:isn|aren|wasn|doesn|don|hasn|haven)'t\b"
)
"""What else denies a trait: being it, or having it."""
_NAMES = frozenset(["name", "goes by"])
_NAMING = pattern(r" (?:names?|named|called|calls?|go|goes) (?:\S+ )*$|^ (?:is|am|isn't|was) (?:\S+ ){0,2}$")
"""What stands before a name where it is denied to be one; elsewhere it only says who somebody is."""
_OF_THEMSELVES = _CUES.keys() - {"pet"} - _PARTNERS | {"diet", "allergy", "relationship", "from", "age"}
"""What is so of somebody, whatever is no longer so of their sister."""
_OF_THEIRS = pattern(
    r"\S+'s? (?!(?:job|work|home|diet|allergy|profession|occupation)\b)|\S+ said: .(?:[Mm]y|[Oo]ur) "
)
_HAS_NONE = pattern(
    r"(?:(?:n't|not) (?:have|own)|no longer (?:has|have|owns?)|(?:has|have) no)(?: any)? (?P<kind>\S+)"
    r" (?=$|(?:any ?more|now|currently|at)\b)"
)
_ENDS_A_BOND = pattern(_PARTED)
_KEPT = 1 << 10
"""How many values are kept in mind: the same few come again and again."""


class Denial(Struct, frozen=True):
    """What is said not to be so any more."""

    told: str
    """In plain words between spaces, without whom it is said of: their id may be their name."""
    of_theirs: bool
    """Whether it is said of somebody or something of theirs."""


def is_denial(statement: str) -> bool:
    """Whether a statement without a trait may deny one."""
    return _DENIAL.search(plain(statement)) is not None


def read(statement: str) -> Denial:
    """The denial that a statement is."""
    return Denial(f" {plain(statement.partition(' ')[2])} ", _OF_THEIRS.match(statement) is not None)


def undoes(denial: Denial, label: str, value: str) -> bool:
    """Whether the trait of that label and value is no longer so."""
    if denial.of_theirs and label in _OF_THEMSELVES:
        return False
    name, kind = _parts(value)
    if name.isspace() or name not in denial.told:
        return _undoes_unnamed(denial, label, kind)
    if label in _NAMES:
        return _NAMING.search(denial.told[: denial.told.find(name) + 1]) is not None
    return _CUES.get(label, _OTHERWISE).search(denial.told) is not None


def _undoes_unnamed(denial: Denial, label: str, kind: str) -> bool:
    """'Has no dog any more', 'got divorced': where it needs no name to tell who or what is meant."""
    if label == "pet" and kind and not denial.of_theirs:
        none = _HAS_NONE.search(denial.told)
        return none is not None and _one(none["kind"]) == kind
    if label not in _PARTNERS or not _ENDS_A_BOND.search(denial.told):
        return False
    if denial.of_theirs:
        return denial.told.startswith(f" {label} ")
    return f" {label} " in denial.told or (label in _WED and " got divorced " in denial.told)


@lru_cache(_KEPT)
def _parts(value: str) -> tuple[str, str]:
    """What a value names, between spaces, and of which kind that is: ' rex ' and 'dog' of 'Rex (dog)'."""
    name, _, kind = value.partition(" (")
    return f" {plain(name)} ", _one(plain(kind).rpartition(" ")[2])


def _one(kind: str) -> str:
    return kind.removesuffix("s")
