"""The operations on lines of memory, and the table of these and of caps, the audit log and upkeep."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.erase import (
    compartments_held,
    delete_compartments,
    erase_lines,
    erase_resting,
    owe_card,
)
from souvenance.core.recall import RecallQuery, class_of, list_lines, snapshot
from souvenance.core.remember import Upcoming, remember
from souvenance.core.request_context import RequestContext, Trace, opened
from souvenance.domain import receipt as receipts
from souvenance.domain import ulid
from souvenance.domain.audit import Row
from souvenance.domain.directory import MEMBER
from souvenance.domain.limits import RECALL_MOST
from souvenance.domain.line import TOMBSTONE, GivenFields, LinePlace, OpenLine, SealedLine, shared_fields
from souvenance.domain.names import ALL, DEFAULT_KIND, Compartment
from souvenance.domain.policy import Reach
from souvenance.domain.receipt import Detail, Receipt
from souvenance.domain.timestamps import to_datetime, to_ms
from souvenance.errors import BrokenAuditChain, CapOpMismatch, Conflict, InvalidInput, Tampered
from souvenance.gate import health, maintenance, tokens
from souvenance.gate import messages as m
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome, declare
from souvenance.ports.store import EVERYTHING, LineQuery


class Deletion(Struct, frozen=True, kw_only=True):
    """What was asked for and what went, as in `Receipt`."""

    namespaces: Sequence[str]
    lines: int
    keys: int = 0
    also: int = 0
    owner: str | None = None
    line: str | None = None
    session: str | None = None
    moved_to: str | None = None


def check_gone(
    ctx: RequestContext, compartments: Iterable[Compartment], line_ids: Collection[str] | None = None
) -> None:
    """Look whether anything is left of these lines, or of the whole compartments. Raises: Tampered."""
    tx = ctx.tx
    for compartment in compartments:
        if line_ids is None:
            keys = tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))
            left = tx.lines.count(compartment) + len(keys)
        else:
            left = len(tx.lines.get_all(compartment, line_ids))
        if left or tx.terms.indexed(compartment, line_ids):
            raise Tampered(
                "the store still has what was just deleted",
                hint="Nothing was deleted. Run 'souvenance doctor'.",
            )


def signed(
    authorised: AuthorisedRequest, row: Row, what: Deletion, owners: Iterable[str], *, scrubbed: bool
) -> str:
    """The receipt of a deletion that this row records. `owners`: whose lines went."""
    with authorised.store.read(row.workspace) as tx:
        root = tx.audit.tree(row.workspace).root(row.seq + 1)
        mirrored = tx.replication.mirrored()
        waiting = mirrored and any(tx.replication.waiting(row.workspace, owner) for owner in owners)
    verified = [receipts.SCHEMA, receipts.LINES, receipts.INDEX]
    verified += [receipts.KEYS] if what.line is None and what.session is None else []
    pending: list[str] = []
    (verified if scrubbed else pending).append(receipts.FILES)
    if mirrored:
        (pending if waiting else verified).append(receipts.BUCKET)
    kid, key = authorised.keyring.signer()
    receipt = Receipt(
        iss=authorised.keyring.instance,
        at=row.event.at,
        actor=row.event.actor,
        token=row.event.cap,
        workspace=row.workspace,
        row=row.seq,
        leaf=row.leaf.hex(),
        root=root.hex(),
        verified=verified,
        pending=pending,
        **asdict(what),
    )
    return receipts.sign(receipt, key, kid)


def _compartments(request: m.Get | m.List | m.Snapshot) -> Reach:
    return Reach(namespaces=request.namespaces)


def _whole_compartments(request: m.Nothing) -> Reach:
    return Reach(whole_compartments=True)


def _forgotten(request: m.Forget) -> Reach:
    match request.id, request.namespace, request.owner:
        case str(), None, owner:
            return Reach(actor=owner)
        case None, str() as namespace, None:
            return Reach(namespaces=(namespace,), whole_compartments=True)
        case None, None, str() as owner:
            return Reach(namespaces=(ALL,), actor=owner, whole_compartments=True)
    raise InvalidInput("name exactly one of: a line, a namespace, an owner")


def _revoked(request: m.Revoke) -> Reach:
    if sum(field is not None for field in (request.jti, request.sub, request.kid)) != 1:
        raise InvalidInput("name exactly one of jti, sub and kid")
    return Reach(actor=request.sub)


_NEWEST = 3
_TEXT_NEEDS = "get"
"""The right without which a list has no texts."""


def put(authorised: AuthorisedRequest, request: m.Put) -> Outcome:
    line, duplicate = remember(
        authorised.ctx,
        request.namespace,
        request.id,
        kind=request.kind,
        text=request.text,
        occurred_at=_ms(request.occurred_at),
        expires_at=_ms(request.expires_at),
        metadata=request.metadata,
        **shared_fields(GivenFields, request),
    )
    answer = m.PutAnswer(line.id, line.compartment.namespace, duplicate)
    return Outcome(answer, Trace((line.compartment.namespace,), (line.id,), _detail(duplicate=duplicate)))


def get(authorised: AuthorisedRequest, request: m.Get) -> Outcome:
    asked = RecallQuery(
        authorised.ctx,
        authorised.ctx.open_compartments(),
        request.query,
        max(1, min(request.k, RECALL_MOST)),
        _ms(request.since),
        _ms(request.until),
        at=_ms(request.at),
        floor=request.floor,
        explain=request.explain,
    )
    lines = [
        m.RecalledLine(
            **line_facts(one.line),
            text=one.line.text,
            cap=one.line.cap,
            trust=one.trust.name.lower(),
            score=one.score,
            matched=one.matched,
            explanation=one.explanation,
        )
        for one in asked.lines()
    ]
    return Outcome(m.GetAnswer(lines), Trace(_asked(authorised), [line.id for line in lines]))


def get_line(authorised: AuthorisedRequest, request: m.GetLine) -> Outcome:
    """One line, also if it was replaced. Raises: InvalidInput, NotFound, Tampered."""
    sealed, keys = authorised.ctx.find(ulid.check(request.id))
    line = opened(sealed, keys)
    answer = m.LineAnswer(
        **line_facts(line),
        text=line.text,
        cap=line.cap,
        metadata=dict(line.metadata),
        supersedes=line.supersedes,
        invalidated_by=sealed.invalidated_by,
        trust=class_of(line).name.lower(),
    )
    return Outcome(answer, Trace((line.compartment.namespace,), (line.id,)))


def list_(authorised: AuthorisedRequest, request: m.List) -> Outcome:
    if request.texts and _TEXT_NEEDS not in authorised.chain.grant.ops:
        raise CapOpMismatch(f"the token does not grant '{_TEXT_NEEDS}', and texts were asked for")
    found, cursor, texts = list_lines(
        authorised.ctx,
        since=_ms(request.since),
        cursor=request.cursor,
        limit=request.limit,
        history=request.history,
        texts=request.texts,
    )
    read = texts or [None] * len(found)
    lines = [
        m.ListedLine(
            **line_facts(line),
            supersedes=line.supersedes,
            invalidated_by=line.invalidated_by,
            text=None if opened is None else opened.text,
            trust="" if opened is None else class_of(opened).name.lower(),
        )
        for line, opened in zip(found, read, strict=True)
    ]
    shown_ids = [line.id for line in found] if request.texts else ()
    return Outcome(
        m.ListAnswer(lines, cursor), Trace(_asked(authorised), shown_ids, _detail(lines=len(lines)))
    )


def take_snapshot(authorised: AuthorisedRequest, request: m.Snapshot) -> Outcome:
    profile, ids = snapshot(authorised.ctx)
    answer = m.SnapshotAnswer(profile, to_datetime(authorised.ctx.now), ids)
    return Outcome(answer, Trace(_asked(authorised), (), _detail(lines=len(ids))))


def invalidate(authorised: AuthorisedRequest, request: m.Invalidate) -> Outcome:
    line, duplicate = _correct(authorised.ctx, request.id, request.text, request.new_id)
    answer = m.InvalidateAnswer(line.id, line.compartment.namespace, request.id, duplicate)
    return Outcome(
        answer, Trace((line.compartment.namespace,), (request.id, line.id), _detail(duplicate=duplicate))
    )


def _correct(
    ctx: RequestContext, target_id: str, text: str | None, new_id: str | None
) -> tuple[OpenLine, bool]:
    """The line that replaces the target, and whether it had done so already. Without a text it only marks the
    target as no longer true. Raises: InvalidInput, NotFound, Conflict."""
    target, _ = ctx.find(ulid.check(target_id))
    if target.invalidated_by is not None and target.invalidated_by != new_id:
        raise Conflict(
            f"the line was already replaced by {target.invalidated_by}", hint="Correct that line instead."
        )
    kind = DEFAULT_KIND if target.kind == TOMBSTONE else target.kind
    line, duplicate = remember(
        ctx,
        target.compartment.namespace,
        new_id,
        kind=TOMBSTONE if text is None else kind,
        text=text or "",
        about=None if text is None else target.about,
        expires_at=target.expires_at,
        supersedes=target.id,
        metadata={},
        **shared_fields(GivenFields, target),
    )
    if not duplicate:
        ctx.tx.lines.invalidate(target.compartment, target.id, line.id)
        ctx.tx.terms.remove(target.compartment, (target.id,))
        if target.about is not None:
            owe_card(ctx, target.compartment, target.about)
    return line, duplicate


def _asked(authorised: AuthorisedRequest) -> tuple[str, ...]:
    namespaces = authorised.ctx.scope.namespaces
    return ("*",) if namespaces is None else tuple(sorted(namespaces))


def line_facts(line: LinePlace) -> dict[str, Any]:
    """The fields of `LineFacts`."""
    return {
        "id": line.id,
        "namespace": line.compartment.namespace,
        "kind": line.kind,
        "created_at": to_datetime(line.created_at),
        "occurred_at": None if line.occurred_at is None else to_datetime(line.occurred_at),
        "expires_at": None if line.expires_at is None else to_datetime(line.expires_at),
        **shared_fields(GivenFields, line),
    }


def _detail(**facts: object) -> str:
    return msgspec.json.encode(facts, order="sorted").decode()


def _ms(moment: m.Moment | None) -> int | None:
    return None if moment is None else to_ms(moment)


class _Forgotten(Struct, frozen=True):
    lines: int
    keys: int
    namespaces: tuple[str, ...]
    with_them: frozenset[tuple[Compartment, str]]
    """Lines of others that rested on these alone, and went too."""
    epoch: int = 0
    """The newest epoch of the keys that went."""


def forget(authorised: AuthorisedRequest, request: m.Forget) -> Outcome:
    """Rows, index, keys and caches of a line, a namespace or an owner. Readers find nothing from the commit
    on. A compartment's keys are destroyed with it, so that copies of its lines elsewhere stay shut; the scrub
    that follows takes the bytes out of the store's files. Raises: InvalidInput, NotFound, SchemaUnknown."""
    authorised.ctx.tx.lines.hide(None)  # What is over and still there goes too.
    gone = (
        _forget_compartments(authorised.ctx)
        if request.id is None
        else _forget_line(authorised.ctx, request.id)
    )

    def answer(row: Row) -> m.ForgetAnswer:
        scrubbed = authorised.scrub()
        return m.ForgetAnswer(
            lines=gone.lines,
            keys=gone.keys,
            namespaces=list(gone.namespaces),
            scrubbed=scrubbed,
            receipt=signed(authorised, row, what, (owner,), scrubbed=scrubbed),
        )

    owner = authorised.ctx.scope.owner
    what = Deletion(
        namespaces=gone.namespaces,
        lines=gone.lines,
        keys=gone.keys,
        also=len(gone.with_them),
        owner=owner,
        line=request.id,
    )
    detail = Detail(owner, gone.lines, gone.keys, receipts.gone_runs(gone.with_them), epoch=gone.epoch)
    lines = () if request.id is None else (request.id,)
    return Outcome(answer, Trace(gone.namespaces, lines, detail.text()))


