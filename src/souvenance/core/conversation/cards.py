"""Cards: the few key facts that an observer keeps of a peer, in each namespace one line that is replaced
as a whole.

Beside what the card says, the line keeps every fact that was said, with its conclusion and its time; so the
card is made anew whenever one comes or goes. What a person wrote by hand stays, and only what is learned
after that is added to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.conversation.compartments import Changes, Opener, compartment_of, write_line
from souvenance.core.request_context import RequestContext
from souvenance.core.search import LOOKED_AT, Test, ahead
from souvenance.decoders import settled
from souvenance.domain.current_facts import CardEntry, Stand, holding, label_of, one_at_a_time, outdated
from souvenance.domain.line import CARD, SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import Tampered
from souvenance.language import terms as words
from souvenance.language.facts import words_for
from souvenance.ports.index import Hit
from souvenance.ports.store import ViewQuery

MOST_ENTRIES = 40
_TAG_BYTES = 16
"""Of a sealed text the last bytes, which no other one has."""
MOST_STANDS = 1000
"""How many facts are kept that a card may be made of; of more, the newest."""


class _Card(Struct, frozen=True):
    """What the line says of the card; None if none was ever made."""

    entries: list[CardEntry] | None = None


class KeptCard(_Card, frozen=True):
    """All that the line says."""

    stands: list[Stand] = []
    overruled: list[str] = []
    """The messages whose facts were known when somebody wrote the card by hand: that took their place."""
    taken_off: list[tuple[str, str]] = []
    """Single facts that somebody corrected or removed: the message that states each, and its text."""


def read_card(ctx: RequestContext, observer: str, observed: str) -> list[CardEntry] | None:
    """What the cards of every namespace say, nothing twice; None if there never was one. What was replaced by
    something that was said in another namespace is left out. Raises: Tampered."""
    lines = _lines(ctx, observer, observed, ctx.scope.namespaces)
    key = (read_card, *_versions(lines.values()))
    known: tuple[list[CardEntry] | None] | None = ctx.services.memo.get(key)
    if known is None:
        known = (_entries(Opener(ctx), lines),)
        ctx.services.memo.keep(key, known)
    return known[0]


def _entries(opener: Opener, lines: Mapping[str, SealedLine]) -> list[CardEntry] | None:
    """What these cards, by namespace, say. Of a single card only its entries are read: the rest is long."""
    if len(lines) == 1:
        [line] = lines.values()
        return msgspec.json.decode(opener.text(line), type=settled(_Card)).entries
    every = [_opened(opener, lines[namespace]) for namespace in sorted(lines)]
    cards = [kept.entries for kept in every if kept.entries is not None]
    if not cards:
        return None
    shown = dict.fromkeys(chain.from_iterable(cards))
    stands = [stand for kept in every for stand in kept.stands]
    by_hand = [entry for entry in shown if entry.source is None]
    return [entry for entry in _fitted(by_hand, stands) if entry in shown]


def outdated_of(
    ctx: RequestContext, observer: str, observed: str, sessions: frozenset[str] | None
) -> Mapping[str, str]:
    """For each conclusion that states a replaced value, the one that states the newest; only what was said in
    these sessions counts. Raises: Tampered."""
    lines = _lines(ctx, observer, observed, ctx.scope.namespaces).values()
    key = (outdated_of, sessions, *_versions(lines))
    known: Mapping[str, str] | None = ctx.services.memo.get(key)
    if known is None:
        opener = Opener(ctx)
        stands = (stand for line in lines for stand in _opened(opener, line).stands)
        known = outdated(stand for stand in stands if sessions is None or stand.session in sessions)
        ctx.services.memo.keep(key, known)
    return known


def stands_of(ctx: RequestContext, observer: str, observed: str) -> dict[str, list[Stand]]:
    """The facts that were said of a peer, by namespace. Raises: Tampered."""
    opener = Opener(ctx)
    lines = _lines(ctx, observer, observed, ctx.scope.namespaces)
    return {namespace: _opened(opener, line).stands for namespace, line in lines.items()}


class Card:
    """The card that an observer has of a peer in one namespace. Raises, all of it: Tampered."""

    def __init__(self, ctx: RequestContext, observer: str, observed: str, namespace: str) -> None:
        self._ctx = ctx
        self._observer = observer
        self._observed = observed
        self._namespace = namespace

    @property
    def stands(self) -> list[Stand]:
        """The facts that were said of the peer."""
        return list(self._read().stands)

    def write(self, entries: Sequence[CardEntry], changes: Changes) -> None:
        """Put these entries in place of what it said."""
        before = self._read()
        overruled = sorted({stand.said for stand in before.stands})
        self._write(replace(before, entries=list(entries), overruled=overruled), changes)

    def amend(self, before: str | None, after: str | None, changes: Changes) -> bool:
        """Replace, add or take off one entry by hand. False, and no change, if it is not on the card."""
        kept = self._read()
        texts = [entry.text for entry in kept.entries or ()]
        if before is not None and before not in texts:
            return False
        at = len(texts) if before is None else texts.index(before)
        entries = [entry for entry in kept.entries or () if entry.text not in (before, after)]
        if after is not None:
            entries.insert(min(at, len(entries)), CardEntry(after))
        gone = {(stand.said, stand.text) for stand in kept.stands if stand.text == before}
        amended = replace(kept, entries=entries, taken_off=sorted(gone.union(kept.taken_off)))
        self._write(_remade(amended), changes)
        return True

    def add_news(self, news: Sequence[Stand], changes: Changes, *, makes_card: bool) -> None:
        """Note what was said and, where cards are made, put it on the card."""
        before = self._read()
        after = replace(before, stands=_newest((*before.stands, *news)))
        self._change(before, _remade(after) if makes_card else after, changes)

    def strike(self, sources: Collection[str], changes: Changes, *, messages: Collection[str] = ()) -> bool:
        """Take out what came from these conclusions or messages; what that had replaced holds again."""
        before = self._read()
        gone, unsaid = set(sources), set(messages)
        after = replace(
            before,
            stands=[one for one in before.stands if one.source not in gone and one.said not in unsaid],
            overruled=[message for message in before.overruled if message not in unsaid],
            taken_off=[one for one in before.taken_off if one[0] not in unsaid],
        )
        return self._change(before, after if before.entries is None else _remade(after), changes)

    def remake(self, stands: Iterable[Stand], changes: Changes) -> None:
        """Make the card anew of these facts and what was written by hand."""
        before = self._read()
        self._change(before, _remade(replace(before, stands=_newest(stands))), changes)

    def take_over(self, lines: Sequence[SealedLine], changes: Changes) -> None:
        """Make what these other cards keep part of this one."""
        opener = Opener(self._ctx)
        given = [_opened(opener, line) for line in lines]
        for line in lines:
            self._delete(line, changes)
        every = [self._read(), *given]
        together = _together(every)
        made = sum(kept.entries is not None for kept in every)
        self._write(_remade(together) if made > 1 else together, changes)

    def of(self, sources: Collection[str]) -> KeptCard:
        kept = self._read()
        stands = [one for one in kept.stands if one.source in sources]
        said = {one.said for one in stands}
        return KeptCard(
            None if kept.entries is None else [],
            stands,
            [message for message in kept.overruled if message in said],
            [one for one in kept.taken_off if one[0] in said],
        )

    def take(self, part: KeptCard, changes: Changes) -> None:
        """Make what another card kept part of this one."""
        if part.stands:
            together = _together([self._read(), part])
            self._write(together if together.entries is None else _remade(together), changes)

    def _line(self) -> SealedLine | None:
        return _lines(self._ctx, self._observer, self._observed, (self._namespace,)).get(self._namespace)

    def _read(self) -> KeptCard:
        line = self._line()
        return KeptCard() if line is None else _opened(Opener(self._ctx), line)

    def _change(self, before: KeptCard, after: KeptCard, changes: Changes) -> bool:
        if after != before:
            self._write(after, changes)
        return after != before

    def _write(self, kept: KeptCard, changes: Changes) -> None:
        ctx, earlier = self._ctx, self._line()
        if earlier is not None:
            self._delete(earlier, changes)
        keys = ctx.services.vault.compartment(ctx.tx, compartment_of(ctx, self._observer, self._namespace))
        text = msgspec.json.encode(kept).decode()
        changes.add(write_line(ctx, keys, ctx.fresh_id(), CARD, text, about=self._observed))

    def _delete(self, line: SealedLine, changes: Changes) -> None:
        self._ctx.tx.lines.delete(line.compartment, (line.id,))
        changes.lose(line.compartment, (line.id,))


def _together(every: Sequence[KeptCard]) -> KeptCard:
    made = [kept.entries for kept in every if kept.entries is not None]
    return KeptCard(
        list(dict.fromkeys(chain.from_iterable(made))) if made else None,
        _newest(stand for kept in every for stand in kept.stands),
        sorted({message for kept in every for message in kept.overruled}),
        sorted({one for kept in every for one in kept.taken_off}),
    )


def _newest(stands: Iterable[Stand]) -> list[Stand]:
    """Each once, in the order in which they were said, at most so many."""
    return sorted(set(stands), key=attrgetter("when", "text"))[-MOST_STANDS:]


def _remade(kept: KeptCard) -> KeptCard:
    """With the card of what was written by hand and what was learned after that."""
    by_hand = [entry for entry in kept.entries or () if entry.source is None]
    overruled, taken_off = set(kept.overruled), set(kept.taken_off)
    learned = (
        stand
        for stand in kept.stands
        if stand.said not in overruled and (stand.said, stand.text) not in taken_off
    )
    entries = _fitted(by_hand, learned)
    return kept if kept.entries is None and not entries else replace(kept, entries=entries)


def _fitted(by_hand: Sequence[CardEntry], stands: Iterable[Stand]) -> list[CardEntry]:
    """What was written by hand, and beside it those facts that it says nothing about."""
    written = {entry.text.casefold() for entry in by_hand}
    settled = {label for entry in by_hand if one_at_a_time(label := label_of(entry.text))}
    open_ones = (
        stand
        for stand in stands
        if label_of(stand.text) not in settled and stand.text.casefold() not in written
    )
    said = holding(open_ones, max(0, MOST_ENTRIES - len(by_hand)))
    return [*by_hand, *(CardEntry(stand.text, stand.source, stand.at) for stand in said)]


def _lines(
    ctx: RequestContext, observer: str, observed: str, namespaces: Collection[str] | None
) -> dict[str, SealedLine]:
    span = ViewQuery(ctx.scope.workspace, (CARD,), owner=observer, about=observed, namespaces=namespaces)
    return {line.compartment.namespace: line for line in reversed(ctx.tx.lines.views(span))}


def _versions(lines: Iterable[SealedLine]) -> list[tuple[Compartment, bytes]]:
    """By what cards that were read before are known again. Elsewhere a line may have the same id."""
    return sorted((line.compartment, line.sealed[-_TAG_BYTES:]) for line in lines)


def _opened(opener: Opener, line: SealedLine) -> KeptCard:
    return msgspec.json.decode(opener.text(line), type=settled(KeptCard))


def latest_first(
    ctx: RequestContext,
    found: Sequence[tuple[SealedLine, Hit]],
    terms: Collection[str],
    test: Test,
    limit: int,
) -> list[tuple[SealedLine, Hit]]:
    """The found messages, best first; before an outdated one the message that says what is so now, as the
    cards know it and if the search may return it."""
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
    ctx: RequestContext, owner: str, found: Collection[str], terms: Collection[str], test: Test
) -> Iterator[tuple[SealedLine, SealedLine]]:
    """Those of the found messages that are outdated, each with the message that says what is so now."""
    by_namespace = _stated_by(ctx, owner, found)
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


def _stated_by(ctx: RequestContext, owner: str, found: Collection[str]) -> dict[str, list[Stand]]:
    """The facts of the peer's readable cards that these messages state a value of, by namespace."""
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
