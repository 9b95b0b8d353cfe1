"""A route: where an operation is reached over HTTP, and what can come of it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from souvenance import errors as e
from souvenance.gate.operation import Operation
from souvenance.surfaces.http.statuses import status_of

EVERY_CAP = (
    e.CapMissing,
    e.CapMalformed,
    e.CapSigInvalid,
    e.CapExpired,
    e.CapRevoked,
    e.CapPopInvalid,
    e.CapDataClassMismatch,
    e.HostRefused,
    e.InvalidInput,
    e.RateLimited,
    e.StorageUnavailable,
    e.StorageFull,
    e.StorageBusy,
    e.StorageReadOnly,
    e.AuditUnavailable,
    e.IntegrityError,
)
IN_HEADER = {"idempotency_key": "idempotency-key"}
"""Fields of requests that stand in a header, under that name."""
REPEATED = "idempotency-replayed"
"""The header that says of a list what was there already: "true", or how many."""
WITH_FILE = ("file", "filename", "media_type")
"""Fields of requests that a form's part with a file holds."""
EVERY_BODY = (e.BodyTooLarge, e.BodyTimeout, e.ServerBusy)


class Route(Struct, frozen=True):
    method: str
    path: str
    operation: Operation
    summary: str
    may_fail: tuple[type[e.SouvenanceError], ...] = ()
    status: int = 200
    query: tuple[str, ...] = ()
    """The fields that stand in the URL's query; the others stand in the path, the body or a header."""
    whole: str | None = None
    """The field that is the whole body, where the body is not an object of fields."""
    form: bool = False
    """Whether the body is a form with a file."""
    existing: int | None = None
    """The status where what was asked for existed already, if that is told apart."""
    refused_as: Callable[[type[e.SouvenanceError]], int] = status_of

    @property
    def in_path(self) -> tuple[str, ...]:
        return tuple(name for name in self.operation.request.__struct_fields__ if f"{{{name}}}" in self.path)

    @property
    def _takes_body(self) -> bool:
        return self.method not in ("GET", "DELETE") or self.whole is not None

    @property
    def in_body(self) -> tuple[str, ...]:
        if not self._takes_body:
            return ()
        outside = {*self.in_path, *self.query, *IN_HEADER}
        return tuple(name for name in self.operation.request.__struct_fields__ if name not in outside)

    @property
    def in_header(self) -> tuple[str, ...]:
        return tuple(name for name in self.operation.request.__struct_fields__ if name in IN_HEADER)

    @property
    def in_query(self) -> tuple[str, ...]:
        if self._takes_body:
            return self.query
        return tuple(name for name in self.operation.request.__struct_fields__ if name not in self.in_path)

    @property
    def errors(self) -> tuple[type[e.SouvenanceError], ...]:
        """Every error that this route can answer with."""
        body = () if self.method == "GET" else EVERY_BODY
        right = (e.CapOpMismatch,) if self.operation.need.op else ()
        return (*EVERY_CAP, *right, *body, *self.may_fail)
