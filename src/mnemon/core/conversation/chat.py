"""Chat: a question about a peer, answered from what is known, with what the answer rests on."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from mnemon.core.conversation.conclusions import View, Whose, query_views, representation
from mnemon.core.conversation.ingest import Message
from mnemon.core.conversation.messages import said_at
from mnemon.core.conversation.search import Where, search_messages
from mnemon.core.desk import Desk
from mnemon.domain.line import CONCLUSIONS
from mnemon.ports.reasoner import Statement


class Depth(Struct, frozen=True):
    """How far an answer looks."""

    found: int
    newest: int
    messages: int


LEVELS = {
    "minimal": Depth(10, 10, 5),
    "low": Depth(25, 25, 10),
    "medium": Depth(25, 25, 20),
    "high": Depth(50, 50, 40),
    "max": Depth(100, 100, 80),
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
        told = [Statement(view.line.id, view.text, view.at) for view in self.views]
        told.extend(
            Statement(message.line.id, message.text, said_at(message.line), message.line.room.owner)
            for message in self.messages
        )
        return told


def gather(desk: Desk, question: Question) -> Gathered:
    """Raises: NotFound, Tampered."""
    depth = LEVELS[question.level]
    kinds = tuple(CONCLUSIONS.values()) if question.sessions is None else (CONCLUSIONS["explicit"],)
    observers = None if question.observer is None else (question.observer,)
    whose = Whose(observers, question.observed, question.sessions, kinds)
    views = {view.line.id: view for view in query_views(desk, (whose,), question.text, depth.found)}
    newest = representation(
        desk, whose, query=None, top_k=None, distance=None, frequent=False, most=depth.newest
    )
    for view in reversed(newest):
        views.setdefault(view.line.id, view)
    return Gathered(question, list(views.values()), _messages(desk, question, depth))


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
