"""Updating: where a question asks how something is, the newest line of a speaker that tells it comes first.

What was said before stays where it is, right behind or further down: it is history, and not lost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from mnemon.core.bounds import Bounds, Spelt, by_words, readable
from mnemon.core.desk import Desk
from mnemon.core.vault import RoomKeys
from mnemon.domain import moving, succession, telling, words
from mnemon.domain.bystanders import PRONOUNS, bystanders
from mnemon.domain.names import Room
from mnemon.domain.relevance import KIN, UPDATE
from mnemon.ports.index import Hit, Place

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
_ALIKE = 0.47
_MORE_ALIKE = 0.6
"""How far from what is usual to being the same two lines have come in meaning that tell of the same: the
newer by a verb of change, or in another way."""
_LOOKED_UP = 12
_MOST_TERMS = 12
"""How many lines are looked up that name what the best line tells, and by how many terms at most."""
_HARDLY_ALIKE = 0.3
"""If it also has another value of the same kind, as another day of the week."""
_LITTLE = 0.25
"""What holds less of the question than this, where the older holds more, must have such a verb."""

Alike = Callable[[Place, Sequence[Place]], Mapping[Place, float]]
"""How far other lines have come in meaning to one, as far as that is known (`mnemon.ports.index`)."""


class Wanted(Struct, frozen=True):
    """What a question wants to know."""

    terms: Collection[str]
    names: Collection[str] = ()
    """Those of whom or what it names."""
    others: Collection[str] = ()
    """Those of whom it asks about, other than the speaker."""
    compounds: Collection[tuple[str, str]] = ()
    """Those of its terms that stand together, as in car insurance."""
    home: bool = False
    """Whether it asks where its asker lives."""


class _Told(Struct, frozen=True, dict=True):
    """What one of the hits says, and when it was said. It is compared with others, and read once."""

    hit: Hit
    text: str
    at: int

    @property
    def held(self) -> float:
        return self.hit.signals.get(KIN, 0.0)

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset(words.terms(self.text))

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(succession.names(self.text))

    @cached_property
    def people(self) -> frozenset[str]:
        """Those whom it tells of, other than its speaker."""
        return bystanders(self.text)


def newest_first(
    desk: Desk,
    rooms: Sequence[RoomKeys],
    hits: Sequence[Hit],
    wanted: Wanted,
    bounds: Bounds,
    alike: Alike,
) -> list[Hit]:
    """The hits, best first, the newest that tells what is wanted before the older ones that do."""
    best = hits[:LOOKED_AT]
    most = max((hit.signals.get(KIN, 0.0) for hit in best), default=0.0)
    keys = {one.room: one for one in rooms}
    told: dict[str, list[_Told]] = defaultdict(list)
    for one in _told(desk, keys, best, bounds):
        told[one.hit.room.owner].append(one)
    lifted: dict[tuple[Room, str], Hit] = {}
    for number, some in enumerate(told.values()):
        named = some if number else [*some, *_looked_up(desk, keys, some, wanted, bounds)]
        for older, newer in (
            _outgrown(some, wanted, most),
            _succeeded(named, wanted),
            _changed(some, wanted, alike),
        ):
            if newer is not None and newer.hit.score <= older.hit.score:
                lifted[newer.hit[:2]] = ahead(newer.hit, older.hit)
    if not lifted:
        return list(hits)
    stayed = (hit for hit in hits if hit[:2] not in lifted)
    return best_first([*stayed, *lifted.values()])


def _looked_up(
    desk: Desk, keys: Mapping[Room, RoomKeys], some: Sequence[_Told], wanted: Wanted, bounds: Bounds
) -> list[_Told]:
    """More lines of the same speaker that hold what the best of these tells, or that tell of a move."""
    older, known = some[0], {one.hit[:2] for one in some}
    value = succession.told(older.text, wanted.terms)
    names = [term for term in value if term in older.names]
    terms = [*(names or value)[:_MOST_TERMS], *(moving.TERMS if wanted.home else ())]
    if not terms:
        return []
    rooms = [one for room, one in keys.items() if room.owner == older.hit.room.owner]
    spelt = Spelt(terms, range(len(terms)), [1.0] * len(terms))
    found = by_words(desk, rooms, spelt, _LOOKED_UP, bounds)
    more = [Hit(hit.room, hit.id, 0.0, {}) for hit in found if hit[:2] not in known]
    return list(_told(desk, keys, more, bounds))


def _outgrown(some: Sequence[_Told], wanted: Wanted, most: float) -> tuple[_Told, _Told | None]:
    """The best of one speaker's lines that hold the question, and the newest that tells it another way."""
    rivals = [one for one in some if one.held and one.held >= _AS_MUCH * most] or [some[0]]
    older = rivals[0]
    stated = telling.tells(older.text, wanted.terms)
    return older, _newest(
        one
        for one in rivals
        if one.at - older.at >= _APART_MS
        and older.hit.score - one.hit.score <= _AS_WELL
        and (one.held >= _LEAST_HELD or _shared(older, one) > _LEAST_SHARED)
        and (telling.tells(one.text, wanted.terms) if stated else telling.changes(one.text, wanted.terms))
        and _of_the_same_people(older, one, wanted)
    )


