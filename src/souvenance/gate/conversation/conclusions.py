"""Conclusions: what one peer knows of another."""

from __future__ import annotations

from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Any

from msgspec import Meta

from souvenance.core.conversation import conclusions, directory, erase
from souvenance.core.conversation.compartments import (
    Changes,
    Opener,
    compartment_of,
    compartments_of,
    everywhere,
    reading,
    write_line,
)
from souvenance.core.conversation.messages import find_message
from souvenance.core.request_context import RequestContext
from souvenance.domain import trust
from souvenance.domain.content import check_text, decode_metadata
from souvenance.domain.directory import PEER, SESSION
from souvenance.domain.encoding import frame
from souvenance.domain.filters import equals, predicate
from souvenance.domain.line import CONCLUSIONS, SealedLine
from souvenance.domain.names import Namespace
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.trust import Trust
from souvenance.errors import CapOpMismatch, InvalidInput, NotFound
from souvenance.gate.conversation import resource as r
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights

MOST_CONCLUSION_CHARS = 65_535


class NewConclusion(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    content: Annotated[str, Meta(min_length=1, max_length=MOST_CONCLUSION_CHARS)]
    observer_id: r.PeerName
    observed_id: r.PeerName
    session_id: r.AnyName | None = None
    source_ids: Annotated[list[r.AnyName], Meta(max_length=20)] | None = None
    """What it follows from: messages and other conclusions of its namespace, which the cap may read."""
    created_at: datetime | None = None
    """When it was known, if not now."""
    metadata: r.JsonObject | None = None
    quoted: bool = False
    """Whether it is the word of somebody else than the observed, as what another memory held."""
    key: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    """What it is known again by: with the same key, it is not added again."""


class AddConclusions(r.WorkspaceRequest, frozen=True, kw_only=True):
    conclusions: Annotated[list[NewConclusion], Meta(min_length=1, max_length=100)]
    namespace: Namespace | None = None
    """Where those lie that name no session; without it, in the common namespace."""


class ListConclusions(r.ListRequest, frozen=True, kw_only=True):
    filters: r.JsonObject | None = None


class QueryConclusions(r.WorkspaceRequest, frozen=True, kw_only=True):
    query: r.Query
    top_k: r.UpTo100 = 10
    distance: r.Share | None = None
    filters: r.JsonObject | None = None


class OfConclusion(r.WorkspaceRequest, frozen=True, kw_only=True):
    conclusion_id: r.AnyName


class ConclusionAnswer(Answer, frozen=True):
    id: str
    content: str
    observer_id: str
    observed_id: str
    session_id: str | None
    source_ids: list[str] | None
    created_at: datetime
    level: str = "explicit"
    times_derived: int = 1

    @classmethod
    def of(cls, view: conclusions.View) -> ConclusionAnswer:
        line = view.line
        return cls(
            line.id,
            view.text,
            line.compartment.owner,
            line.about or "",
            line.session,
            list(view.sources) or None,
            to_datetime(line.created_at),
            view.level,
            line.times,
        )


class ConclusionPage(r.ResponsePage, frozen=True):
    items: list[ConclusionAnswer]


class Conclusions(r.BareListAnswer, frozen=True):
    conclusions: list[ConclusionAnswer]
    repeated: int = 0
    """How many of them were there already, by their keys."""


def _may_add(rights: Rights, request: AddConclusions) -> None:
    for one in request.conclusions:
        rights.holds(one.observer_id, one.observed_id)
    sessions = {one.session_id for one in request.conclusions}
    for session in sessions:
        if session is not None:
            rights.reads(session)
    if None in sessions or request.namespace is not None:
        rights.lies(None, request.namespace)


def _of_peers(rights: Rights, request: Any) -> None:
    """Raises: CapScopeMismatch for a token of sessions. What a token of peers finds is what they know."""
    rights.peer()


def _add(call: AuthorisedRequest, request: AddConclusions) -> Outcome:
    """Without a key each of them is kept, even if the same is known already. One that names a session lies
    where that does; another in the namespace of the request, or else in the common one."""
    changes, ids = Changes(), call.ctx.fresh_ids(len(request.conclusions))
    views = [
        _stated(call, one, line_id, request.namespace, changes)
        for one, line_id in zip(request.conclusions, ids, strict=True)
    ]
    answer = Conclusions([ConclusionAnswer.of(view) for view in views], len(views) - len(changes.put))
    return Outcome(answer, changes.trace())


def _stated(
    call: AuthorisedRequest, one: NewConclusion, line_id: str, namespace: str | None, changes: Changes
) -> conclusions.View:
    """The conclusion as it is kept, now or, by its key, already. Raises: InvalidInput, also for a source in
    another namespace, NotFound, NamespaceDenied, Conflict, Tampered."""
    ctx, sources = call.ctx, _sources(call, one)
    check_text(one.content, "content")
    for peer in (one.observer_id, one.observed_id):
        directory.need(ctx, PEER, peer)
    if one.session_id is not None:
        directory.need(ctx, SESSION, one.session_id)
    where = directory.namespace_for(ctx, one.session_id, namespace)
    if any(source.compartment.namespace != where for source in sources):
        raise InvalidInput("a source lies in another namespace", hint="Name its session, or leave it out.")
    keys = ctx.services.vault.compartment(ctx.tx, compartment_of(ctx, one.observer_id, where))
    mark = None
    if one.key is not None:
        mark = blake2b(frame("key", one.observed_id, one.key), key=keys.blind, digest_size=16).digest()
        if (known := ctx.tx.lines.alike(keys.compartment, one.observed_id, mark)) is not None:
            return conclusions.views_of(ctx, [known])[0]
    line = write_line(
        ctx,
        keys,
        line_id,
        _kind_of(ctx, one, sources),
        one.content,
        session=one.session_id,
        about=one.observed_id,
        said_at=r.moment_ms(one.created_at),
        metadata=r.encode_object(one.metadata) or "{}",
        tokens=ctx.services.tokenizer.count(one.content),
        likeness=mark,
    )
    changes.add(line)
    cited = sorted({source.id for source in sources})
    if cited:
        ctx.tx.lines.cite(line.compartment, line.id, cited)
    return conclusions.View(line, one.content, cited)


def _kind_of(ctx: RequestContext, stated: NewConclusion, sources: list[SealedLine]) -> str:
    """What follows from others is a deduction, no more to be trusted than they are. Raises: Tampered."""
    own = min(Trust.QUOTED if stated.quoted else Trust.SAID, trust.of_statement(stated.content))
    if not sources:
        return trust.KINDS[own]
    opener = Opener(ctx)
    read = [(source, opener.text(source)) for source in sources]
    classes = [(trust.of_line(line.kind, decode_metadata(line.metadata), text), text) for line, text in read]
    least = min(own, trust.of_fact(stated.content, classes))
    return CONCLUSIONS["deductive"] if least is Trust.SAID else trust.KINDS[least]


def _sources(call: AuthorisedRequest, stated: NewConclusion) -> list[SealedLine]:
    """The lines that it is said to follow from. Raises: CapOpMismatch, NotFound."""
    if stated.source_ids and "get" not in call.chain.grant.ops:
        raise CapOpMismatch("the cap does not grant 'get', and sources are read")
    return [_source(call, stated, line_id) for line_id in stated.source_ids or ()]


def _source(call: AuthorisedRequest, stated: NewConclusion, line_id: str) -> SealedLine:
    """A message of the session, or of either peer where the cap may read it, or else a conclusion."""
    try:
        if stated.session_id is not None:
            return find_message(call.ctx, stated.session_id, line_id)
    except NotFound:
        pass  # It may be of another session, or concluded.
    for peer in filter(call.rights.reaches, dict.fromkeys((stated.observed_id, stated.observer_id))):
        for compartment in compartments_of(call.ctx, peer):
            line = call.ctx.tx.lines.get(compartment, line_id)
            if line is not None and line.turn is not None and call.rights.may_read(line.session or ""):
                return line
    return _reached(call, line_id).line


def _list(call: AuthorisedRequest, request: ListConclusions) -> Outcome:
    found, total = conclusions.list_views(
        call.ctx,
        _whose(call, request.filters),
        predicate(request.filters, conclusions.FIELDS),
        oldest_first=request.reverse,
        offset=request.offset,
        limit=request.size,
    )
    page = request.answer(ConclusionPage, [ConclusionAnswer.of(view) for view in found], total)
    return Outcome(page, reading(everywhere(call.ctx), [view.line.id for view in found]))


def _query(call: AuthorisedRequest, request: QueryConclusions) -> Outcome:
    found = conclusions.query_views(
        call.ctx,
        _whose(call, request.filters),
        request.query,
        request.top_k,
        distance=request.distance,
        wanted=predicate(request.filters, conclusions.FIELDS),
    )
    answer = Conclusions([ConclusionAnswer.of(view) for view in found])
    return Outcome(answer, reading(everywhere(call.ctx), [view.line.id for view in found]))


def _whose(call: AuthorisedRequest, filters: r.JsonObject | None) -> list[conclusions.Whose]:
    """As much of the filter as the store can use, within what the cap may read."""
    observer = equals(filters, "observer_id") or equals(filters, "observer")
    observed = equals(filters, "observed_id") or equals(filters, "observed")
    found = [whose.narrowed(observer, observed) for whose in call.rights.views()]
    return [whose for whose in found if whose is not None]


def _read(call: AuthorisedRequest, request: OfConclusion) -> Outcome:
    view = _reached(call, request.conclusion_id)
    return Outcome(ConclusionAnswer.of(view), reading((view.line.compartment.namespace,), (view.line.id,)))


def _reached(call: AuthorisedRequest, line_id: str) -> conclusions.View:
    """The conclusion. Raises: NotFound, also for one that this cap may not read."""
    ctx = call.ctx
    line = ctx.tx.lines.view(ctx.scope.workspace, line_id, ctx.scope.namespaces)
    held = line is not None and line.kind in conclusions.KINDS and line.invalidated_by is None
    if line is None or not held or not any(whose.includes(line) for whose in call.rights.views()):
        raise NotFound("there is no such conclusion")
    return conclusions.views_of(ctx, [line])[0]


def own(call: AuthorisedRequest, line_id: str) -> SealedLine:
    """The conclusion, which the cap may treat as its own. Raises: NotFound, CapScopeMismatch."""
    line = _reached(call, line_id).line
    call.rights.holds(line.compartment.owner, line.about or "")
    return line


def _delete(call: AuthorisedRequest, request: OfConclusion) -> Outcome:
    changes = Changes()
    erase.erase_lines(call.ctx, [own(call, request.conclusion_id)], changes)
    return r.erased(call, changes, r.Done())


ADD_CONCLUSIONS = r.operation("conclusions.add", "put", Conclusions, _add, _may_add)
LIST_CONCLUSIONS = r.operation("conclusions.list", "get", ConclusionPage, _list, _of_peers)
QUERY_CONCLUSIONS = r.operation("conclusions.query", "get", Conclusions, _query, _of_peers)
READ_CONCLUSION = r.operation("conclusions.read", "get", ConclusionAnswer, _read, _of_peers)
DELETE_CONCLUSION = r.operation("conclusions.delete", "forget", r.Done, _delete, _of_peers, rings=True)
