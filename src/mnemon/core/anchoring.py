"""Anchoring: when that happened which a question looks before or after, as the lines in its bounds tell it.

"Before the move" is a time once it is known when that was. The lines that hold the words for it tell, if
most of them agree; if they don't, or none does, the question stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from mnemon.core.bounds import Bounds, Spelt, by_words, readable, with_kin
from mnemon.core.desk import Desk
from mnemon.core.vault import RoomKeys
from mnemon.domain import calendar, when, words
from mnemon.domain.question import Question
from mnemon.domain.relevance import KIN
from mnemon.domain.when import EARLIEST, LATEST, Span

if TYPE_CHECKING:
    from mnemon.domain.when import Relative

_LOOKED_AT = 12
_LEAST_HELD = 0.6
"""How much of an event's terms a line must hold that tells of it."""
_AS_MUCH = 0.9
"""Lines tell of an event as well if they hold this much of what the best holds."""
_DAY_MS = 86_400_000
_AGREE_MS = 31 * _DAY_MS


def anchored(
    desk: Desk, rooms: Sequence[RoomKeys], question: Question, names: Sequence[str], bounds: Bounds
) -> Question:
    """The question with the time that it means by an event; `names` are terms that name who speaks."""
    event = question.event
    if event is None:
        return question
    terms = [term for term in words.asked(event.event) if term not in words.STOP_WORDS and term not in names]
    if not terms:
        return question
    spelt = with_kin(desk.tools.thesaurus, terms)
    told = list(_told(desk, rooms, spelt, bounds))
    agreeing = [span for span in told if abs(span.start_ms - told[0].start_ms) <= _AGREE_MS]
    if not told or len(agreeing) * 2 <= len(told):
        return question
    return replace(question, side=_side(event, agreeing))


def _told(desk: Desk, rooms: Sequence[RoomKeys], spelt: Spelt, bounds: Bounds) -> Iterator[Span]:
    """When it happened, as each of the lines has it that tell of it, the best first."""
    hits = by_words(desk, rooms, spelt, _LOOKED_AT, bounds)
    keys = {one.room: one for one in rooms}
    lines = ((hit, desk.tx.lines.get(hit.room, hit.id)) for hit in hits)
    texts = [
        (hit.signals.get(KIN, 0.0), line, text)
        for hit, line in lines
        if line is not None and (text := readable(keys[hit.room], line, bounds))
    ]
    most = max((held for held, _, _ in texts), default=0.0)
    for held, line, text in texts:
        if held >= max(_LEAST_HELD, _AS_MUCH * most):
            at = line.created_at if line.occurred_at is None else line.occurred_at
            span = when.happened(text, at, spelt.terms, desk.tools.zone.offset(at))
            if span is not None:
                yield span


def _away(direction: str, least: int, most: int, told: Span) -> Span:
    """So many days before or after it, at least and at most."""
    if direction == "before":
        return Span(told.start_ms - most * _DAY_MS, told.start_ms - (least - 1) * _DAY_MS, grain="days")
    last = told.end_ms - _DAY_MS
    return Span(last + least * _DAY_MS, last + (most + 1) * _DAY_MS, grain="days")


def _side(event: Relative, told: Sequence[Span]) -> Span:
    """The time before or after what happened then, so far from it or close to it; its own day comes after."""
    if event.away is not None:
        return calendar.widened(_away(event.direction, *event.away, told[0]))
    if event.direction == "before":
        return Span(EARLIEST, told[0].start_ms, grain="open")
    if event.direction == "after":
        return Span(told[0].start_ms, LATEST, grain="open")
    last = max(one.end_ms for one in told)
    return calendar.widened(Span(min(one.start_ms for one in told), last, grain="days"))
