"""Dream: consolidate what an observer holds of a peer in one namespace.

The same said in other words of one session is told once, with all its sources; what several conclusions say
together becomes one that names them; the card is made anew of what stands. No reasoner is asked and nothing
is read but conclusions, so what was deleted stays so, and nobody comes to know what was said where they were
not. A second dream changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec
from msgspec import Struct

from mnemon.core.conversation import directory
from mnemon.core.conversation.cards import card_of, rebuild, stands_in
from mnemon.core.conversation.conclusions import (
    EXPLICIT,
    KINDS,
    View,
    Whose,
    conclude,
    likeness,
    newest_views,
)
from mnemon.core.conversation.place import Changes, Opener, room_of
from mnemon.core.desk import Desk
from mnemon.domain import habits
from mnemon.domain.generalise import Pattern, Said, patterns
from mnemon.domain.line import SealedLine
from mnemon.domain.names import Room
from mnemon.domain.standing import Correction, Stand, renamed
from mnemon.domain.tasks import DREAM, IDLE, Errand, Task
from mnemon.domain.trust import Trust, of_conclusion, of_statement
from mnemon.domain.wording import gist
from mnemon.ports.book import Views

IDLE_MS = 60 * 60 * 1000
"""How long nothing new must have been concluded of a peer before it is dreamt of."""

MOST_COUNTED = 2000
"""How many conclusions a look at the stock opens at most: it takes some 40 µs for each."""

_MOST_VIEWS = 5000
_DREAMT = '{"dreamt":true}'
"""The metadata of what a dream concluded, by which the next one knows its own."""


class Standing(Struct, frozen=True):
    """What an observer holds of a peer, oldest first."""

    observer: str
    observed: str
    namespace: str
    views: list[View]
    stands: list[Stand]
    entries: int
    """How many lines the card has."""

    @property
    def said(self) -> list[View]:
        """What was concluded from the peer's own words."""
        return [
            view
            for view in self.views
            if view.line.kind in EXPLICIT and view.trust == Trust.SAID and view.sources
        ]


class Merge(Struct, frozen=True):
    """Conclusions that say the same: the oldest, which stays, and the others."""

    kept: View
    others: list[View]


class Plan(Struct, frozen=True):
    """What a dream would do."""

    merges: list[Merge]
    patterns: list[Pattern]


class Census(Struct, frozen=True):
    """How much is held, and how much of it says nothing that the rest does not say."""

    conclusions: int = 0
    duplicates: int = 0
    outdated: int = 0
    quoted: int = 0
    suspect: int = 0
    reasoned: int = 0
    """Of all conclusions, those that were reasoned further from others."""
    entries: int = 0
    """How many lines the cards have."""

    def plus(self, other: Census) -> Census:
        mine, theirs = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Census(*(one + two for one, two in zip(mine, theirs, strict=True)))


def read_standing(
    desk: Desk, observer: str, observed: str, namespace: str, most: int = _MOST_VIEWS
) -> Standing:
    """At a desk that opens that namespace alone; the newest if there are more.

    Raises: Tampered.
    """
    views = newest_views(desk, Whose((observer,), observed), most)[::-1]
    stands = stands_in(desk, observer, observed, namespace)
    entries = len(card_of(desk, observer, observed, namespace))
    return Standing(observer, observed, namespace, views, stands, entries)


def think(standing: Standing, local: Callable[[int], int]) -> Plan:
    """What should become of it; `local` tells what clocks on the wall showed."""
    merges = _merges(standing)
    gone = {view.line.id: merge.kept.line.id for merge in merges for view in merge.others}
    more = {merge.kept.line.id: sum(view.line.times for view in merge.others) for merge in merges}
    said = [
        Said(view.line.id, view.text, view.at, view.line.times + more.get(view.line.id, 0))
        for view in standing.said
        if view.line.id not in gone
    ]
    stands = [renamed(stand, gone) for stand in standing.stands]
    return Plan(merges, patterns(said, stands, standing.observed, local))


def _merges(standing: Standing) -> list[Merge]:
    """Of what was derived, since what a caller stated is kept as it is, even twice."""
    alike: dict[tuple[str, str | None, str], list[View]] = defaultdict(list)
    for view in standing.views:
        if view.line.kind in EXPLICIT and view.sources:
            alike[view.line.kind, view.line.session, gist(view.text)].append(view)
    return [Merge(same[0], same[1:]) for same in alike.values() if len(same) > 1]


def keep_dream(desk: Desk, standing: Standing, plan: Plan) -> Changes:
    """Do what was planned, as far as what it is about is still there.

    Raises: Tampered.
    """
    changes = Changes()
    room = room_of(desk, standing.observer, standing.namespace)
    asked = {view.line.id for view in standing.views} | {stand.source for stand in standing.stands}
    found = desk.tx.lines.get_all(room, asked)
    alive = {line.id for line in found if line.invalidated_by is None}
    merged = _merge(desk, room, plan.merges, alive, changes)
    _reason(desk, room, standing, plan.patterns, alive - merged.keys(), changes)
    rebuild(
        desk,
        standing.observer,
        standing.observed,
        standing.namespace,
        changes,
        merged=merged,
        gone=asked - alive,
        corrections=_corrections(desk, room, found),
    )
    return changes


def _corrections(desk: Desk, room: Room, found: Iterable[SealedLine]) -> dict[str, Correction]:
    """Of the conclusions that somebody corrected, what the newest correction of each says.

    Raises: Tampered.
    """
    opener = Opener(desk)
    made = {}
    for line in found:
        newest: SealedLine | None = line
        while newest is not None and newest.invalidated_by is not None:
            newest = next(iter(desk.tx.lines.get_all(room, (newest.invalidated_by,))), None)
        if newest is None or newest is line or of_conclusion(newest.kind) != Trust.SAID:
            continue
        if newest.kind in EXPLICIT and of_statement(after := opener.text(newest)) == Trust.SAID:
            made[line.id] = Correction(newest.id, opener.text(line), after)
    return made


