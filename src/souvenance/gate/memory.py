"""The gate's memory operations: from messages to use cases and back."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from souvenance.core.archive.import_records import unfinished
from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.deduplicate import stock
from souvenance.core.conversation.erase import (
    compartments_held,
    delete_compartments,
    erase_lines,
    erase_resting,
    owe_card,
)
from souvenance.core.recall import Wish, class_of, list_lines, read_line, recall, snapshot
from souvenance.core.remember import Draft, Upcoming, remember
from souvenance.core.request_context import RequestContext, Trace, opened
from souvenance.domain import receipt as receipts
from souvenance.domain import ulid
from souvenance.domain.audit import Row
from souvenance.domain.directory import MEMBER
from souvenance.domain.embedding import NONE, PGVECTOR, SEALED
from souvenance.domain.line import TOMBSTONE, GivenFields, Line, LinePlace, SealedLine, shared_fields
from souvenance.domain.names import DEFAULT_KIND, Compartment
from souvenance.domain.receipt import Detail, Receipt
from souvenance.domain.timestamps import to_datetime, to_ms
from souvenance.errors import BrokenAuditChain, CapOpMismatch, Conflict, InvalidInput, Tampered
from souvenance.gate import messages as m
from souvenance.gate.health import budget_left
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.ports.store import EVERYTHING, TurnSpan

_NEWEST = 3
_TEXT_NEEDS = "get"
"""The right without which a list has no texts."""


def put(authorised: AuthorisedRequest, request: m.Put) -> Outcome:
    line, duplicate = remember(
        authorised.ctx,
        Draft(
            namespace=request.namespace,
            kind=request.kind,
            text=request.text,
            id=request.id,
            occurred_at=_ms(request.occurred_at),
            metadata=request.metadata,
            **shared_fields(GivenFields, request),
        ),
    )
    answer = m.PutAnswer(line.id, line.compartment.namespace, duplicate)
    return Outcome(answer, Trace((line.compartment.namespace,), (line.id,), _detail(duplicate=duplicate)))


def texts_put(request: m.Put) -> list[Upcoming]:
    return [Upcoming(request.text, _ms(request.occurred_at), namespace=request.namespace)]


def get(authorised: AuthorisedRequest, request: m.Get) -> Outcome:
    wish = Wish(
        request.query,
        request.k,
        _ms(request.since),
        _ms(request.until),
        at=_ms(request.at),
        floor=request.floor,
        explain=request.explain,
    )
    found = recall(authorised.ctx, wish)
    lines = [
        m.RecalledLine(
            **_facts(one.line),
            text=one.line.text,
            cap=one.line.cap,
            trust=one.trust.name.lower(),
            score=one.score,
            matched=one.matched,
            explanation=one.explanation,
        )
        for one in found
    ]
    return Outcome(m.GetAnswer(lines), Trace(_asked(authorised), [line.id for line in lines]))


def get_line(authorised: AuthorisedRequest, request: m.GetLine) -> Outcome:
    read = read_line(authorised.ctx, request.id)
    line = read.line
    answer = m.LineAnswer(
        **_facts(line),
        text=line.text,
        cap=line.cap,
        metadata=dict(line.metadata),
        supersedes=line.supersedes,
        invalidated_by=read.invalidated_by,
        trust=read.trust.name.lower(),
    )
    return Outcome(answer, Trace((line.compartment.namespace,), (line.id,)))


def list_(authorised: AuthorisedRequest, request: m.List) -> Outcome:
    if request.texts and _TEXT_NEEDS not in authorised.chain.grant.ops:
        raise CapOpMismatch(f"the token does not grant '{_TEXT_NEEDS}', and texts were asked for")
    page = list_lines(
        authorised.ctx,
        since=_ms(request.since),
        cursor=request.cursor,
        limit=request.limit,
        history=request.history,
        texts=request.texts,
    )
    read = page.opened or [None] * len(page.lines)
    lines = [
        m.ListedLine(
            **_facts(line),
            supersedes=line.supersedes,
            invalidated_by=line.invalidated_by,
            text=None if opened is None else opened.text,
            trust="" if opened is None else class_of(opened).name.lower(),
        )
        for line, opened in zip(page.lines, read, strict=True)
    ]
    told = [line.id for line in page.lines] if request.texts else ()
    return Outcome(
        m.ListAnswer(lines, page.cursor), Trace(_asked(authorised), told, _detail(lines=len(lines)))
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


def _correct(ctx: RequestContext, target_id: str, text: str | None, new_id: str | None) -> tuple[Line, bool]:
    """The line that replaces the target, and whether it had done so already.

    With a text it says what is true instead; without, it only marks the target as no longer true.

    Raises: InvalidInput, NotFound, Conflict if another line replaced the target already.
    """
    target, _ = ctx.find(ulid.check(target_id))
    draft = Draft(
        namespace=target.compartment.namespace,
        kind=_kind_of_correction(target, text),
        text=text or "",
        id=new_id,
        about=None if text is None else target.about,
        supersedes=target.id,
        **shared_fields(GivenFields, target),
    )
    if target.invalidated_by is not None and target.invalidated_by != new_id:
        raise Conflict(
            f"the line was already replaced by {target.invalidated_by}", hint="Correct that line instead."
        )
    line, duplicate = remember(ctx, draft)
    if not duplicate:
        ctx.tx.lines.invalidate(target.compartment, target.id, line.id)
        ctx.tx.terms.remove(target.compartment, (target.id,))
        if target.about is not None:
            owe_card(ctx, target.compartment, target.about)
    return line, duplicate


def _kind_of_correction(target: SealedLine, text: str | None) -> str:
    if text is None:
        return TOMBSTONE
    return DEFAULT_KIND if target.kind == TOMBSTONE else target.kind


def status(authorised: AuthorisedRequest, request: m.Status) -> Outcome:
    ctx = authorised.ctx
    here = (ctx.scope.workspace, ctx.scope.owner)
    namespaces = ctx.scope.namespaces
    everything = authorised.rights.everywhere and namespaces is None
    places = (
        [here[:1] if everything else here] if namespaces is None else [(*here, one) for one in namespaces]
    )
    meaning, renewal, replication = ctx.services.meaning, ctx.tx.renewal, ctx.tx.replication
    answer = m.StatusAnswer(
        workspace=ctx.scope.workspace,
        owner=ctx.scope.owner,
        namespaces=namespaces_of(ctx),
        audit_rows=ctx.tx.audit.tree(ctx.scope.workspace).size if everything else None,
        scrub_pending=authorised.store.scrub_pending(),
        reasoner=ctx.services.reasoner,
        model=_model(ctx, whole=everything),
        embedder=meaning.description,
        waiting=sum(renewal.lacking(meaning.space, *one) for one in places) if meaning.space else 0,
        renewing=sum(renewal.owed(*one) for one in places),
        embedder_trouble=meaning.trouble,
        vectors=_vectors(ctx),
        knowledge=_knowledge(authorised),
        unfinished_imports=len(unfinished(ctx)) if everything else None,
        uncarried=replication.waiting(*here) if namespaces is None and replication.mirrored() else None,
    )
    return Outcome(answer)


def namespaces_of(ctx: RequestContext) -> list[m.CompartmentStatus]:
    """What the owner has in each of the namespaces that the cap opens."""
    return [
        m.CompartmentStatus(namespace, ctx.tx.lines.count(keys.compartment))
        for namespace, keys in ctx.open_compartments().items()
    ]


def _vectors(ctx: RequestContext) -> str:
    if not ctx.services.meaning.keeps:
        return NONE
    return SEALED if ctx.tx.terms.comparing is None else PGVECTOR


def _knowledge(authorised: AuthorisedRequest) -> m.KnowledgeStatus | None:
    grant = authorised.chain.grant
    observers = None if authorised.rights.everywhere else {grant.actor, *grant.peers}
    try:
        found, whole = stock(authorised.ctx, observers)
    except Tampered:
        return None  # To be told of the rest is what a status is for; the doctor looks closer.
    return m.KnowledgeStatus(**msgspec.structs.asdict(found), whole=whole)


def _model(ctx: RequestContext, *, whole: bool) -> m.ModelStatus | None:
    if ctx.services.model is None:
        return None
    standing = ctx.services.model.standing(ctx.scope.workspace)
    return m.ModelStatus(
        dict(standing.tasks),
        budget_left(standing.allowance, standing.spent) if whole else None,
        budget_left(standing.allowance_here, standing.spent_here) if whole else None,
        standing.trouble,
    )


def _asked(authorised: AuthorisedRequest) -> tuple[str, ...]:
    namespaces = authorised.ctx.scope.namespaces
    return ("*",) if namespaces is None else tuple(sorted(namespaces))


def _facts(line: LinePlace) -> dict[str, Any]:
    """The fields of `LineFacts`."""
    return {
        "id": line.id,
        "namespace": line.compartment.namespace,
        "kind": line.kind,
        "created_at": to_datetime(line.created_at),
        "occurred_at": _moment(line.occurred_at),
        **shared_fields(GivenFields, line),
    }


def _detail(**facts: object) -> str:
    return msgspec.json.encode(facts, order="sorted").decode()


def _ms(moment: m.Moment | None) -> int | None:
    return None if moment is None else to_ms(moment)


def _moment(ms: int | None) -> m.Moment | None:
    return None if ms is None else to_datetime(ms)


class _Forgotten(Struct, frozen=True):
    lines: int
    keys: int
    namespaces: tuple[str, ...]
    with_them: frozenset[tuple[Compartment, str]]
    """Lines of others that rested on these alone, and went too."""
    verified: tuple[str, ...]
    """What was checked before the deletion was committed."""
    epoch: int = 0
    """The newest epoch of the keys that went."""


def forget(authorised: AuthorisedRequest, request: m.Forget) -> Outcome:
    """Rows, index, keys and caches of a line, a namespace or an owner.

    Readers find nothing from the commit on. A compartment's keys are destroyed with it, so that copies of its
    lines elsewhere stay shut; the scrub that follows takes the bytes out of the store's files.

    Raises: InvalidInput, NotFound, SchemaUnknown.
    """
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
            receipt=_receipt(authorised, request, gone, row, scrubbed=scrubbed),
        )

    also = receipts.gone_runs(gone.with_them)
    detail = Detail(authorised.ctx.scope.owner, gone.lines, gone.keys, also, epoch=gone.epoch)
    lines = () if request.id is None else (request.id,)
    return Outcome(answer, Trace(gone.namespaces, lines, detail.text()))


def _forget_line(ctx: RequestContext, line_id: str) -> _Forgotten:
    lines = [line for line, _ in ctx.find_all(ulid.check(line_id))]
    changes = Changes()
    erase_lines(ctx, lines, changes)
    compartments = [line.compartment for line in lines]
    _check_gone(ctx, compartments, (line_id,))
    return _Forgotten(
        lines=len(lines),
        keys=0,
        namespaces=_namespaces(compartments),
        with_them=frozenset(changes.gone - {(compartment, line_id) for compartment in compartments}),
        verified=(receipts.SCHEMA, receipts.LINES, receipts.INDEX),
    )


def _forget_compartments(ctx: RequestContext) -> _Forgotten:
    """Everything in scope. Nothing there is not an error: it says nothing about what was."""
    scope, compartments = ctx.scope, compartments_held(ctx, ctx.scope.owner)
    namespaces, changes, lines, keys = _namespaces(compartments), Changes(), 0, 0
    if compartments:
        span = TurnSpan(scope.workspace, scope.owner, namespaces, history=True, limit=EVERYTHING)
        sessions = ctx.tx.directory.memberships(scope.workspace, MEMBER, held=scope.owner)
        erase_resting(ctx, ctx.tx.lines.ids(span), dict.fromkeys(tie.holder for tie in sessions), changes)
        lines, keys = delete_compartments(ctx, compartments, changes)
    ctx.tx.owe_scrub()
    _check_gone(ctx, compartments)
    return _Forgotten(
        lines=lines,
        keys=keys,
        namespaces=namespaces,
        with_them=frozenset(changes.gone),
        verified=(receipts.SCHEMA, receipts.LINES, receipts.INDEX, receipts.KEYS),
        epoch=changes.epoch,
    )


def _namespaces(compartments: Iterable[Compartment]) -> tuple[str, ...]:
    return tuple(compartment.namespace for compartment in compartments)


def _check_gone(
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
        span = TurnSpan(scope.workspace, scope.owner, namespaces, history=True, limit=_NEWEST)
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


def _receipt(
    authorised: AuthorisedRequest, request: m.Forget, gone: _Forgotten, row: Row, *, scrubbed: bool
) -> str:
    ctx = authorised.ctx
    with authorised.store.read(row.workspace) as tx:
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
    kid, key = authorised.keyring.signer()
    receipt = Receipt(
        iss=authorised.keyring.instance,
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
