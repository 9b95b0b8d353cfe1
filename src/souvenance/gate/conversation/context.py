"""Context: what an agent is told of a peer and of a session: representation, card, summaries, messages."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from souvenance.core.conversation import cards, directory
from souvenance.core.conversation import context as core
from souvenance.core.conversation.compartments import Changes, everywhere, reading
from souvenance.core.request_context import Trace
from souvenance.domain.content import check_text
from souvenance.domain.current_facts import CardEntry
from souvenance.domain.directory import PEER, SESSION
from souvenance.domain.names import Namespace
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import InvalidInput
from souvenance.gate.conversation.messages import MessageAnswer
from souvenance.gate.conversation.peers import OfPeer
from souvenance.gate.conversation.resource import (
    AnyName,
    JsonObject,
    NewName,
    PeerName,
    Query,
    Scopes,
    Share,
    UpTo100,
    WorkspaceRequest,
    operation,
)
from souvenance.gate.conversation.sessions import OfSession, reads_session
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.gate.rights import Rights


class Represent(OfPeer, frozen=True, kw_only=True):
    session_id: AnyName | None = None
    filters: JsonObject | None = None
    scope: Scopes | None = None
    target: PeerName | None = None
    search_query: Query | None = None
    search_top_k: UpTo100 | None = None
    search_max_distance: Share | None = None
    include_most_frequent: bool | None = None
    max_conclusions: UpTo100 | None = 25


class PeerContext(OfPeer, frozen=True, kw_only=True):
    target: PeerName | None = None
    search_query: Query | None = None
    search_top_k: UpTo100 | None = None
    search_max_distance: Share | None = None
    include_most_frequent: bool = True
    max_conclusions: UpTo100 | None = None
    floor: bool = False
    """Whether nobody asked to see it: then only messages that answer the query well are quoted for it."""


class ReadCard(OfPeer, frozen=True, kw_only=True):
    target: PeerName | None = None


class WriteCard(WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: NewName
    peer_id: NewName
    target: NewName | None = None
    namespace: Namespace | None = None
    peer_card: Annotated[list[Annotated[str, Meta(max_length=10_000)]], Meta(max_length=200)]


class SessionContext(OfSession, frozen=True, kw_only=True):
    tokens: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    search_query: Query | None = None
    summary: bool = True
    peer_target: PeerName | None = None
    peer_perspective: PeerName | None = None
    scope: AnyName | None = None
    sessions: Annotated[list[AnyName], Meta(max_length=1000)] | None = None
    limit_to_session: bool = False
    search_top_k: UpTo100 | None = None
    search_max_distance: Share | None = None
    include_most_frequent: bool = False
    max_conclusions: UpTo100 | None = None


class Summaries(OfSession, frozen=True, kw_only=True):
    if_any: bool = False
    """Whether a session that is not there, or not for this cap, has none, rather than being refused."""
    between: Annotated[list[AnyName], Meta(max_length=100)] | None = None
    """Those whose conversation it has to be: where anybody else took part, there is no summary."""


class Representation(Answer, frozen=True):
    representation: str


class PeerContextAnswer(Answer, frozen=True):
    peer_id: str
    target_id: str
    representation: str | None
    peer_card: list[str] | None


class PeerCard(Answer, frozen=True):
    peer_card: list[str] | None


class Summary(Answer, frozen=True):
    content: str
    message_id: str
    summary_type: str
    created_at: str
    token_count: int

    @classmethod
    def of(cls, one: core.StoredSummary) -> Summary:
        kind = "long" if one.long else "short"
        made = msgspec.json.encode(to_datetime(one.created_at)).decode().strip('"')
        return cls(one.text, one.message_id, f"honcho_chat_summary_{kind}", made, one.tokens)


class SessionSummaries(Answer, frozen=True):
    id: str
    short_summary: Summary | None
    long_summary: Summary | None


class SessionContextAnswer(Answer, frozen=True):
    id: str
    messages: list[MessageAnswer]
    summary: Summary | None
    peer_representation: str | None
    peer_card: list[str] | None


def may_look(rights: Rights, request: Any) -> None:
    rights.looks(request.peer_id, request.target or request.peer_id)


def _may_read_card(rights: Rights, request: ReadCard | WriteCard) -> None:
    rights.holds(request.peer_id, request.target or request.peer_id)


def _may_write_card(rights: Rights, request: WriteCard) -> None:
    _may_read_card(rights, request)
    rights.lies(None, request.namespace)


def _may_read_summaries(rights: Rights, request: Summaries) -> None:
    if not request.if_any:
        rights.reads(request.session_id)


def _represent(call: AuthorisedRequest, request: Represent) -> Outcome:
    target = request.target or request.peer_id
    limits = call.rights.looks(request.peer_id, target)
    sessions = sessions_asked(call, request.session_id, request.filters, request.scope)
    found = core.picture(
        call.ctx, _picture_query(request, request.peer_id, target, core.narrowed(sessions, limits))
    )
    return Outcome(Representation(found.text), _trace(call, found))


def _peer_context(call: AuthorisedRequest, request: PeerContext) -> Outcome:
    target = request.target or request.peer_id
    limits = call.rights.looks(request.peer_id, target)
    found = core.picture(
        call.ctx, _picture_query(request, request.peer_id, target, limits, unasked=request.floor)
    )
    answer = PeerContextAnswer(request.peer_id, target, found.text, found.card)
    return Outcome(answer, _trace(call, found))


def _picture_query(
    request: Represent | PeerContext | SessionContext,
    observer: str,
    observed: str,
    sessions: frozenset[str] | None,
    *,
    unasked: bool = False,
) -> core.PictureQuery:
    return core.PictureQuery(
        observer=observer,
        observed=observed,
        query=request.search_query,
        top_k=request.search_top_k,
        distance=request.search_max_distance,
        frequent=bool(request.include_most_frequent),
        most=request.max_conclusions or core.MOST_CONCLUSIONS,
        sessions=sessions,
        unasked=unasked,
    )


def _trace(call: AuthorisedRequest, found: core.Picture) -> Trace:
    return reading(everywhere(call.ctx), [line.id for line in found.lines])


def sessions_asked(
    call: AuthorisedRequest, session: str | None, filters: JsonObject | None, scope: Scopes | None
) -> frozenset[str] | None:
    """The sessions that a question is limited to; None if to none.

    Raises: InvalidInput for any other filter than one on session_id; CapScopeMismatch for a scope and a cap
    that does not reach the whole workspace; NotFound for an unknown scope.
    """
    if sum(one is not None for one in (session, filters, scope)) > 1:
        raise InvalidInput("name only one of session_id, filters and scope")
    if session is not None:
        return directory.in_reach(call.ctx, (session,))
    if scope is not None:
        call.rights.workspace()
        return directory.scope_sessions(call.ctx, (scope,) if isinstance(scope, str) else scope)
    return directory.in_reach(call.ctx, _sessions_in(filters)) if filters else None


def _sessions_in(filters: JsonObject) -> frozenset[str]:
    if set(filters) != {"session_id"}:
        raise InvalidInput("filters may only name session_id here")
    named = filters["session_id"]
    if isinstance(named, dict) and set(named) == {"in"}:
        named = named["in"]
    found = [named] if isinstance(named, str) else named
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found) or len(found) > 1000:
        raise InvalidInput("filters.session_id must be an id, a list of up to 1000 ids, or {'in': [ids]}")
    return frozenset(found)


def _read_card(call: AuthorisedRequest, request: ReadCard) -> Outcome:
    entries = cards.read_card(call.ctx, request.peer_id, request.target or request.peer_id)
    card = None if entries is None else [entry.text for entry in entries]
    return Outcome(PeerCard(card), reading(everywhere(call.ctx)))


def _write_card(call: AuthorisedRequest, request: WriteCard) -> Outcome:
    changes = Changes()
    target = request.target or request.peer_id
    namespace = directory.namespace_for(call.ctx, None, request.namespace)
    directory.ensure(call.ctx, PEER, request.peer_id, namespace=namespace)
    if call.rights.reaches(target):
        directory.ensure(call.ctx, PEER, target, namespace=namespace)
    entries = [CardEntry(check_text(text, "peer_card")) for text in request.peer_card]
    cards.write_card(call.ctx, request.peer_id, target, namespace, entries, changes)
    return Outcome(PeerCard(list(request.peer_card)), changes.trace())


def _session_context(call: AuthorisedRequest, request: SessionContext) -> Outcome:
    asked = _asked(call, request)
    found = core.context(
        call.ctx, request.session_id, tokens=request.tokens, summary=request.summary, asked=asked
    )
    picture = found.picture
    answer = SessionContextAnswer(
        id=request.session_id,
        messages=[MessageAnswer.of(one) for one in found.messages],
        summary=None if found.summary is None else Summary.of(found.summary),
        peer_representation=None if picture is None else picture.text,
        peer_card=None if picture is None else picture.card,
    )
    limited = asked is None or asked.sessions == {request.session_id}
    namespaces = directory.where(call.ctx, request.session_id) if limited else everywhere(call.ctx)
    seen = [] if picture is None else [line.id for line in picture.lines]
    return Outcome(answer, reading(namespaces, [*(one.line.id for one in found.messages), *seen]))


def _asked(call: AuthorisedRequest, request: SessionContext) -> core.PictureQuery | None:
    """Whose picture of whom belongs to the context, and how far it may look.

    Raises: InvalidInput, NotFound, CapScopeMismatch.
    """
    if request.peer_target is None:
        if request.peer_perspective is not None:
            raise InvalidInput("peer_perspective needs a peer_target")
        return None
    given = (request.limit_to_session, request.scope is not None, request.sessions is not None)
    if sum(given) > 1:
        raise InvalidInput("name only one of limit_to_session, scope and sessions")
    sessions: frozenset[str] | None = None
    if request.limit_to_session:
        sessions = frozenset((request.session_id,))
    elif request.scope is not None:
        call.rights.workspace()
        sessions = directory.scope_sessions(call.ctx, (request.scope,))
    elif request.sessions is not None:
        sessions = frozenset(request.sessions)
        if request.session_id not in sessions:
            raise InvalidInput("sessions must name the session whose context it is")
    rights = call.rights
    observer = request.peer_perspective or request.peer_target
    limits = (
        rights.sessions if rights.opens(request.session_id) else rights.looks(observer, request.peer_target)
    )
    return _picture_query(request, observer, request.peer_target, core.narrowed(sessions, limits))


def _summaries(call: AuthorisedRequest, request: Summaries) -> Outcome:
    session = request.session_id
    if request.if_any and not call.rights.finds(session):
        return Outcome(SessionSummaries(session, None, None), reading(()))
    trace = reading((directory.need(call.ctx, SESSION, session).namespace,))
    if request.between is not None:
        others = {stay.held for stay in directory.stays(call.ctx, session)} - {*request.between}
        if others:
            return Outcome(SessionSummaries(session, None, None), trace)
    found = {one.long: Summary.of(one) for one in core.summaries(call.ctx, session)}
    return Outcome(SessionSummaries(session, found.get(False), found.get(True)), trace)


REPRESENT = operation("peers.representation", "get", Represent, Representation, _represent, may_look)
PEER_CONTEXT = operation(
    "peers.context",
    "get",
    PeerContext,
    PeerContextAnswer,
    _peer_context,
    may_look,
    question=attrgetter("search_query"),
)
READ_CARD = operation("peers.card", "get", ReadCard, PeerCard, _read_card, _may_read_card)
WRITE_CARD = operation("peers.set_card", "put", WriteCard, PeerCard, _write_card, _may_write_card)
CONTEXT = operation(
    "sessions.context", "get", SessionContext, SessionContextAnswer, _session_context, reads_session
)
SUMMARIES = operation(
    "sessions.summaries", "get", Summaries, SessionSummaries, _summaries, _may_read_summaries
)
