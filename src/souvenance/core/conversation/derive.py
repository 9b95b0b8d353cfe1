"""Derive: conclusions and cards from what was said, for everyone who observes the speaker. Dream: merge
conclusions that are exactly the same, and make the card anew; a second dream changes nothing.

By rule a peer's own plain statements become conclusions, word for word, and the facts among them go on the
card.

A model instead says what a stretch of a session changes in what is known about the people in it. That takes
three steps, so that no transaction waits for the model: read the stretch with what is known, let the model
say what it changes, store that if the messages are still there. What is new becomes a conclusion with its
sources. What is replaced is invalidated by the conclusion that takes its place, what is retired by a line
that says nothing and names the same sources.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.conversation import cards, directory
from souvenance.core.conversation.cards import Card
from souvenance.core.conversation.compartments import Changes, Opener, compartment_of, write_line
from souvenance.core.conversation.conclusions import (
    EXPLICIT,
    KINDS,
    TOGETHER,
    View,
    Whose,
    likeness,
    newest_views,
    query_views,
)
from souvenance.core.conversation.directory import Stay, was_there
from souvenance.core.request_context import RequestContext, said_at
from souvenance.decoders import settled
from souvenance.domain import reasoning_settings as h
from souvenance.domain import trust
from souvenance.domain.content import decode_metadata
from souvenance.domain.current_facts import Correction, Stand, corrected, merged
from souvenance.domain.directory import DERIVE, PEER, Task
from souvenance.domain.line import CONCLUSIONS, STATEMENT, TOMBSTONE, SealedLine
from souvenance.domain.names import Compartment, grouped
from souvenance.domain.trust import Trust, of_conclusion, of_statement
from souvenance.errors import Tampered
from souvenance.language.pasted_text import own_words
from souvenance.language.statements import Statement, begins_play, plain_statements
from souvenance.ports.model import KnownFacts, ModelPerson, ModelReading, Revision, Turn
from souvenance.ports.store import TurnQuery, ViewQuery

_CONTEXT_TURNS = 24
"""How many earlier turns are read with a passage, and how many turns a role play lasts at most."""
MOST_KNOWN = 60
"""How many conclusions about a person a model gets: the newest and, if there are more, the most similar."""
_BEFORE = 6
_LONGEST_QUERY = 1000


class DerivedStretch(Struct, frozen=True):
    """What a peer said in a stretch of a session, with the turns of others in it and right before it."""

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
    """The instructions on what to note from each message of the peer, by its id."""


class _Only(Struct, frozen=True):
    """The payload of a derive job: which turns to look at, if not the whole range."""

    turns: frozenset[int] | None = None
    wishes: str | None = None
    """The instructions on what to note from them, if they differ from the session's."""


def read_passage(ctx: RequestContext, tasks: Sequence[Task], session: str, about: str) -> DerivedStretch:
    """The turns that these jobs are about, if they still exist and can be decrypted."""
    opener = Opener(ctx)
    first, last = min(task.first for task in tasks), max(task.last for task in tasks)
    span = TurnQuery(ctx.scope.workspace, session, first=max(0, first - _CONTEXT_TURNS), last=last)
    only = [(task, msgspec.json.decode(task.payload, type=settled(_Only))) for task in tasks]
    habits = directory.habits(ctx, session)
    passage = DerivedStretch(session, tasks[0].namespace, about, [], [], {}, {}, {})
    for line in ctx.tx.lines.turns(span):
        number = line.turn or 0
        own = line.compartment.owner == about and number >= first
        covering = (limits for task, limits in only if own and task.first <= number <= task.last)
        asked = next((one for one in covering if one.turns is None or number in one.turns), None)
        if own and asked is None:
            continue
        try:
            turn = Turn(line.id, line.compartment.owner, opener.text(line), said_at(line))
        except Tampered:
            continue  # A reader of the line gets the error, and the doctor finds it; the others still count.
        (passage.before if number < first else passage.turns).append(turn)
        passage.trusts[line.id] = trust.of_message(line.kind, decode_metadata(line.metadata), turn.text)
        if asked is not None:
            passage.numbers[line.id] = number
            passage.wishes[line.id] = h.wishes(asked.wishes, *habits)
    return passage


