"""The gate's operations on what is said: messages, files, search, context and summaries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from souvenance.core.conversation import context as core
from souvenance.core.conversation import directory, erase
from souvenance.core.conversation import messages as read
from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.conversation.ingest import Hall, IncomingMessage, StoredMessage, add_messages
from souvenance.core.conversation.search import How, Where, find_messages
from souvenance.core.remember import Upcoming
from souvenance.core.request_context import Services, Trace
from souvenance.domain.chunking import chunks
from souvenance.domain.directory import SESSION
from souvenance.domain.filters import predicate
from souvenance.domain.line import DOCUMENT
from souvenance.domain.reasoning_settings import Reasoning
from souvenance.domain.timestamps import to_ms
from souvenance.errors import InvalidInput
from souvenance.gate.authorised_request import AuthorisedRequest, Outcome
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.conversation import serialisers

_EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)


def moment_ms(moment: datetime | None, field: str = "created_at") -> int | None:
    """Raises: InvalidInput for a time that no calendar has everywhere."""
    if moment is None:
        return None
    aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    if not _EARLIEST <= aware <= _LATEST:
        raise InvalidInput(f"{field} lies outside the years 1 to 9999")
    return to_ms(aware)


def add(case: AuthorisedRequest, request: q.AddMessages) -> Outcome:
    said = [
        IncomingMessage(
            one.peer_id,
            one.content,
            _metadata(one.metadata),
            moment_ms(one.created_at),
            _reasoning(one.configuration).enabled,
            wishes=_reasoning(one.configuration).custom_instructions,
        )
        for one in request.messages
    ]
    hall = Hall(request.session_id, request.namespace, request.members)
    stored, changes = add_messages(case.ctx, hall, said, request.idempotency_key)
    answer = a.Messages([serialisers.message(one) for one in stored], repeated=not changes.put)
    return Outcome(answer, changes.trace())


def texts_added(request: q.AddMessages) -> list[Upcoming]:
    return [
        Upcoming(one.content, moment_ms(one.created_at), one.peer_id, request.namespace)
        for one in request.messages
    ]


def texts_in_file(request: q.AddFile) -> list[Upcoming]:
    moment = moment_ms(request.created_at)
    return [Upcoming(part, moment, request.peer_id, request.namespace) for part in request.parts]


def read_file(tools: Services, request: q.AddFile) -> q.AddFile:
    """The request with the text of its file.

    Raises: InvalidInput, UnsupportedType, FileTooLarge.
    """
    text = tools.reader.read(request.file, request.media_type, request.filename)
    return replace(request, parts=tuple(chunks(text, q.MOST_MESSAGE_CHARS)))


def add_file(case: AuthorisedRequest, request: q.AddFile) -> Outcome:
    moment, metadata = moment_ms(request.created_at), _metadata(request.metadata)
    reasoning = _reasoning(request.configuration)
    said = [
        IncomingMessage(
            request.peer_id,
            part,
            metadata,
            moment,
            reasoning.enabled,
            DOCUMENT,
            reasoning.custom_instructions,
        )
        for part in request.parts
    ]
    stored, changes = add_messages(case.ctx, Hall(request.session_id, request.namespace), said)
    return Outcome(
        a.Messages([serialisers.message(one) for one in stored]), changes.trace(file=len(request.file))
    )


def _metadata(given: Mapping[str, Any] | None) -> dict[str, Any]:
    serialisers.bag(given)
    return dict(given or {})


def _reasoning(given: q.MessageHabits | None) -> Reasoning:
    return Reasoning() if given is None or given.reasoning is None else given.reasoning


def list_(case: AuthorisedRequest, request: q.ListMessages) -> Outcome:
    found, total = read.page_of(
        case.ctx,
        request.session_id,
        predicate(request.filters, read.FIELDS),
        newest_first=request.reverse,
        offset=request.offset,
        limit=request.size,
    )
    items = [serialisers.message(one) for one in found]
    page = serialisers.page(a.MessagePage, items, total, request.page, request.size)
    return Outcome(page, _read(case, found, request.session_id))


def read_one(case: AuthorisedRequest, request: q.OfMessage) -> Outcome:
    found = read.read_message(case.ctx, request.session_id, request.message_id)
    return Outcome(serialisers.message(found), _read(case, [found], request.session_id))


def change(case: AuthorisedRequest, request: q.ChangeMessage) -> Outcome:
    metadata = serialisers.bag(request.metadata)
    if metadata is None:
        found = read.read_message(case.ctx, request.session_id, request.message_id)
    else:
        found = read.annotate(case.ctx, request.session_id, request.message_id, metadata)
    return Outcome(serialisers.message(found), _read(case, [found], request.session_id))


def delete(case: AuthorisedRequest, request: q.DeleteMessage) -> Outcome:
    changes = erase.erase_message(
        case.ctx,
        request.session_id,
        request.message_id,
        with_empty_session=request.with_empty_session,
    )
    return serialisers.erased(case, changes, a.Done())


def search_workspace(case: AuthorisedRequest, request: q.SearchWorkspace) -> Outcome:
    sessions = None if request.scope is None else directory.scope_sessions(case.ctx, (request.scope,))
    return _search(case, request, Where(sessions=sessions))


def search_peer(case: AuthorisedRequest, request: q.SearchPeer) -> Outcome:
    sessions = case.rights.looks(request.peer_id, request.peer_id)
    return _search(case, request, Where(peer=request.peer_id, sessions=sessions))


def search_session(case: AuthorisedRequest, request: q.SearchSession) -> Outcome:
    directory.need(case.ctx, SESSION, request.session_id)
    return _search(case, request, Where(sessions=(request.session_id,)), request.session_id)


def _search(case: AuthorisedRequest, request: q.Search, where: Where, session: str | None = None) -> Outcome:
    filters = dict(request.filters or {})
    perspective = filters.pop("peer_perspective", None)
    if perspective is not None and not isinstance(perspective, str):
        raise InvalidInput("peer_perspective must name one peer")
    wanted = predicate(filters, read.FIELDS) if filters else None
    found = find_messages(
        case.ctx,
        request.query,
        Where(where.peer, where.sessions, perspective, wanted),
        request.limit,
        How(moment_ms(request.at, "at"), request.floor, request.explain),
    )
    trace = _read(case, [one.message for one in found], session)
    return Outcome(a.Messages([serialisers.found(one) for one in found]), trace)


def context(case: AuthorisedRequest, request: q.SessionContext) -> Outcome:
    asked = _asked(case, request)
    found = core.context(
        case.ctx, request.session_id, tokens=request.tokens, summary=request.summary, asked=asked
    )
    answer = a.SessionContextAnswer(
        id=request.session_id,
        messages=[serialisers.message(one) for one in found.messages],
        summary=None if found.summary is None else serialisers.summary(found.summary),
        peer_representation=None if found.picture is None else found.picture.text,
        peer_card=None if found.picture is None else found.picture.card,
    )
    views = [] if found.picture is None else [line.id for line in found.picture.lines]
    limited = asked is None or asked.sessions == {request.session_id}
    namespaces = _where(case, request.session_id) if limited else everywhere(case.ctx)
    return Outcome(answer, reading(namespaces, [*(one.line.id for one in found.messages), *views]))


def _asked(case: AuthorisedRequest, request: q.SessionContext) -> core.PictureQuery | None:
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
        case.rights.workspace()
        sessions = directory.scope_sessions(case.ctx, (request.scope,))
    elif request.sessions is not None:
        sessions = frozenset(request.sessions)
        if request.session_id not in sessions:
            raise InvalidInput("sessions must name the session whose context it is")
    rights = case.rights
    observer = request.peer_perspective or request.peer_target
    limits = (
        rights.sessions if rights.opens(request.session_id) else rights.looks(observer, request.peer_target)
    )
    return core.PictureQuery(
        observer=observer,
        observed=request.peer_target,
        query=request.search_query,
        top_k=request.search_top_k,
        distance=request.search_max_distance,
        frequent=request.include_most_frequent,
        most=request.max_conclusions or core.MOST_CONCLUSIONS,
        sessions=core.narrowed(sessions, limits),
    )


def summaries(case: AuthorisedRequest, request: q.Summaries) -> Outcome:
    if request.if_any and not case.rights.finds(request.session_id):
        return Outcome(a.SessionSummaries(request.session_id, None, None), reading(()))
    directory.need(case.ctx, SESSION, request.session_id)
    trace = reading(_where(case, request.session_id))
    if request.between is not None:
        others = {stay.held for stay in directory.stays(case.ctx, request.session_id)} - {*request.between}
        if others:
            return Outcome(a.SessionSummaries(request.session_id, None, None), trace)
    found = {one.long: serialisers.summary(one) for one in core.summaries(case.ctx, request.session_id)}
    return Outcome(a.SessionSummaries(request.session_id, found.get(False), found.get(True)), trace)


def _read(case: AuthorisedRequest, found: list[StoredMessage], session: str | None) -> Trace:
    namespaces = everywhere(case.ctx) if session is None else _where(case, session)
    return reading(namespaces, [one.line.id for one in found])


def _where(case: AuthorisedRequest, session: str) -> tuple[str, ...]:
    """Where the session lies, as the log names it."""
    entry = directory.find(case.ctx, SESSION, session)
    return () if entry is None else (entry.namespace,)
