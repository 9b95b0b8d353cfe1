"""Derive: conclusions and cards from what was said, for everyone who observes the speaker.

In three steps, so that no transaction waits for a reasoner: read the turns, let the reasoner think,
store what follows if the turns are still there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mnemon.core.conversation import directory
from mnemon.core.conversation.cards import add_news, stands_in, unmet_in
from mnemon.core.conversation.conclusions import TOGETHER, Whose, conclude, likeness, newest_views
from mnemon.core.conversation.directory import Stay, was_there
from mnemon.core.conversation.dream import owe_rest
from mnemon.core.conversation.messages import said_at
from mnemon.core.conversation.place import Changes, Opener, room_of
from mnemon.core.desk import Desk
from mnemon.domain import habits as h
from mnemon.domain import trust
from mnemon.domain.content import decode_metadata
from mnemon.domain.corrections import amendment, corrected, correction, looks_like, owns_up, takes_back
from mnemon.domain.denial import is_denial
from mnemon.domain.endings import endings
from mnemon.domain.line import CONCLUSIONS, SealedLine
from mnemon.domain.register import PEER
from mnemon.domain.shapes import settled
from mnemon.domain.standing import Stand, holding, kind_in, label_of, one_at_a_time, outdated, value_of
from mnemon.domain.tasks import Task
from mnemon.domain.trust import Trust
from mnemon.errors import Tampered
from mnemon.ports.book import Turns
from mnemon.ports.reasoner import Fact, Reasoner, Turn

_CONTEXT_TURNS = 24
"""How many turns before a passage are read with it: a scene that was set there may still be played."""
_RIGHT_BEFORE = 2
"""How many turns back what is amended without being named may lie: the author's last, before an answer."""
_AFTER_ALL = "~"
"""In the place of an id, what comes after every one."""
_MOST_LOOKED_AT = 50
"""How many conclusions of a session are looked through for what is corrected."""


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


def facts_of(reasoner: Reasoner, passage: Passage, local: Callable[[int], int]) -> list[Fact]:
    """What follows from what the peer said, what it only carried, and what reads like orders, each by itself.

    So whatever is written in a document has no part in what is concluded of the peer's own words. What
    others said is context, if it is of no lower class. What is wished of some messages is not of others.
    `local` tells what clocks on the wall showed: a day is one of those.

    Raises: Unavailable.
    """
    found: list[Fact] = []
    ways = {(passage.trusts[message], passage.wishes[message]) for message in passage.numbers}
    for kind, wishes in sorted(ways, reverse=True):
        turns = [
            replace(turn, said_at=local(turn.said_at))
            for turn in passage.turns
            if _is_heard(passage, turn, kind) and passage.wishes.get(turn.id, wishes) == wishes
        ]
        before = [
            replace(turn, said_at=local(turn.said_at))
            for turn in passage.before
            if _is_heard(passage, turn, kind)
        ]
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
            if turn.id in alive and was_there(stays, passage.numbers[turn.id]):
                hearer.end(turn)
                if turn.id not in told:
                    hearer.correct(turn)
        if hearer.news or hearer.unmet:
            hearer.meet()
            add_news(
                desk,
                observer,
                passage.about,
                passage.namespace,
                hearer.news,
                changes,
                makes_card=makes_cards,
                unmet=hearer.unmet,
            )
    if changes.put:
        owe_rest(desk, passage.session, passage.about, passage.namespace)
    return changes


