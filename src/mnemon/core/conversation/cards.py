"""Cards: the few key facts that an observer keeps of a peer, as one line that is replaced as a whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from mnemon.core.conversation.place import Changes, Opener, room_of, write_line
from mnemon.core.desk import Desk
from mnemon.domain.line import CARD, SealedLine
from mnemon.ports.book import Views
from mnemon.ports.reasoner import Entry

MOST_ENTRIES = 40


def read_card(desk: Desk, observer: str, observed: str) -> list[Entry] | None:
    """None if there never was one.

    Raises: Tampered.
    """
    line = _line(desk, observer, observed)
    return None if line is None else _entries(desk, line)


def write_card(desk: Desk, observer: str, observed: str, entries: Sequence[Entry], changes: Changes) -> None:
    """Put these entries in place of what the card said."""
    earlier = _line(desk, observer, observed)
    if earlier is not None:
        desk.tx.lines.delete(earlier.room, (earlier.id,))
        changes.gone.add(earlier.id)
    keys = desk.tools.vault.room(desk.tx, room_of(desk, observer))
    text = msgspec.json.encode(entries).decode()
    changes.add(write_line(desk, keys, desk.fresh_id(), CARD, text, about=observed))


def add_news(desk: Desk, observer: str, observed: str, news: Sequence[Entry], changes: Changes) -> None:
    """Let the reasoner fit the news into the card."""
    entries = read_card(desk, observer, observed) or []
    after = desk.tools.reasoner.card(entries, news, MOST_ENTRIES)
    if after != entries:
        write_card(desk, observer, observed, after, changes)


def strike(desk: Desk, observer: str, observed: str, sources: Collection[str], changes: Changes) -> bool:
    """Take out the entries that came from these conclusions; whether there were any."""
    entries = read_card(desk, observer, observed) or []
    kept = [entry for entry in entries if entry.source not in sources]
    if kept == entries:
        return False
    write_card(desk, observer, observed, kept, changes)
    return True


def _line(desk: Desk, observer: str, observed: str) -> SealedLine | None:
    span = Views(desk.scope.workspace, (CARD,), owner=observer, about=observed, limit=1)
    return next(iter(desk.tx.lines.views(span)), None)


def _entries(desk: Desk, line: SealedLine) -> list[Entry]:
    return msgspec.json.decode(Opener(desk).text(line), type=list[Entry])
