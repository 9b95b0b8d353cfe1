"""Ordering: where a question asks for the latest or the first of something, time decides among what fits it.

Lines of one speaker that tell of what is asked about equally well take each other's places, by when that
happened which they tell: the time that a line names, else when it was said. What tells of less stays behind
what tells of more, however new or old it is. Where a question asks for whatever was in a time that is over,
what tells of that time comes before what was only said soon after, and a plan behind both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from math import inf

from mnemon.core.bounds import Bounds, by_words, readable, with_kin
from mnemon.core.desk import Desk
from mnemon.core.vault import RoomKeys
from mnemon.domain import when, words
from mnemon.domain.line import SealedLine
from mnemon.domain.names import Room
from mnemon.domain.pattern import pattern
from mnemon.domain.question import Question, of_anything
from mnemon.domain.relevance import DURING, KIN, ORDER, WEIGHTS
from mnemon.ports.index import Hit

LOOKED_AT = 30
"""How many of the best lines may take each other's places."""
_MOST_HELD = 100
"""Of how many lines it is known how much they hold of what is asked about."""
_AS_MUCH = 0.7
"""Lines tell of the same if they hold this much of what the best holds of what is asked about."""
_AS_WELL = 0.4
"""And if their scores are this much of the best of them: what answers much worse tells something else."""
_MOSTLY_IN = 0.75
"""How well a time fits another of which at least half lies in it."""
_MOST_READ = 4_000
"""How much of a line is read for its time."""
_DAY_MS = 86_400_000
_OF_ORDER = (
    "last latest newest first earliest original originally initial initially beginning begin time times most"
    " recent recently zuletzt letzte letzten letztes erste ersten erstes zuerst mal vez fois"
)
_ONCE = pattern(r"\b(?:did|was|were|had|have|has|been|last\s+time|first\s+time)\b")
_MEANT = pattern(
    r"\b(?:(?:decide|agree|want|plan|intend|hope|think|say|tell|mention|idea|price|offer|talk\s+about)(?:e?d|s)?"
    r"|said|told|thought|planned)\b"
)
"""How questions ask for what has happened, and for what was only said or meant."""

_Key = tuple[Room, str]


def in_order(
    desk: Desk,
    rooms: Sequence[RoomKeys],
    hits: Sequence[Hit],
    question: Question,
    terms: Sequence[str],
    bounds: Bounds,
) -> list[Hit]:
    """The hits, best first, those of one speaker that fit the question equally well by their times."""
    topic = _topic(terms)
    if not topic:
        return list(hits)
    spelt = with_kin(desk.tools.thesaurus, topic)
    held = {hit[:2]: hit.signals.get(KIN, 0.0) for hit in by_words(desk, rooms, spelt, _MOST_HELD, bounds)}
    of_speaker: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits[:LOOKED_AT]:
        of_speaker[hit.room.owner].append(hit)
    keys = {one.room: one for one in rooms}
    told = _Told(desk, keys, spelt.terms, bounds, question.at if _asks_what_happened(question) else None)
    placed: dict[_Key, Hit] = {}
    for some in of_speaker.values():
        rivals = _rivals(some, held)
        days = told.days(rivals) if len(rivals) > 1 else {}
        slots = [hit for hit in rivals if hit[:2] in days]
        ordered = sorted(slots, key=lambda hit: _place(days[hit[:2]], question.end))
        placed |= {slot[:2]: _moved(hit, slot) for hit, slot in zip(ordered, slots, strict=True)}
    return [placed.get(hit[:2], hit) for hit in hits]


def in_time(
    desk: Desk, rooms: Sequence[RoomKeys], hits: Sequence[Hit], question: Question, bounds: Bounds
) -> list[Hit]:
    """The hits of a question for what was in its times, what tells of them first.

    What was only planned then comes last, unless it is asked for what was said or meant.
    """
    keys = {one.room: one for one in rooms}
    deeds = _MEANT.search(question.text.lower()) is None
    near = [hit for hit in hits[:LOOKED_AT] if DURING in hit.signals]
    told: dict[_Key, int] = {}
    for room in {hit.room for hit in near}:
        for line in desk.tx.lines.get_all(room, [hit.id for hit in near if hit.room == room]):
            if text := readable(keys[room], line, bounds):
                told[room, line.id] = _apart(desk, line, text[:_MOST_READ], question.spans, deeds=deeds)
    slots = [hit for hit in near if hit[:2] in told]
    ordered = sorted(slots, key=lambda hit: told[hit[:2]])
    placed = {slot[:2]: _moved(hit, slot) for hit, slot in zip(ordered, slots, strict=True)}
    return [placed.get(hit[:2], hit) for hit in hits]


