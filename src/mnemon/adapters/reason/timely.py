"""Which candidates tell of the time that a question asks about, in whichever words."""

from __future__ import annotations

from collections.abc import Sequence

from mnemon.adapters.reason.asked import Asked
from mnemon.adapters.reason.candidates import Candidate, asks, retold, sentences_of
from mnemon.adapters.reason.stems import content_stems
from mnemon.domain import question as asking
from mnemon.domain import when, words
from mnemon.domain.when import Span, spans

_CERTAIN = 0.5
"""A time that is less certain settles nothing: 'recently', 'soon'."""


def of_then(
    candidates: Sequence[Candidate], question: str, at: int | None, about: str | None
) -> list[Candidate] | None:
    """What tells of the time of a question, in the order of time; None if it asks by more than its times.

    Who asks what was is not told a plan. Each is told whole: what of it is asked for is not known.
    """
    if at is None:
        return None
    meant = asking.read(question, at)
    if not asking.by_time(meant, words.asked(about or "")):
        return None
    back = asking.looks_back(meant) and any(time.start_ms < at for time in meant.spans)
    found = [
        (one.carried, min(time.start_ms for time in then), one)
        for one in candidates
        if (then := [time for time in _times(one) if any(_meet(time, other) for other in meant.spans)])
        and not (back and when.ahead(one.said, one.statement.said_at))
    ]
    found.sort(key=lambda each: each[:2])
    return [retold(one, _whole(one)) for _, _, one in found]


def in_time(candidates: Sequence[Candidate], question: str, at: int | None, asked: Asked) -> list[Candidate]:
    """Each as if it named the time of the question just where it tells of it. `at` is when that is asked.

    Where a deed or a thing is asked for, the time alone does not tell it.
    """
    times = [] if at is None else _settled(question, at)
    if not times:
        return list(candidates)
    named = frozenset(stem for one in times for stem in content_stems(one.phrase))
    beside = frozenset[str]() if asked.cues or asked.wanted else asked.rest - named
    return [_as_of(one, times, named, beside) for one in candidates]


def _as_of(one: Candidate, asked: Sequence[Span], named: frozenset[str], beside: frozenset[str]) -> Candidate:
    meets = any(_meet(time, other) for time in _times(one) for other in asked)
    if meets and (not beside or not beside.isdisjoint(one.stems | one.context)):
        return one._replace(stems=one.stems | named)
    return one._replace(stems=one.stems - named) if _settled(one.said, one.statement.said_at) else one


def on_its_side(candidates: Sequence[Candidate], asked: Asked, question: str) -> Sequence[Candidate]:
    """Those that tell of the time before or after an event which the question looks at, if it is known when.

    What tells of the event itself tells no answer.
    """
    looks = when.relative(question)
    if looks is None or looks.direction == "during" or asked.asks_before or not candidates:
        return candidates
    event = frozenset(content_stems(looks.event)) & asked.terms
    if not event or event >= asked.rest:
        return candidates
    best = max(candidates, key=lambda one: len(event & one.stems))
    if not event & best.stems:
        return candidates
    then = _begun(best)
    earlier = looks.direction == "before"
    return [
        one._replace(stems=one.stems | event)
        for one in candidates
        if one is not best and (_begun(one) < then if earlier else _begun(one) >= then)
    ]


def _begun(one: Candidate) -> int:
    return min(time.start_ms for time in _times(one))


def _whole(one: Candidate) -> str:
    """All that a message tells, as far as it does not ask."""
    told = [said for said in sentences_of(one.statement) if not asks(said)]
    return " ".join(told) or one.said


def _times(one: Candidate) -> list[Span]:
    """The times that it names, or else when it was said."""
    said_at = one.statement.said_at
    return _settled(one.said, said_at) or [Span(said_at, said_at + 1)]


def _settled(text: str, at: int) -> list[Span]:
    return [one for one in spans(text, at) if one.certainty >= _CERTAIN]


def _meet(one: Span, other: Span) -> bool:
    return one.start_ms < other.end_ms and other.start_ms < one.end_ms
