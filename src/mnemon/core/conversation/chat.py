"""Chat: a question about a peer, answered from what is known, with what the answer rests on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from mnemon.core.conversation import directory
from mnemon.core.conversation.cards import read_card
from mnemon.core.conversation.conclusions import View, Whose, query_views, representation, with_what_outdates
from mnemon.core.conversation.ingest import Message
from mnemon.core.conversation.messages import said_at
from mnemon.core.conversation.search import Where, search_messages
from mnemon.core.desk import Desk
from mnemon.domain import trust
from mnemon.domain.content import decode_metadata
from mnemon.domain.habits import uses_cards
from mnemon.domain.line import CONCLUSIONS
from mnemon.domain.trust import Trust
from mnemon.ports.model import Effort
from mnemon.ports.reasoner import Entry, Statement


class Depth(Struct, frozen=True):
    """How far an answer looks, and how hard a model thinks about it."""

    found: int
    newest: int
    messages: int
    effort: Effort


LEVELS = {
    "minimal": Depth(10, 10, 5, Effort(searches=0, passes=1, tokens=250)),
    "low": Depth(25, 25, 10, Effort(searches=1, passes=1, tokens=500)),
    "medium": Depth(25, 25, 20, Effort(searches=3, passes=1, tokens=1000)),
    "high": Depth(50, 50, 40, Effort(searches=5, passes=2, tokens=2000)),
    "max": Depth(100, 100, 80, Effort(searches=10, passes=3, tokens=4000)),
}


class Question(Struct, frozen=True):
    """Who asks about whom; without an observer, the whole workspace is asked about anyone."""

    text: str
    observer: str | None
    observed: str | None
    sessions: Collection[str] | None = None
    level: str = "low"


class Gathered(Struct, frozen=True):
    """What an answer may be made of, best first."""

    question: Question
    views: list[View]
    messages: list[Message]

    def statements(self) -> list[Statement]:
        """All of it but messages that read like orders: no answer repeats those."""
        told = [
            Statement(
                view.line.id,
                view.text,
                view.at,
                carried=view.trust < Trust.SAID,
                outdated_by=view.outdated_by,
            )
            for view in self.views
        ]
        for message in self.messages:
            line = message.line
            found = trust.of_message(line.kind, decode_metadata(line.metadata), message.text)
            if found != Trust.SUSPECT:
                carried = found < Trust.SAID
                told.append(Statement(line.id, message.text, said_at(line), line.room.owner, carried))
        return told


def gather(desk: Desk, question: Question) -> Gathered:
    """Raises: NotFound, Tampered."""
    depth = LEVELS[question.level]
    whose = _whose(question)
    views = {view.line.id: view for view in query_views(desk, (whose,), question.text, depth.found)}
    newest = representation(
        desk, whose, query=None, top_k=None, distance=None, frequent=False, most=depth.newest
    )
    for view in reversed(newest):
        views.setdefault(view.line.id, view)
    told = with_what_outdates(desk, list(views.values()), question.sessions)
    return Gathered(question, told, _messages(desk, question, depth))


def _whose(question: Question) -> Whose:
    kinds = tuple(CONCLUSIONS.values()) if question.sessions is None else (CONCLUSIONS["explicit"],)
    observers = None if question.observer is None else (question.observer,)
    return Whose(observers, question.observed, question.sessions, kinds)


def card_lines(desk: Desk, question: Question) -> list[Entry]:
    """What the observer's card of the peer says; nothing where only some sessions are asked about."""
    if question.sessions is not None or question.observer is None or question.observed is None:
        return []
    if not uses_cards(*directory.habits(desk, None)):
        return []
    return read_card(desk, question.observer, question.observed) or []


def look(desk: Desk, question: Question) -> Gathered:
    """What its words find, and nothing beside.

    Raises: NotFound, Tampered.
    """
    depth = LEVELS[question.level]
    views = query_views(desk, (_whose(question),), question.text, depth.found)
    told = with_what_outdates(desk, views, question.sessions)
    return Gathered(question, told, _messages(desk, question, depth))


def together(gathered: Sequence[Gathered]) -> Gathered:
    """All that was gathered for one question, each thing once."""
    views = {view.line.id: view for one in gathered for view in one.views}
    messages = {message.line.id: message for one in gathered for message in one.messages}
    return Gathered(gathered[0].question, list(views.values()), list(messages.values()))


def _messages(desk: Desk, question: Question, depth: Depth) -> list[Message]:
    """What was said that touches the question, as far as the observer was there to hear it."""
    perspective = question.observer if question.observer != question.observed else None
    where = Where(peer=question.observed, sessions=question.sessions, perspective=perspective)
    return search_messages(desk, question.text, where, depth.messages)


def cited(gathered: Gathered, ids: Sequence[str]) -> tuple[list[View], list[Message]]:
    """The conclusions and the messages among those ids."""
    wanted = set(ids)
    return (
        [view for view in gathered.views if view.line.id in wanted],
        [message for message in gathered.messages if message.line.id in wanted],
    )
