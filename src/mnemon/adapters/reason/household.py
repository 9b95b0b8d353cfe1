"""Whom and what somebody has at home: relatives and pets, by name or by number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemon.adapters.reason import values
from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.lexicon import CHILDREN, PETS, RELATIVES
from mnemon.adapters.reason.values import line
from mnemon.domain.pattern import pattern

MANY = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}|both|several)"
_YEARS = (
    r"(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen)\b(?: years old| months)?"
)
_AGE = rf",? (?:(?:who's|who is|aged|is) )?{_YEARS}"
_GIVEN = rf"[A-ZÀ-Þ][\w'-]*(?: \(\d{{1,2}}\)|{_AGE})?"
_GIVEN_NAMES = rf"{_GIVEN}(?:(?:,? and|,| &) (?:baby |little )?{_GIVEN})*"
_AGES = pattern(rf"{_AGE}(?=$|,|\s)")
_NAMES = pattern(rf"{_GIVEN_NAMES}(?=$|[,.;!])")
_OWNED = pattern(
    rf"(?P<many>{MANY}) (?P<kind>(?:(?!(?:and|for|of|with|to"
    rf"|in)\b)[\w'-]+ ){{0,4}}?)(?P<noun>[\w-]+?)(?P<plural>s|ies|ren)?"
    r"(?:,? (?:(?:is )?named|called|whose names? (?:is|are)|by the name of),?| -|:|,)?"
    rf" (?P<names>{_GIVEN_NAMES})"
)
_AND_ONE = pattern(r"(?:,|,? and) an? (?P<noun>[\w-]+) (?:named|called) (?P<names>[A-ZÀ-Þ][\w'-]*)")
"""Whoever else they have, after the first."""
_OWNED_SMALL = pattern(
    r"(?P<many>an?|one) (?P<kind>(?:(?!(?:and|for|of|with|to|in)\b)[\w'-]+ ){0,2}?)(?P<noun>[\w-]+)"
    r"(?P<plural>) (?:is )?(?:named|called)"
    r" (?P<names>(?!(?:after|for|by|in|because|the|an?|as)\b)[a-z][\w'-]+)"
    r"(?=$|[,.;!]| (?:and|who|that|which|but)\b)"
)
"""The name of one's own where nothing is written in capitals."""
_COUNTED = pattern(
    rf"(?P<many>{MANY}) (?P<kind>(?:(?!(?:and|for|of|with|to|in)\b)[\w'-]+ ){{0,2}}?)(?P<noun>[\w-]+)"
    r"(?=$|[,.;]| and | with | who | that | at | in | aged | now\b| last | this | yesterday\b| recently\b)"
)
_MY_OWN = pattern(
    r"\b(?:[Mm]y|[Oo]ur) (?:\d{1,2}[ -](?:years?|months?|yr)[ -]old )?"
    r"(?P<kind>(?:[a-z][\w'-]* ){0,2}?)(?P<noun>[a-z][\w-]*),?"
    r" (?:is (?:named|called) )?(?P<name>[A-Z][a-z][\w'-]*)"
)
_FORMER = pattern(
    r"(?:.*\b)?(?:(?:late|former|ex|previous|deceased|dead|future|imaginary|fictional|invisible|then|would-be)"
    r"[ -]\S+|(?:first|old) (?:wife|husband|boyfriend|girlfriend|roommate|flatmate|housemate))$"
)
"""Before what is no longer so of somebody, or not yet: 'my late husband Tom'."""
_ITS_NAME = pattern(r",? (?:and )?(?:his|her|its) name(?: is|'s) (?P<name>[A-Z][\w'-]*)")
_DIED = pattern(
    r"(?:has |had )?(?:\w+ )?(?:died|passed (?:away|on(?! (?:the|an?|to|my)\b))"
    r"|(?:dumped|left|divorced|broke up with) me"
    r"|(?:lost|buried|say(?:ing)? goodbye to|said goodbye to|put|rehomed|gave away) (?:my|our) (?!\w+'s )"
    r"(?:[\w-]+ ){0,2}?"
    r"[\w-]+,? (?-i:[A-Z])[\w-]+(?! (?:on|in the (?!spring|summer|autumn|fall|winter))\b|'s))\b",
    re.IGNORECASE,
)
"""What is told of who is no more, or not with them any more."""
OF_ANOTHER = pattern(r"\w(?:'s|s') (?!name$)")
"""'My friend's dog' is no dog of the author's."""


