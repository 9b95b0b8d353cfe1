"""Cards: the few key facts that an observer keeps of a peer, in each namespace one line that is replaced
as a whole.

Beside what the card says, the line keeps every fact that was said, with its conclusion and its time; so what
holds is told anew whenever one comes or goes. What a person wrote by hand stays, and only what is learned
after that is added to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.conversation.compartments import Changes, Opener, compartment_of, write_line
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain.current_facts import CardEntry, Stand, holding, label_of, one_at_a_time, outdated
from souvenance.domain.line import CARD, SealedLine
from souvenance.ports.store import Views

MOST_ENTRIES = 40
MOST_STANDS = 1000
"""How many facts are kept that a card may be made of; of more, the newest."""


class _Card(Struct, frozen=True):
    """What the line says of the card; None if none was ever made."""

    entries: list[CardEntry] | None = None


class _Kept(_Card, frozen=True):
    """All that it says."""

    stands: list[Stand] = []
    overruled: list[str] = []
    """The messages whose facts were known when somebody wrote the card by hand: that took their place."""
    taken_off: list[tuple[str, str]] = []
    """Single facts that somebody corrected or removed: the message that states each, and its text."""


def read_card(ctx: RequestContext, observer: str, observed: str) -> list[CardEntry] | None:
    """What the cards of every namespace say, nothing twice; None if there never was one.

    What was replaced by something that was said in another namespace is left out.

    Raises: Tampered.
    """
    lines = _lines(ctx, observer, observed, ctx.scope.namespaces)
    opener = Opener(ctx)
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
    """For each conclusion about the peer that states a replaced value, the one that states the newest.

    What counts was said in a namespace and a session that may be looked into; None for any session.

    Raises: Tampered.
    """
    lines = _lines(ctx, observer, observed, ctx.scope.namespaces).values()
    key = (outdated_of, sessions, *sorted(line.id for line in lines))
    known: Mapping[str, str] | None = ctx.services.memo.get(key)
    if known is None:
        opener = Opener(ctx)
        stands = (stand for line in lines for stand in _opened(opener, line).stands)
        known = outdated(stand for stand in stands if sessions is None or stand.session in sessions)
        ctx.services.memo.keep(key, known)
    return known


def stands_of(ctx: RequestContext, observer: str, observed: str) -> dict[str, list[Stand]]:
    """The facts that were said of a peer, by namespace.

    Raises: Tampered.
    """
    opener = Opener(ctx)
    lines = _lines(ctx, observer, observed, ctx.scope.namespaces)
    return {namespace: _opened(opener, line).stands for namespace, line in lines.items()}


def stands_in(ctx: RequestContext, observer: str, observed: str, namespace: str) -> list[Stand]:
    """The facts that were said of a peer in that namespace.

    Raises: Tampered.
    """
    return list(_kept(ctx, observer, observed, namespace).stands)


def write_card(
    ctx: RequestContext,
    observer: str,
    observed: str,
    namespace: str,
    entries: Sequence[CardEntry],
    changes: Changes,
) -> None:
    """Put these entries in place of what the card of that namespace said."""
    before = _kept(ctx, observer, observed, namespace)
    overruled = sorted({stand.said for stand in before.stands})
    after = replace(before, entries=list(entries), overruled=overruled)
    _write(ctx, observer, observed, namespace, after, changes)


def amend_card(
    ctx: RequestContext,
    observer: str,
    observed: str,
    namespace: str,
    before: str | None,
    after: str | None,
    changes: Changes,
) -> bool:
    """Put one entry by hand in place of another, add it, or take one off; the rest of the card stays.

    False, and no change, if the card of that namespace does not have the entry.

    Raises: Tampered.
    """
    kept = _kept(ctx, observer, observed, namespace)
    texts = [entry.text for entry in kept.entries or ()]
    if before is not None and before not in texts:
        return False
    at = len(texts) if before is None else texts.index(before)
    entries = [entry for entry in kept.entries or () if entry.text not in (before, after)]
    if after is not None:
        entries.insert(min(at, len(entries)), CardEntry(after))
    gone = {(stand.said, stand.text) for stand in kept.stands if stand.text == before}
    amended = replace(kept, entries=entries, taken_off=sorted(gone.union(kept.taken_off)))
    _write(ctx, observer, observed, namespace, _remade(amended), changes)
    return True


def add_news(
    ctx: RequestContext,
    observer: str,
    observed: str,
    namespace: str,
    news: Sequence[Stand],
    changes: Changes,
    *,
    makes_card: bool,
) -> None:
    """Note what was said and, where cards are made, put it on the card.

    Raises: Tampered.
    """
    before = _kept(ctx, observer, observed, namespace)
    after = replace(before, stands=_newest((*before.stands, *news)))
    if makes_card:
        after = _remade(after)
    if after != before:
        _write(ctx, observer, observed, namespace, after, changes)


def strike(
    ctx: RequestContext,
    observer: str,
    observed: str,
    namespace: str,
    sources: Collection[str],
    changes: Changes,
    *,
    messages: Collection[str] = (),
) -> bool:
    """Take out what came from these conclusions, or was said in these messages; whether there was any.

    What that had replaced holds again.

    Raises: Tampered.
    """
    before = _kept(ctx, observer, observed, namespace)
    gone, unsaid = set(sources), set(messages)
    after = replace(
        before,
        stands=[one for one in before.stands if one.source not in gone and one.said not in unsaid],
        overruled=[message for message in before.overruled if message not in unsaid],
        taken_off=[one for one in before.taken_off if one[0] not in unsaid],
    )
    if before.entries is not None:
        after = _remade(after)
    if after != before:
        _write(ctx, observer, observed, namespace, after, changes)
    return after != before


def remake(
    ctx: RequestContext,
    observer: str,
    observed: str,
    namespace: str,
    stands: Iterable[Stand],
    changes: Changes,
) -> None:
    """Make the card anew of these facts and what was written by hand.

    Raises: Tampered.
    """
    before = _kept(ctx, observer, observed, namespace)
    after = _remade(replace(before, stands=_newest(stands)))
    if after != before:
        _write(ctx, observer, observed, namespace, after, changes)


def hand_over(
    ctx: RequestContext,
    lines: Sequence[SealedLine],
    observer: str,
    observed: str,
    namespace: str,
    changes: Changes,
) -> None:
    """Make what these cards keep part of the one that the observer has of that peer.

    Raises: Tampered.
    """
    opener = Opener(ctx)
    given = [_opened(opener, line) for line in lines]
    for line in lines:
        ctx.tx.lines.delete(line.compartment, (line.id,))
        changes.lose(line.compartment, (line.id,))
    every = [_kept(ctx, observer, observed, namespace), *given]
    made = [kept.entries for kept in every if kept.entries is not None]
    together = _Kept(
        list(dict.fromkeys(chain.from_iterable(made))) if made else None,
        _newest(stand for kept in every for stand in kept.stands),
        sorted({message for kept in every for message in kept.overruled}),
        sorted({one for kept in every for one in kept.taken_off}),
    )
    _write(ctx, observer, observed, namespace, _remade(together) if len(made) > 1 else together, changes)


def count_entries(ctx: RequestContext, observer: str, observed: str, namespace: str) -> int:
    """How many lines the card of one namespace has.

    Raises: Tampered.
    """
    return len(_kept(ctx, observer, observed, namespace).entries or ())


def _newest(stands: Iterable[Stand]) -> list[Stand]:
    """Each once, in the order in which they were said, at most so many."""
    return sorted(set(stands), key=attrgetter("when", "text"))[-MOST_STANDS:]


def _remade(kept: _Kept) -> _Kept:
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


def _write(
    ctx: RequestContext, observer: str, observed: str, namespace: str, kept: _Kept, changes: Changes
) -> None:
    earlier = _lines(ctx, observer, observed, (namespace,)).get(namespace)
    if earlier is not None:
        ctx.tx.lines.delete(earlier.compartment, (earlier.id,))
        changes.lose(earlier.compartment, (earlier.id,))
    keys = ctx.services.vault.compartment(ctx.tx, compartment_of(ctx, observer, namespace))
    text = msgspec.json.encode(kept).decode()
    changes.add(write_line(ctx, keys, ctx.fresh_id(), CARD, text, about=observed))


def _kept(ctx: RequestContext, observer: str, observed: str, namespace: str) -> _Kept:
    line = _lines(ctx, observer, observed, (namespace,)).get(namespace)
    return _Kept() if line is None else _opened(Opener(ctx), line)


def _lines(
    ctx: RequestContext, observer: str, observed: str, namespaces: Collection[str] | None
) -> dict[str, SealedLine]:
    """The card of each namespace that has one."""
    span = Views(ctx.scope.workspace, (CARD,), owner=observer, about=observed, namespaces=namespaces)
    return {line.compartment.namespace: line for line in reversed(ctx.tx.lines.views(span))}


def _opened(opener: Opener, line: SealedLine) -> _Kept:
    return msgspec.json.decode(opener.text(line), type=settled(_Kept))


def is_card(text: str) -> bool:
    """Whether the line of a card may say that."""
    try:
        msgspec.json.decode(text, type=settled(_Kept))
    except msgspec.MsgspecError:
        return False
    return True
