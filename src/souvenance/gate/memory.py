"""The gate's memory operations: from messages to use cases and back."""

from __future__ import annotations

from typing import Any

import msgspec

from souvenance.core.archive.completeness import unfinished
from souvenance.core.browse import class_of, list_lines, read_line, snapshot
from souvenance.core.conversation.chat import QUOTES
from souvenance.core.conversation.deduplicate import stock
from souvenance.core.correct import correct
from souvenance.core.recall import Wish, recall
from souvenance.core.remember import Draft, Upcoming, remember
from souvenance.core.request_context import RequestContext, Trace
from souvenance.domain.embedding import NONE, PGVECTOR, SEALED
from souvenance.domain.line import GivenFields, LinePlace, shared_fields
from souvenance.domain.timestamps import to_datetime, to_ms
from souvenance.errors import CapOpMismatch, Tampered
from souvenance.gate import messages as m
from souvenance.gate.authorised_request import AuthorisedRequest, Outcome
from souvenance.gate.explain import explanation
from souvenance.gate.health import budget_left

_TEXT_NEEDS = "get"
"""The right without which a list has no texts."""


def put(case: AuthorisedRequest, request: m.Put) -> Outcome:
    line, duplicate = remember(
        case.ctx,
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


def get(case: AuthorisedRequest, request: m.Get) -> Outcome:
    wish = Wish(
        request.query,
        request.k,
        _ms(request.since),
        _ms(request.until),
        at=_ms(request.at),
        floor=request.floor,
        explain=request.explain,
    )
    found = recall(case.ctx, wish)
    lines = [
        m.RecalledLine(
            **_facts(one.line),
            text=one.line.text,
            cap=one.line.cap,
            trust=one.trust.name.lower(),
            score=one.score,
            matched=one.matched,
            explanation=explanation(one.explanation),
        )
        for one in found
    ]
    return Outcome(m.GetAnswer(lines), Trace(_asked(case), [line.id for line in lines]))


def get_line(case: AuthorisedRequest, request: m.GetLine) -> Outcome:
    read = read_line(case.ctx, request.id)
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


def list_(case: AuthorisedRequest, request: m.List) -> Outcome:
    if request.texts and _TEXT_NEEDS not in case.chain.grant.ops:
        raise CapOpMismatch(f"the token does not grant '{_TEXT_NEEDS}', and texts were asked for")
    page = list_lines(
        case.ctx,
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
    return Outcome(m.ListAnswer(lines, page.cursor), Trace(_asked(case), told, _detail(lines=len(lines))))


def take_snapshot(case: AuthorisedRequest, request: m.Snapshot) -> Outcome:
    profile, ids = snapshot(case.ctx)
    answer = m.SnapshotAnswer(profile, to_datetime(case.ctx.now), ids)
    return Outcome(answer, Trace(_asked(case), (), _detail(lines=len(ids))))


def invalidate(case: AuthorisedRequest, request: m.Invalidate) -> Outcome:
    line, duplicate = correct(case.ctx, request.id, request.text, request.new_id)
    answer = m.InvalidateAnswer(line.id, line.compartment.namespace, request.id, duplicate)
    return Outcome(
        answer, Trace((line.compartment.namespace,), (request.id, line.id), _detail(duplicate=duplicate))
    )


def status(case: AuthorisedRequest, request: m.Status) -> Outcome:
    ctx = case.ctx
    compartments = [
        m.CompartmentStatus(namespace, ctx.tx.lines.count(keys.compartment))
        for namespace, keys in ctx.open_compartments().items()
    ]
    here = (ctx.scope.workspace, ctx.scope.owner)
    namespaces = ctx.scope.namespaces
    everything = case.rights.everywhere and namespaces is None
    places = (
        [here[:1] if everything else here] if namespaces is None else [(*here, one) for one in namespaces]
    )
    meaning, renewal, replication = ctx.tools.meaning, ctx.tx.renewal, ctx.tx.replication
    answer = m.StatusAnswer(
        workspace=ctx.scope.workspace,
        owner=ctx.scope.owner,
        namespaces=compartments,
        audit_rows=ctx.tx.audit.tree(ctx.scope.workspace).size if everything else None,
        scrub_pending=case.store.scrub_pending(),
        reasoner=QUOTES if ctx.tools.model is None else ctx.tools.model.name,
        model=_model(ctx, whole=everything),
        embedder=meaning.description,
        waiting=sum(renewal.lacking(meaning.space, *one) for one in places) if meaning.space else 0,
        renewing=sum(renewal.owed(*one) for one in places),
        embedder_trouble=meaning.trouble,
        vectors=_vectors(ctx),
        knowledge=_knowledge(case),
        unfinished_imports=len(unfinished(ctx)) if everything else None,
        uncarried=replication.waiting(*here) if namespaces is None and replication.mirrored() else None,
    )
    return Outcome(answer)


def _vectors(ctx: RequestContext) -> str:
    if not ctx.tools.meaning.keeps:
        return NONE
    return SEALED if ctx.tx.terms.comparing is None else PGVECTOR


def _knowledge(case: AuthorisedRequest) -> m.KnowledgeStatus | None:
    grant = case.chain.grant
    observers = None if case.rights.everywhere else {grant.actor, *grant.peers}
    try:
        found, whole = stock(case.ctx, observers)
    except Tampered:
        return None  # To be told of the rest is what a status is for; the doctor looks closer.
    return m.KnowledgeStatus(
        conclusions=found.conclusions,
        reasoned=found.reasoned,
        quoted=found.quoted,
        outdated=found.outdated,
        duplicates=found.duplicates,
        card_lines=found.entries,
        whole=whole,
    )


def _model(ctx: RequestContext, *, whole: bool) -> m.ModelStatus | None:
    if ctx.tools.model is None:
        return None
    standing = ctx.tools.model.standing(ctx.scope.workspace)
    return m.ModelStatus(
        dict(standing.tasks),
        budget_left(standing.allowance, standing.spent) if whole else None,
        budget_left(standing.allowance_here, standing.spent_here) if whole else None,
        standing.trouble,
    )


def _asked(case: AuthorisedRequest) -> tuple[str, ...]:
    namespaces = case.ctx.scope.namespaces
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
