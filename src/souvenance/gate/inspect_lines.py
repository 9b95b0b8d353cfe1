"""What the inspector asks of a line, of a session and of the audit log beyond the other doors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from souvenance.core.conversation import conclusions, directory
from souvenance.core.conversation.compartments import Opener, everywhere, reading
from souvenance.core.recall import class_of
from souvenance.core.request_context import RequestContext, Trace, opened
from souvenance.domain.directory import SESSION
from souvenance.domain.line import DIGESTS, TOMBSTONE, LinePlace, OpenLine, SealedLine
from souvenance.domain.names import Name, grouped
from souvenance.domain.policy import Reach
from souvenance.domain.timestamps import to_datetime, to_ms
from souvenance.domain.ulid import LineId
from souvenance.errors import NotFound
from souvenance.gate import messages as m
from souvenance.gate.conversation.conclusions import ConclusionAnswer
from souvenance.gate.conversation.resource import AnyName
from souvenance.gate.conversation.sessions import reads_session
from souvenance.gate.inspect_retention import Expiry, end_of
from souvenance.gate.inspection import Asked, anyone
from souvenance.gate.maintenance import shown_row, visible
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, in_workspace, operation
from souvenance.gate.operations import line_facts
from souvenance.ports.store import WantedRows

ROWS = 100
SCANNED = 10_000
"""So many rows of the log are looked at for one page."""
_MOST_VERSIONS = 20


# A line.


class AskLine(Asked, frozen=True, kw_only=True):
    owner: Name
    id: LineId


class Version(Answer, frozen=True):
    """A line of one history: what replaced what."""

    id: str
    text: str
    created_at: datetime


class SealAnswer(Answer, frozen=True):
    """How a line lies in the store."""

    algorithm: str
    epoch: int
    """The number of the key, of those that its owner's namespace has or had."""
    newest_epoch: int
    bytes: int


class WholeLine(m.LineFacts, frozen=True, kw_only=True):
    owner: str
    text: str
    cap: str
    about: str | None
    turn: int | None
    invalidated_by: str | None
    source: str
    """What its metadata names as its source; empty if nothing."""
    seal: SealAnswer
    earlier: list[Version]
    """What it replaced, newest first."""
    later: list[Version]
    """What replaced it, oldest first."""
    said_at: datetime | None
    """When it was said, or what it rests on; None if that is not known."""
    follows_from: list[str]
    said_in: tuple[str | None, str] | None
    """The session and the id of a message among these, if the token may read one."""
    concluded: int
    """How many lines follow from it."""
    end: Expiry | None
    """When it is over, as things stand."""
    is_note: bool
    """Whether somebody noted it: it was not said, concluded or made of other lines."""
    moves_alone: bool
    """Whether it can be moved to another namespace by itself."""


def line(request: AuthorisedRequest, asked: AskLine) -> Outcome:
    ctx, workspace = request.ctx, request.ctx.scope.workspace
    sealed, keys = ctx.find(asked.id)
    found = opened(sealed, keys)
    earlier = list(_versions(ctx, found.supersedes, back=True))
    later = list(_versions(ctx, sealed.invalidated_by, back=False))
    sources = ctx.tx.lines.cited(workspace, (found.id,)).get(found.id, [])
    owners = (found.about or found.compartment.owner, found.compartment.owner)
    places = (found.compartment._replace(owner=one) for one in owners)
    messages = (
        one for place in places for one in ctx.tx.lines.get_all(place, sources) if one.turn is not None
    )
    said_in = ((one.session, one.id) for one in messages if request.rights.sees(one))
    answer = WholeLine(
        **line_facts(found),
        trust=class_of(found).name.lower(),
        owner=found.compartment.owner,
        text=found.text,
        cap=found.cap,
        about=found.about,
        turn=found.turn,
        invalidated_by=sealed.invalidated_by,
        source=str(found.metadata.get("source", "")),
        seal=SealAnswer("AES-256-GCM", sealed.epoch, keys.epoch, len(sealed.sealed)),
        earlier=earlier,
        later=later,
        said_at=_moment(conclusions.times_said(ctx, (sealed,)).get(found.id)),
        follows_from=sources,
        said_in=next(said_in, None),
        concluded=len(ctx.tx.lines.citing(workspace, (found.id,))),
        end=end_of(ctx, found),
        is_note=is_note(found),
        moves_alone=moves_alone(ctx, sealed),
    )
    read = [found.id, *(one.id for one in (*earlier, *later))]
    return Outcome(answer, reading((found.compartment.namespace,), read))


def is_note(line: LinePlace) -> bool:
    return line.turn is None and line.about is None and line.kind not in DIGESTS


def moves_alone(ctx: RequestContext, line: SealedLine) -> bool:
    """Whether it belongs to no session, and follows from nothing: a note, or what somebody stated."""
    if line.invalidated_by is not None or line.kind == TOMBSTONE:
        return False
    if is_note(line):
        return True
    stated = line.turn is None and line.session is None and line.kind not in DIGESTS
    return stated and not ctx.tx.lines.cited(ctx.scope.workspace, (line.id,))


def _moment(at: int | None) -> datetime | None:
    return None if at is None else to_datetime(at)


