"""Notes what an import should bring, and checks that all of it arrived.

Jobs that were pending where records came from are done here, once: what waits here already is not added, and
nothing is reasoned about twice that a conclusion here follows from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.archive.records import errand_of
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain import names
from souvenance.domain.archive_records import Owed
from souvenance.domain.directory import Entry
from souvenance.domain.jobs import DERIVE, DREAM, REASONING, SUMMARISE, Errand
from souvenance.errors import Conflict, InvalidInput, NamespaceDenied, NotFound, Tampered
from souvenance.ports.store import Turns

PORTABLE = REASONING
"""The kinds of work that go along; what webhooks have not been told is for the store that it happened in."""
_AT_ONCE = 500


def owe(ctx: RequestContext, owed: Sequence[Owed]) -> int:
    """Have it done; how much of it was not on the list, or done, already.

    Raises: InvalidInput, NamespaceDenied.
    """
    for one in owed:
        _check(ctx, one)
    waits = set(_waiting(ctx)) if owed else set()
    added = 0
    for one in owed:
        errand = errand_of(one, ctx.scope.workspace)
        if errand not in waits and not _is_done(ctx, errand):
            ctx.tx.work.add(errand, one.due)
            added += 1
    return added


def _check(ctx: RequestContext, owed: Owed) -> None:
    if not ctx.scope.opens(owed.namespace):
        raise NamespaceDenied("the cap does not open every namespace of this request")
    told = owed.particulars
    for name, field in ((owed.session, "session"), (owed.peer, "peer"), (told.observer, "observer")):
        if name is not None:
            names.name(name, field)
    wanted = {
        DERIVE: (owed.session, owed.peer),
        SUMMARISE: (owed.session, told.long),
        DREAM: (owed.peer, told.observer),
    }
    if None in wanted[owed.kind]:
        raise InvalidInput(f"what is owed does not say what to {owed.kind}")


def _waiting(ctx: RequestContext) -> Iterator[Errand]:
    last = 0
    while found := ctx.tx.work.owed(ctx.scope.workspace, PORTABLE, after=last, limit=_AT_ONCE):
        last = found[-1].seq
        for task in found:
            yield Errand(**{name: getattr(task, name) for name in Errand.__struct_fields__})


def _is_done(ctx: RequestContext, errand: Errand) -> bool:
    """Whether something here follows from what should be reasoned about."""
    if errand.kind != DERIVE:
        return False
    span = Turns(errand.workspace, errand.session or "", first=errand.first, last=errand.last)
    said = [line.id for line in ctx.tx.lines.turns(span) if line.compartment.owner == errand.peer]
    return bool(ctx.tx.lines.citing(errand.workspace, said))


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
