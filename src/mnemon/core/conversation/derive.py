"""Derive: conclusions and cards from what was said, for everyone who observes the speaker.

In three steps, so that no transaction waits for a reasoner: read the turns, let the reasoner think,
store what follows if the turns are still there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mnemon.core.conversation import directory
from mnemon.core.conversation.cards import add_news
from mnemon.core.conversation.conclusions import conclude, likeness
from mnemon.core.conversation.directory import Stay, was_there
from mnemon.core.conversation.messages import said_at
from mnemon.core.conversation.place import Changes, Opener, room_of
from mnemon.core.desk import Desk
from mnemon.domain import habits as h
from mnemon.domain.line import SealedLine
from mnemon.domain.register import PEER
from mnemon.domain.tasks import Task
from mnemon.errors import Tampered
from mnemon.ports.book import Turns
from mnemon.ports.reasoner import Entry, Fact, Reasoner, Turn

_CONTEXT_TURNS = 4


class Passage(Struct, frozen=True):
    """What a peer said in a stretch of a session, with what others said in it and right before."""

    session: str
    namespace: str
    about: str
    turns: list[Turn]
    before: list[Turn]
    numbers: dict[str, int]
    """The turn of each message of the peer, by its id."""


class _Only(Struct, frozen=True):
    """What a derive errand's payload says: which turns to look at, if not all of the range."""

    turns: frozenset[int] | None = None


def read_passage(desk: Desk, tasks: Sequence[Task], session: str, about: str) -> Passage:
    """The turns that these errands are about, as far as they still exist and open."""
    opener = Opener(desk)
    first, last = min(task.first for task in tasks), max(task.last for task in tasks)
    span = Turns(desk.scope.workspace, session, first=max(0, first - _CONTEXT_TURNS), last=last)
    only = [(task, msgspec.json.decode(task.payload, type=_Only).turns) for task in tasks]
    before: list[Turn] = []
    turns: list[Turn] = []
    numbers: dict[str, int] = {}
    for line in desk.tx.lines.turns(span):
        number = line.turn or 0
        own = line.room.owner == about
        if number >= first and own and not any(_covers(task, turns, number) for task, turns in only):
            continue
        try:
            (before if number < first else turns).append(_turn(line, opener))
        except Tampered:
            continue  # Whoever reads the line is told, and so is the doctor; the others still count.
        if number >= first and own:
            numbers[line.id] = number
    return Passage(session, tasks[0].namespace, about, turns, before, numbers)


def _covers(task: Task, only: Collection[int] | None, number: int) -> bool:
    return task.first <= number <= task.last and (only is None or number in only)


def _turn(line: SealedLine, opener: Opener) -> Turn:
    return Turn(line.id, line.room.owner, opener.text(line), said_at(line))


def facts_of(reasoner: Reasoner, passage: Passage) -> list[Fact]:
    """Raises: Unavailable."""
    return reasoner.derive(passage.turns, passage.about, passage.before) if passage.numbers else []


def observers_of(desk: Desk, session: str, about: str) -> dict[str, list[Stay]]:
    """Who forms a view of that peer in the session, and when each was there: itself, and who observes."""
    ties = directory.stays(desk, session)
    latest = {tie.held: tie for tie in ties}
    peer = directory.find(desk, PEER, about)
    if peer is None or not h.observed(
        directory.member_habits(latest.get(about)), directory.peer_habits(peer)
    ):
        return {}
    observers: dict[str, list[Stay]] = {about: [(0, None)]}
    for tie in ties:
        if tie.held != about and directory.member_habits(latest[tie.held]).observe_others is True:
            observers.setdefault(tie.held, []).append((tie.since, tie.until))
    return observers


def keep_facts(desk: Desk, passage: Passage, facts: Sequence[Fact]) -> Changes:
    """Store each fact for those who heard it; what one knows already is only counted again.

    It rests on what the peer itself said: a question that was answered is no ground. A fact whose
    turns were deleted while the reasoner thought is dropped.
    """
    changes = Changes()
    observers = observers_of(desk, passage.session, passage.about)
    said = {turn.id: turn.said_at for turn in passage.turns}
    room = room_of(desk, passage.about, passage.namespace)
    alive = {line.id for line in desk.tx.lines.get_all(room, passage.numbers)}
    kept = [
        replace(fact, sources=own)
        for fact in facts
        if (own := tuple(source for source in fact.sources if source in passage.numbers))
        and alive.issuperset(own)
    ]
    makes_cards = h.makes_cards(*directory.habits(desk, passage.session))
    for observer, stays in observers.items():
        news: dict[str, Entry] = {}
        heard = [fact for fact in kept if was_there(stays, passage.numbers[fact.sources[-1]])]
        for fact, fresh in zip(heard, desk.fresh_ids(len(heard)), strict=True):
            line_id = _keep(desk, passage, fact, observer, said[fact.sources[-1]], fresh, changes)
            if fact.trait is not None:
                news[fact.trait] = Entry(fact.trait, line_id)
        if news and makes_cards:
            add_news(desk, observer, passage.about, passage.namespace, list(news.values()), changes)
    return changes


def _keep(
    desk: Desk, passage: Passage, fact: Fact, observer: str, at: int, fresh: str, changes: Changes
) -> str:
    """The id of the conclusion: of the known one, or of that which is made of the fact."""
    keys = desk.tools.vault.room(desk.tx, room_of(desk, observer, passage.namespace))
    mark = likeness(keys.blind, passage.session, fact.text)
    known = desk.tx.lines.alike(keys.room, passage.about, mark)
    if known is not None:
        cited = desk.tx.lines.cited(desk.scope.workspace, (known.id,)).get(known.id, ())
        if not set(fact.sources) <= set(cited):
            desk.tx.lines.reinforce(keys.room, known.id, 1)
            desk.tx.lines.cite(keys.room, known.id, fact.sources)
        return known.id
    line = conclude(
        desk,
        observer,
        passage.about,
        fact.text,
        line_id=fresh,
        namespace=passage.namespace,
        session=passage.session,
        said_at=at,
        likeness=mark,
    )
    desk.tx.lines.cite(keys.room, line.id, fact.sources)
    changes.add(line)
    return line.id


def by_peer(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    grouped: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if task.peer is not None:
            grouped[task.peer].append(task)
    return grouped
