"""Chat: a question about a peer, answered from what is known, with what the answer rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mnemon.core.conversation import directory
from mnemon.core.conversation.cards import read_card
from mnemon.core.conversation.conclusions import (
    View,
    Whose,
    query_views,
    quotations,
    representation,
    with_what_outdates,
)
from mnemon.core.conversation.ingest import Message
from mnemon.core.conversation.messages import said_at
from mnemon.core.conversation.search import Found, Where, find_messages, said_before, with_neighbours
from mnemon.core.desk import Desk
from mnemon.core.finding import understand
from mnemon.domain import trust
from mnemon.domain.content import decode_metadata
from mnemon.domain.habits import uses_cards
from mnemon.domain.line import CONCLUSIONS
from mnemon.domain.pattern import pattern
from mnemon.domain.question import plain, respelt
from mnemon.domain.trust import Trust
from mnemon.ports.reasoner import Effort, Entry, Statement


class Depth(Struct, frozen=True):
    """How far an answer looks, and how hard a model thinks about it."""

    found: int
    newest: int
    messages: int
    around: int
    """How many messages before and after each that was found are looked at too."""
    effort: Effort
    by_rule_said: bool = True
    """Whether an answer by rule looks at messages too, and not at conclusions alone."""


LEVELS = {
    "minimal": Depth(10, 10, 5, 0, Effort(searches=0, passes=1, tokens=250, lines=1), by_rule_said=False),
    "low": Depth(25, 25, 10, 0, Effort(searches=1, passes=1, tokens=500)),
    "medium": Depth(25, 25, 20, 0, Effort(searches=3, passes=1, tokens=1000, leads=2)),
    "high": Depth(50, 50, 40, 2, Effort(5, 2, 2000, lines=8, leads=3, history=True)),
    "max": Depth(100, 100, 80, 5, Effort(10, 3, 4000, lines=12, leads=5, history=True, parts=4)),
}
_POINTS_BACK = pattern(r"\W*(?:\w+\W+){0,3}?(?:he|she|they|his|her|him|their|them)\b", re.IGNORECASE)
"""Whether a message soon speaks of somebody whom one before it may have named."""


class Question(Struct, frozen=True):
    """Who asks about whom; without an observer, the whole workspace is asked about anyone."""

    text: str
    observer: str | None
    observed: str | None
    sessions: Collection[str] | None = None
    level: str = "low"
    quotations: bool = True
    """Whether what its peer only carried may answer it."""


class Gathered(Struct, frozen=True):
    """What an answer may be made of, best first."""

    question: Question
    views: list[View]
    messages: list[Message]
    before: Mapping[str, Message] = {}
    """What its peer said right before a message, by the id of that."""
    outdated: Mapping[str, str] = {}
    """By the id of a message that tells how it was: the id of the one that tells how it is."""

    def statements(self, local: Callable[[int], int]) -> list[Statement]:
        """All of it but messages that read like orders, or are quotations where none are wanted.

        `local` tells what clocks on the wall showed when it was said.
        """
        told = [
            Statement(
                view.line.id,
                view.text,
                local(view.at),
                carried=view.trust < Trust.SAID,
                outdated_by=view.outdated_by or self._outdated_by(view),
            )
            for view in self.views
        ]
        least = _least(self.question)
        for message in self.messages:
            line = message.line
            found = _trust(message)
            if found >= least:
                carried = found < Trust.SAID
                before = self.before.get(line.id)
                told.append(
                    Statement(
                        line.id,
                        message.text,
                        local(said_at(line)),
                        line.room.owner,
                        carried,
                        self.outdated.get(line.id),
                        after="" if before is None else before.text,
                        after_id="" if before is None else before.line.id,
                    )
                )
        return told

    def _outdated_by(self, view: View) -> str | None:
        """The message that tells how it is, if all that the conclusion follows from tells how it was."""
        outdated = [self.outdated.get(source) for source in view.sources]
        return outdated[-1] if outdated and None not in outdated else None


def gather(desk: Desk, question: Question, *, by_rule: bool = False) -> Gathered:
    """What a model, or rules, may answer from. Raises: NotFound, Tampered."""
    depth = LEVELS[question.level]
    whose = _whose(question)
    views = {view.line.id: view for view in query_views(desk, (whose,), question.text, depth.found)}
    newest = representation(
        desk, whose, query=None, top_k=None, distance=None, frequent=False, most=depth.newest
    )
    quoted = quotations(desk, whose, question.text, depth.found) if question.quotations else []
    for view in (*reversed(newest), *quoted):
        views.setdefault(view.line.id, view)
    told = with_what_outdates(desk, list(views.values()), question.sessions)
    if by_rule and not depth.by_rule_said:
        return Gathered(question, told, [])
    gathered, outdated = _messages(desk, question, told, depth)
    return replace(gathered, outdated=outdated) if by_rule else gathered


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
    return _messages(desk, question, told, depth)[0]


def together(gathered: Sequence[Gathered]) -> Gathered:
    """All that was gathered for one question, each thing once."""
    views = {view.line.id: view for one in gathered for view in one.views}
    messages = {message.line.id: message for one in gathered for message in one.messages}
    before = {line_id: message for one in gathered for line_id, message in one.before.items()}
    return Gathered(gathered[0].question, list(views.values()), list(messages.values()), before)


def _messages(
    desk: Desk, question: Question, views: list[View], depth: Depth
) -> tuple[Gathered, Mapping[str, str]]:
    """With these what was said that touches the question, as far as the observer was there to hear it.

    And what was said right before those that may only be understood so; and which of them are outdated by
    which, as far as the order tells in which they were found.
    """
    perspective = question.observer if question.observer != question.observed else None
    where = Where(peer=question.observed, sessions=question.sessions, perspective=perspective)
    best = find_messages(desk, question.text, where, depth.messages)
    found = [one.message for one in best]
    if depth.around:
        found = with_neighbours(desk, found, where, depth.around)
    unclear = [one for one in found if depth.around or _POINTS_BACK.match(one.text)]
    before = said_before(desk, unclear, where)
    gathered = Gathered(question, views, found, _trusted(before, _least(question)))
    return gathered, _outdated(best)


def _outdated(best: Sequence[Found]) -> dict[str, str]:
    """Which are outdated by which: the first that came before one, if it is its peer's own word."""
    outdated: dict[str, str] = {}
    for one in best:
        if one.instead_of is not None and _trust(one.message) == Trust.SAID:
            outdated.setdefault(one.instead_of, one.message.line.id)
    return outdated


def _least(question: Question) -> Trust:
    """The least class of message that may answer it."""
    return Trust.QUOTED if question.quotations else Trust.SAID


def _trusted(before: Mapping[str, Message], least: Trust) -> Mapping[str, Message]:
    return {line_id: message for line_id, message in before.items() if _trust(message) >= least}


def _trust(message: Message) -> Trust:
    line = message.line
    return trust.of_message(line.kind, decode_metadata(line.metadata), message.text)


def as_meant(desk: Desk, text: str) -> str:
    """The question with those words spelt right that nobody knows."""
    question = understand(desk, text)
    meant = {word: other for word in plain(text) if (other := desk.tools.spelling.meant(word))}
    return respelt(question, meant).text if meant else text


def cited(gathered: Gathered, ids: Sequence[str]) -> tuple[list[View], list[Message]]:
    """The conclusions and the messages among those ids."""
    wanted = set(ids)
    messages = {one.line.id: one for one in (*gathered.messages, *gathered.before.values())}
    return (
        [view for view in gathered.views if view.line.id in wanted],
        [message for line_id, message in messages.items() if line_id in wanted],
    )
