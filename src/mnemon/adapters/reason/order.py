"""The latest or the first of several: time decides among what answers a question about equally well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Literal, TypeVar

from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.stems import stem
from mnemon.domain import when, words

_Any = TypeVar("_Any")

_DAY_MS = 86_400_000
_AS_WELL = 0.7
ORDERING = frozenset(
    stem(word)
    for word in word_set(
        "last latest newest first earliest most recent recently originally initially time beginning"
        " zuletzt letzte letzten erste ersten zuerst mal"
    )
)
"""Words that say which of several is meant, and not what it is."""


def end_asked(question: str) -> Literal["latest", "earliest"] | None:
    """Whether it asks for the latest or the first of something."""
    prefers = when.preference(question).prefers
    return prefers if prefers in ("latest", "earliest") else None


def by_time(
    found: Sequence[_Any],
    question: str,
    end: Literal["latest", "earliest"],
    score: Callable[[_Any], float],
    told: Callable[[_Any], tuple[str, int]],
) -> list[_Any]:
    """Those that answer about as well as the best by when that happened which they tell, then the others.

    `told` gives what one says, and when it was said.
    """
    terms = words.asked(question)
    best = max(map(score, found), default=0.0)

    def place(one: _Any) -> tuple[bool, float]:
        if score(one) < _AS_WELL * best:
            return True, 0
        text, at = told(one)
        span = when.happened(text, at, terms, longest=when.TEN_YEARS)
        if span is None:
            return False, inf
        day = min(span.middle, at) // _DAY_MS if span.start_ms < at else at // _DAY_MS
        return False, -day if end == "latest" else day

    return sorted(found, key=place)
