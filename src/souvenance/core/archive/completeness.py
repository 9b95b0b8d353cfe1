"""Notes what an import should bring, and checks that all of it arrived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.archive.pending_jobs import owe
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain.archive_records import Owed
from souvenance.domain.directory import Entry
from souvenance.errors import Conflict, InvalidInput, NotFound, Tampered

IMPORT = "import"
"""Kind of the entry that says what an import should bring, and whether all of it is there."""

_LINES = "line"
_SORTS = {"peer": ("peer", "former")}
"""What the directory knows records of a sort as, if not by its name."""


class Expected(Struct, frozen=True):
    """What the entry of an import says."""

    counts: dict[str, int] = {}
    complete: bool = False
    owed: int = 0
    """How much of the work that came along was looked at."""


def begin(ctx: RequestContext, digest: str, counts: Mapping[str, int]) -> bool:
    """Note what an import should bring; whether that was known, and complete, before."""
    known = ctx.tx.register.entry(ctx.scope.workspace, IMPORT, digest)
    if known is not None:
        return _expected(known).complete
    metadata = msgspec.json.encode(Expected(dict(counts))).decode()
    ctx.tx.register.add(
        Entry(ctx.scope.workspace, IMPORT, digest, ctx.fresh_id(), ctx.now, metadata=metadata)
    )
    return False


def owe_some(ctx: RequestContext, digest: str, first: int, owed: Sequence[Owed]) -> None:
    """Have work done that came along, of which this is the part from the number `first` on; each once.

    Raises: NotFound if the import never began; InvalidInput, NamespaceDenied.
    """
    known = ctx.tx.register.entry(ctx.scope.workspace, IMPORT, digest)
    if known is None:
        raise NotFound("there is no such import")
    expected = _expected(known)
    if first > expected.owed:
        raise InvalidInput(f"the work before number {first} did not come yet")
    fresh = owed[expected.owed - first :]
    if fresh:
        owe(ctx, fresh)
        metadata = msgspec.json.encode(replace(expected, owed=expected.owed + len(fresh))).decode()
        ctx.tx.register.update(replace(known, metadata=metadata))


def finish(ctx: RequestContext, digest: str) -> dict[str, int]:
    """Note that all of an import is there; what there is now, by sort.

    Raises: NotFound if it never began, Conflict if there is less here than it should have brought.
    """
    known = ctx.tx.register.entry(ctx.scope.workspace, IMPORT, digest)
    if known is None:
        raise NotFound("there is no such import")
    expected = _expected(known)
    found = {sort: _count(ctx, sort) for sort in sorted({*expected.counts, _LINES})}
    for sort, count in expected.counts.items():
        if found[sort] < count:
            raise Conflict(
                f"the import should have brought {count} of sort {sort!r}, and {found[sort]} are here",
                hint="Run the import again: it goes on where it ended.",
            )
    metadata = msgspec.json.encode(replace(expected, complete=True)).decode()
    ctx.tx.register.update(replace(known, metadata=metadata))
    return found


def unfinished(ctx: RequestContext) -> list[str]:
    """The digests of imports into this workspace of which not all is there."""
    entries = ctx.tx.register.entries(ctx.scope.workspace, IMPORT)
    return [entry.name for entry in entries if not _expected(entry).complete]


def _expected(entry: Entry) -> Expected:
    try:
        return msgspec.json.decode(entry.metadata, type=settled(Expected))
    except msgspec.MsgspecError:
        raise Tampered("the note of an import can't be read") from None


def _count(ctx: RequestContext, sort: str) -> int:
    workspace = ctx.scope.workspace
    if sort == _LINES:
        compartments = {
            key.compartment for key in ctx.tx.keys.every() if key.compartment.workspace == workspace
        }
        return sum(ctx.tx.lines.count(compartment) for compartment in compartments)
    return sum(ctx.tx.register.count(workspace, kind) for kind in _SORTS.get(sort, (sort,)))
