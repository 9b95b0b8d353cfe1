"""Derive: conclusions and cards from what was said, for everyone who observes the speaker.

In three steps, so that no transaction waits for a reasoner: read the turns, let the reasoner think,
store what follows if the turns are still there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from operator import attrgetter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mnemon.core.conversation import directory
from mnemon.core.conversation.cards import add_news, stands_in
from mnemon.core.conversation.conclusions import conclude, likeness
from mnemon.core.conversation.directory import Stay, was_there
from mnemon.core.conversation.dream import owe_rest
from mnemon.core.conversation.messages import said_at
from mnemon.core.conversation.place import Changes, Opener, room_of
from mnemon.core.desk import Desk
from mnemon.domain import habits as h
from mnemon.domain import trust
from mnemon.domain.content import decode_metadata
from mnemon.domain.corrections import corrected, correction
from mnemon.domain.denial import is_denial
from mnemon.domain.line import SealedLine
from mnemon.domain.register import PEER
from mnemon.domain.shapes import settled
from mnemon.domain.standing import Stand, outdated
from mnemon.domain.tasks import Task
from mnemon.domain.trust import Trust
from mnemon.errors import Tampered
from mnemon.ports.book import Turns
from mnemon.ports.reasoner import Fact, Reasoner, Turn

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
    trusts: dict[str, Trust]
    """The class of each message, by its id."""
    wishes: dict[str, str]
    """What is wished to be noted of each message of the peer, by its id."""


class _Only(Struct, frozen=True):
    """What a derive errand's payload says: which turns to look at, if not all of the range."""

    turns: frozenset[int] | None = None
    wishes: str | None = None
    """What is wished to be noted of them, if other than of the session."""


def read_passage(desk: Desk, tasks: Sequence[Task], session: str, about: str) -> Passage:
    """The turns that these errands are about, as far as they still exist and open."""
    opener = Opener(desk)
    first, last = min(task.first for task in tasks), max(task.last for task in tasks)
    span = Turns(desk.scope.workspace, session, first=max(0, first - _CONTEXT_TURNS), last=last)
    only = [(task, msgspec.json.decode(task.payload, type=settled(_Only))) for task in tasks]
    habits = directory.habits(desk, session)
    before: list[Turn] = []
    turns: list[Turn] = []
    numbers: dict[str, int] = {}
    trusts: dict[str, Trust] = {}
    wishes: dict[str, str] = {}
    for line in desk.tx.lines.turns(span):
        number = line.turn or 0
        own = line.room.owner == about and number >= first
        asked = next((told for task, told in only if own and _covers(task, told.turns, number)), None)
        if own and asked is None:
            continue
        try:
            turn = _turn(line, opener)
        except Tampered:
            continue  # Whoever reads the line is told, and so is the doctor; the others still count.
        (before if number < first else turns).append(turn)
        trusts[line.id] = trust.of_message(line.kind, decode_metadata(line.metadata), turn.text)
        if asked is not None:
            numbers[line.id] = number
            wishes[line.id] = h.wishes(asked.wishes, *habits)
    return Passage(session, tasks[0].namespace, about, turns, before, numbers, trusts, wishes)


def _covers(task: Task, only: Collection[int] | None, number: int) -> bool:
    return task.first <= number <= task.last and (only is None or number in only)


def _turn(line: SealedLine, opener: Opener) -> Turn:
    return Turn(line.id, line.room.owner, opener.text(line), said_at(line))


def facts_of(reasoner: Reasoner, passage: Passage) -> list[Fact]:
    """What follows from what the peer said, what it only carried, and what reads like orders, each by itself.

    So whatever is written in a document has no part in what is concluded of the peer's own words. What
    others said is context, if it is of no lower class. What is wished of some messages is not of others.

    Raises: Unavailable.
    """
    found: list[Fact] = []
    ways = {(passage.trusts[message], passage.wishes[message]) for message in passage.numbers}
    for kind, wishes in sorted(ways, reverse=True):
        turns = [
            turn
            for turn in passage.turns
            if _is_heard(passage, turn, kind) and passage.wishes.get(turn.id, wishes) == wishes
        ]
        before = [turn for turn in passage.before if _is_heard(passage, turn, kind)]
        found.extend(reasoner.derive(turns, passage.about, before, wishes))
    return found


