"""The gate's operations on retention rules: what holds, what one would do, and what is to hold.

A rule is of a whole workspace. Who may forget in all of the workspace may set one: for one namespace with a
token that opens it, for all of them with one that opens all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import astuple

from souvenance.core import retention_rules
from souvenance.core.conversation.compartments import denied, everywhere, reading
from souvenance.core.request_context import RequestContext, Trace
from souvenance.core.retention import waits_for
from souvenance.domain import names
from souvenance.domain.capability import Grant
from souvenance.domain.names import ALL, Kind, Name, Namespace
from souvenance.domain.policy import Reach
from souvenance.domain.retention import SUMMARISE, Days, RetentionRule, Then
from souvenance.errors import Conflict, NotFound, Unsupported
from souvenance.gate.messages import Answer, Done, Nothing, Request
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome, operation

MOST_RULES = 64


class SetRule(Request, frozen=True):
    name: Name
    then: Then
    days: Days
    namespace: Namespace | None = None
    """Without it, the rule holds in every namespace."""
    kind: Kind | None = None
    """Without it, the rule holds for lines of every kind."""
    dry_run: bool = False
    """Only say what the rule would do. Nothing is set."""


class RemoveRule(Request, frozen=True):
    name: Name


class RuleAnswer(Answer, frozen=True):
    name: str
    then: str
    days: int
    namespace: str | None
    kind: str | None
    lines: int | None
    """How many stored lines have come to that age: what goes, or fades. What rests on them alone is not
    counted. Null for a token that does not open all that the rule covers."""
    waits_for: str = ""
    """Why the rule removes nothing for now, if that is so."""


class SetAnswer(RuleAnswer, frozen=True):
    """The rule as it holds now, or would."""

    dry_run: bool = False


class RulesAnswer(Answer, frozen=True):
    rules: list[RuleAnswer]


def show(authorised: AuthorisedRequest, request: Nothing) -> Outcome:
    ctx, grant = authorised.ctx, authorised.chain.grant
    shown = [_answer(ctx, grant, rule) for rule in ctx.rules if not rule.namespace or _opens(grant, rule)]
    return Outcome(RulesAnswer(shown), reading(everywhere(ctx)))


def simulate(authorised: AuthorisedRequest, request: SetRule) -> Outcome | None:
    """What the rule would do, if that is all that was asked. Raises: as `keep`."""
    rule = _checked(authorised, request)
    return _outcome(authorised, rule, dry_run=True) if request.dry_run else None


def keep(authorised: AuthorisedRequest, request: SetRule) -> Outcome:
    """Let the rule hold from now on. Raises: NamespaceDenied, Conflict, Unsupported."""
    ctx = authorised.ctx
    rule = _checked(authorised, request)
    found = _outcome(authorised, rule, dry_run=False)
    retention_rules.keep(ctx.tx, ctx.scope.workspace, rule, ctx.fresh_id(), ctx.now)
    return found


def remove(authorised: AuthorisedRequest, request: RemoveRule) -> Outcome:
    """Let the rule hold no longer. What it removed does not come back. Raises: NotFound, NamespaceDenied."""
    ctx = authorised.ctx
    rule = next((one for one in ctx.rules if one.name == request.name), None)
    if rule is None:
        raise NotFound("there is no such retention rule")
    _check_opens(authorised.chain.grant, rule)
    retention_rules.drop(ctx.tx, ctx.scope.workspace, rule.name)
    return Outcome(Done(), _trace(rule))


def _checked(authorised: AuthorisedRequest, request: SetRule) -> RetentionRule:
    ctx = authorised.ctx
    names.name(request.name, "name")
    rule = RetentionRule(
        name=request.name,
        then=request.then,
        days=request.days,
        namespace=request.namespace,
        kind=request.kind,
    )
    before = [one for one in ctx.rules if one.name == rule.name]
    for one in before:
        _check_opens(authorised.chain.grant, one)
    if not before and len(ctx.rules) >= MOST_RULES:
        raise Conflict(f"there are {MOST_RULES} retention rules already", hint="Remove one first.")
    if rule.then == SUMMARISE and waits_for(ctx.services, rule):
        raise Unsupported(
            "only a model writes the summaries that this rule needs, and none is configured for them",
            hint="Configure a model for the task 'summarise', or let the rule forget.",
        )
    return rule


def _check_opens(grant: Grant, rule: RetentionRule) -> None:
    """Raises: NamespaceDenied."""
    if not _opens(grant, rule):
        raise denied()


def _opens(grant: Grant, rule: RetentionRule) -> bool:
    return ALL in grant.namespaces or rule.namespace in grant.namespaces


def _answer(ctx: RequestContext, grant: Grant, rule: RetentionRule) -> RuleAnswer:
    counts, workspace = _opens(grant, rule), ctx.scope.workspace
    return RuleAnswer(
        rule.name,
        rule.then,
        rule.days,
        rule.namespace,
        rule.kind,
        ctx.tx.lines.aged_counted(workspace, rule.aged(ctx.now)) if counts else None,
        waits_for(ctx.services, rule),
    )


def _outcome(authorised: AuthorisedRequest, rule: RetentionRule, *, dry_run: bool) -> Outcome:
    found = _answer(authorised.ctx, authorised.chain.grant, rule)
    answer = SetAnswer(*astuple(found), dry_run)
    return Outcome(answer, _trace(rule, lines=answer.lines, dry_run=dry_run))


def _trace(rule: RetentionRule, **facts: object) -> Trace:
    detail = {"rule": rule.name, "then": rule.then, "days": rule.days, "kind": rule.kind, **facts}
    return Trace((rule.namespace or ALL,), (), msgspec.json.encode(detail, order="sorted").decode())


def _declared(
    name: str,
    op: str,
    answer: type[Answer],
    work: Callable[[AuthorisedRequest, Any], Outcome],
    reach: Reach | Callable[[Any], Reach],
    **more: Any,
) -> Operation:
    of = reach if callable(reach) else lambda request: reach
    return operation(name, op, answer, work, reach=of, **more)


_IN_SOME = Reach(some_compartment=True, whole_compartments=True)

SHOW = _declared("retention.list", "list", RulesAnswer, show, _IN_SOME)
SET = _declared(
    "retention.set",
    "forget",
    SetAnswer,
    keep,
    lambda request: Reach(namespaces=(request.namespace or ALL,), whole_compartments=True),
    peek=simulate,
    rings=True,
)
REMOVE = _declared("retention.remove", "forget", Done, remove, _IN_SOME)
