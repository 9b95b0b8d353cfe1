"""The pages about access: the audit log, the programs that were let in, and tokens."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from starlette.responses import Response

from souvenance.decoders import settled
from souvenance.domain.audit import Checkpoint, Row, verify
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import BrokenAuditChain, InvalidInput, SouvenanceError
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate import sign_ins
from souvenance.surfaces.http.inspector.memory_pages import workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit, download, number, redirect, url

_ROWS = 100
_LOG_PAGE = 1000
_DAYS = {"1 hour": 3600, "1 day": 86_400, "30 days": 30 * 86_400, "1 year": 365 * 86_400}
_READ, _WRITE = ("get", "list", "snapshot"), ("put", "invalidate", "forget")
"""Rights that a form offers together."""
_WORDS = {
    "memory.put": "stored a line",
    "memory.get": "searched notes",
    "memory.line": "read a line",
    "memory.list": "listed lines",
    "memory.snapshot": "read the profile",
    "memory.invalidate": "corrected a line",
    "memory.forget": "forgot lines",
    "caps.mint": "made a token",
    "caps.attenuate": "narrowed a token",
    "caps.revoke": "revoked a token",
    "caps.whoami": "showed a token",
    "chat": "used the chat proxy",
    "messages.add": "stored messages",
    "messages.list": "read messages",
    "messages.delete": "forgot a message",
    "peers.chat": "asked about a person",
    "peers.context": "read what is known of a person",
    "peers.representation": "read what is known of a person",
    "peers.search": "searched what a person said",
    "peers.card": "read a card",
    "peers.set_card": "changed a card",
    "sessions.context": "read a session's context",
    "sessions.delete": "forgot a session",
    "conclusions.delete": "forgot a conclusion",
    "inspect.people": "listed people",
    "inspect.facts": "read a card",
    "workspaces.list": "listed workspaces",
    "workspaces.search": "searched messages",
    "sessions.summaries": "read summaries",
    "conclusions.list": "listed conclusions",
    "audit.list": "read the audit log",
    "audit.checkpoint": "took a checkpoint of the audit log",
    "status": "looked at the status",
    "signin.list": "listed the programs that signed in",
    "signin.allow": "let a program in",
    "signin.withdraw": "ended a sign-in",
}
"""What a row says, for the operations that people meet most; others are told by their names."""


async def audit(visit: Visit) -> Response:
    """The newest rows that match; `before` pages back."""
    query, workspace = visit.query, workspace_of(visit)
    size = (await visit.call(o.CHECKPOINT, m.AuditCheckpoint(), workspace)).size
    end = min(number(query.get("before", ""), size), size)
    wanted = {name: query.get(name, "").strip() for name in ("actor", "operation", "outcome")}
    rows: list[Any] = []
    while end > 0 and len(rows) < _ROWS:
        first = max(0, end - _LOG_PAGE)
        page = await visit.call(o.AUDIT, m.AuditList(first=first, limit=end - first), workspace)
        fitting = [row for row in reversed(page.rows) if _fits(row, wanted)]
        room = _ROWS - len(rows)
        rows += fitting[:room]
        end = fitting[room - 1].seq if len(fitting) >= room else first
        if any(wanted.values()) and size - first > 20 * _LOG_PAGE:
            break
    told = [(row, to_datetime(row.at), _WORDS.get(row.operation, row.operation)) for row in rows]
    return visit.page(
        "audit.html",
        rows=told,
        size=size,
        wanted=wanted,
        before=end,
        workspace=workspace,
        workspaces=await workspaces_of(visit),
    )


def _fits(row: Any, wanted: dict[str, str]) -> bool:
    return all(not value or value.lower() in getattr(row, name).lower() for name, value in wanted.items())


async def verify_audit(visit: Visit) -> Response:
    """Recompute every link of the log, and hold a saved checkpoint against it."""
    fields = await visit.form()
    saved, workspace = _saved(fields.get("checkpoint", "")), fields.get("w") or workspace_of(visit)
    now = await visit.call(o.CHECKPOINT, m.AuditCheckpoint(), workspace)
    try:
        rows = await _every(visit, now.workspace, now.size)
        checked, trouble = await asyncio.to_thread(verify, now.workspace, rows, saved), ""
    except BrokenAuditChain as error:
        checked, trouble = None, error.detail
    return visit.page("verified.html", now=now, checked=checked, saved=saved, trouble=trouble)


async def _every(visit: Visit, workspace: str, size: int) -> list[Row]:
    rows: list[Row] = []
    while len(rows) < size:
        asked = m.AuditList(len(rows), min(_LOG_PAGE, size - len(rows)))
        page = await visit.call(o.AUDIT, asked, workspace)
        if not page.rows:
            raise BrokenAuditChain(f"audit row {len(rows)} is missing")
        rows += (row.row(workspace) for row in page.rows)
    return rows


def _saved(text: str) -> Checkpoint | None:
    """Raises: InvalidInput."""
    if not text.strip():
        return None
    try:
        told = msgspec.json.decode(text.strip(), type=settled(m.CheckpointAnswer))
        return Checkpoint(told.workspace, told.size, bytes.fromhex(told.root))
    except (msgspec.MsgspecError, ValueError):
        raise InvalidInput("this is not a checkpoint", hint="Paste a file that this page gave you.") from None


async def save_checkpoint(visit: Visit) -> Response:
    fields = await visit.form()
    now = await visit.call(o.CHECKPOINT, m.AuditCheckpoint(), fields.get("w"))
    return download(msgspec.json.encode(now), f"checkpoint-{now.size}.json", "application/json")


async def access(visit: Visit) -> Response:
    found = await visit.ask(sign_ins.LIST, sign_ins.ListSignIns())
    listed = None if isinstance(found, SouvenanceError) else found.sign_ins
    return visit.page("access.html", sign_ins=listed, lasts=_DAYS, made=None, asked={})


async def mint(visit: Visit) -> Response:
    fields = await visit.form()
    rights = (*_READ, *_WRITE) if fields.get("rights") == "write" else _READ
    asked = m.Mint(
        sub=fields.get("peer", "").strip(),
        ops=rights,
        namespaces_allowed=_named(fields.get("namespaces", "")),
        ttl_seconds=_DAYS.get(fields.get("lasts", ""), 3600),
        wid=fields.get("workspace", "").strip() or None,
    )
    made = await visit.call(o.MINT, asked)
    found = await visit.ask(sign_ins.LIST, sign_ins.ListSignIns())
    listed = None if isinstance(found, SouvenanceError) else found.sign_ins
    return visit.page("access.html", sign_ins=listed, lasts=_DAYS, made=made, asked=fields)


def _named(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


async def revoke(visit: Visit) -> Response:
    fields = await visit.form()
    what = {kind: fields[kind].strip() for kind in ("jti", "sub") if fields.get(kind, "").strip()}
    if fields.get("sure") != "yes":
        return visit.page("revoke.html", what=what)
    await visit.call(o.REVOKE, m.Revoke(**what))
    return redirect(url("access"))


async def end_sign_in(visit: Visit) -> Response:
    await visit.form()
    await visit.call(sign_ins.WITHDRAW, sign_ins.Withdraw(visit.path["id"]))
    return redirect(url("access"))


PAGES = {"/inspect/audit": audit, "/inspect/access": access}
ACTIONS = {
    "/inspect/audit/verify": verify_audit,
    "/inspect/audit/checkpoint": save_checkpoint,
    "/inspect/access/tokens": mint,
    "/inspect/access/revoke": revoke,
    "/inspect/access/sign-ins/{id}/end": end_sign_in,
}
