"""The pages of the audit log: find rows, verify every link, and keep the log and its checkpoint elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.responses import Response

from souvenance.decoders import settled
from souvenance.domain import receipt as receipts
from souvenance.domain.audit import Checkpoint, verify
from souvenance.domain.names import ALL
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import BrokenAuditChain, Denied, InvalidInput
from souvenance.gate import inspect_lines
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.surfaces.http.inspector.audit_words import WORDS, in_words
from souvenance.surfaces.http.inspector.places import workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit, download, moment_of, number

_LOG_PAGE = 1000
_WANTED = ("actor", "operation", "outcome", "since", "until")
_OUTCOMES = {"allowed": True, "refused": False}


async def audit(visit: Visit) -> Response:
    """The newest rows that match; `before` pages back."""
    query, workspace = visit.query, workspace_of(visit)
    wanted = {name: query.get(name, "").strip() for name in _WANTED}
    before = query.get("before", "")
    asked = inspect_lines.FindRows(
        workspace_id=workspace,
        actor=wanted["actor"] or None,
        operations=_operations(wanted["operation"]),
        allowed=_OUTCOMES.get(wanted["outcome"]),
        since=moment_of(wanted["since"]),
        until=moment_of(wanted["until"], end=True),
        before=number(before, 0) if before else None,
    )
    found, workspaces = await asyncio.gather(
        visit.call(inspect_lines.ROWS_FOUND, asked), workspaces_of(visit)
    )
    return visit.page(
        "audit.html",
        rows=[in_words(row) for row in found.rows],
        size=found.size,
        wanted=wanted,
        before=found.before,
        scanned=inspect_lines.SCANNED,
        words=sorted({words: name for name, words in WORDS.items()}),
        workspace=workspace,
        workspaces=workspaces,
    )


def _operations(text: str) -> list[str] | None:
    """The operations that these words tell of, or the one of that name."""
    if not text:
        return None
    return [name for name, words in WORDS.items() if words == text] or [text]


async def verify_audit(visit: Visit) -> Response:
    """Recompute every link of the log, and hold a saved checkpoint against it."""
    fields = await visit.form()
    saved = _saved(fields.get("file", "").strip() or fields.get("checkpoint", "").strip())
    workspace = fields.get("w") or workspace_of(visit)
    if not visit.is_whole or ALL not in visit.who.namespaces_allowed:
        raise Denied(
            "your token shows only a part of the log, and only the whole can be verified",
            hint="Ask whoever holds the owner's token.",
        )
    now = await visit.call(o.CHECKPOINT, m.Nothing(), workspace)
    try:
        rows = [
            row.row(now.workspace) async for some in _every(visit, now.workspace, now.size) for row in some
        ]
        checked, trouble = await asyncio.to_thread(verify, now.workspace, rows, saved), ""
    except BrokenAuditChain as error:
        checked, trouble = None, error.detail
    return visit.page("verified.html", now=now, checked=checked, saved=saved, trouble=trouble)


async def _every(visit: Visit, workspace: str, size: int) -> AsyncIterator[list[m.AuditRow]]:
    """The first so many rows of the log, in order. Raises: BrokenAuditChain."""
    first = 0
    while first < size:
        asked = m.AuditList(first, min(_LOG_PAGE, size - first))
        page = await visit.call(o.AUDIT, asked, workspace)
        if not page.rows:
            raise BrokenAuditChain(f"audit row {first} is missing")
        yield page.rows
        first += len(page.rows)


def _saved(text: str) -> Checkpoint | None:
    """Raises: InvalidInput."""
    if not text:
        return None
    try:
        saved = msgspec.json.decode(text, type=settled(m.CheckpointAnswer))
        return Checkpoint(saved.workspace, saved.size, bytes.fromhex(saved.root))
    except (msgspec.MsgspecError, ValueError):
        raise InvalidInput("this is not a checkpoint", hint="Choose a file of this page.") from None


async def verify_receipt(visit: Visit) -> Response:
    """Hold a receipt of forgetting against the log."""
    fields = await visit.form()
    text = fields.get("file", "").strip() or fields.get("receipt", "").strip()
    claimed, trouble = receipts.read_unverified(text), ""
    try:
        await visit.call(o.VERIFY_RECEIPT, m.VerifyReceipt(text), claimed.workspace)
    except BrokenAuditChain as error:
        trouble = error.detail
    return visit.page("receipt.html", receipt=claimed, at=to_datetime(claimed.at), trouble=trouble)


async def save_checkpoint(visit: Visit) -> Response:
    fields = await visit.form()
    now = await visit.call(o.CHECKPOINT, m.Nothing(), fields.get("w"))
    return download(msgspec.json.encode(now), f"checkpoint-{now.size}.json", "application/json")


async def save_log(visit: Visit) -> Response:
    """Every row, one line of JSON each."""
    fields = await visit.form()
    now = await visit.call(o.CHECKPOINT, m.Nothing(), fields.get("w"))

    async def lines() -> AsyncIterator[bytes]:
        async for rows in _every(visit, now.workspace, now.size):
            yield b"".join(msgspec.json.encode(row) + b"\n" for row in rows)

    return download(lines(), f"audit-{now.workspace}-{now.size}.jsonl", "application/x-ndjson")


ENDPOINTS = {
    "GET /inspect/audit": audit,
    "POST /inspect/audit/verify": verify_audit,
    "POST /inspect/audit/receipt": verify_receipt,
    "POST /inspect/audit/checkpoint": save_checkpoint,
    "POST /inspect/audit/log": save_log,
}