def _succeeded(some: Sequence[_Told], wanted: Wanted) -> tuple[_Told, _Told | None]:
    """The best of one speaker's lines, and the newest by which what it tells has come to an end."""
    older = some[0]
    value = frozenset(succession.told(older.text, wanted.terms))
    return older, _newest(
        one for one in some if one.at - older.at >= _APART_MS and _succeeds(older, one, value, wanted)
    )


def _succeeds(older: _Told, newer: _Told, value: frozenset[str], wanted: Wanted) -> bool:
    """Whether the newer line says that what the older tells is over, or what has come in its place."""
    if wanted.home and moving.moved(newer.text):
        return True
    if value.isdisjoint(newer.terms):
        return False
    said = succession.over(newer.text, value)
    said = said or succession.replaced(newer.text, older.names & value, {*older.terms, *wanted.terms})
    if said is None:
        return False
    others = bystanders(said) - PRONOUNS - newer.names
    return others <= {*older.terms, *older.people, *wanted.others}


def _changed(some: Sequence[_Told], wanted: Wanted, alike: Alike) -> tuple[_Told, _Told | None]:
    """The best of one speaker's lines, and the newest near it in meaning that says what has changed."""
    older = some[0]
    known = older.terms | set(wanted.terms)
    newer = [
        (one, sign)
        for one in some
        if one.at - older.at >= _APART_MS
        and (sign := _sign(older, one, known))
        and _names(one, wanted)
        and _of_the_same_people(older, one, wanted)
        and not _of_another_kind(older, one, wanted)
    ]
    near = alike(older.hit[:2], [one.hit[:2] for one, _ in newer]) if newer else {}
    return older, _newest(one for one, sign in newer if _is_alike(older, one, near.get(one.hit[:2]), sign))


def _sign(older: _Told, newer: _Told, known: Collection[str]) -> float | None:
    """How near in meaning the newer line must be to outdate the older one; None if it does not say so."""
    changed = telling.has_changed(newer.text, known)
    if newer.held < _LITTLE <= older.held:
        return _ALIKE if changed else None
    if changed or telling.is_so_now(newer.text, known):
        return _HARDLY_ALIKE if _has_another(older, newer) else _ALIKE if changed else _MORE_ALIKE
    return _MORE_ALIKE if newer.held >= _AS_MUCH * older.held and _has_another(older, newer) else None


def _is_alike(older: _Told, newer: _Told, near: float | None, enough: float) -> bool:
    """Whether both tell of the same: by how near they are in meaning, or if that is not known by words."""
    if near is not None:
        return near >= enough
    return enough != _MORE_ALIKE and _shared(older, newer) >= _LEAST_SHARED


def _newest(some: Iterable[_Told]) -> _Told | None:
    return max(some, key=lambda one: (one.at, one.hit.id), default=None)


def _has_another(older: _Told, newer: _Told) -> bool:
    """Whether both have a value of one kind, and the newer another: Friday, not Monday."""
    before, now = telling.values(older.text), telling.values(newer.text)
    return any(before[kind].isdisjoint(now[kind]) for kind in before.keys() & now.keys())


def _of_another_kind(older: _Told, newer: _Told, wanted: Wanted) -> bool:
    """Whether the newer line has another word before one of the question's: house, not car insurance."""
    found = telling.compounds(newer.text)
    return any(
        last == kind and first not in older.terms
        for of, kind in wanted.compounds
        if of not in newer.terms
        for first, last in found
    )


def _names(one: _Told, wanted: Wanted) -> bool:
    """Whether the line names one of whom or what the question names."""
    return not wanted.names or not one.terms.isdisjoint(wanted.names)


def _of_the_same_people(older: _Told, newer: _Told, wanted: Wanted) -> bool:
    """Whether the newer line tells of nobody whom neither the older nor the question speaks of."""
    return newer.people <= {*older.terms, *older.people, *wanted.others}


def _shared(older: _Told, newer: _Told) -> float:
    """How much of what the older line has the newer has too."""
    return len(older.terms & newer.terms) / max(1, len(older.terms))


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