def _is_heard(passage: Passage, turn: Turn, kind: Trust) -> bool:
    own = passage.trusts[turn.id]
    return own == kind if turn.peer == passage.about else own >= max(kind, Trust.QUOTED)


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
    room = room_of(desk, passage.about, passage.namespace)
    alive = {line.id for line in desk.tx.lines.get_all(room, passage.numbers)}
    kept = [
        replace(fact, sources=tuple(sorted(own, key=passage.numbers.__getitem__)))
        for fact in facts
        if (own := {source for source in fact.sources if source in passage.numbers}) and alive.issuperset(own)
    ]
    makes_cards = h.makes_cards(*directory.habits(desk, passage.session))
    for observer, stays in observers_of(desk, passage.session, passage.about).items():
        hearer = _Hearer(desk, passage, observer, changes)
        heard = [fact for fact in kept if was_there(stays, passage.numbers[fact.sources[-1]])]
        for fact, fresh in zip(heard, desk.fresh_ids(len(heard)), strict=True):
            hearer.keep(fact, fresh)
        told = {source for fact in kept for source in fact.sources}
        for turn in passage.turns:
            if turn.id in alive - told and was_there(stays, passage.numbers[turn.id]):
                hearer.correct(turn)
        if hearer.news:
            add_news(
                desk,
                observer,
                passage.about,
                passage.namespace,
                hearer.news,
                changes,
                makes_card=makes_cards,
            )
    if changes.put:
        owe_rest(desk, passage.session, passage.about, passage.namespace)
    return changes


class _Hearer:
    """Keeps what one observer concludes of a passage."""

    def __init__(self, desk: Desk, passage: Passage, observer: str, changes: Changes) -> None:
        self._desk = desk
        self._passage = passage
        self._observer = observer
        self._changes = changes
        self._keys = desk.tools.vault.room(desk.tx, room_of(desk, observer, passage.namespace))
        self._said = {turn.id: turn for turn in passage.turns}
        self.news: list[Stand] = []
        """What was said for traits, or against them."""

    def keep(self, fact: Fact, fresh: str) -> None:
        """Store the fact, under that id if it is not known yet."""
        passage = self._passage
        turns = [self._said[source] for source in fact.sources]
        found = trust.of_fact(
            f"{fact.text} {fact.trait or ''}", [(passage.trusts[turn.id], turn.text) for turn in turns]
        )
        line_id = self._stored(fact, trust.KINDS[found], turns[-1].said_at, fresh)
        if found == Trust.SAID and (fact.trait is not None or is_denial(fact.text)):
            text, denies = (fact.text, True) if fact.trait is None else (fact.trait, False)
            self.news.extend(
                Stand(text, line_id, turn.id, passage.session, passage.numbers[turn.id], turn.said_at, denies)
                for turn in turns
            )

    def _stored(self, fact: Fact, kind: str, at: int, fresh: str) -> str:
        """The id of the conclusion: of the known one, or of that which is made of the fact."""
        desk, passage, keys = self._desk, self._passage, self._keys
        mark = likeness(keys.blind, passage.session, fact.text, kind)
        known = desk.tx.lines.alike(keys.room, passage.about, mark)
        if known is not None:
            cited = desk.tx.lines.cited(desk.scope.workspace, (known.id,)).get(known.id, ())
            if not set(fact.sources) <= set(cited):
                desk.tx.lines.reinforce(keys.room, known.id, 1)
                desk.tx.lines.cite(keys.room, known.id, fact.sources)
            return known.id
        line = conclude(
            desk,
            self._observer,
            passage.about,
            fact.text,
            line_id=fresh,
            namespace=passage.namespace,
            session=passage.session,
            said_at=at,
            likeness=mark,
            kind=kind,
        )
        desk.tx.lines.cite(keys.room, line.id, fact.sources)
        self._changes.add(line)
        return line.id

    def correct(self, turn: Turn) -> None:
        """Where the turn says 'not this, that' of a trait of its session, conclude the same of that."""
        pair = correction(turn.text) if self._passage.trusts[turn.id] == Trust.SAID else None
        meant = None if pair is None else self._meant(turn, *pair)
        if pair is None or meant is None:
            return
        line = self._desk.tx.lines.get(self._keys.room, meant.source)
        trait = corrected(meant.text, *pair)
        if line is not None and trait is not None:
            text = corrected(self._keys.open(line), *pair) or f"{self._passage.about}: {trait}"
            self.keep(Fact(text, (turn.id,), trait), self._desk.fresh_id())

    def _meant(self, turn: Turn, wrong: str, right: str) -> Stand | None:
        """The newest trait of the session that stood when the turn was said and has the wrong word."""
        passage = self._passage
        stands = [
            *stands_in(self._desk, self._observer, passage.about, passage.namespace),
            *self.news,
        ]
        now = turn.said_at, passage.numbers[turn.id]
        before = [
            stand for stand in stands if stand.session == passage.session and (stand.at, stand.turn) < now
        ]
        old = outdated(before)
        return max(
            (
                stand
                for stand in before
                if not stand.denies
                and stand.source not in old
                and corrected(stand.text.partition(": ")[2], wrong, right)
            ),
            key=attrgetter("when"),
            default=None,
        )


def by_peer(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    grouped: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if task.peer is not None:
            grouped[task.peer].append(task)
    return grouped
