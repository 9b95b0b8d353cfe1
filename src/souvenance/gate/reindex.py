"""The gate's reindexing, for the installation's own cap alone: begun and watched here, and done behind."""

from __future__ import annotations

from souvenance.core.reindex import Left, begin, drop_some, left
from souvenance.core.request_context import Services, Trace
from souvenance.gate import messages as m
from souvenance.gate.authorised_request import AuthorisedRequest, Outcome
from souvenance.ports.store import Transaction


def watch(case: AuthorisedRequest, request: m.Reindex) -> Outcome | None:
    """How far it has come; None if there is something to be written."""
    if request.begin:
        return None
    seen = _left(case.ctx.tx, case.ctx.tools, request)
    if seen.old and _is_idle(case.ctx.tools, seen):
        return None
    return Outcome(_told(case.ctx.tools, seen), _trace(seen))


def reindex(case: AuthorisedRequest, request: m.Reindex) -> Outcome:
    tx, tools = case.ctx.tx, case.ctx.tools
    if request.begin:
        begin(tx, tools, request.workspace)
    else:
        drop_some(tx, tools.meaning.space)
    seen = _left(tx, tools, request)
    return Outcome(_told(tools, seen), _trace(seen))


def _left(tx: Transaction, tools: Services, request: m.Reindex) -> Left:
    return left(tx, tools.meaning, request.workspace)


def _told(tools: Services, seen: Left) -> m.ReindexAnswer:
    done = _is_idle(tools, seen) and not seen.old
    return m.ReindexAnswer(seen.lines, seen.vectors, seen.old, done, tools.meaning.trouble)


def _is_idle(tools: Services, seen: Left) -> bool:
    """Whether all tokens and vectors are made, but for those of lines that can't be read."""
    return not seen.lines and tools.meaning.next_compartment() is None


def _trace(seen: Left) -> Trace:
    return Trace((), (), f"lines={seen.lines} vectors={seen.vectors} old_vectors={seen.old}")