def census(standing: Standing) -> Census:
    """How much is held by one observer of one peer in one namespace."""
    trusts = [view.trust for view in standing.views]
    return Census(
        conclusions=len(standing.views),
        duplicates=sum(len(merge.others) for merge in _merges(standing)),
        outdated=sum(view.outdated_by is not None for view in standing.views),
        quoted=trusts.count(Trust.QUOTED),
        suspect=trusts.count(Trust.SUSPECT),
        reasoned=sum(view.line.kind not in EXPLICIT for view in standing.views),
        entries=standing.entries,
    )


def stock(
    desk: Desk, observers: Collection[str] | None = None, most: int = MOST_COUNTED
) -> tuple[Census, bool]:
    """How much those observers, or all of them, hold of anyone, as far as may be looked, and if that is all.

    Where there is more than `most`, those are counted first of whom something was concluded last.

    Raises: Tampered.
    """
    lines = [
        line
        for observer in ((None,) if observers is None else sorted(observers))
        for line in desk.tx.lines.views(
            Views(desk.scope.workspace, KINDS, observer, limit=most + 1, namespaces=desk.scope.namespaces)
        )
    ]
    total, left = Census(), most
    for room, about in dict.fromkeys((line.room, line.about or "") for line in lines):
        if left > 0:
            standing = read_standing(_alone(desk, room), room.owner, about, room.namespace, left)
            total = total.plus(census(standing))
            left -= len(standing.views)
    return total, total.conclusions >= len(lines)


def _alone(desk: Desk, room: Room) -> Desk:
    """A desk that opens that namespace alone."""
    scope = msgspec.structs.replace(desk.scope, namespaces=frozenset((room.namespace,)))
    return msgspec.structs.replace(desk, scope=scope)


def _merge(
    desk: Desk, room: Room, merges: Iterable[Merge], alive: set[str], changes: Changes
) -> dict[str, str]:
    """The conclusions that went, each with that which tells it now."""
    merged: dict[str, str] = {}
    for merge in merges:
        kept = merge.kept.line.id
        others = [view for view in merge.others if view.line.id in alive]
        if kept not in alive or not others:
            continue
        ids = [view.line.id for view in others]
        cited = desk.tx.lines.cited(desk.scope.workspace, ids)
        desk.tx.lines.reinforce(room, kept, sum(view.line.times for view in others))
        desk.tx.lines.cite(room, kept, sorted({source for one in ids for source in cited.get(one, ())}))
        _remove(desk, room, ids, changes)
        merged.update(dict.fromkeys(ids, kept))
    return merged


def _reason(
    desk: Desk,
    room: Room,
    standing: Standing,
    found: Sequence[Pattern],
    alive: set[str],
    changes: Changes,
) -> None:
    """Put the patterns in place of what earlier dreams concluded."""
    keys = desk.tools.vault.room(desk.tx, room)
    earlier = {
        view.line.likeness: view
        for view in standing.views
        if view.line.metadata == _DREAMT and view.line.kind not in EXPLICIT and view.line.id in alive
    }
    for pattern in found:
        if not alive.issuperset(pattern.sources):
            continue
        mark = likeness(keys.blind, "", pattern.key, pattern.kind)
        known = earlier.pop(mark, None)
        if known is not None:
            if known.text == pattern.text and tuple(known.sources) == pattern.sources:
                continue
            _remove(desk, room, [known.line.id], changes)
        line = conclude(
            desk,
            standing.observer,
            standing.observed,
            pattern.text,
            line_id=desk.fresh_id(),
            namespace=standing.namespace,
            session=None,
            said_at=pattern.at,
            likeness=mark,
            kind=pattern.kind,
            metadata=_DREAMT,
        )
        desk.tx.lines.cite(room, line.id, pattern.sources)
        changes.add(line)
    _remove(desk, room, [view.line.id for view in earlier.values()], changes)


def _remove(desk: Desk, room: Room, ids: Sequence[str], changes: Changes) -> None:
    if ids:
        desk.tx.terms.remove(room, ids)
        desk.tx.lines.delete(room, ids)
        changes.lose(room, ids)


def owe_rest(desk: Desk, session: str, about: str, namespace: str) -> None:
    """Have it seen to later whether to dream of that peer, unless it is or nobody should."""
    if not habits.dreams(*directory.habits(desk, session)):
        return
    if not desk.tx.work.waits(desk.scope.workspace, IDLE, about, namespace):
        desk.tx.work.add(
            Errand(desk.scope.workspace, IDLE, peer=about, namespace=namespace), desk.now + IDLE_MS
        )


def nod_off(desk: Desk, task: Task) -> Changes:
    """If nothing was concluded of the peer for a while, let all who hold something of it dream, or else wait.

    At a desk that opens the namespace of the errand alone.
    """
    about = task.peer or ""
    span = Views(desk.scope.workspace, EXPLICIT, about=about, namespaces=(task.namespace,))
    lines = desk.tx.lines.views(span)
    quiet_at = max((line.created_at for line in lines), default=0) + IDLE_MS
    if quiet_at > desk.now:
        desk.tx.work.add(Errand(task.workspace, IDLE, peer=about, namespace=task.namespace), quiet_at)
        return Changes()
    for observer in sorted({line.room.owner for line in lines}):
        payload = msgspec.json.encode({"observer": observer}).decode()
        errand = Errand(task.workspace, DREAM, peer=about, payload=payload, namespace=task.namespace)
        desk.tx.work.add(errand, desk.now)
    return Changes()