def _forget_line(ctx: RequestContext, line_id: str) -> _Forgotten:
    lines = [line for line, _ in ctx.find_all(ulid.check(line_id))]
    changes = Changes()
    erase_lines(ctx, lines, changes)
    compartments = [line.compartment for line in lines]
    check_gone(ctx, compartments, (line_id,))
    return _Forgotten(
        lines=len(lines),
        keys=0,
        namespaces=_namespaces(compartments),
        with_them=frozenset(changes.gone - {(compartment, line_id) for compartment in compartments}),
    )


def _forget_compartments(ctx: RequestContext) -> _Forgotten:
    """Everything in scope. Nothing there is not an error: it says nothing about what was."""
    scope, compartments = ctx.scope, compartments_held(ctx, ctx.scope.owner)
    namespaces, changes, lines, keys = _namespaces(compartments), Changes(), 0, 0
    if compartments:
        span = LineQuery(scope.workspace, scope.owner, namespaces, history=True, limit=EVERYTHING)
        sessions = ctx.tx.directory.memberships(scope.workspace, MEMBER, held=scope.owner)
        erase_resting(ctx, ctx.tx.lines.ids(span), dict.fromkeys(stay.holder for stay in sessions), changes)
        lines, keys = delete_compartments(ctx, compartments, changes)
    ctx.tx.owe_scrub()
    check_gone(ctx, compartments)
    return _Forgotten(
        lines=lines,
        keys=keys,
        namespaces=namespaces,
        with_them=frozenset(changes.gone),
        epoch=changes.epoch,
    )


