"""Jobs that were pending where records came from are done here, once.

What waits here already is not added, and nothing is reasoned about twice that a conclusion here follows from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from souvenance.core.archive.records import errand_of
from souvenance.core.request_context import RequestContext
from souvenance.domain import names
from souvenance.domain.archive_records import Owed
from souvenance.domain.jobs import DERIVE, DREAM, REASONING, SUMMARISE, Errand
from souvenance.errors import InvalidInput, NamespaceDenied
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