def _apart(desk: Desk, line: SealedLine, text: str, asked: Sequence[when.Span], *, deeds: bool) -> int:
    """0 if the line tells of the times asked for, 1 if that is not known, 2 if it is a plan and no deed."""
    at = line.created_at if line.occurred_at is None else line.occurred_at
    offset = desk.tools.zone.offset(at)
    times = when.spans(text, at, offset)
    if any(when.overlap(one, told) >= _MOSTLY_IN for told in times for one in asked):
        return 0
    if deeds and when.ahead(text, at, offset):
        return 2
    return int(not any(one.start_ms <= at < one.end_ms for one in asked))


def _asks_what_happened(question: Question) -> bool:
    low = question.text.lower()
    return _ONCE.search(low) is not None and _MEANT.search(low) is None


def _topic(terms: Sequence[str]) -> list[str]:
    """Those of the terms that tell what is asked about."""
    about = [term for term in terms if term not in _of_order()]
    return [term for term in about if term not in of_anything()] or about


@cache
def _of_order() -> frozenset[str]:
    return frozenset(words.asked(_OF_ORDER))


def _rivals(hits: Sequence[Hit], held: Mapping[_Key, float]) -> list[Hit]:
    """Those of the hits that tell of what is asked about equally well, and answer about as well."""
    most = max((held.get(hit[:2], 0.0) for hit in hits), default=0.0)
    rivals = [hit for hit in hits if most and held.get(hit[:2], 0.0) >= _AS_MUCH * most]
    best = max(map(_without_order, rivals), default=0.0)
    return [hit for hit in rivals if _without_order(hit) >= _AS_WELL * best]


def _without_order(hit: Hit) -> float:
    return hit.score - WEIGHTS[ORDER] * hit.signals.get(ORDER, 0.0)


def _moved(hit: Hit, slot: Hit) -> Hit:
    """The hit in the place of another."""
    if hit is slot:
        return hit
    order = hit.signals.get(ORDER, 0.0) + (slot.score - hit.score) / WEIGHTS[ORDER]
    ranks = {name: rank for name, rank in hit.ranks.items() if name != ORDER}
    return hit._replace(score=slot.score, signals={**hit.signals, ORDER: order}, ranks=ranks)


def _place(day: int | None, end: str | None) -> float:
    """What a line of that day is sorted by; one that tells of no day comes last."""
    if day is None:
        return inf
    return -day if end == "latest" else day


class _Told:
    """When that happened which lines tell of."""

    def __init__(
        self,
        desk: Desk,
        keys: Mapping[Room, RoomKeys],
        terms: Collection[str],
        bounds: Bounds,
        until: int | None,
    ) -> None:
        """What happened after `until`, or will some day, is not told; None if it need not have happened."""
        self._desk = desk
        self._keys = keys
        self._terms = terms
        self._bounds = bounds
        self._until = until

    def days(self, hits: Sequence[Hit]) -> dict[_Key, int | None]:
        """The day of each of the lines that may be shown, by its number; None if it tells of none."""
        found: dict[_Key, int | None] = {}
        for room in {hit.room for hit in hits}:
            for line in self._desk.tx.lines.get_all(room, [hit.id for hit in hits if hit.room == room]):
                if text := readable(self._keys[room], line, self._bounds):
                    found[room, line.id] = self._day(line, text)
        return found

    def _day(self, line: SealedLine, text: str) -> int | None:
        text = text[:_MOST_READ]
        at = line.created_at if line.occurred_at is None else line.occurred_at
        offset = self._desk.tools.zone.offset(at)
        span = when.happened(text, at, self._terms, offset, when.TEN_YEARS)
        moment: int | None
        if span is None:
            moment = at if self._counts_as_said(text) else None
        elif self._until is None and span.end_ms > at:
            moment = at
        else:
            moment = None if self._until is not None and span.start_ms > max(self._until, at) else span.middle
        return None if moment is None else (moment + offset) // _DAY_MS

    def _counts_as_said(self, text: str) -> bool:
        """Whether a line that tells of nothing that happened has the day on which it was said."""
        if self._until is None:
            return not text.rstrip().endswith("?")
        return words.terms(text).keys().isdisjoint(self._terms)