def _namespaces(compartments: Iterable[Compartment]) -> tuple[str, ...]:
    return tuple(compartment.namespace for compartment in compartments)


def preview(authorised: AuthorisedRequest, request: m.Forget) -> Outcome | None:
    """What would go, if that is all that was asked."""
    if not request.dry_run:
        return None
    ctx, keys = authorised.ctx, 0
    if request.id is not None:
        newest = [line for line, _ in ctx.find_all(ulid.check(request.id))]
        lines, namespaces = len(newest), _namespaces(line.compartment for line in newest)
    else:
        scope, compartments = ctx.scope, compartments_held(ctx, ctx.scope.owner)
        lines, namespaces = sum(map(ctx.tx.lines.count, compartments)), _namespaces(compartments)
        keys = len(ctx.tx.keys.of(scope.workspace, scope.owner, namespaces))
        span = LineQuery(scope.workspace, scope.owner, namespaces, history=True, limit=_NEWEST)
        newest = ctx.tx.lines.walk(span)
    shown = [
        m.NewestLine(
            line.id, line.compartment.namespace, to_datetime(line.created_at), _text(authorised, line)
        )
        for line in newest[:_NEWEST]
    ]
    answer = m.ForgetAnswer(lines, keys, list(namespaces), scrubbed=False, dry_run=True, newest=shown)
    detail = Detail(ctx.scope.owner, lines, keys, dry_run=True)
    return Outcome(answer, Trace(namespaces, [line.id for line in shown], detail.text()))