def observers_of(ctx: RequestContext, session: str, about: str) -> dict[str, list[Stay]]:
    """Who observes that peer in the session, the peer itself included, and when each was there."""
    memberships = directory.stays(ctx, session)
    latest = {stay.held: stay for stay in memberships}
    peer = directory.find(ctx, PEER, about)
    if peer is None or not h.observed(
        directory.member_habits(latest.get(about)), directory.peer_habits(peer)
    ):
        return {}
    observers: dict[str, list[Stay]] = {about: [(0, None)]}
    for stay in memberships:
        if stay.held != about and directory.member_habits(latest[stay.held]).observe_others is True:
            observers.setdefault(stay.held, []).append((stay.since, stay.until))
    return observers


def keep_statements(ctx: RequestContext, passage: DerivedStretch) -> Changes:
    """Store the plain statements of the passage, word for word, for those who heard them, and their facts.
    A known statement is only counted again. A statement from a deleted message is dropped."""
    changes = Changes()
    compartment = compartment_of(ctx, passage.about, passage.namespace)
    alive = {line.id for line in ctx.tx.lines.get_all(compartment, passage.numbers)}
    kept = [(turn, one) for turn, one in _stated(passage) if turn.id in alive]
    if not kept:
        return changes
    makes_card = h.makes_cards(*directory.habits(ctx, passage.session))
    makes_card = makes_card and ctx.services.model_for(DERIVE) is None  # A model's card is the model's.
    for observer, stays in observers_of(ctx, passage.session, passage.about).items():
        heard = [(turn, one) for turn, one in kept if was_there(stays, passage.numbers[turn.id])]
        if not heard:
            continue
        hearer = _Hearer(ctx, {}, passage, observer, changes)
        for (turn, one), fresh in zip(heard, ctx.fresh_ids(len(heard)), strict=True):
            hearer.keep_statement(turn, one, fresh)
        hearer.tell_card(makes_card=makes_card)
    return changes


def _stated(passage: DerivedStretch) -> Iterator[tuple[Turn, Statement]]:
    """What the peer says of itself in its own words, outside of role plays."""
    playing = 0
    for turn in (*passage.before, *passage.turns):
        if turn.peer == passage.about and begins_play(turn.text):
            playing = _CONTEXT_TURNS
        elif playing:
            playing -= 1
        elif turn.id in passage.numbers and passage.trusts[turn.id] is Trust.SAID:
            for one in plain_statements(turn.text):
                yield turn, one