class _Hearer:
    """Keeps what one observer concludes of a passage."""

    def __init__(
        self, desk: Desk, passage: Passage, observer: str, changes: Changes, news: list[Stand] | None = None
    ) -> None:
        self._desk = desk
        self._passage = passage
        self._observer = observer
        self._changes = changes
        self._keys = desk.tools.vault.room(desk.tx, room_of(desk, observer, passage.namespace))
        self._said = {turn.id: turn for turn in passage.turns}
        self.news: list[Stand] = [] if news is None else news
        """What was said for traits, or against them."""
        self.unmet: list[str] = []
        """The messages that tell of the end of somebody not known, or correct what is not known yet."""

    def keep(self, fact: Fact, fresh: str, instead: str | None = None) -> None:
        """Store the fact, under that id if it is not known yet, in the place of another conclusion if any."""
        passage = self._passage
        turns = [self._said[source] for source in fact.sources]
        found = trust.of_fact(
            f"{fact.text} {fact.trait or ''}", [(passage.trusts[turn.id], turn.text) for turn in turns]
        )
        if fact.together and found != Trust.SAID:
            return
        kind = CONCLUSIONS["deductive"] if fact.together else trust.KINDS[found]
        line_id = self._stored(fact, kind, turns[-1].said_at, fresh)
        if found != Trust.SAID or not (fact.trait or instead or is_denial(fact.text)):
            return
        if instead is None and fact.trait is not None and takes_back(turns[-1].text):
            instead = self._taken_back(turns[-1], fact.trait)
        text, denies = (fact.text, True) if fact.trait is None else (fact.trait, False)
        self.news.extend(
            Stand(
                text,
                line_id,
                turn.id,
                passage.session,
                passage.numbers[turn.id],
                turn.said_at,
                denies,
                None if instead == line_id else instead,
            )
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
            metadata=TOGETHER if fact.together else "{}",
        )
        desk.tx.lines.cite(keys.room, line.id, fact.sources)
        self._changes.add(line)
        return line.id

    def end(self, turn: Turn) -> None:
        """Where the turn says that somebody is no more, or again, who is a trait by name, conclude that."""
        if self._passage.trusts[turn.id] != Trust.SAID:
            return
        for said in endings(turn.text, self._said_before(turn)):
            before = self._before(turn)
            text = f'{self._passage.about} said: "{said}"'
            if holding([*before, self._stand(turn, text)]) != holding(before):
                self.keep(Fact(text, (turn.id,)), self._desk.fresh_id())
            elif turn.id not in self.unmet and not any(one.said == turn.id for one in before):
                self.unmet.append(turn.id)

    def _said_before(self, turn: Turn) -> str:
        """What was said right before the turn, by whomever."""
        passage = self._passage
        turns = [*passage.before, *passage.turns]
        at = turns.index(turn)
        said = turns[at - 1] if at else None
        return said.text if said is not None and passage.trusts[said.id] == Trust.SAID else ""

    def meet(self) -> None:
        """Conclude the ends that were told before who it is that they concern, and correct what was wrong.

        An older message may come to be known later.
        """
        desk, passage = self._desk, self._passage
        ids = unmet_in(desk, self._observer, passage.about, passage.namespace)
        known = desk.tx.lines.get_all(room_of(desk, passage.about, passage.namespace), ids) if ids else []
        since = min((one.at for one in self.news if not one.denies), default=None)
        still: list[str] = []
        for line in known:
            if line.id in passage.numbers:
                continue
            if since is None or said_at(line) < since:
                still.append(line.id)
                continue
            told = self._told_in(line)
            other = _Hearer(desk, told, self._observer, self._changes, self.news)
            for turn in told.turns:
                other.end(turn)
                other.correct(turn)
            still += other.unmet
        self.unmet = [*still, *self.unmet]

    def _told_in(self, line: SealedLine) -> Passage:
        """That message alone; nothing if it does not open."""
        passage = self._passage
        numbers = {line.id: line.turn or 0}
        alone = Passage(line.session or "", passage.namespace, passage.about, [], [], numbers, {}, {})
        try:
            turn = _turn(line, Opener(self._desk))
        except Tampered:
            return alone
        kind = trust.of_message(line.kind, decode_metadata(line.metadata), turn.text)
        return replace(alone, turns=[turn], trusts={line.id: kind})

    def correct(self, turn: Turn) -> None:
        """Where the turn says 'not this, that' of what was said in its session, conclude the same of that.

        What it corrects may come to be known later.
        """
        if self._passage.trusts[turn.id] != Trust.SAID:
            return
        if (pair := correction(turn.text)) is not None:
            met = self._replace(turn, *pair)
        elif (right := amendment(turn.text)) is not None:
            meant = self._just_said(turn, right)
            met = meant is not None and self._replace(turn, value_of(meant.text).partition(" (")[0], right)
        else:
            return
        if not met and turn.id not in self.unmet:
            self.unmet.append(turn.id)

    def _replace(self, turn: Turn, wrong: str, right: str) -> bool:
        """Conclude of the right what was concluded of the wrong, if anything was; whether that is so."""
        meant = self._meant(turn, wrong, right)
        if meant is not None:
            line = self._desk.tx.lines.get(self._keys.room, meant.source)
            trait = corrected(meant.text, wrong, right)
            if line is not None and trait is not None:
                text = corrected(self._keys.open(line), wrong, right) or f"{self._passage.about}: {trait}"
                self.keep(Fact(text, (turn.id,), trait), self._desk.fresh_id(), meant.source)
            return True
        if not owns_up(turn.text) and not looks_like(wrong, right):
            return False
        traits = {one.source for one in self._before(turn)}
        for source, text in self._concluded_before(turn):
            if source not in traits and (now := corrected(text, wrong, right)) is not None:
                self.keep(Fact(now, (turn.id,)), self._desk.fresh_id(), source)
                return True
        return False

    def _meant(self, turn: Turn, wrong: str, right: str) -> Stand | None:
        """The newest trait of the session that stood when the turn was said and has the wrong word."""
        sure = owns_up(turn.text)
        fits = [
            one
            for one in self._standing(turn)
            if corrected(value := value_of(one.text), wrong, right)
            and (sure or one_at_a_time(label_of(one.text)) or looks_like(value, right))
        ]
        return max(fits, key=attrgetter("when"), default=None)

    def _just_said(self, turn: Turn, right: str) -> Stand | None:
        """The trait that was said right before, if there is one alone that the right word fits."""
        since = self._passage.numbers[turn.id] - _RIGHT_BEFORE
        fits = [
            one for one in self._standing(turn) if one.turn >= since and looks_like(value_of(one.text), right)
        ]
        return fits[0] if len(fits) == 1 else None

    def _taken_back(self, turn: Turn, trait: str) -> str | None:
        """The conclusion of the same kind that stood in the session, if there is one alone."""
        label, kind = label_of(trait), kind_in(trait)
        fits = [
            one.source
            for one in self._standing(turn)
            if (label_of(one.text), kind_in(one.text)) == (label, kind) and one.text != trait
        ]
        return fits[0] if len(fits) == 1 and kind else None

    def _concluded_before(self, turn: Turn) -> list[tuple[str, str]]:
        """What was concluded here of what was said before, newest first; nothing if any is damaged."""
        passage = self._passage
        whose = Whose((self._observer,), passage.about, (passage.session,), (trust.KINDS[Trust.SAID],))
        try:
            views = newest_views(self._desk, whose, _MOST_LOOKED_AT)
        except Tampered:
            return []
        return [
            (view.line.id, view.text)
            for view in sorted(views, key=attrgetter("at"), reverse=True)
            if view.at <= turn.said_at and view.outdated_by is None
        ]

    def _standing(self, turn: Turn) -> list[Stand]:
        """The traits of the session that stood when the turn was said."""
        before = [one for one in self._before(turn) if one.session == self._passage.session]
        old = outdated(before)
        return [one for one in before if not one.denies and one.source not in old]

    def _before(self, turn: Turn) -> list[Stand]:
        """What was said for traits and against them before the turn, or in it."""
        passage = self._passage
        known = stands_in(self._desk, self._observer, passage.about, passage.namespace)
        now = turn.said_at, passage.numbers[turn.id]
        return [one for one in (*known, *self.news) if (one.at, one.turn) <= now]

    def _stand(self, turn: Turn, text: str) -> Stand:
        """What the turn would say against traits by that."""
        number = self._passage.numbers[turn.id]
        return Stand(text, _AFTER_ALL, turn.id, self._passage.session, number, turn.said_at, denies=True)


def by_peer(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    grouped: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if task.peer is not None:
            grouped[task.peer].append(task)
    return grouped