def owned(clause: Clause) -> str | None:
    """Whom or what they have, by name if it has one."""
    for shape in (_OWNED, _OWNED_SMALL, _COUNTED):
        if has := shape.match(clause.rest):
            named = _ITS_NAME.search(clause.rest, has.end())
            told = has.groupdict()
            if told.get("names"):
                told["names"] = _AGES.sub("", told["names"])
            if named and not told.get("names"):
                told["names"] = named["name"]
            if found := kin(**told):
                return found
    return None


def kin(
    noun: str, many: str = "", kind: str = "", plural: str | None = None, names: str | None = None
) -> str | None:
    """The line for a relative or a pet that the author has, by name or by number."""
    if (names and names.split()[0].lower() in values.NO_GIVEN_NAME) or _FORMER.match(kind + noun):
        return None
    said = noun + (plural or "")
    singular = _singular(noun.lower())
    if said.lower() in ("boys", "girls") and names:
        return line("Children", f"{many} {kind}{said}, {names}")
    if singular in PETS:
        return line("Pet", f"{names} ({kind}{said})" if names else f"{many} {kind}{said}")
    if said.lower() in CHILDREN and singular not in RELATIVES:
        return line(_of_children(said.lower()), f"{many} {kind}{said}" + (f", {names}" if names else ""))
    return line(singular.capitalize(), names or f"{many} {kind}{said}") if singular in RELATIVES else None


def names_in(text: str) -> str | None:
    """The given names that a text begins with, without how old they are."""
    found = _NAMES.match(text)
    return _AGES.sub("", found[0]) if found else None


def _of_children(noun: str) -> str:
    """How many there are of kids is one thing to know; a baby may be one of them."""
    if noun.startswith("grand"):
        return "Grandchildren"
    return "Children" if noun in ("kids", "children") else "Child"


def _singular(noun: str) -> str:
    known = PETS | RELATIVES
    for candidate in (noun, noun.removesuffix("s"), noun + "y"):
        if candidate in known:
            return candidate
    return noun


def somebody(clause: Clause) -> str | None:
    """'My sister Ana', wherever it is said, but where she died."""
    if _DIED.search(f"{clause.group.said} {clause.rest}"):
        return None
    for own in _MY_OWN.finditer(clause.text):
        found = own["name"].removesuffix("'s").rstrip("'")
        if OF_ANOTHER.search(own["kind"]):
            continue
        if (
            own["kind"].endswith("best ")
            and own["noun"] == "friend"
            and found.lower() not in values.NOT_A_NAME
        ):
            return line("Best friend", found)
        if not _FORMER.match(own["kind"] + own["noun"]) and (relative := kin(own["noun"], names=found)):
            return relative
    return None


def everybody(clause: Clause) -> Iterator[tuple[str, str | None]]:
    """Everyone of theirs who is named, each with the statement that says so of {}, but where one died."""
    if _DIED.search(clause.text):
        return
    if clause.lemma == "have" and not clause.group.negated and clause.tense == "now":
        for one in _AND_ONE.finditer(clause.rest):
            yield f"{one['names']} is {{}}'s {one['noun']}", kin(one["noun"], names=one["names"])
    yield from named_in(clause.text)


def named_in(said: str) -> Iterator[tuple[str, str | None]]:
    """Everyone of theirs who is named in these words, each with the statement that says so of {}."""
    for own in _MY_OWN.finditer(said):
        name = own["name"].removesuffix("'s").rstrip("'")
        if "," in own[0] or own["noun"] not in PETS | RELATIVES:
            continue
        if not OF_ANOTHER.search(own["kind"]) and not _FORMER.match(own["kind"] + own["noun"]):
            yield f"{name} is {{}}'s {own['kind']}{own['noun']}", kin(own["noun"], names=name)
