"""Updating: where a question asks how something is, the newest line of a speaker that tells it comes first.

What was said before stays where it is, right behind or further down: it is history, and not lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from mnemon.core.bounds import Bounds, readable
from mnemon.core.desk import Desk
from mnemon.core.vault import RoomKeys
from mnemon.domain.names import Room
from mnemon.domain.relevance import KIN, UPDATE
from mnemon.domain.telling import tells
from mnemon.ports.index import Hit

LOOKED_AT = 10
"""How many of the best lines may take each other's places."""
_LEAST_HELD = 0.5
_AS_MUCH = 0.9
"""Lines tell of the same if they hold this much of what the best holds of the question's terms."""
_AS_WELL = 2.0
"""And if their scores lie no further apart: what answers much worse tells something else."""
_APART_MS = 86_400_000
"""What was said within a day of each other belongs together: neither outdates the other."""
_AHEAD = 1e-6


def newest_first(
    desk: Desk, rooms: Sequence[RoomKeys], hits: Sequence[Hit], terms: Collection[str], bounds: Bounds
) -> list[Hit]:
    """The hits, best first, the newest that tells what those terms name before the older ones that do."""
    best = hits[:LOOKED_AT]
    most = max((hit.signals.get(KIN, 0.0) for hit in best), default=0.0)
    least = max(_LEAST_HELD, _AS_MUCH * most)
    rivals: dict[str, list[Hit]] = defaultdict(list)
    for hit in best:
        if hit.signals.get(KIN, 0.0) >= least:
            rivals[hit.room.owner].append(hit)
    keys = {one.room: one for one in rooms}
    lifted: dict[tuple[Room, str], Hit] = {}
    for some in rivals.values():
        told = _told(desk, keys, some, terms, bounds) if len(some) > 1 else {}
        telling = [hit for hit in some if hit[:2] in told]
        telling = [hit for hit in telling if telling[0].score - hit.score <= _AS_WELL]
        newest = max(telling, key=lambda hit: (told[hit[:2]], hit.id), default=None)
        if newest is not None and told[newest[:2]] - told[telling[0][:2]] >= _APART_MS:
            lifted[newest[:2]] = ahead(newest, telling[0])
    return best_first(lifted.get(hit[:2], hit) for hit in hits) if lifted else list(hits)


def ahead(hit: Hit, other: Hit) -> Hit:
    """The hit, as good as the other and a little better."""
    score = other.score + _AHEAD
    lacked = score - hit.score + hit.signals.get(UPDATE, 0.0)
    return hit._replace(score=score, signals={**hit.signals, UPDATE: lacked})


def best_first(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (hit.score, hit.id, hit.room), reverse=True)


def _told(
    desk: Desk, keys: Mapping[Room, RoomKeys], hits: Sequence[Hit], terms: Collection[str], bounds: Bounds
) -> Mapping[tuple[Room, str], int]:
    """When each of the lines was said that tell it and may be shown."""
    found = ((room, [hit.id for hit in hits if hit.room == room]) for room in {hit.room for hit in hits})
    return {
        (room, line.id): line.created_at if line.occurred_at is None else line.occurred_at
        for room, ids in found
        for line in desk.tx.lines.get_all(room, ids)
        if tells(readable(keys[room], line, bounds), terms)
    }