def _versions(ctx: RequestContext, line_id: str | None, *, back: bool) -> Iterator[Version]:
    for _ in range(_MOST_VERSIONS):
        if line_id is None:
            return
        try:
            sealed, keys = ctx.find(line_id)
        except NotFound:
            return
        found: OpenLine = opened(sealed, keys)
        yield Version(found.id, found.text, to_datetime(found.created_at))
        line_id = found.supersedes if back else sealed.invalidated_by


class AskSaid(Asked, frozen=True, kw_only=True):
    conclusions: Annotated[list[AnyName], Meta(max_length=100)]


class SaidAnswer(Answer, frozen=True):
    said: dict[str, datetime]
    """When what each conclusion rests on was said, by its id, as far as that is known."""


def said(request: AuthorisedRequest, asked: AskSaid) -> Outcome:
    ctx = request.ctx
    views = (ctx.tx.lines.view(ctx.scope.workspace, one, ctx.scope.namespaces) for one in asked.conclusions)
    times = conclusions.times_said(ctx, [one for one in views if one and request.rights.sees(one)])
    answer = SaidAnswer({line_id: to_datetime(at) for line_id, at in times.items()})
    return Outcome(answer, reading(everywhere(ctx)))


# A session.


class AskConcluded(Asked, frozen=True, kw_only=True):
    """What was concluded from these messages of a session, whatever session it was concluded in."""

    session_id: AnyName
    messages: Annotated[list[AnyName], Meta(max_length=100)]


class ConcludedAnswer(Answer, frozen=True):
    conclusions: list[ConclusionAnswer]
    namespace: str
    """Where the session lies."""
    writes: bool
    """Whether the token may write there, and so forget what anybody said."""


def concluded(request: AuthorisedRequest, asked: AskConcluded) -> Outcome:
    ctx, rights, views = request.ctx, request.rights, request.rights.views()
    namespace = directory.need(ctx, SESSION, asked.session_id).namespace
    citing = ctx.tx.lines.citing(ctx.scope.workspace, asked.messages)
    found = [
        one
        for compartment, ids in grouped(one for one in citing if one[0].namespace == namespace).items()
        for one in ctx.tx.lines.get_all(compartment, ids)
        if any(whose.includes(one) for whose in views) and rights.sees(one)
    ]
    sources = ctx.tx.lines.cited(ctx.scope.workspace, [one.id for one in found])
    opener = Opener(ctx)
    shown = [
        ConclusionAnswer.of(conclusions.View(one, opener.text(one), sources.get(one.id, []))) for one in found
    ]
    told = ConcludedAnswer(shown, namespace, rights.opens(asked.session_id) or rights.owns(asked.session_id))
    return Outcome(told, reading((namespace,), [one.id for one in found]))


# The audit log.


class FindRows(Asked, frozen=True, kw_only=True):
    """Rows of the log that match, newest first. `before` is the number of the row to go on below."""

    actor: str | None = None
    operations: list[str] | None = None
    allowed: bool | None = None
    since: m.Moment | None = None
    until: m.Moment | None = None
    line: LineId | None = None
    before: m.Counted | None = None


class RowsAnswer(Answer, frozen=True):
    rows: list[m.AuditRow]
    size: int
    """How many rows the log has."""
    before: int
    """Where to go on; 0 at the end of the log."""


def find_rows(request: AuthorisedRequest, asked: FindRows) -> Outcome:
    ctx, workspace, grant = request.ctx, request.ctx.scope.workspace, request.chain.grant
    size = ctx.tx.audit.tree(workspace).size
    before = size if asked.before is None else min(asked.before, size)
    wanted = WantedRows(
        max(0, before - SCANNED),
        before,
        asked.actor,
        asked.operations,
        asked.allowed,
        None if asked.since is None else to_ms(asked.since),
        None if asked.until is None else to_ms(asked.until),
        asked.line,
    )
    found = ctx.tx.audit.find(workspace, wanted, ROWS)
    after = found[-1].seq if len(found) == ROWS else wanted.first
    shown = [shown_row(row) for row in found if visible(row.event, grant)]
    return Outcome(RowsAnswer(shown, size, after))


# How long texts are.


class Measure(Asked, frozen=True, kw_only=True):
    """How many tokens of a model these texts are."""

    texts: Annotated[list[str], Meta(max_length=8)]


class MeasureAnswer(Answer, frozen=True):
    tokens: list[int]


def measure(request: AuthorisedRequest, asked: Measure) -> Outcome:
    count = request.ctx.services.tokenizer.count
    return Outcome(MeasureAnswer([count(text) for text in asked.texts]), Trace())


LINE = operation(
    "inspect.line",
    "get",
    WholeLine,
    line,
    anyone,
    reach=lambda asked: Reach(workspace=asked.workspace_id, actor=asked.owner, some_compartment=True),
)
SAID = operation("inspect.said", "get", SaidAnswer, said, anyone)
CONCLUDED = operation("inspect.concluded", "get", ConcludedAnswer, concluded, reads_session)
ROWS_FOUND = operation("inspect.rows", "audit", RowsAnswer, find_rows, anyone, reach=in_workspace)
MEASURE = operation("inspect.measure", "get", MeasureAnswer, measure, anyone)
