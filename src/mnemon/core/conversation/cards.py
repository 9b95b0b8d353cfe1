"""Cards: the few key facts that an observer keeps of a peer, in each namespace one line that is replaced
as a whole.

Beside what the card says, the line keeps what every trait of the peer was concluded from and when that was
said, so that which of them still stand is told anew whenever one comes or goes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mnemon.core.conversation.place import Changes, Opener, room_of, write_line
from mnemon.core.desk import Desk
from mnemon.domain.begun import begun, is_ahead
from mnemon.domain.line import CARD, SealedLine
from mnemon.domain.names import Room
from mnemon.domain.shapes import settled
from mnemon.domain.standing import Correction, Stand, corrected, holding, left_of, outdated, renamed
from mnemon.errors import Tampered
from mnemon.ports.book import Views
from mnemon.ports.reasoner import Entry

MOST_ENTRIES = 40
MOST_STANDS = 1000
"""How much is kept of what a card may be made of; of more, the newest."""
_MOST_UNMET = 50

_T = TypeVar("_T")


class _Card(Struct, frozen=True):
    """What the line says of the card; None if none was ever made."""

    entries: list[Entry] | None = None


class _Kept(_Card, frozen=True):
    """All that it says: what stands or stood, too."""

    stands: list[Stand] = []
    unmet: list[str] = []
    """The messages that tell of the end of somebody who is not known, or correct what nobody said, until an
    older one tells who or what it is."""


def read_card(desk: Desk, observer: str, observed: str) -> list[Entry] | None:
    """What the cards of every namespace say, by namespace, nothing twice; None if there never was one.

    What is outdated by something that was said in another namespace is left out, in part if it is in part;
    what was to begin by now has begun.

    Raises: Tampered.
    """
    lines = _lines(desk, observer, observed, desk.scope.namespaces)
    opener = Opener(desk)
    if len(lines) <= 1:
        alone = next((_entries(opener, line) for line in lines.values()), None)
        if alone is None or not any(is_ahead(entry.text) for entry in alone):
            return alone
    found = [_opened(opener, lines[namespace]) for namespace in sorted(lines)]
    cards = [kept.entries for kept in found if kept.entries is not None]
    if not cards:
        return None
    stands = [stand for kept in found for stand in kept.stands]
    entries = cards[0] if len(lines) == 1 else _together(cards, stands)
    return _by_now(desk, entries, stands)


def _together(cards: Sequence[Sequence[Entry]], stands: Sequence[Stand]) -> list[Entry]:
    """What several cards say, without what is outdated by another of them."""
    old, left = holding(stands)
    together: dict[str, Entry] = {}
    for entry in chain.from_iterable(cards):
        if entry.source not in old:
            text = left.get(entry.source or "", entry.text)
            together.setdefault(text, Entry(text, entry.source))
    return list(together.values())


def _by_now(desk: Desk, entries: Sequence[Entry], stands: Sequence[Stand]) -> list[Entry]:
    """The entries as they read today."""
    at = {stand.text: stand.at for stand in sorted(stands, key=attrgetter("at"))}
    said_at = {entry.text: at[entry.text] for entry in entries if entry.source and entry.text in at}
    changed = begun([entry.text for entry in entries], said_at, desk.tools.local(desk.now))
    shown = ((changed.get(entry.text, entry.text), entry.source) for entry in entries)
    return [Entry(text, source) for text, source in shown if text is not None]


def outdated_of(
    desk: Desk, observer: str, observed: str, sessions: frozenset[str] | None
) -> Mapping[str, str]:
    """For each conclusion about the peer that no longer stands, the one that outdates it.

    What counts was said in a namespace and a session that may be looked into; None for any session.

    Raises: Tampered.
    """

    def among(stands: Iterable[Stand]) -> Mapping[str, str]:
        return outdated(stand for stand in stands if sessions is None or stand.session in sessions)

    return worked_out(desk, observer, observed, (outdated_of, sessions), among)


def worked_out(
    desk: Desk, observer: str, observed: str, what: Sequence[Hashable], work: Callable[[list[Stand]], _T]
) -> _T:
    """What comes of the stands of every namespace, ids alone, once for as long as the cards are the same.

    Raises: Tampered.
    """
    lines = _lines(desk, observer, observed, desk.scope.namespaces)
    key = (*what, *sorted(line.id for line in lines.values()))
    known: _T | None = desk.tools.memo.get(key)
    if known is None:
        opener = Opener(desk)
        known = work([stand for line in lines.values() for stand in _opened(opener, line).stands])
        desk.tools.memo.keep(key, known)
    return known


def stands_of(desk: Desk, observer: str, observed: str) -> dict[str, list[Stand]]:
    """What was said for the traits of a peer, by namespace.

    Raises: Tampered.
    """
    opener = Opener(desk)
    lines = _lines(desk, observer, observed, desk.scope.namespaces)
    return {namespace: _opened(opener, line).stands for namespace, line in lines.items()}


def stands_in(desk: Desk, observer: str, observed: str, namespace: str) -> list[Stand]:
    """What was said for the traits of a peer in that namespace.

    Raises: Tampered.
    """
    return list(_kept(desk, observer, observed, namespace).stands)


def unmet_in(desk: Desk, observer: str, observed: str, namespace: str) -> list[str]:
    """The messages of that namespace that told of the end of somebody who was not known.

    Raises: Tampered.
    """
    return list(_kept(desk, observer, observed, namespace).unmet)


def noting(desk: Desk, observed: str, namespace: str, messages: Collection[str]) -> list[Room]:
    """Whose cards of that peer keep one of these messages as such an end: the rooms that they lie in.

    One that does not open is left as it is: nobody reads it.
    """
    opener = Opener(desk)
    span = Views(desk.scope.workspace, (CARD,), about=observed, namespaces=(namespace,))

    def keeps(line: SealedLine) -> bool:
        try:
            return not set(messages).isdisjoint(_opened(opener, line).unmet)
        except Tampered:
            return False

    return [line.room for line in desk.tx.lines.views(span) if keeps(line)]


def write_card(
    desk: Desk, observer: str, observed: str, namespace: str, entries: Sequence[Entry], changes: Changes
) -> None:
    """Put these entries in place of what the card of that namespace said."""
    before = _kept(desk, observer, observed, namespace)
    _write(desk, observer, observed, namespace, replace(before, entries=list(entries)), changes)


def add_news(
    desk: Desk,
    observer: str,
    observed: str,
    namespace: str,
    news: Sequence[Stand],
    changes: Changes,
    *,
    makes_card: bool,
    unmet: Sequence[str] = (),
) -> None:
    """Note what was said for traits and, where cards are made, let the reasoner fit it into the card.

    Beside it the messages that tell of the end of somebody who is not known.

    Raises: Tampered.
    """
    line = _lines(desk, observer, observed, (namespace,)).get(namespace)
    before = _Kept() if line is None else _opened(Opener(desk), line)
    stands = _newest({stand: None for stand in (*before.stands, *news)})
    old, entries = outdated(stands), before.entries
    if makes_card and news:
        known = None if line is None else desk.tools.memo.get((outdated_of, None, line.id))
        past = outdated(before.stands) if known is None else known
        if old.keys() == past.keys() and left_of(stands, old) == left_of(before.stands, past):
            told = _traits(stands, old, {stand.source for stand in news})
            entries = desk.tools.reasoner.card(entries or (), told, MOST_ENTRIES)
        else:
            entries = _rebuilt(desk, entries or (), stands)
        if not entries and before.entries is None:
            entries = None
    after = _Kept(entries, stands, list(unmet)[-_MOST_UNMET:])
    if after != before:
        written = _write(desk, observer, observed, namespace, after, changes)
        desk.tools.memo.keep((outdated_of, None, written.id), old)


def strike(
    desk: Desk,
    observer: str,
    observed: str,
    namespace: str,
    sources: Collection[str],
    changes: Changes,
    *,
    messages: Collection[str],
) -> bool:
    """Take out what came from these conclusions, or was said in these messages alone; whether there was any.

    What that had outdated stands again.

    Raises: Tampered.
    """
    before = _kept(desk, observer, observed, namespace)
    gone = set(messages)
    stands = [one for one in before.stands if one.source not in sources and one.said not in gone]
    entries = before.entries
    if entries is not None:
        lost = {one.source for one in before.stands} - {one.source for one in stands}
        entries = [entry for entry in entries if entry.source not in lost and entry.source not in sources]
        entries = _rebuilt(desk, entries, stands)
    after = _Kept(entries, stands, [one for one in before.unmet if one not in gone])
    if after == before:
        return False
    _write(desk, observer, observed, namespace, after, changes)
    return True


def rebuild(
    desk: Desk,
    observer: str,
    observed: str,
    namespace: str,
    changes: Changes,
    *,
    merged: Mapping[str, str],
    gone: Collection[str],
    corrections: Mapping[str, Correction],
) -> None:
    """Make the card anew of what stands, and of what was written by hand.

    What came from a conclusion that was merged comes from the other now; what came from a lost one goes. The
    new value of a corrected one takes the old one's place.

    Raises: Tampered.
    """
    before = _kept(desk, observer, observed, namespace)
    right = [
        corrected(stand, corrections[stand.source]) if stand.source in corrections else stand
        for stand in before.stands
        if stand.source not in gone or stand.source in corrections
    ]
    stands = _newest({renamed(stand, merged): None for stand in right})
    kept = [
        replace(entry, source=merged.get(entry.source or "", entry.source))
        for entry in before.entries or ()
        if entry.source not in gone
    ]
    entries: list[Entry] | None = _rebuilt(desk, kept, stands)
    if not entries and before.entries is None:
        entries = None
    after = _Kept(entries, stands, before.unmet)
    if after != before:
        _write(desk, observer, observed, namespace, after, changes)


def hand_over(
    desk: Desk, lines: Sequence[SealedLine], observer: str, observed: str, namespace: str, changes: Changes
) -> None:
    """Make what these cards keep part of the one that the observer has of that peer.

    Raises: Tampered.
    """
    opener = Opener(desk)
    given = [_opened(opener, line) for line in lines]
    for line in lines:
        desk.tx.lines.delete(line.room, (line.id,))
        changes.lose(line.room, (line.id,))
    every = [_kept(desk, observer, observed, namespace), *given]
    stands = _newest(dict.fromkeys(stand for kept in every for stand in kept.stands))
    made = [kept.entries for kept in every if kept.entries is not None]
    entries: list[Entry] | None = list(dict.fromkeys(chain.from_iterable(made))) if made else None
    if entries and len(made) > 1:
        entries = _rebuilt(desk, entries, stands)
    unmet = list(dict.fromkeys(one for kept in every for one in kept.unmet))[-_MOST_UNMET:]
    _write(desk, observer, observed, namespace, _Kept(entries, stands, unmet), changes)


def card_of(desk: Desk, observer: str, observed: str, namespace: str) -> list[Entry]:
    """What the card of one namespace says.

    Raises: Tampered.
    """
    return list(_kept(desk, observer, observed, namespace).entries or ())


def _newest(stands: Collection[Stand]) -> list[Stand]:
    """In the order in which they were said, at most so many."""
    return sorted(stands, key=attrgetter("when"))[-MOST_STANDS:]


def _rebuilt(desk: Desk, entries: Sequence[Entry], stands: Sequence[Stand]) -> list[Entry]:
    """The card of everything that stands; what it says of something else (by hand, or of old) stays."""
    told = {stand.source for stand in stands}
    kept = [entry for entry in entries if entry.source not in told]
    return desk.tools.reasoner.card(kept, _traits(stands, outdated(stands), told), MOST_ENTRIES)


def _traits(stands: Sequence[Stand], old: Collection[str], among: Collection[str]) -> list[Entry]:
    """The lines for a card of those conclusions that stand, in the order in which they came to be known."""
    left = left_of(stands, old)
    found = {
        stand.source: left.get(stand.source, stand.text)
        for stand in stands
        if not stand.denies and stand.source in among and stand.source not in old
    }
    return [Entry(found[source], source) for source in sorted(found)]


def _write(
    desk: Desk, observer: str, observed: str, namespace: str, kept: _Kept, changes: Changes
) -> SealedLine:
    earlier = _lines(desk, observer, observed, (namespace,)).get(namespace)
    if earlier is not None:
        desk.tx.lines.delete(earlier.room, (earlier.id,))
        changes.lose(earlier.room, (earlier.id,))
    keys = desk.tools.vault.room(desk.tx, room_of(desk, observer, namespace))
    text = msgspec.json.encode(kept).decode()
    line = write_line(desk, keys, desk.fresh_id(), CARD, text, about=observed)
    changes.add(line)
    return line


def _kept(desk: Desk, observer: str, observed: str, namespace: str) -> _Kept:
    line = _lines(desk, observer, observed, (namespace,)).get(namespace)
    return _Kept() if line is None else _opened(Opener(desk), line)


def _lines(
    desk: Desk, observer: str, observed: str, namespaces: Collection[str] | None
) -> dict[str, SealedLine]:
    """The card of each namespace that has one."""
    span = Views(desk.scope.workspace, (CARD,), owner=observer, about=observed, namespaces=namespaces)
    return {line.room.namespace: line for line in reversed(desk.tx.lines.views(span))}


def _opened(opener: Opener, line: SealedLine) -> _Kept:
    """A line that is a mere list of entries was written before any stands were kept."""
    told = msgspec.json.decode(opener.text(line), type=settled(_Kept | list[Entry]))
    return told if isinstance(told, _Kept) else _Kept(told)


def _entries(opener: Opener, line: SealedLine) -> list[Entry] | None:
    """What the card says, read without what stands."""
    told = msgspec.json.decode(opener.text(line), type=settled(_Card | list[Entry]))
    return told.entries if isinstance(told, _Card) else told


def is_card(text: str) -> bool:
    """Whether the line of a card may say that."""
    try:
        msgspec.json.decode(text, type=settled(_Kept | list[Entry]))
    except msgspec.MsgspecError:
        return False
    return True