def by_peer(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    return grouped((task.peer, task) for task in tasks if task.peer is not None)


class Stretch(Struct, frozen=True):
    """A stretch of a session: what each person said in it, and what a model is given to read."""

    passages: Mapping[str, DerivedStretch]
    reading: ModelReading
    known: Mapping[str, View]
    """The conclusions that were offered, by id."""


def read_for_model(ctx: RequestContext, tasks: Sequence[Task]) -> Stretch:
    """The turns of these jobs but for what reads like orders, and what is known. Raises: Tampered."""
    session = tasks[0].session or ""
    passages = {about: read_passage(ctx, own, session, about) for about, own in by_peer(tasks).items()}
    trusts = {line: kind for one in passages.values() for line, kind in one.trusts.items()}
    every = _lines(ctx, trusts, _in_order(passages.values()))
    new = {turn.id for one in passages.values() for turn in one.turns}
    lines = [turn for turn in every if turn.id in new]
    fresh = frozenset(line for one in passages.values() for line in one.numbers)
    speakers = {line.peer for line in lines if line.id in fresh}
    known: dict[str, View] = {}
    people = [_person(ctx, about, lines, known) for about in passages if about in speakers]
    reading = ModelReading(
        people,
        lines,
        [turn for turn in every if turn.id not in new][-_BEFORE:],
        fresh,
        frozenset(line for line, kind in trusts.items() if kind == Trust.QUOTED),
        {line: wish for one in passages.values() for line, wish in one.wishes.items() if wish},
    )
    return Stretch(passages, reading, known)


def _in_order(passages: Iterable[DerivedStretch]) -> list[Turn]:
    """The turns of all passages, each once, in the order of the session."""
    order: list[str] = []
    turns: dict[str, Turn] = {}
    for passage in passages:
        place = 0
        for turn in (*passage.before, *passage.turns):
            if turn.id in turns:
                place = order.index(turn.id) + 1
            else:
                order.insert(place, turn.id)
                turns[turn.id] = turn
                place += 1
    return [turns[line] for line in order]


def _lines(ctx: RequestContext, trusts: Mapping[str, Trust], turns: Sequence[Turn]) -> list[Turn]:
    """The turns in local time, without pasted or quoted text and without what reads like orders."""
    found: list[Turn] = []
    for turn in turns:
        own = own_words(turn.text) if trusts[turn.id] == Trust.SAID else turn.text
        if trusts[turn.id] > Trust.SUSPECT and own.strip():
            found.append(replace(turn, text=own.strip(), said_at=ctx.services.local(turn.said_at)))
    return found


def _person(ctx: RequestContext, about: str, lines: Sequence[Turn], known: dict[str, View]) -> ModelPerson:
    """The people in the stretch, with their cards and current conclusions."""
    whose = Whose((about,), about, kinds=(STATEMENT, trust.KINDS[Trust.SAID], CONCLUSIONS["deductive"]))
    views = newest_views(ctx, whose, MOST_KNOWN)
    if len(views) == MOST_KNOWN:
        said = " ".join(line.text for line in lines if line.peer == about)[-_LONGEST_QUERY:]
        views = [*query_views(ctx, (whose,), said, MOST_KNOWN // 2), *views]
    found = {view.line.id: view for view in views if view.outdated_by is None}
    known.update(found)
    return ModelPerson(
        about,
        [entry.text for entry in cards.read_card(ctx, about, about) or ()],
        [
            KnownFacts(line_id, view.text, ctx.services.local(view.at), by_hand=not view.sources)
            for line_id, view in found.items()
        ],
    )


def keep_revisions(ctx: RequestContext, stretch: Stretch, revisions: Sequence[Revision]) -> Changes:
    """Store each change whose messages still exist, for those who heard them. Raises: Tampered."""
    changes = Changes()
    for about, passage in stretch.passages.items():
        makes_card = h.makes_cards(*directory.habits(ctx, passage.session))
        compartment = compartment_of(ctx, about, passage.namespace)
        alive = {line.id for line in ctx.tx.lines.get_all(compartment, passage.numbers)}
        own = [one for one in revisions if one.about == about and alive.issuperset(one.sources)]
        for observer, stays in observers_of(ctx, passage.session, about).items() if own else ():
            hearer = _Hearer(ctx, stretch.known, passage, observer, changes)
            for one in own:
                if all(was_there(stays, passage.numbers[source]) for source in one.sources):
                    hearer.keep(one)
            hearer.tell_card(makes_card=makes_card)
    return changes


class _Hearer:
    """Stores what one observer learns about one person from a stretch."""

    def __init__(
        self,
        ctx: RequestContext,
        known: Mapping[str, View],
        passage: DerivedStretch,
        observer: str,
        changes: Changes,
    ) -> None:
        self._ctx = ctx
        self._known = known
        self._passage = passage
        self._observer = observer
        self._changes = changes
        self._keys = ctx.services.vault.compartment(ctx.tx, compartment_of(ctx, observer, passage.namespace))
        self._said = {turn.id: turn for turn in passage.turns}
        self._news: list[Stand] = []
        self._gone: list[str] = []

    def keep_statement(self, turn: Turn, one: Statement, fresh: str) -> None:
        """Store what was said, word for word. What is known is counted again, once for each message."""
        stated = Revision("add", self._passage.about, (turn.id,), one.text)
        line_id = self._stored(stated, Trust.SAID, None, fresh, verbatim=True)
        self._news.extend(self._stand(line, line_id, turn.id) for line in one.lines)

    def keep(self, one: Revision) -> None:
        old = None if one.known is None else self._held(one.known)
        if one.kind in ("keep", "retire"):
            if old is not None and self._trust(one) == Trust.SAID:
                self._confirm(old, one) if one.kind == "keep" else self._retire(old, one)
            return
        found = self._trust(one)
        if found == Trust.SUSPECT or (one.together and found != Trust.SAID):
            return
        if found != Trust.SAID:
            old = None
        if old is None and one.needs_known:
            return
        line_id = self._stored(one, found, old, self._ctx.fresh_id())
        if one.card is not None and found == Trust.SAID:
            self._news.extend(self._stand(one.card, line_id, source) for source in one.sources)

    def tell_card(self, *, makes_card: bool) -> None:
        """Take off the card what no longer stands, and put on it what is new."""
        card = cards.Card(self._ctx, self._observer, self._passage.about, self._passage.namespace)
        if self._gone:
            card.strike(self._gone, self._changes)
        if self._news:
            card.add_news(self._news, self._changes, makes_card=makes_card)

    def _trust(self, one: Revision) -> Trust:
        """The class of what is said: the lowest of its sources, and lower if it reads like an order."""
        statement = f"{one.text} {one.card or ''}"
        sources = [(self._passage.trusts[source], self._said[source].text) for source in one.sources]
        return min(trust.of_statement(statement), trust.of_fact(statement, sources))

    def _held(self, line_id: str) -> SealedLine | None:
        """The conclusion as this observer holds it, if it does and it still stands."""
        ctx, view = self._ctx, self._known[line_id]
        if self._observer == self._passage.about:
            line = ctx.tx.lines.get(self._keys.compartment, line_id)
        else:
            mark = likeness(self._keys.blind, view.line.session or "", view.text, view.line.kind)
            line = ctx.tx.lines.alike(self._keys.compartment, self._passage.about, mark)
        return None if line is None or line.invalidated_by is not None else line

    def _confirm(self, old: SealedLine, one: Revision) -> None:
        """Count what is said again, with the messages that say it."""
        self._ctx.tx.lines.reinforce(self._keys.compartment, old.id, 1)
        if old.metadata != TOGETHER:
            self._ctx.tx.lines.cite(self._keys.compartment, old.id, one.sources)

    def _retire(self, old: SealedLine, one: Revision) -> None:
        """Replace a line that is no longer true by an empty one."""
        line = write_line(
            self._ctx,
            self._keys,
            self._ctx.fresh_id(),
            TOMBSTONE,
            "",
            session=self._passage.session,
            supersedes=old.id,
        )
        self._ctx.tx.lines.cite(self._keys.compartment, line.id, one.sources)
        self._changes.add(line)
        self._invalidate(old, line.id)

    def _invalidate(self, old: SealedLine, by: str) -> None:
        compartment = self._keys.compartment
        self._ctx.tx.lines.invalidate(compartment, old.id, by)
        self._ctx.tx.terms.remove(compartment, (old.id,))
        self._changes.replaced.append((compartment.owner, compartment.namespace, old.id, by))
        self._gone.append(old.id)

    def _stored(
        self, one: Revision, found: Trust, old: SealedLine | None, fresh: str, *, verbatim: bool = False
    ) -> str:
        """The id of the conclusion: of the known one that says the same, or of a new one. `verbatim`: it is
        part of its message, which counts only if the known one does not name it."""
        ctx, compartment = self._ctx, self._keys.compartment
        together = one.together or one.needs_known
        kind = STATEMENT if verbatim else CONCLUSIONS["deductive"] if together else trust.KINDS[found]
        elsewhere = one.needs_known and old is not None and old.session != self._passage.session
        session = None if elsewhere else self._passage.session  # None if it rests on two.
        mark = likeness(self._keys.blind, session or "", one.text, kind)
        known = ctx.tx.lines.alike(compartment, self._passage.about, mark)
        if known is not None:
            if old is not None and old.id != known.id:
                self._retire(old, one)
            if not verbatim or not set(one.sources) <= set(self._sources(known)):
                self._confirm(known, one)
            return known.id
        rests_on = list(one.sources)
        if one.needs_known and old is not None:
            rests_on += self._sources(old)
        line = write_line(
            ctx,
            self._keys,
            fresh,
            kind,
            one.text,
            session=session,
            about=self._passage.about,
            said_at=self._said[one.sources[-1]].said_at,
            metadata=TOGETHER if together else "{}",
            tokens=ctx.services.tokenizer.count(one.text),
            likeness=mark,
            supersedes=None if old is None else old.id,
        )
        ctx.tx.lines.cite(compartment, line.id, list(dict.fromkeys(rests_on)))
        self._changes.add(line)
        if old is not None:
            self._invalidate(old, line.id)
        return line.id

    def _sources(self, line: SealedLine) -> Sequence[str]:
        return self._ctx.tx.lines.cited(self._ctx.scope.workspace, (line.id,)).get(line.id, ())

    def _stand(self, card: str, line_id: str, source: str) -> Stand:
        turn, passage = self._said[source], self._passage
        return Stand(card, line_id, source, passage.session, passage.numbers[source], turn.said_at)


def dream(ctx: RequestContext, observer: str, observed: str, namespace: str) -> Changes:
    """At a request context that opens that namespace alone. Raises: Tampered."""
    changes = Changes()
    compartment = compartment_of(ctx, observer, namespace)
    span = ViewQuery(ctx.scope.workspace, KINDS, observer, observed, namespaces=(namespace,))
    gone = _merge(ctx, compartment, ctx.tx.lines.views(span), changes)
    card = Card(ctx, observer, observed, namespace)
    card.remake(_standing(ctx, compartment, merged(card.stands, gone)), changes)
    return changes


def _duplicates(lines: Iterable[SealedLine]) -> Iterator[list[SealedLine]]:
    """The conclusions of one session that say the same, oldest first."""
    known = sorted((line for line in lines if line.likeness is not None), key=lambda line: line.id)
    alike = grouped(((line.kind, line.likeness), line) for line in known)
    return (same for same in alike.values() if len(same) > 1)


def _merge(
    ctx: RequestContext, compartment: Compartment, lines: Iterable[SealedLine], changes: Changes
) -> dict[str, str]:
    """The conclusions that went, each with the one that says the same now."""
    now: dict[str, str] = {}
    for kept, *others in _duplicates(lines):
        ids = [line.id for line in others]
        cited = ctx.tx.lines.cited(ctx.scope.workspace, ids)
        ctx.tx.lines.reinforce(compartment, kept.id, sum(line.times for line in others))
        ctx.tx.lines.cite(
            compartment, kept.id, sorted({source for one in ids for source in cited.get(one, ())})
        )
        ctx.tx.terms.remove(compartment, ids)
        ctx.tx.lines.delete(compartment, ids)
        changes.lose(compartment, ids)
        now.update(dict.fromkeys(ids, kept.id))
    return now


def _standing(ctx: RequestContext, compartment: Compartment, stands: Sequence[Stand]) -> Iterator[Stand]:
    """The facts whose conclusions are there still, or as somebody corrected them. Raises: Tampered."""
    opener = Opener(ctx)
    found = {line.id: line for line in ctx.tx.lines.get_all(compartment, {stand.source for stand in stands})}
    for stand in stands:
        line = found.get(stand.source)
        if line is None or line.invalidated_by is None:
            yield from (stand,) if line is not None else ()
        elif (correction := _correction(ctx, compartment, opener, line)) is not None:
            yield corrected(stand, correction)


def _correction(
    ctx: RequestContext, compartment: Compartment, opener: Opener, line: SealedLine
) -> Correction | None:
    """What the newest correction of the conclusion says, if it says something."""
    newest: SealedLine | None = line
    while newest is not None and newest.invalidated_by is not None:
        newest = next(iter(ctx.tx.lines.get_all(compartment, (newest.invalidated_by,))), None)
    if newest is None or newest.kind not in EXPLICIT or of_conclusion(newest.kind) != Trust.SAID:
        return None
    after = opener.text(newest)
    if of_statement(after) != Trust.SAID:
        return None
    lines = [fact for one in plain_statements(after) for fact in one.lines]
    return Correction(newest.id, opener.text(line), after, lines)
