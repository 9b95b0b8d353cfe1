"""The gate's operations on retention rules: what holds, what one would do, and what is to hold.

A rule is of a whole workspace. Who may forget in all of the workspace may set one: for one namespace with a
token that opens it, for all of them with one that opens all.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec.structs import asdict

from souvenance.core import retention_rules
from souvenance.core.conversation.compartments import denied, everywhere, reading
from souvenance.core.conversation.erase import fall
from souvenance.core.request_context import RequestContext, Trace
from souvenance.core.retention import waits_for
from souvenance.domain import names
from souvenance.domain.capability import Grant
from souvenance.domain.line import shared_fields
from souvenance.domain.names import ALL, Name
from souvenance.domain.policy import Reach
from souvenance.domain.retention import FORGET, SUMMARISE, RetentionRule
from souvenance.errors import CapOpMismatch, Conflict, NotFound, Unsupported
from souvenance.gate.messages import Answer, Nothing, Request
from souvenance.gate.operation import AuthorisedRequest, Outcome, operation
from souvenance.ports.store import EVERYTHING

MOST_RULES = 64


class SetRule(Request, RetentionRule, frozen=True):
    dry_run: bool = False
    """Only say what the rule would do. Nothing is set."""


class RemoveRule(Request, frozen=True):
    name: Name


class RuleAnswer(Answer, RetentionRule, frozen=True, kw_only=True):
    lines: int | None
    """How many stored lines have come to that age: what goes, or fades. Null for a token that does not open
    all that the rule covers."""
    waits_for: str = ""
    """Why the rule removes nothing for now, if that is so."""


class SetAnswer(RuleAnswer, frozen=True, kw_only=True):
    """The rule as it holds now, or would."""

    dry_run: bool
    resting: int | None
    """How many more go with these lines, because they rest on them alone; null if the rule was set. Cards and
    summaries, which are made anew, are not counted."""


class RemovedRule(Answer, frozen=True):
    removed: str


class RulesAnswer(Answer, frozen=True):
    rules: list[RuleAnswer]


def show(authorised: AuthorisedRequest, request: Nothing) -> Outcome:
    ctx, grant = authorised.ctx, authorised.chain.grant
    shown = [
        RuleAnswer(**_facts(ctx, grant, rule))
        for rule in ctx.rules
        if rule.namespace is None or _opens(grant, rule)
    ]
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
    return Outcome(RemovedRule(rule.name), _trace(rule))


def take(
    authorised: AuthorisedRequest,
    rule: RetentionRule,
    here: dict[str, RetentionRule],
    *,
    look: bool,
    writes: bool,
) -> RetentionRule | None:
    """The rule that has this one's name `here`. If there is none, this one holds from now on, with `writes`.

    Raises: CapOpMismatch, InvalidInput, NamespaceDenied; Conflict if it would remove what is here. A rule
    that summarises may remove messages that came with it: it is checked with `look`, before they came.
    """
    ctx, grant = authorised.ctx, authorised.chain.grant
    if "forget" not in grant.ops:
        raise CapOpMismatch("the archive has retention rules, and the cap does not grant 'forget'")
    _check_opens(grant, rule)
    names.name(rule.name, "name")
    if (known := here.get(rule.name)) is not None:
        return known
    _check_room(here)
    removes = rule.then == FORGET or (look and rule.then == SUMMARISE)
    if removes and (old := ctx.tx.lines.aged_counted(ctx.scope.workspace, rule.aged(ctx.now))):
        raise Conflict(
            f"retention rule {rule.name} would remove {old} of the lines that are here",
            hint="If they should go, set it with 'souvenance retention set'. Then run the import again.",
        )
    here[rule.name] = rule
    if writes:
        retention_rules.keep(ctx.tx, ctx.scope.workspace, rule, ctx.fresh_id(), ctx.now)
    return None


def _check_room(here: Collection[object]) -> None:
    if len(here) >= MOST_RULES:
        raise Conflict(f"there are {MOST_RULES} retention rules already", hint="Remove one first.")


def _checked(authorised: AuthorisedRequest, request: SetRule) -> RetentionRule:
    ctx = authorised.ctx
    names.name(request.name, "name")
    rule = RetentionRule(**shared_fields(RetentionRule, request))
    before = [one for one in ctx.rules if one.name == rule.name]
    for one in before:
        _check_opens(authorised.chain.grant, one)
    if not before:
        _check_room(ctx.rules)
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


def _facts(ctx: RequestContext, grant: Grant, rule: RetentionRule) -> dict[str, Any]:
    """The fields of `RuleAnswer`."""
    found = (
        ctx.tx.lines.aged_counted(ctx.scope.workspace, rule.aged(ctx.now)) if _opens(grant, rule) else None
    )
    return {**asdict(rule), "lines": found, "waits_for": waits_for(ctx.services, rule)}


def _outcome(authorised: AuthorisedRequest, rule: RetentionRule, *, dry_run: bool) -> Outcome:
    ctx, resting = authorised.ctx, 0 if dry_run else None
    facts = _facts(ctx, authorised.chain.grant, rule)
    if dry_run and rule.then == FORGET:
        ctx.tx.lines.hide(None)  # What is over and still there rests on them, too.
        old = ctx.tx.lines.aged(ctx.scope.workspace, rule.aged(ctx.now), EVERYTHING)
        resting = len(fall(ctx, old).lines) - len(old)
    answer = SetAnswer(**facts, dry_run=dry_run, resting=resting)
    return Outcome(answer, _trace(rule, lines=answer.lines, dry_run=dry_run))


def _trace(rule: RetentionRule, **facts: object) -> Trace:
    detail = {"rule": rule.name, "then": rule.then, "days": rule.days, "kind": rule.kind, **facts}
    return Trace((rule.namespace or ALL,), (), msgspec.json.encode(detail, order="sorted").decode())


def _of_some(request: Nothing | RemoveRule) -> Reach:
    return Reach(some_compartment=True, whole_compartments=True)


def _of_namespace(request: SetRule) -> Reach:
    return Reach(namespaces=(request.namespace or ALL,), whole_compartments=True)


SHOW = operation("retention.list", "list", RulesAnswer, show, reach=_of_some)
SET = operation("retention.set", "forget", SetAnswer, keep, reach=_of_namespace, peek=simulate, rings=True)
REMOVE = operation("retention.remove", "forget", RemovedRule, remove, reach=_of_some)
