"""Which candidates tell of the time that a question asks about, in whichever words."""

from __future__ import annotations

from collections.abc import Sequence

from mnemon.adapters.reason.candidates import Candidate
from mnemon.adapters.reason.stems import content_stems
from mnemon.domain.when import Span, spans

_CERTAIN = 0.5
"""A time that is less certain settles nothing: 'recently', 'soon'."""


def in_time(candidates: Sequence[Candidate], question: str, at: int | None) -> list[Candidate]:
    """Each as if it named the time of the question just where it tells of it. `at` is when that is asked."""
    asked = [] if at is None else _settled(question, at)
    if not asked:
        return list(candidates)
    named = frozenset(stem for one in asked for stem in content_stems(one.phrase))
    return [_as_of(one, asked, named) for one in candidates]


def _as_of(one: Candidate, asked: Sequence[Span], named: frozenset[str]) -> Candidate:
    said_at = one.statement.said_at
    told = _settled(one.said, said_at)
    if any(_meet(time, other) for time in told or [Span(said_at, said_at + 1)] for other in asked):
        return one._replace(stems=one.stems | named)
    return one._replace(stems=one.stems - named) if told else one


def _settled(text: str, at: int) -> list[Span]:
    return [one for one in spans(text, at) if one.certainty >= _CERTAIN]


def _meet(one: Span, other: Span) -> bool:
    return one.start_ms < other.end_ms and other.start_ms < one.end_ms