def verify_receipt(authorised: AuthorisedRequest, request: m.VerifyReceipt) -> Outcome:
    receipt = receipts.read(request.receipt, authorised.keyring.issuers, authorised.keyring.instance)
    workspace, audit = authorised.ctx.scope.workspace, authorised.ctx.tx.audit
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


def _text(authorised: AuthorisedRequest, line: SealedLine) -> str | None:
    ctx = authorised.ctx
    keys = (
        ctx.services.vault.left(ctx.tx, line.compartment)
        if _TEXT_NEEDS in authorised.chain.grant.ops
        else None
    )
    try:
        return None if keys is None else opened(line, keys).text
    except Tampered:
        return None


PUT = declare(
    "memory.put",
    "put",
    m.PutAnswer,
    put,
    lambda request: Reach(namespaces=(request.namespace,), session=request.session, writes_line=True),
    writes=True,
    within=True,
    texts=lambda request: [Upcoming(request.text, _ms(request.occurred_at), namespace=request.namespace)],
)
GET = declare("memory.get", "get", m.GetAnswer, get, _compartments)
LINE = declare("memory.line", "get", m.LineAnswer, get_line)
LIST = declare("memory.list", "list", m.ListAnswer, list_, _compartments)
SNAPSHOT = declare("memory.snapshot", "snapshot", m.SnapshotAnswer, take_snapshot, _compartments)
INVALIDATE = declare(
    "memory.invalidate",
    "invalidate",
    m.InvalidateAnswer,
    invalidate,
    lambda request: Reach(actor=request.owner),
    writes=True,
    within=True,
    texts=lambda request: [Upcoming(request.text or "")],
    rings=True,
)
FORGET = declare(
    "memory.forget",
    "forget",
    m.ForgetAnswer,
    forget,
    _forgotten,
    writes=True,
    within=True,
    rings=True,
    peek=preview,
)
STATUS = declare("status", "list", m.StatusAnswer, health.status, _whole_compartments)
MINT = declare(
    "caps.mint",
    "grant",
    m.CapAnswer,
    tokens.mint,
    lambda request: Reach(actor=request.sub, workspace=request.wid),
)
ATTENUATE = declare("caps.attenuate", None, m.CapAnswer, tokens.attenuate)
REVOKE = declare("caps.revoke", "revoke", m.RevokeAnswer, tokens.revoke, _revoked, writes=True)
WHOAMI = declare("caps.whoami", None, m.WhoAmIAnswer, tokens.whoami, verdict=True)
CHAT = declare("chat", "chat", m.WhoAmIAnswer, tokens.whoami, _whole_compartments, verdict=True)
AUDIT = declare("audit.list", "audit", m.AuditListAnswer, maintenance.list_rows)
CHECKPOINT = declare("audit.checkpoint", "audit", m.CheckpointAnswer, maintenance.checkpoint)
PROOF = declare("audit.proof", "audit", m.ProofAnswer, maintenance.prove)
VERIFY_RECEIPT = declare("receipt.verify", "audit", m.VerifyReceiptAnswer, verify_receipt)
ROTATE = declare("keys.rotate", "grant", m.RotateAnswer, maintenance.rotate, writes=True, operator=True)
COMPARTMENTS = declare(
    "doctor.compartments", "audit", m.CompartmentsAnswer, maintenance.list_compartments, operator=True
)
EXAMINE = declare("doctor.examine", "audit", m.ExamineAnswer, maintenance.examine, operator=True)
RECONCILE = declare("doctor.reconcile", "audit", m.ExamineAnswer, maintenance.reconcile, operator=True)
SCRUB = declare("doctor.scrub", "forget", m.ScrubAnswer, maintenance.scrub, writes=True, operator=True)
REINDEX = declare(
    "reindex",
    "put",
    m.ReindexAnswer,
    maintenance.reindex,
    writes=True,
    rings=True,
    peek=maintenance.watch,
    operator=True,
)

EVERY: tuple[Operation, ...] = tuple(part for part in globals().values() if isinstance(part, Operation))
