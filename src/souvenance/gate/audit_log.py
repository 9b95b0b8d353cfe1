"""The gate's audit operations: read the log, pin it, prove it."""

from __future__ import annotations

from souvenance.domain.audit import Event
from souvenance.domain.capability import Grant
from souvenance.domain.names import ALL
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate.authorised_request import AuthorisedRequest, Outcome


def list_rows(case: AuthorisedRequest, request: m.AuditList) -> Outcome:
    workspace, grant = case.ctx.scope.workspace, case.chain.grant
    rows = case.ctx.tx.audit.rows(workspace, request.first, request.limit)
    shown = [
        m.AuditRow(
            seq=row.seq,
            at=row.event.at,
            actor=row.event.actor,
            cap=row.event.cap,
            operation=row.event.operation,
            outcome=row.event.outcome,
            namespaces=list(row.event.namespaces),
            lines=list(row.event.lines),
            detail=row.event.detail,
            leaf=row.leaf.hex(),
        )
        for row in rows
        if _visible(row.event, grant)
    ]
    following = rows[-1].seq + 1 if len(rows) == request.limit else None
    return Outcome(m.AuditListAnswer(workspace, shown, following))


def checkpoint(case: AuthorisedRequest, request: m.AuditCheckpoint) -> Outcome:
    workspace = case.ctx.scope.workspace
    tree = case.ctx.tx.audit.tree(workspace)
    answer = m.CheckpointAnswer(workspace, tree.size, tree.root().hex(), to_datetime(case.ctx.now))
    return Outcome(answer)


def prove(case: AuthorisedRequest, request: m.AuditProof) -> Outcome:
    workspace = case.ctx.scope.workspace
    tree = case.ctx.tx.audit.tree(workspace)
    size = tree.size if request.size is None else request.size
    if size > tree.size:
        raise InvalidInput("size is beyond the end of the log")
    if (request.seq is None) == (request.old is None):
        raise InvalidInput("name exactly one of seq and old")
    if request.seq is not None:
        if request.seq >= size:
            raise InvalidInput("seq is not within size")
        answer = m.ProofAnswer(
            workspace=workspace,
            size=size,
            root=tree.root(size).hex(),
            path=[step.hex() for step in tree.inclusion(request.seq, size)],
            leaf=tree.leaves(request.seq, request.seq + 1)[0].hex(),
        )
    else:
        old = request.old or 0
        if old > size:
            raise InvalidInput("old is larger than size")
        answer = m.ProofAnswer(
            workspace=workspace,
            size=size,
            root=tree.root(size).hex(),
            path=[step.hex() for step in tree.consistency(old, size)],
            old_root=tree.root(old).hex(),
        )
    return Outcome(answer)


def _visible(event: Event, grant: Grant) -> bool:
    """A cap sees the rows of the actors, namespaces and sessions that it could act in itself."""
    if not grant.reaches(event.actor):
        return False
    if grant.sessions is not None:
        return event.cap == grant.jti
    return ALL in grant.namespaces or set(event.namespaces) <= grant.namespaces
