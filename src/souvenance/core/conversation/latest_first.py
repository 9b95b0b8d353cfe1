"""Puts the message that says what is so now before one that is no longer so.

Which one replaces which is known from the facts of the cards; only messages that the search may return have a
part in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain

from souvenance.core.conversation.cards import stands_of
from souvenance.core.conversation.compartments import compartment_of
from souvenance.core.request_context import RequestContext
from souvenance.core.supersession import LOOKED_AT, ahead
from souvenance.domain.current_facts import Stand, label_of, one_at_a_time, outdated
from souvenance.domain.line import SealedLine
from souvenance.errors import Tampered
from souvenance.language import terms as words
from souvenance.language.facts import words_for
from souvenance.ports.index import Hit

Found = tuple[SealedLine, Hit]


def latest_first(
    ctx: RequestContext,
    found: Sequence[Found],
    terms: Collection[str],
    test: Callable[[SealedLine], bool],
    limit: int,
) -> list[Found]:
    """What was found, best first, each message that one of the best is outdated by before that."""
    best = {(line.compartment, line.id): (line, hit) for line, hit in found}
    looked_at: dict[str, set[str]] = defaultdict(set)
    for line, _ in found[:LOOKED_AT]:
        looked_at[line.compartment.owner].add(line.id)
    for owner, messages in looked_at.items():
        for stale, line in _outdating(ctx, owner, messages, terms, test):
            _, before = best[stale.compartment, stale.id]
            _, hit = best.get((line.compartment, line.id), (line, Hit(line.compartment, line.id, 0.0, {})))
            if hit.score <= before.score:
                best[line.compartment, line.id] = line, ahead(hit, before)
    return sorted(best.values(), key=lambda one: one[1].score, reverse=True)[:limit]


def _outdating(
    ctx: RequestContext,
    owner: str,
    found: Collection[str],
    terms: Collection[str],
    test: Callable[[SealedLine], bool],
) -> Iterator[tuple[SealedLine, SealedLine]]:
    """Those of the found messages that are outdated, each with the message that says what is so now."""
    by_namespace = _stands(ctx, owner, found)
    said = (
        ctx.tx.lines.get_all(compartment_of(ctx, owner, namespace), {stand.said for stand in stands})
        for namespace, stands in by_namespace.items()
    )
    shown = {
        line.id: line for line in chain.from_iterable(said) if line.invalidated_by is None and test(line)
    }
    stands = [stand for stand in chain.from_iterable(by_namespace.values()) if stand.said in shown]
    latest = {stand.source: stand.said for stand in sorted(stands, key=lambda stand: stand.when)}
    old = outdated(stands)
    for stand in stands:
        if stand.said in found and stand.source in old and _is_asked(stand, terms):
            now = latest[old[stand.source]]
            if now != stand.said:
                yield shown[stand.said], shown[now]


def _stands(ctx: RequestContext, owner: str, found: Collection[str]) -> dict[str, list[Stand]]:
    """The facts of the peer's own cards, by namespace, of the labels that these messages state a value of.

    Of cards that can't be read, nothing: a search does without.
    """
    try:
        known = stands_of(ctx, owner, owner)
    except Tampered:
        return {}
    stated = {label_of(one.text) for some in known.values() for one in some if one.said in found}
    labels = set(filter(one_at_a_time, stated))
    return {
        namespace: [stand for stand in stands if label_of(stand.text) in labels]
        for namespace, stands in known.items()
    }


def _is_asked(stand: Stand, terms: Collection[str]) -> bool:
    """Whether the question has a word in which such facts are stated."""
    label = stand.text.partition(": ")[0]
    return not words.terms(f"{label} {words_for(label)}").keys().isdisjoint(terms)
