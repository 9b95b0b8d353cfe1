"""What the inspector asks about retention beyond the rules: what expires next, what a rule would remove."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from itertools import islice

from souvenance.core.conversation.compartments import Opener, everywhere, reading
from souvenance.core.request_context import RequestContext
from souvenance.domain import ulid
from souvenance.domain.line import LinePlace, SealedLine
from souvenance.domain.names import ALL
from souvenance.domain.policy import Reach
from souvenance.domain.retention import DAY_MS, FORGET, RetentionRule
from souvenance.domain.timestamps import LAST_MS, to_datetime
from souvenance.gate.inspection import Asked
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, operation

_SHOWN = 5
_EXPIRING = 20
_LOOKED_AT = 200
"""Of so many lines those are shown that are still there for a reader."""


class AskAged(Asked, frozen=True, kw_only=True):
    rule: RetentionRule


class EndingLine(Answer, frozen=True):
    id: str
    owner: str
    namespace: str
    kind: str
    created_at: datetime
    expires_at: datetime | None
    text: str


class EndingAnswer(Answer, frozen=True):
    lines: list[EndingLine]


class Expiry(Answer, frozen=True):
    """When a line is over, and by which rule; empty if by its own time."""

    at: datetime
    rule: str


def end_of(ctx: RequestContext, line: LinePlace) -> Expiry | None:
    """When the line is over, as things stand."""
    put_at = ulid.milliseconds(line.id)
    ends = [
        (min(put_at + rule.days * DAY_MS, LAST_MS), rule.name)
        for rule in ctx.rules
        if rule.then == FORGET and rule.covers(line.compartment.namespace, line.kind)
    ]
    if line.expires_at is not None:
        ends.append((line.expires_at, ""))
    at, rule = min(ends, default=(None, ""))
    return None if at is None else Expiry(to_datetime(at), rule)


def aged(request: AuthorisedRequest, asked: AskAged) -> Outcome:
    """Some of the lines that have come to the rule's age."""
    ctx = request.ctx
    old = ctx.tx.lines.aged(ctx.scope.workspace, asked.rule.aged(ctx.now), _LOOKED_AT)
    return _shown(ctx, old, _SHOWN)


def expiring(request: AuthorisedRequest, asked: Asked) -> Outcome:
    """The lines that expire next, by their own time."""
    ctx = request.ctx
    return _shown(ctx, ctx.tx.lines.over(ctx.scope.workspace, LAST_MS, _LOOKED_AT), _EXPIRING)


def _shown(ctx: RequestContext, lines: Iterable[SealedLine], most: int) -> Outcome:
    """The first of those that a reader finds: what is over may still be in the store."""
    opener = Opener(ctx)
    found = [
        EndingLine(
            line.id,
            line.compartment.owner,
            line.compartment.namespace,
            line.kind,
            to_datetime(line.created_at),
            None if line.expires_at is None else to_datetime(line.expires_at),
            opener.text(line),
        )
        for line in islice(filter(partial(_stands, ctx), lines), most)
    ]
    return Outcome(EndingAnswer(found), reading(everywhere(ctx), [line.id for line in found]))


def _stands(ctx: RequestContext, line: SealedLine) -> bool:
    opened = ctx.scope.opens(line.compartment.namespace)
    return opened and ctx.tx.lines.get(line.compartment, line.id) is not None


AGED = operation(
    "inspect.aged",
    "get",
    EndingAnswer,
    aged,
    reach=lambda asked: Reach(
        workspace=asked.workspace_id, namespaces=(asked.rule.namespace or ALL,), whole_compartments=True
    ),
)
EXPIRING = operation("inspect.expiring", "get", EndingAnswer, expiring)
