"""Routes: where operations are reached over HTTP and what can come of it, and those of the memory itself.

One table, which the server, its OpenAPI and the client all read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from msgspec import Struct

from souvenance import errors as e
from souvenance.gate import archive as p
from souvenance.gate import operations as o
from souvenance.gate import retention as t
from souvenance.gate import sign_ins as s
from souvenance.gate.operation import Operation

STATUS: dict[type[e.SouvenanceError], int] = {
    e.InvalidInput: 400,
    e.Disabled: 400,
    e.Unauthenticated: 401,
    e.Denied: 403,
    e.NotFound: 404,
    e.MethodNotAllowed: 405,
    e.BodyTimeout: 408,
    e.Conflict: 409,
    e.LimitExceeded: 413,
    e.UnsupportedType: 415,
    e.RateLimited: 429,
    e.HeadersTooLarge: 431,
    e.IntegrityError: 500,
    e.Misconfigured: 500,
    e.Unsupported: 501,
    e.UpstreamUnreachable: 502,
    e.Unavailable: 503,
    e.ServerBusy: 503,
}


def status_of(kind: type[e.SouvenanceError], table: Mapping[type[e.SouvenanceError], int] = STATUS) -> int:
    """The HTTP status of an error class: its own row, or that of its nearest ancestor."""
    return next(table[base] for base in kind.__mro__ if base in table)


_FAMILIES = (e.SouvenanceError, e.Unauthenticated, e.Denied, e.Unavailable)
_ELSEWHERE = (
    *(e.Misconfigured, e.MethodNotAllowed, e.HeadersTooLarge, e.UpstreamUnreachable),
    *(e.ServerUnreachable, e.SignInFailed, e.MemoryClosed),
    *(e.ConfirmationNeeded, e.ImportUnreadable, e.ImportUnrecognised, e.ArchiveDamaged),
)
"""Errors of the start, of every path, of one door, of clients and of commands: other places describe them."""
REFUSALS = tuple(
    kind
    for kind in vars(e).values()
    if isinstance(kind, type) and issubclass(kind, e.SouvenanceError)
    if kind not in _FAMILIES and not issubclass(kind, _ELSEWHERE)
)
"""Every error that the gate and the doors in front of it answer with. A route answers with some of them."""
IN_HEADER = {"idempotency_key": "idempotency-key"}
"""Fields of requests that stand in a header, under that name."""
REPEATED = "idempotency-replayed"
"""The header that says of a list what was there already: "true", or how many."""
WITH_FILE = ("file", "filename", "media_type")
"""Fields of requests that a form's part with a file holds."""


class Route(Struct, frozen=True, dict=True):
    method: str
    path: str
    operation: Operation
    summary: str
    status: int = 200
    query: tuple[str, ...] = ()
    """The fields that stand in the URL's query; the others stand in the path, the body or a header."""
    whole: str | None = None
    """The field that is the whole body, where the body is not an object of fields."""
    form: bool = False
    """Whether the body is a form with a file."""
    existing: int | None = None
    """The status if what was asked for existed already, where that differs."""
    refused_as: Callable[[type[e.SouvenanceError]], int] = status_of

    @cached_property
    def in_path(self) -> tuple[str, ...]:
        return tuple(name for name in self.operation.request.__struct_fields__ if f"{{{name}}}" in self.path)

    @cached_property
    def _takes_body(self) -> bool:
        return self.method not in ("GET", "DELETE") or self.whole is not None

    @cached_property
    def in_body(self) -> tuple[str, ...]:
        if not self._takes_body:
            return ()
        outside = {*self.in_path, *self.query, *IN_HEADER}
        return tuple(name for name in self.operation.request.__struct_fields__ if name not in outside)

    @cached_property
    def in_header(self) -> tuple[str, ...]:
        return tuple(name for name in self.operation.request.__struct_fields__ if name in IN_HEADER)

    @cached_property
    def in_query(self) -> tuple[str, ...]:
        if self._takes_body:
            return self.query
        return tuple(name for name in self.operation.request.__struct_fields__ if name not in self.in_path)


ROUTES = (
    Route("POST", "/v1/memory/put", o.PUT, "Append a line", 201),
    Route("POST", "/v1/memory/get", o.GET, "Recall the lines that answer a question"),
    Route("GET", "/v1/memory/lines/{id}", o.LINE, "Read one line and its history"),
    Route("POST", "/v1/memory/list", o.LIST, "List lines, with their text if asked for"),
    Route("POST", "/v1/memory/snapshot", o.SNAPSHOT, "A profile for a system prompt"),
    Route("POST", "/v1/memory/invalidate", o.INVALIDATE, "Replace a line that is no longer true", 201),
    Route("POST", "/v1/memory/forget", o.FORGET, "Erase a line, a namespace or an owner"),
    Route("POST", "/v1/caps", o.MINT, "Mint a cap", 201),
    Route("POST", "/v1/caps/attenuate", o.ATTENUATE, "Make a narrower cap of this one", 201),
    Route("POST", "/v1/caps/revoke", o.REVOKE, "Withdraw caps"),
    Route("GET", "/v1/caps/whoami", o.WHOAMI, "What this cap grants"),
    Route("GET", "/v1/signins", s.LIST, "Programs that were let in"),
    Route("POST", "/v1/signins/end", s.WITHDRAW, "End a sign-in, and its tokens"),
    Route("GET", "/v1/retention", t.SHOW, "The retention rules of the workspace"),
    Route("POST", "/v1/retention/set", t.SET, "Set a retention rule, or say what it would do"),
    Route("POST", "/v1/retention/remove", t.REMOVE, "Remove a retention rule"),
    Route("GET", "/v1/status", o.STATUS, "What the cap's owner has stored"),
    Route("POST", "/v1/reindex", o.REINDEX, "Rebuild the search index"),
    Route("POST", "/v1/import/begin", p.IMPORT_BEGIN, "Say what an import brings"),
    Route("POST", "/v1/import", p.IMPORT, "Take a page of records"),
    Route("POST", "/v1/import/finish", p.IMPORT_FINISH, "Verify that all of an import is there"),
    Route("GET", "/v1/audit", o.AUDIT, "Rows of the audit log"),
    Route("GET", "/v1/audit/checkpoint", o.CHECKPOINT, "The log's size and root"),
    Route("GET", "/v1/audit/proof", o.PROOF, "An inclusion or consistency proof"),
    Route("POST", "/v1/receipts/verify", o.VERIFY_RECEIPT, "Check a receipt of forgetting against the log"),
)
"""Upkeep (key rotation, doctor) has no route: it is done where the keys are."""
