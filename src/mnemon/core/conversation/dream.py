"""Dream: make the card of one namespace anew from the conclusions that stand there, and from nothing else.

Nothing new is concluded, so what was deleted stays so, and nobody comes to know what was said where
they were not.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from mnemon.core.conversation.cards import MOST_ENTRIES, card_of, write_card
from mnemon.core.conversation.conclusions import View, Whose, newest_views, plain
from mnemon.core.conversation.messages import said_at
from mnemon.core.conversation.place import Changes, Opener, room_of
from mnemon.core.desk import Desk
from mnemon.ports.reasoner import Entry, Reasoner, Turn

_MOST_VIEWS = 1000


class Standing(Struct, frozen=True):
    """What an observer holds of a peer, oldest first, and the turns that it follows from."""

    observer: str
    observed: str
    namespace: str
    views: list[View]
    turns: list[Turn]


def read_standing(desk: Desk, observer: str, observed: str, namespace: str) -> Standing:
    """At a desk that opens that namespace alone.

    Raises: Tampered.
    """
    views = newest_views(desk, Whose((observer,), observed), _MOST_VIEWS)[::-1]
    sources = {source for view in views for source in view.sources}
    opener = Opener(desk)
    turns = [
        Turn(line.id, observed, opener.text(line), said_at(line))
        for line in desk.tx.lines.get_all(room_of(desk, observed, namespace), sources)
    ]
    return Standing(observer, observed, namespace, views, turns)


def traits_of(reasoner: Reasoner, standing: Standing) -> list[Entry]:
    """What the card should say of each conclusion, oldest first.

    Raises: Unavailable.
    """
    traits = {plain(fact.text): fact.trait for fact in reasoner.derive(standing.turns, standing.observed)}
    told = [(traits.get(plain(view.text)), view.line.id) for view in standing.views]
    return [Entry(trait, line_id) for trait, line_id in told if trait is not None]


def keep_card(desk: Desk, standing: Standing, news: Sequence[Entry]) -> Changes:
    """Put the card that the news give in place of the present one, but for what was written by hand."""
    changes = Changes()
    namespace = standing.namespace
    entries = card_of(desk, standing.observer, standing.observed, namespace)
    by_hand = [entry for entry in entries if entry.source is None]
    alive = {
        line.id
        for line in desk.tx.lines.get_all(
            room_of(desk, standing.observer, namespace), [entry.source for entry in news if entry.source]
        )
    }
    standing_news = [entry for entry in news if entry.source in alive]
    after = desk.tools.reasoner.card(by_hand, standing_news, MOST_ENTRIES)
    if after != entries:
        write_card(desk, standing.observer, standing.observed, namespace, after, changes)
    return changes
