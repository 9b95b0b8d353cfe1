"""The pages about access: tokens and who gave them to whom, and the programs that were let in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from msgspec import Struct, convert
from starlette.responses import Response

from souvenance.domain.capability import read_unverified
from souvenance.domain.names import ALL
from souvenance.errors import InvalidInput, NotFound
from souvenance.gate import inspect_work, inspection, sign_ins
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_tree import WHAT_FALLS, TokenAnswer, WhatFalls
from souvenance.surfaces.http.browser_pages import names_in
from souvenance.surfaces.http.inspector.places import (
    home_of,
    names_of,
    sign_ins_of,
    tokens_of,
    workspace_of,
    workspaces_of,
)
from souvenance.surfaces.http.inspector.visit import Visit, redirect, url

LASTS = {"1 hour": 3600, "1 day": 86_400, "30 days": 30 * 86_400, "1 year": 365 * 86_400}
RIGHTS = {
    "read": ("get", "list", "snapshot"),
    "write": ("put",),
    "correct": ("invalidate",),
    "forget": ("forget",),
    "read the audit log": ("audit",),
    "give and revoke tokens": ("grant", "revoke"),
}
"""Rights that a form offers together."""


class Branch(Struct, frozen=True):
    """A token, and those that were made with it."""

    token: TokenAnswer
    below: list[Branch]


class Giver(Struct, frozen=True):
    """Whoever holds a token that is not listed, and the tokens that were made with it."""

    name: str
    token: str
    yours: bool
    below: list[Branch]


async def access(
    visit: Visit, fields: Mapping[str, str] | None = None, made: str = "", link: str = ""
) -> Response:
    """With a token that was just made, and the link that signs in with it, if there is one."""
    fields = fields or {}
    workspace = fields.get("workspace") or workspace_of(visit)
    tokens, let_in, workspaces, names = await asyncio.gather(
        tokens_of(visit, workspace), sign_ins_of(visit), workspaces_of(visit), names_of(visit, workspace)
    )
    return visit.page(
        "access.html",
        workspace=workspace,
        workspaces=workspaces,
        names=names,
        givers=None if tokens is None else _givers(visit, tokens),
        sign_ins=let_in,
        lasts=LASTS,
        rights=[name for name, ops in RIGHTS.items() if any(map(visit.may, ops))],
        made=made,
        jti=read_unverified(made)[0][-1].jti if made else "",
        link=link,
        asked=fields,
    )


def _givers(visit: Visit, tokens: Sequence[TokenAnswer]) -> list[Giver]:
    known = {one.id for one in tokens}
    roots = {one.parent: one.by for one in tokens if one.parent not in known}
    return [
        Giver(by, parent, parent == visit.who.jti, _below(parent, tokens)) for parent, by in roots.items()
    ]


def _below(parent: str, tokens: Sequence[TokenAnswer]) -> list[Branch]:
    return [Branch(one, _below(one.id, tokens)) for one in tokens if one.parent == parent != one.id]


def _claims(visit: Visit, fields: Mapping[str, str]) -> m.Mint:
    """What the form asks for. Raises: InvalidInput."""
    chosen = [some for name, some in RIGHTS.items() if fields.get(name) == "on"]
    ops = [op for some in chosen for op in some if visit.may(op)]
    if not ops:
        raise InvalidInput("the token would be good for nothing", hint="Choose what it may do.")
    return m.Mint(
        sub=fields.get("peer", "").strip(),
        ops=tuple(ops),
        namespaces_allowed=names_in(fields.get("namespaces", "")),
        ttl_seconds=LASTS.get(fields.get("lasts", ""), LASTS["1 hour"]),
        wid=fields.get("workspace", "").strip() or home_of(visit),
        peers=(ALL,) if fields.get("everyone") == "on" else (),
    )


async def preview(visit: Visit) -> Response:
    """What the token would see, before it is made."""
    fields = await visit.form()
    asked = _claims(visit, fields)
    m.checked(asked)
    eye = visit.narrowed(convert(asked, m.Attenuate, from_attributes=True))
    workspace, peer = asked.wid or "", asked.sub
    facts, known, people, others = await asyncio.gather(
        eye.ask(inspection.FACTS, inspection.Facts(workspace_id=workspace, peer=peer, observer=peer)),
        eye.ask(inspect_work.STORAGE, inspect_work.Storage(workspace_id=workspace, owner=peer)),
        eye.ask(inspection.PEOPLE, inspection.People(workspace_id=workspace, size=5), of_all=True),
        visit.ask(inspection.PEOPLE, inspection.People(workspace_id=workspace, size=5), of_all=True),
    )
    return visit.page(
        "preview.html",
        fields={name: value for name, value in fields.items() if name != "csrf"},
        asked=asked,
        chosen=[name for name in RIGHTS if fields.get(name) == "on"],
        denied=[name for name in RIGHTS if fields.get(name) != "on"],
        lasts=fields.get("lasts", ""),
        facts=facts,
        known=known,
        people=people,
        hidden=[one.peer for one in others.people if one.peer != peer] if others else [],
        more=others.total - len(others.people) if others else 0,
    )


async def mint(visit: Visit) -> Response:
    fields = await visit.form()
    made = await visit.call(o.MINT, _claims(visit, fields))
    return await access(visit, fields, made.cap)


async def revoke(visit: Visit) -> Response:
    """Shows what falls; with the form's consent, revokes it."""
    fields = await visit.form()
    what = {kind: fields[kind].strip() for kind in ("jti", "sub") if fields.get(kind, "").strip()}
    workspace = fields.get("w") or workspace_of(visit)
    if len(what) != 1:
        raise InvalidInput("name a token by its id, or somebody whose tokens end")
    if fields.get("sure") != "yes":
        found = await visit.call(WHAT_FALLS, WhatFalls(workspace_id=workspace, **what))
        own = visit.who.jti == what.get("jti") or visit.who.sub == what.get("sub")
        falls = [branch for giver in _givers(visit, found.tokens) for branch in giver.below]
        return visit.page("revoke.html", what=what, workspace=workspace, found=found, falls=falls, own=own)
    await visit.call(o.REVOKE, m.Revoke(**what))
    return redirect(url("access", w=workspace))


async def end_sign_in(visit: Visit) -> Response:
    """Shows what ends; with the form's consent, ends it."""
    fields = await visit.form()
    if fields.get("sure") != "yes":
        known = await sign_ins_of(visit) or []
        found = next((one for one in known if one.id == visit.path["id"]), None)
        if found is None:
            raise NotFound("there is no such sign-in", hint="It may have ended already.")
        return visit.page("end_sign_in.html", one=found)
    await visit.call(sign_ins.WITHDRAW, sign_ins.Withdraw(visit.path["id"]))
    return redirect(url("access", w=fields.get("w")))


ENDPOINTS = {
    "GET /inspect/access": access,
    "POST /inspect/access/preview": preview,
    "POST /inspect/access/tokens": mint,
    "POST /inspect/access/revoke": revoke,
    "POST /inspect/access/sign-ins/{id}/end": end_sign_in,
}
