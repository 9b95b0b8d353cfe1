"""Summarise: a session up to one of its messages, on top of the summary before.

Without a model a summary is quotations: the most telling messages, each behind its day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct

from souvenance.core.conversation.compartments import Changes, Opener, compartment_of, write_line
from souvenance.core.conversation.messages import class_of
from souvenance.core.request_context import RequestContext, said_at
from souvenance.decoders import decodable, settled
from souvenance.domain.centrality import central
from souvenance.domain.directory import SUMMARISE, Job, Task
from souvenance.domain.line import SUMMARY, LinePlace, SealedLine, shared_fields
from souvenance.domain.names import SESSIONS
from souvenance.domain.representation import INDENT, Quote, dated_quote, fitting
from souvenance.domain.trust import Trust
from souvenance.ports.model import Turn
from souvenance.ports.store import TurnQuery

SHORT_TOKENS = 1000
LONG_TOKENS = 4000


class StoredSummary(Struct, frozen=True):
    text: str
    message_id: str
    long: bool
    created_at: int
    tokens: int
    turn: int


class _Note(Struct, frozen=True):
    """What a summary's metadata says."""

    turn: int
    message_id: str
    long: bool
    model: bool = False
    """Whether a model wrote it, and not rules that quote."""


class SummaryKind(Struct, frozen=True):
    """What a summary's job says."""

    long: bool = False


class SummaryStretch(Struct, frozen=True):
    job: Job
    session: str
    long: bool
    first: int
    upto: int
    message_id: str
    earlier: str | None
    turns: list[Turn]
    """What was said, without what was only carried or reads like orders to a model."""
    read: list[str]
    """Every message of the stretch."""

    @property
    def most_tokens(self) -> int:
        return LONG_TOKENS if self.long else SHORT_TOKENS


def summaries(ctx: RequestContext, session: str) -> list[StoredSummary]:
    """The newest short and the newest long summary, if there are any. Raises: Tampered."""
    newest = {note.long: (note, line) for note, line in _noted(ctx, session)}
    opener = Opener(ctx)
    return [
        StoredSummary(opener.text(line), note.message_id, long, line.created_at, line.tokens or 0, note.turn)
        for long, (note, line) in sorted(newest.items())
    ]


def _noted(ctx: RequestContext, session: str) -> Iterator[tuple[_Note, SealedLine]]:
    for place in ctx.tx.lines.of_session(ctx.scope.workspace, SESSIONS, session):
        line = ctx.tx.lines.get(place.compartment, place.id)
        note = None if line is None else decodable(line.metadata, _Note)
        if line is not None and note is not None:
            yield note, line


def covered_turn(ctx: RequestContext, session: str) -> int:
    """Up to which turn a model has summarised the session at length; 0 if it has not."""
    return max((note.turn for note, _ in _noted(ctx, session) if note.model and note.long), default=0)


def telling_of(ctx: RequestContext, session: str, turn: int) -> list[LinePlace]:
    """The session's summaries that may tell of that turn."""
    before = {line.id for note, line in _noted(ctx, session) if note.turn < turn}
    stored = ctx.tx.lines.of_session(ctx.scope.workspace, SESSIONS, session)
    return [place for place in stored if place.id not in before]


def is_note(metadata: str) -> bool:
    """Whether the metadata of a summary may say that."""
    return decodable(metadata, _Note) is not None


def read_stretch(ctx: RequestContext, task: Task) -> SummaryStretch | None:
    """None if there is nothing new to summarise. Raises: Tampered."""
    session = task.session or ""
    long = msgspec.json.decode(task.payload, type=settled(SummaryKind)).long
    noted = [(note, line) for note, line in _noted(ctx, session) if note.long == long]
    found = [one for one in noted if one[0].model] or noted
    if (
        found
        and task.last <= found[-1][0].turn
        and not found[-1][0].model
        and ctx.services.model_for(SUMMARISE)
    ):
        found = []  # It was quoted while the model failed, and is to be written now.
    first = found[-1][0].turn + 1 if found else 0
    lines = ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, session, first=first, last=task.last))
    if not lines:
        return None
    opener = Opener(ctx)
    turns = [
        Turn(line.id, line.compartment.owner, text, ctx.services.local(said_at(line)))
        for line in lines
        if class_of(ctx, line, text := opener.text(line)) == Trust.SAID
    ]
    before = opener.text(found[-1][1]) if found else None
    job = Job(**shared_fields(Job, task))
    read = [line.id for line in lines]
    return SummaryStretch(job, session, long, first, lines[-1].turn or 0, read[-1], before, turns, read)


def by_quotes(
    earlier: str | None, turns: Sequence[Turn], most_tokens: int, count: Callable[[str], int]
) -> str:
    """Quotations of the turns that tell most, in order, after what the earlier summary says. All of it in at
    most so many tokens: of these the earlier summary has half, or what the turns leave."""
    before = (earlier or "").splitlines()
    space = most_tokens - min(most_tokens // 2, sum(count(f"{line}\n") for line in before))
    kept: dict[int, str] = {}
    for number in central([turn.text for turn in turns]) or range(len(turns)):
        turn = turns[number]
        quote = dated_quote(turn.said_at, Quote(turn.peer, turn.text))
        cost = count(f"{quote}\n")
        if cost <= space:
            kept[number] = quote
            space, most_tokens = space - cost, most_tokens - cost
    earlier_lines = fitting(before[::-1], lambda line: count(f"{line}\n"), most_tokens)
    while earlier_lines and earlier_lines[0].startswith(INDENT):
        del earlier_lines[0]  # It went on with a message that is no longer told.
    return "\n".join((*earlier_lines, *(quote for _, quote in sorted(kept.items()))))


def keep_summary(
    ctx: RequestContext, stretch: SummaryStretch, text: str, *, by_model: bool = False
) -> Changes:
    """Put the summary in place of the earlier one of its kind; an empty one changes nothing. If a message was
    deleted while the reasoner thought, it has to think again. Where a rule removed messages, the first long
    summary that tells of them stays: a later one goes with any other message that it tells of."""
    changes = Changes()
    span = TurnQuery(ctx.scope.workspace, stretch.session, first=stretch.first, last=stretch.upto)
    if [line.id for line in ctx.tx.lines.turns(span)] != stretch.read:
        ctx.tx.work.add(stretch.job, ctx.now)
        return changes
    if not text.strip():
        return changes
    compartment = compartment_of(ctx, SESSIONS, stretch.job.namespace)
    [oldest] = ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, stretch.session, limit=1))
    gone = (oldest.turn or 0) - 1
    same = [(note, line) for note, line in _noted(ctx, stretch.session) if note.long == stretch.long]
    stays = min(
        (note.turn for note, _ in same if note.long and note.model and 0 < gone <= note.turn), default=0
    )
    for note, earlier in same:
        if note.turn != stays:
            ctx.tx.lines.delete(earlier.compartment, (earlier.id,))
            changes.lose(earlier.compartment, (earlier.id,))
    kept = write_line(
        ctx,
        ctx.services.vault.compartment(ctx.tx, compartment),
        ctx.fresh_id(),
        SUMMARY,
        text,
        session=stretch.session,
        metadata=msgspec.json.encode(
            _Note(stretch.upto, stretch.message_id, stretch.long, by_model)
        ).decode(),
        tokens=ctx.services.tokenizer.count(text),
    )
    changes.add(kept)
    return changes
