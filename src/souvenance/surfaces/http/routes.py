"""The memory's own routes: one table that the server, its OpenAPI and the client all read."""

from __future__ import annotations

from souvenance import errors as e
from souvenance.gate import archive as p
from souvenance.gate import operations as o
from souvenance.gate import sign_ins as s
from souvenance.surfaces.http.route import Route

_ROOMS = (e.NamespaceDenied,)
_OPENED = (e.Tampered, e.WrongKey)


ROUTES = (
    Route(
        "POST",
        "/v1/memory/put",
        o.PUT,
        "Append a line",
        (*_ROOMS, *_OPENED, e.CapScopeMismatch, e.Conflict, e.LineTooLong, e.LimitExceeded),
        201,
    ),
    Route("POST", "/v1/memory/get", o.GET, "Recall the lines that answer a question", (*_ROOMS, *_OPENED)),
    Route("GET", "/v1/memory/lines/{id}", o.LINE, "Read one line and its history", (e.NotFound, *_OPENED)),
    Route(
        "POST",
        "/v1/memory/list",
        o.LIST,
        "List lines, with their text if asked for",
        (*_ROOMS, *_OPENED),
    ),
    Route("POST", "/v1/memory/snapshot", o.SNAPSHOT, "A profile for a system prompt", (*_ROOMS, *_OPENED)),
    Route(
        "POST",
        "/v1/memory/invalidate",
        o.INVALIDATE,
        "Replace a line that is no longer true",
        (e.NotFound, e.Conflict, e.LineTooLong, *_OPENED),
        201,
    ),
    Route(
        "POST",
        "/v1/memory/forget",
        o.FORGET,
        "Erase a line, a namespace or an owner",
        (*_ROOMS, e.NotFound, e.CapScopeMismatch, e.SchemaUnknown, *_OPENED),
    ),
    Route("POST", "/v1/caps", o.MINT, "Mint a cap", (e.CapScopeMismatch,), 201),
    Route(
        "POST",
        "/v1/caps/attenuate",
        o.ATTENUATE,
        "Make a narrower cap of this one",
        (e.CapScopeMismatch,),
        201,
    ),
    Route("POST", "/v1/caps/revoke", o.REVOKE, "Withdraw caps", (e.CapScopeMismatch, e.Conflict)),
    Route("GET", "/v1/caps/whoami", o.WHOAMI, "What this cap grants"),
    Route("GET", "/v1/signins", s.LIST, "Programs that were let in", _OPENED),
    Route("POST", "/v1/signins/end", s.WITHDRAW, "End a sign-in, and its tokens", (e.NotFound, *_OPENED)),
    Route("GET", "/v1/status", o.STATUS, "What the cap's owner has stored", (e.CapScopeMismatch, *_OPENED)),
    Route("POST", "/v1/reindex", o.REINDEX, "Make again what lines are found by", (e.CapScopeMismatch,)),
    Route("POST", "/v1/import/begin", p.IMPORT_BEGIN, "Say what an import brings", (e.CapScopeMismatch,)),
    Route(
        "POST",
        "/v1/import",
        p.IMPORT,
        "Take a page of records",
        (e.NamespaceDenied, e.CapScopeMismatch, e.LimitExceeded, *_OPENED),
    ),
    Route(
        "POST",
        "/v1/import/finish",
        p.IMPORT_FINISH,
        "Verify that all of an import is there",
        (e.CapScopeMismatch, e.NotFound, e.Conflict),
    ),
    Route("GET", "/v1/audit", o.AUDIT, "Rows of the audit log", (e.BrokenAuditChain,)),
    Route("GET", "/v1/audit/checkpoint", o.CHECKPOINT, "The log's size and root"),
    Route("GET", "/v1/audit/proof", o.PROOF, "An inclusion or consistency proof"),
    Route(
        "POST",
        "/v1/receipts/verify",
        o.VERIFY_RECEIPT,
        "Check a receipt of forgetting against the log",
        (e.ReceiptInvalid, e.BrokenAuditChain),
    ),
)
"""Upkeep (key rotation, doctor) has no route: it is done where the keys are."""
