"""Updating: where a question asks how something is, the newest line of a speaker that tells it comes first.

What was said before stays where it is, right behind or further down: it is history, and not lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from mnemon.core.bounds import Bounds, readable
from mnemon.core.desk import Desk
from mnemon.core.vault import RoomKeys
from mnemon.domain import telling, words
from mnemon.domain.names import Room
from mnemon.domain.relevance import KIN, UPDATE
from mnemon.ports.index import Hit

LOOKED_AT = 10
"""How many of the best lines may take each other's places."""
_LEAST_HELD = 0.5
_AS_MUCH = 0.9
"""Lines tell of the same if they hold this much of what the best holds of the question's terms."""
_AS_WELL = 2.0
"""And if their scores lie no further apart: what answers much worse tells something else."""
_LEAST_SHARED = 0.5
"""Where they hold less of the question, the newer one must hold more than this of what the older one has."""
_APART_MS = 86_400_000
"""What was said within a day of each other belongs together: neither outdates the other."""
_AHEAD = 1e-6


class _Told(Struct, frozen=True):
    """What one of the hits says, and when it was said."""

    hit: Hit
    text: str
    at: int

    @property
    def held(self) -> float:
        return self.hit.signals.get(KIN, 0.0)


def newest_first(
    desk: Desk, rooms: Sequence[RoomKeys], hits: Sequence[Hit], terms: Collection[str], bounds: Bounds
) -> list[Hit]:
    """The hits, best first, the newest that tells what those terms name before the older ones that do."""
    best = hits[:LOOKED_AT]
    most = max((hit.signals.get(KIN, 0.0) for hit in best), default=0.0)
    keys = {one.room: one for one in rooms}
    told: dict[str, list[_Told]] = defaultdict(list)
    for one in _told(desk, keys, best, bounds) if len(best) > 1 else ():
        told[one.hit.room.owner].append(one)
    lifted: dict[tuple[Room, str], Hit] = {}
    for some in told.values():
        for older, newer in (_outgrown(some, terms, most), _given_up(some, terms)):
            if newer is not None and newer.hit.score <= older.hit.score:
                lifted[newer.hit[:2]] = ahead(newer.hit, older.hit)
    return best_first(lifted.get(hit[:2], hit) for hit in hits) if lifted else list(hits)


def _outgrown(some: Sequence[_Told], terms: Collection[str], most: float) -> tuple[_Told, _Told | None]:
    """The best of one speaker's lines that hold the question, and the newest that tells it another way."""
    rivals = [one for one in some if one.held and one.held >= _AS_MUCH * most] or [some[0]]
    older = rivals[0]
    stated = telling.tells(older.text, terms)
    newer = [
        one
        for one in rivals
        if one.at - older.at >= _APART_MS
        and older.hit.score - one.hit.score <= _AS_WELL
        and (one.held >= _LEAST_HELD or _shared(older, one) > _LEAST_SHARED)
        and (telling.tells(one.text, terms) if stated else telling.changes(one.text, terms))
    ]
    return older, max(newer, key=lambda one: (one.at, one.hit.id), default=None)


def _given_up(some: Sequence[_Told], terms: Collection[str]) -> tuple[_Told, _Told | None]:
    """The best of one speaker's lines, and the newest by which what it tells has come to an end."""
    older = some[0]
    value = words.terms(older.text).keys() - set(terms)
    newer = [
        one
        for one in some
        if one.at - older.at >= _APART_MS and not value.isdisjoint(telling.given_up(one.text))
    ]
    return older, max(newer, key=lambda one: (one.at, one.hit.id), default=None)


def _shared(older: _Told, newer: _Told) -> float:
    """How much of what the older line has the newer has too."""
    had = words.terms(older.text).keys()
    return len(had & words.terms(newer.text).keys()) / max(1, len(had))


def ahead(hit: Hit, other: Hit) -> Hit:
    """The hit, as good as the other and a little better."""
    score = other.score + _AHEAD
    lacked = score - hit.score + hit.signals.get(UPDATE, 0.0)
    return hit._replace(score=score, signals={**hit.signals, UPDATE: lacked})


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (hit.score, hit.id, hit.room), reverse=True)


def _told(desk: Desk, keys: Mapping[Room, RoomKeys], hits: Sequence[Hit], bounds: Bounds) -> Iterator[_Told]:
    """Those of the hits that state something and may be shown, in the same order."""
    rooms = {hit.room for hit in hits}
    lines = {
        (room, line.id): line
        for room in rooms
        for line in desk.tx.lines.get_all(room, [hit.id for hit in hits if hit.room == room])
    }
    for hit in hits:
        line = lines.get(hit[:2])
        text = "" if line is None else readable(keys[hit.room], line, bounds)
        if line is not None and telling.states(text):
            yield _Told(hit, text, line.created_at if line.occurred_at is None else line.occurred_at)
