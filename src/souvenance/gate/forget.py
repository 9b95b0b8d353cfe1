"""The gate's `forget`: what would go, what went, and the signed receipt of it."""

from __future__ import annotations

from souvenance.core.forget import ForgottenLines, forget_compartments, forget_line, forgettable
from souvenance.core.request_context import Trace, opened
from souvenance.domain import receipt as receipts
from souvenance.domain.audit import Row
from souvenance.domain.line import SealedLine
from souvenance.domain.receipt import Detail, Receipt
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import BrokenAuditChain, InvalidInput, Tampered
from souvenance.gate import messages as m
from souvenance.gate.authorised_request import AuthorisedRequest, Outcome

_TEXT_NEEDS = "get"
"""The right without which a dry run shows no text."""


def forget(case: AuthorisedRequest, request: m.Forget) -> Outcome:
    if request.id is not None:
        gone = forget_line(case.ctx, request.id)
        lines: tuple[str, ...] = (request.id,)
    else:
        gone = forget_compartments(case.ctx)
        lines = ()

    def answer(row: Row) -> m.ForgetAnswer:
        scrubbed = case.scrub()
        return m.ForgetAnswer(
            lines=gone.lines,
            keys=gone.keys,
            namespaces=list(gone.namespaces),
            scrubbed=scrubbed,
            receipt=_receipt(case, request, gone, row, scrubbed=scrubbed),
        )

    also = receipts.gone_runs(gone.with_them)
    detail = Detail(case.ctx.scope.owner, gone.lines, gone.keys, also, epoch=gone.epoch)
    return Outcome(answer, Trace(gone.namespaces, lines, detail.text()))


def preview(case: AuthorisedRequest, request: m.Forget) -> Outcome | None:
    """What would go, if that is all that was asked."""
    if not request.dry_run:
        return None
    ctx = case.ctx
    found = forgettable(ctx, request.id)
    answer = m.ForgetAnswer(
        lines=found.lines,
        keys=found.keys,
        namespaces=list(found.namespaces),
        scrubbed=False,
        dry_run=True,
        newest=[
            m.NewestLine(line.id, line.compartment.namespace, to_datetime(line.created_at), _text(case, line))
            for line in found.newest
        ],
    )
    detail = Detail(ctx.scope.owner, found.lines, found.keys, dry_run=True)
    return Outcome(answer, Trace(found.namespaces, [line.id for line in found.newest], detail.text()))


def verify_receipt(case: AuthorisedRequest, request: m.VerifyReceipt) -> Outcome:
    receipt = receipts.read(request.receipt, case.keyring.issuers, case.keyring.instance)
    workspace, audit = case.ctx.scope.workspace, case.ctx.tx.audit
    if receipt.workspace != workspace:
        raise InvalidInput(
            f"the receipt is of workspace {receipt.workspace!r}",
            hint="Ask with a token of that workspace.",
        )
    rows = audit.rows(workspace, receipt.row, 1)
    if not rows:
        raise BrokenAuditChain(f"the log was cut short: audit row {receipt.row} is not there")
    receipts.hold_against(receipt, rows[0].event, rows[0].leaf)
    if audit.tree(workspace).root(receipt.row + 1).hex() != receipt.root:
        raise BrokenAuditChain(f"the first {receipt.row + 1} rows are not those of the receipt")
    return Outcome(m.VerifyReceiptAnswer(receipt), Trace((), (), f"row={receipt.row}"))


def _receipt(
    case: AuthorisedRequest, request: m.Forget, gone: ForgottenLines, row: Row, *, scrubbed: bool
) -> str:
    ctx = case.ctx
    with case.store.read(row.workspace) as tx:
        root = tx.audit.tree(row.workspace).root(row.seq + 1)
        bucket = (
            tx.replication.waiting(ctx.scope.workspace, ctx.scope.owner)
            if tx.replication.mirrored()
            else None
        )
    verified: list[str] = list(gone.verified)
    pending: list[str] = []
    (verified if scrubbed else pending).append(receipts.FILES)
    if bucket is not None:
        (pending if bucket else verified).append(receipts.BUCKET)
    kid, key = case.keyring.signer()
    receipt = Receipt(
        iss=case.keyring.instance,
        at=row.event.at,
        actor=row.event.actor,
        token=row.event.cap,
        workspace=row.workspace,
        owner=ctx.scope.owner,
        namespaces=gone.namespaces,
        line=request.id,
        lines=gone.lines,
        keys=gone.keys,
        also=len(gone.with_them),
        row=row.seq,
        leaf=row.leaf.hex(),
        root=root.hex(),
        verified=verified,
        pending=pending,
    )
    return receipts.sign(receipt, key, kid)


def _text(case: AuthorisedRequest, line: SealedLine) -> str | None:
    ctx = case.ctx
    keys = ctx.tools.vault.left(ctx.tx, line.compartment) if _TEXT_NEEDS in case.chain.grant.ops else None
    try:
        return None if keys is None else opened(line, keys).text
    except Tampered:
        return None
