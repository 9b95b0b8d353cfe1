"""What somebody lists of themselves: 'About me:', and below it '34 years old', 'from Wales', 'two cats'."""

from __future__ import annotations

import re

from mnemon.adapters.reason.clauses import Clause, clauses
from mnemon.adapters.reason.edges import opened
from mnemon.adapters.reason.traits import label_of, trait_of
from mnemon.domain.pattern import pattern

_HEADING = pattern(
    r"(?:(?:here (?:is|are)|here's|some|a few|few|quick|basic|more|a bit|a little|key|the|just|information"
    r"|info|facts|things|stuff|details|to know|about|my|profile|background|bio|summary|who i am) ?)*"
    r"(?:about (?:me|myself)|who i am|my (?:profile|background|bio|details))(?: \([^()]{1,30}\))?:?$",
    re.IGNORECASE,
)
_MOST_ITEM = 80
_WAYS = ("I'm {}", "I'm a {}", "I have {}")
_NO_ITEM = frozenset("?!.:")
_NOT_ALONE = frozenset(["name"])
"""What a word that stands alone may be taken for, and is not: 'Berlin' below 'About me'."""


def heads(sentence: str) -> bool:
    """Whether what its author is follows as a list."""
    return len(sentence) <= _MOST_ITEM and _HEADING.match(opened(sentence).strip()) is not None


def may_be_listed(sentence: str) -> bool:
    """Whether it may be an item of such a list, and no sentence of its own."""
    return len(sentence) <= _MOST_ITEM and sentence[-1] not in _NO_ITEM


def listed(item: str) -> Clause | None:
    """What such an item says of its author, if that goes on a card."""
    for way in _WAYS:
        said = way.format(item[:1].lower() + item[1:] if item[1:2].islower() else item)
        for clause in clauses(said):
            if (trait := trait_of(clause)) and label_of(trait) not in _NOT_ALONE:
                return clause
    return None
