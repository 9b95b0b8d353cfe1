"""Cards: the few key facts that an observer keeps of a peer, in each namespace one line that is replaced
as a whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

import msgspec

from mnemon.core.conversation.place import Changes, Opener, room_of, write_line
from mnemon.core.desk import Desk
from mnemon.domain.line import CARD, SealedLine
from mnemon.ports.book import Views
from mnemon.ports.reasoner import Entry

MOST_ENTRIES = 40


def read_card(desk: Desk, observer: str, observed: str) -> list[Entry] | None:
    """What the cards of every namespace say, by namespace, nothing twice; None if there never was one.

    Raises: Tampered.
    """
    lines = _lines(desk, observer, observed, desk.scope.namespaces)
    if not lines:
        return None
    opener = Opener(desk)
    cards = [_entries(opener, lines[namespace]) for namespace in sorted(lines)]
    if len(cards) == 1:
        return cards[0]
    together: dict[str, Entry] = {}
    for entry in chain.from_iterable(cards):
        together.setdefault(entry.text, entry)
    return list(together.values())


def write_card(
    desk: Desk, observer: str, observed: str, namespace: str, entries: Sequence[Entry], changes: Changes
) -> None:
    """Put these entries in place of what the card of that namespace said."""
    earlier = _line(desk, observer, observed, namespace)
    if earlier is not None:
        desk.tx.lines.delete(earlier.room, (earlier.id,))
        changes.lose(earlier.room, (earlier.id,))
    keys = desk.tools.vault.room(desk.tx, room_of(desk, observer, namespace))
    text = msgspec.json.encode(entries).decode()
    changes.add(write_line(desk, keys, desk.fresh_id(), CARD, text, about=observed))


def add_news(
    desk: Desk, observer: str, observed: str, namespace: str, news: Sequence[Entry], changes: Changes
) -> None:
    """Let the reasoner fit the news into the card."""
    entries = card_of(desk, observer, observed, namespace)
    after = desk.tools.reasoner.card(entries, news, MOST_ENTRIES)
    if after != entries:
        write_card(desk, observer, observed, namespace, after, changes)


def strike(
    desk: Desk, observer: str, observed: str, namespace: str, sources: Collection[str], changes: Changes
) -> bool:
    """Take out the entries that came from these conclusions; whether there were any."""
    entries = card_of(desk, observer, observed, namespace)
    kept = [entry for entry in entries if entry.source not in sources]
    if kept == entries:
        return False
    write_card(desk, observer, observed, namespace, kept, changes)
    return True


def card_of(desk: Desk, observer: str, observed: str, namespace: str) -> list[Entry]:
    """What the card of one namespace says.

    Raises: Tampered.
    """
    line = _line(desk, observer, observed, namespace)
    return [] if line is None else _entries(Opener(desk), line)


def _line(desk: Desk, observer: str, observed: str, namespace: str) -> SealedLine | None:
    return _lines(desk, observer, observed, (namespace,)).get(namespace)


def _lines(
    desk: Desk, observer: str, observed: str, namespaces: Collection[str] | None
) -> dict[str, SealedLine]:
    """The card of each namespace that has one."""
    span = Views(desk.scope.workspace, (CARD,), owner=observer, about=observed, namespaces=namespaces)
    return {line.room.namespace: line for line in reversed(desk.tx.lines.views(span))}


def _entries(opener: Opener, line: SealedLine) -> list[Entry]:
    return msgspec.json.decode(opener.text(line), type=list[Entry])
