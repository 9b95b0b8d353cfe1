"""Values that name several things, as 'Allergy: peanuts and shellfish', and what is left if one is denied."""

from __future__ import annotations

from collections.abc import Collection

from mnemon.domain.pattern import pattern

_LAST = pattern(r",? (?:and|or|&) ")
_SHARED = pattern(r" (?:and|or|&) (?:other|others|some|most|all|any|many|more|the like|so on|such)\b")
_KIND = pattern(r" \([^()]*\)$")


def things(value: str) -> list[str]:
    """What a value names, one by one, each with the kind that is told of all; nothing if it is one thing.

    'Mac and cheese, pizza and tea' are three: where there are commas, only the last 'and' parts them.
    """
    if _SHARED.search(value):
        return []
    kind = _KIND.search(value)
    named = value[: kind.start()] if kind else value
    if ", " in named:
        *first, last = named.split(", ")
        before, _, after = last.rpartition(" and ") if " and " in last else ("", "", last)
        found = [*first, *filter(None, (before, after.removeprefix("and ")))]
    else:
        found = _LAST.split(named)
    told = kind[0] if kind else ""
    return [one.strip() + told for one in found] if len(found) > 1 else []


def rest_of(value: str, gone: Collection[str]) -> str:
    """The value without these of its things; nothing if none is left."""
    kind = _KIND.search(value)
    told = kind[0] if kind else ""
    left = [one.removesuffix(told) if told else one for one in things(value) if one not in gone]
    if len(left) == 1 and told.endswith("s)"):
        told = told.removesuffix("s)") + ")"
    return (", ".join(left[:-1]) + (" and " if left[1:] else "") + "".join(left[-1:])) + told if left else ""
