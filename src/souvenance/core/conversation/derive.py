"""Derive: conclusions and cards from what was said, for everyone who observes the speaker.

By rule a peer's own plain statements become conclusions, word for word, and the facts among them go on the
card. Where a model reads what was said, `revise` stores what it found instead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec import Struct

from souvenance.core.conversation import directory
from souvenance.core.conversation.cards import add_news
from souvenance.core.conversation.compartments import Changes, Opener, compartment_of, write_line
from souvenance.core.conversation.conclusions import likeness
from souvenance.core.conversation.directory import Stay, was_there
from souvenance.core.conversation.messages import said_at
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain import reasoning_settings as h
from souvenance.domain import trust
from souvenance.domain.content import decode_metadata
from souvenance.domain.current_facts import Stand
from souvenance.domain.directory import PEER
from souvenance.domain.jobs import DERIVE, Task
from souvenance.domain.line import SealedLine
from souvenance.domain.trust import Trust
from souvenance.errors import Tampered
from souvenance.language.statements import begins_play, plain_statements
from souvenance.ports.model import Turn
from souvenance.ports.store import Turns

_CONTEXT_TURNS = 24
"""How many turns before a passage are read with it, and for how many a role play may go on."""


class DerivedStretch(Struct, frozen=True):
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
    """What a derive job's payload says: which turns to look at, if not all of the range."""

    turns: frozenset[int] | None = None
    wishes: str | None = None
    """What is wished to be noted of them, if other than of the session."""


def read_passage(ctx: RequestContext, tasks: Sequence[Task], session: str, about: str) -> DerivedStretch:
    """The turns that these jobs are about, as far as they still exist and open."""
    opener = Opener(ctx)
    first, last = min(task.first for task in tasks), max(task.last for task in tasks)
    span = Turns(ctx.scope.workspace, session, first=max(0, first - _CONTEXT_TURNS), last=last)
    only = [(task, msgspec.json.decode(task.payload, type=settled(_Only))) for task in tasks]
    habits = directory.habits(ctx, session)
    before: list[Turn] = []
    turns: list[Turn] = []
    numbers: dict[str, int] = {}
    trusts: dict[str, Trust] = {}
    wishes: dict[str, str] = {}
    for line in ctx.tx.lines.turns(span):
        number = line.turn or 0
        own = line.compartment.owner == about and number >= first
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
    return DerivedStretch(session, tasks[0].namespace, about, turns, before, numbers, trusts, wishes)


def _covers(task: Task, only: Collection[int] | None, number: int) -> bool:
    return task.first <= number <= task.last and (only is None or number in only)


def _turn(line: SealedLine, opener: Opener) -> Turn:
    return Turn(line.id, line.compartment.owner, opener.text(line), said_at(line))


def observers_of(ctx: RequestContext, session: str, about: str) -> dict[str, list[Stay]]:
    """Who forms a view of that peer in the session, and when each was there: itself, and who observes."""
    ties = directory.stays(ctx, session)
    latest = {tie.held: tie for tie in ties}
    peer = directory.find(ctx, PEER, about)
    if peer is None or not h.observed(
        directory.member_habits(latest.get(about)), directory.peer_habits(peer)
    ):
        return {}
    observers: dict[str, list[Stay]] = {about: [(0, None)]}
    for tie in ties:
        if tie.held != about and directory.member_habits(latest[tie.held]).observe_others is True:
            observers.setdefault(tie.held, []).append((tie.since, tie.until))
    return observers


class _Found(Struct, frozen=True):
    """A statement of a peer to be kept."""

    text: str
    source: Turn
    lines: Sequence[str]
    """What it says for a card."""


def keep_statements(ctx: RequestContext, passage: DerivedStretch) -> Changes:
    """Store the plain statements of the passage, word for word, for those who heard them, and their facts.

    What one knows already is only counted again. What rests on a message that was deleted is dropped.
    """
    changes = Changes()
    compartment = compartment_of(ctx, passage.about, passage.namespace)
    alive = {line.id for line in ctx.tx.lines.get_all(compartment, passage.numbers)}
    kept = [one for one in _stated(passage) if one.source.id in alive]
    if not kept:
        return changes
    makes_card = h.makes_cards(*directory.habits(ctx, passage.session))
    makes_card = makes_card and ctx.tools.model_for(DERIVE) is None  # A model's card is the model's.
    for observer, stays in observers_of(ctx, passage.session, passage.about).items():
        heard = [one for one in kept if was_there(stays, passage.numbers[one.source.id])]
        news: list[Stand] = []
        for one, fresh in zip(heard, ctx.fresh_ids(len(heard)), strict=True):
            known, said = _stored(ctx, passage, observer, one, fresh, changes), one.source
            news += [
                Stand(line, known, said.id, passage.session, passage.numbers[said.id], said.said_at)
                for line in one.lines
            ]
        if news:
            add_news(ctx, observer, passage.about, passage.namespace, news, changes, makes_card=makes_card)
    return changes


def _stated(passage: DerivedStretch) -> Iterator[_Found]:
    """What the peer says of itself in its own words, outside of role plays."""
    playing = 0
    for turn in (*passage.before, *passage.turns):
        if turn.peer == passage.about and begins_play(turn.text):
            playing = _CONTEXT_TURNS
        elif playing:
            playing -= 1
        elif turn.id in passage.numbers and passage.trusts[turn.id] is Trust.SAID:
            for one in plain_statements(turn.text):
                yield _Found(one.text, turn, one.lines)


def _stored(
    ctx: RequestContext,
    passage: DerivedStretch,
    observer: str,
    one: _Found,
    fresh: str,
    changes: Changes,
) -> str:
    """The id of the conclusion: of the known one, or of the new one."""
    kind, source = trust.KINDS[Trust.SAID], one.source.id
    keys = ctx.tools.vault.compartment(ctx.tx, compartment_of(ctx, observer, passage.namespace))
    mark = likeness(keys.blind, passage.session, one.text, kind)
    known = ctx.tx.lines.alike(keys.compartment, passage.about, mark)
    if known is not None:
        if source not in ctx.tx.lines.cited(ctx.scope.workspace, (known.id,)).get(known.id, ()):
            ctx.tx.lines.reinforce(keys.compartment, known.id, 1)
            ctx.tx.lines.cite(keys.compartment, known.id, (source,))
        return known.id
    line = write_line(
        ctx,
        keys,
        fresh,
        kind,
        one.text,
        session=passage.session,
        about=passage.about,
        said_at=one.source.said_at,
        tokens=ctx.tools.tokenizer.count(one.text),
        likeness=mark,
    )
    ctx.tx.lines.cite(keys.compartment, line.id, (source,))
    changes.add(line)
    return line.id


def by_peer(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    grouped: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if task.peer is not None:
            grouped[task.peer].append(task)
    return grouped
