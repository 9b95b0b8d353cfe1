"""The page about retention: which rules hold, what expires next, and setting or removing a rule."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from souvenance.domain.line import MESSAGE
from souvenance.domain.names import DEFAULT_KIND
from souvenance.domain.retention import FADE, FORGET, SUMMARISE, RetentionRule
from souvenance.errors import NotFound
from souvenance.gate import inspect_retention, inspection
from souvenance.gate import messages as m
from souvenance.gate import retention as t
from souvenance.surfaces.http.inspector.places import workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit, number, redirect, url

THEN = {
    FORGET: "goes",
    SUMMARISE: "goes once a summary by a model covers it",
    FADE: "stays, and ranks half as well",
}
_KINDS = (MESSAGE, DEFAULT_KIND)


async def retention(visit: Visit) -> Response:
    workspace = workspace_of(visit)
    found, expiring, workspaces = await asyncio.gather(
        visit.ask(t.SHOW, m.Nothing(), workspace, of_all=True),
        visit.ask(inspect_retention.EXPIRING, inspection.Asked(workspace_id=workspace), of_all=True),
        workspaces_of(visit),
    )
    return visit.page(
        "retention.html",
        workspace=workspace,
        workspaces=workspaces,
        rules=found and found.rules,
        expiring=expiring and expiring.lines,
        then=THEN,
        kinds=_KINDS,
    )


async def set_rule(visit: Visit) -> Response:
    """Shows what the rule would do; with the form's consent, lets it hold."""
    fields = await visit.form()
    workspace = fields.get("w") or workspace_of(visit)
    rule = _rule(fields)
    sure = fields.get("sure") == "yes"
    answer = await visit.call(t.SET, t.SetRule(**rule, dry_run=not sure), workspace)
    if sure:
        return redirect(url("data", "retention", w=workspace))
    return await _asked(visit, workspace, answer, fields, removes=False)


async def remove_rule(visit: Visit) -> Response:
    """Shows what the rule covers; with the form's consent, removes it."""
    fields = await visit.form()
    workspace, name = fields.get("w") or workspace_of(visit), fields.get("name", "")
    if fields.get("sure") == "yes":
        await visit.call(t.REMOVE, t.RemoveRule(name), workspace)
        return redirect(url("data", "retention", w=workspace))
    found = await visit.call(t.SHOW, m.Nothing(), workspace)
    rule = next((one for one in found.rules if one.name == name), None)
    if rule is None:
        raise NotFound("there is no such retention rule", hint="It may have been removed already.")
    return await _asked(visit, workspace, rule, fields, removes=True)


def _rule(fields: Mapping[str, str]) -> dict[str, Any]:
    """What the form says; the gate checks it."""
    return {
        "name": fields.get("name", "").strip(),
        "then": fields.get("then", ""),
        "days": number(fields.get("days", "").strip(), 0),
        "namespace": fields.get("namespace", "").strip() or None,
        "kind": fields.get("kind", "").strip() or None,
    }


async def _asked(
    visit: Visit, workspace: str, rule: t.RuleAnswer, fields: Mapping[str, str], *, removes: bool
) -> Response:
    """The question whether the rule is to be set or removed."""
    old = RetentionRule(rule.name, rule.then, rule.days, rule.namespace, rule.kind)
    asked = inspect_retention.AskAged(workspace_id=workspace, rule=old)
    aged = rule.lines and await visit.ask(inspect_retention.AGED, asked)
    return visit.page(
        "retention_rule.html",
        workspace=workspace,
        rule=rule,
        removes=removes,
        some=aged.lines if aged else [],
        resting=isinstance(rule, t.SetAnswer) and rule.resting,
        then=THEN,
        fields={name: value for name, value in fields.items() if name not in ("csrf", "sure")},
    )


ENDPOINTS = {
    "GET /inspect/data/retention": retention,
    "POST /inspect/data/retention/set": set_rule,
    "POST /inspect/data/retention/remove": remove_rule,
}
