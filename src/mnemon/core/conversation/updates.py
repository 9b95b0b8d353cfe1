"""Updates: before a message that is no longer so, the one that says what is so now.

Which outdates which is known from what was concluded from them; only messages that the search may return
have a part in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain

from mnemon.core.conversation.cards import stands_of, worked_out
from mnemon.core.conversation.place import room_of
from mnemon.core.desk import Desk
from mnemon.core.updating import LOOKED_AT, ahead
from mnemon.domain import words
from mnemon.domain.line import SealedLine
from mnemon.domain.standing import Stand, history, label_of, outdated
from mnemon.errors import Tampered
from mnemon.ports.index import Hit

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
    looked_at: dict[str, set[str]] = defaultdict(set)
    for line, _ in found[:LOOKED_AT]:
        looked_at[line.room.owner].add(line.id)
    for owner, messages in looked_at.items():
        for stale, line in _outdating(desk, owner, messages, terms, test):
            _, before = best[stale.room, stale.id]
            _, hit = best.get((line.room, line.id), (line, Hit(line.room, line.id, 0.0, {})))
            if hit.score <= before.score:
                best[line.room, line.id] = line, ahead(hit, before)
    return sorted(best.values(), key=lambda one: (one[1].score, one[1].id), reverse=True)[:limit]


def _outdating(
    desk: Desk,
    owner: str,
    found: Collection[str],
    terms: Collection[str],
    test: Callable[[SealedLine], bool],
) -> Iterator[tuple[SealedLine, SealedLine]]:
    """Those of the found messages that are outdated, each with the message that says what is so now."""
    by_namespace = _stands(desk, owner, found)
    said = (
        desk.tx.lines.get_all(room_of(desk, owner, namespace), {stand.said for stand in stands})
        for namespace, stands in by_namespace.items()
    )
    shown = {
        line.id: line for line in chain.from_iterable(said) if line.invalidated_by is None and test(line)
    }
    stands = [stand for stand in chain.from_iterable(by_namespace.values()) if stand.said in shown]
    latest = {stand.source: stand.said for stand in sorted(stands, key=lambda stand: stand.when)}
    old = outdated(stands)
    for stand in stands:
        if stand.said in found and stand.source in old and _is_asked(stand, stands, terms):
            now = latest[old[stand.source]]
            if now != stand.said:
                yield shown[stand.said], shown[now]


def _stands(desk: Desk, owner: str, found: Collection[str]) -> dict[str, list[Stand]]:
    """What the peer's own cards are made of, by namespace, as far as it contends with what these say.

    Of cards that can't be read, nothing: a search does without.
    """
    try:
        contests = worked_out(desk, owner, owner, (_contests,), _contests)
        messages = {message for one in found for contest in contests.get(one, ()) for message in contest}
        stands = stands_of(desk, owner, owner) if messages else {}
    except Tampered:
        return {}
    return {
        namespace: [stand for stand in some if stand.denies or stand.said in messages]
        for namespace, some in stands.items()
    }


def _contests(stands: Collection[Stand]) -> Mapping[str, Collection[Collection[str]]]:
    """For each message that another may outdate, or once did: those that contend, one way or another."""
    parties: dict[str, set[str]] = {}
    for one, other in chain(outdated(stands).items(), history(stands)):
        fewer, more = sorted((parties.get(one, {one}), parties.get(other, {other})), key=len)
        more |= fewer
        parties.update(dict.fromkeys((*fewer, one, other), more))
    contests: dict[int, set[str]] = defaultdict(set)
    found: dict[str, dict[int, set[str]]] = defaultdict(dict)
    for stand in stands:
        if stand.source in parties:
            number = id(parties[stand.source])
            contests[number].add(stand.said)
            found[stand.said][number] = contests[number]
    return {message: tuple(some.values()) for message, some in found.items()}


def _is_asked(stand: Stand, stands: Sequence[Stand], terms: Collection[str]) -> bool:
    """Whether that is asked about, or is all that the message tells."""
    alone = all(other.source == stand.source for other in stands if other.said == stand.said)
    return alone or not words.terms(label_of(stand.text)).keys().isdisjoint(terms)
