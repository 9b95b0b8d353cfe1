"""Updates: before a message that is no longer so, the one that says what is so now.

Which outdates which is known from what was concluded from them; only messages that the search may return
have a part in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from mnemon.core.conversation.cards import stands_in
from mnemon.core.desk import Desk
from mnemon.core.updating import LOOKED_AT, ahead
from mnemon.domain import words
from mnemon.domain.line import SealedLine
from mnemon.domain.names import Room
from mnemon.domain.standing import Stand, label_of, outdated
from mnemon.errors import Tampered
from mnemon.ports.index import Hit

_TASTES = {"likes", "dislikes"}
"""Labels of which one outdates the other."""

Found = tuple[SealedLine, Hit]


def latest_first(
    desk: Desk,
    found: Sequence[Found],
    terms: Collection[str],
    test: Callable[[SealedLine], bool],
    limit: int,
) -> list[Found]:
    """What was found, best first, each message that one of the best is outdated by before that."""
    best = {(line.room, line.id): (line, hit) for line, hit in found}
    for room in dict.fromkeys(line.room for line, _ in found[:LOOKED_AT]):
        for stale, line in _outdating(desk, room, [one.id for one, _ in found[:LOOKED_AT]], terms, test):
            _, before = best[room, stale]
            _, hit = best.get((room, line.id), (line, Hit(room, line.id, 0.0, {})))
            if hit.score <= before.score:
                best[room, line.id] = line, ahead(hit, before)
    return sorted(best.values(), key=lambda one: (one[1].score, one[1].id), reverse=True)[:limit]


def _outdating(
    desk: Desk,
    room: Room,
    found: Collection[str],
    terms: Collection[str],
    test: Callable[[SealedLine], bool],
) -> Iterator[tuple[str, SealedLine]]:
    """Those of the found messages that are outdated, each with the message that says what is so now."""
    stands = _stands(desk, room)
    labels = {label_of(stand.text) for stand in stands if stand.said in found and not stand.denies}
    if not labels:
        return
    labels |= _TASTES if labels & _TASTES else set()
    stands = [stand for stand in stands if stand.denies or label_of(stand.text) in labels]
    said = desk.tx.lines.get_all(room, {stand.said for stand in stands})
    shown = {line.id: line for line in said if line.invalidated_by is None and test(line)}
    stands = [stand for stand in stands if stand.said in shown]
    latest = {stand.source: stand.said for stand in sorted(stands, key=lambda stand: stand.when)}
    old = outdated(stands)
    for stand in stands:
        if stand.said in found and stand.source in old and _is_asked(stand, stands, terms):
            now = latest[old[stand.source]]
            if now != stand.said:
                yield stand.said, shown[now]


def _stands(desk: Desk, room: Room) -> list[Stand]:
    """What the peer's own card is made of; of one that can't be read, nothing: a search does without."""
    try:
        return stands_in(desk, room.owner, room.owner, room.namespace)
    except Tampered:
        return []


def _is_asked(stand: Stand, stands: Sequence[Stand], terms: Collection[str]) -> bool:
    """Whether that is asked about, or is all that the message tells."""
    alone = all(other.source == stand.source for other in stands if other.said == stand.said)
    return alone or not words.terms(label_of(stand.text)).keys().isdisjoint(terms)
