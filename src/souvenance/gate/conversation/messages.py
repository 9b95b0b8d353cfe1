"""Messages: what is said in sessions, also as files, and searches for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import asdict

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation import messages as core
from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.conversation.messages import IncomingMessage, StoredMessage, TargetSession, add_messages
from souvenance.core.conversation.search import How, Where, find_messages
from souvenance.core.explanations import Explanation
from souvenance.core.remember import Upcoming
from souvenance.core.request_context import RequestContext, Services, Trace, said_at
from souvenance.domain.chunking import chunks
from souvenance.domain.content import decode_metadata
from souvenance.domain.directory import SESSION
from souvenance.domain.filters import predicate
from souvenance.domain.line import DOCUMENT, MESSAGE
from souvenance.domain.names import Namespace
from souvenance.domain.reasoning_settings import Reasoning
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import InvalidInput
from souvenance.gate.conversation.resource import (
    AnyName,
    BareListAnswer,
    Done,
    JsonObject,
    ListRequest,
    NewName,
    PeerName,
    Query,
    ResponsePage,
    UpTo100,
    WorkspaceRequest,
    encode_object,
    erased,
    moment_ms,
    operation,
    whole_workspace,
)
from souvenance.gate.conversation.sessions import Members, OfSession, reads_session, writes_session
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.gate.rights import Rights

MOST_MESSAGE_CHARS = 25_000

Text = Annotated[str, Meta(max_length=MOST_MESSAGE_CHARS)]


class MessageHabits(Request, frozen=True, forbid_unknown_fields=False):
    reasoning: Reasoning | None = None


class NewMessage(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    content: Text
    peer_id: NewName
    metadata: JsonObject | None = None
    configuration: MessageHabits | None = None
    created_at: datetime | None = None


class AddMessages(WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: NewName
    session_id: NewName
    messages: Annotated[list[NewMessage], Meta(min_length=1, max_length=100)]
    idempotency_key: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    namespace: Namespace | None = None
    members: Members | None = None
    """Who is let in beside those who speak. The habits hold for those who were never in the session."""


class AddFile(WorkspaceRequest, frozen=True, kw_only=True):
    """A file whose text becomes messages."""

    workspace_id: NewName
    session_id: NewName
    peer_id: NewName
    file: bytes
    filename: str | None = None
    media_type: str = ""
    metadata: JsonObject | None = None
    configuration: MessageHabits | None = None
    created_at: datetime | None = None
    namespace: Namespace | None = None


class ReadFile(AddFile, frozen=True, kw_only=True):
    """A file whose text was read."""

    messages: list[NewMessage]


class ListMessages(ListRequest, frozen=True, kw_only=True):
    session_id: AnyName
    filters: JsonObject | None = None


class OfMessage(OfSession, frozen=True, kw_only=True):
    message_id: AnyName


class DeleteMessage(OfMessage, frozen=True, kw_only=True):
    with_empty_session: bool = False
    """Delete the session too, if it then holds nothing."""


class ChangeMessage(OfMessage, frozen=True, kw_only=True):
    metadata: JsonObject | None = None


class Search(WorkspaceRequest, frozen=True, kw_only=True):
    query: Query
    filters: JsonObject | None = None
    limit: UpTo100 = 10
    at: datetime | None = None
    """When the question is asked, if not now: "last week" is the week before that."""
    floor: bool = False
    """Only what is relevant enough to be shown unasked, which may be nothing."""
    explain: bool = False
    """Whether each message says why it came."""


class SearchWorkspace(Search, frozen=True, kw_only=True):
    scope: AnyName | None = None


class SearchPeer(Search, frozen=True, kw_only=True):
    peer_id: PeerName


class SearchSession(Search, frozen=True, kw_only=True):
    session_id: AnyName


class MessageAnswer(Answer, frozen=True, omit_defaults=True):
    id: str
    content: str
    peer_id: str
    session_id: str
    metadata: JsonObject
    created_at: datetime
    workspace_id: str
    token_count: int
    explanation: Explanation | None = None
    """Why a search found it, if that was asked for."""
    kind: str | None = None
    """'document' if it is part of a file: its peer carried it, and did not say it."""

    @classmethod
    def of(cls, one: StoredMessage, why: Explanation | None = None) -> MessageAnswer:
        line = one.line
        return cls(
            line.id,
            one.text,
            line.compartment.owner,
            line.session or "",
            dict(decode_metadata(line.metadata)),
            to_datetime(said_at(line)),
            line.compartment.workspace,
            line.tokens or 0,
            why,
            None if line.kind == MESSAGE else line.kind,
        )


class MessagePage(ResponsePage, frozen=True):
    items: list[MessageAnswer]


class Messages(BareListAnswer, frozen=True):
    messages: list[MessageAnswer]
    repeated: bool = False
    """Whether these are what an earlier, identical request stored."""


def _may_add(rights: Rights, request: AddMessages) -> None:
    authors = {one.peer_id for one in request.messages}
    rights.makes(request.session_id, authors.union(request.members or ()), request.namespace)


def _may_add_file(rights: Rights, request: AddFile) -> None:
    rights.makes(request.session_id, (request.peer_id,), request.namespace)


def _may_search_peer(rights: Rights, request: SearchPeer) -> None:
    rights.looks(request.peer_id, request.peer_id)


def _add(call: AuthorisedRequest, request: AddMessages) -> Outcome:
    target = TargetSession(request.session_id, request.namespace, request.members)
    incoming = _incoming(request.messages, MESSAGE)
    stored, changes = add_messages(call.ctx, target, incoming, request.idempotency_key)
    answer = Messages([MessageAnswer.of(one) for one in stored], repeated=not changes.put)
    return Outcome(answer, changes.trace())


def _add_file(call: AuthorisedRequest, request: ReadFile) -> Outcome:
    target = TargetSession(request.session_id, request.namespace)
    stored, changes = add_messages(call.ctx, target, _incoming(request.messages, DOCUMENT))
    answer = Messages([MessageAnswer.of(one) for one in stored])
    return Outcome(answer, changes.trace(file=len(request.file)))


def _read_file(services: Services, request: AddFile) -> ReadFile:
    """Raises: InvalidInput, UnsupportedType, FileTooLarge."""
    text = services.reader.read(request.file, request.media_type, request.filename)
    messages = [
        NewMessage(
            content=part,
            peer_id=request.peer_id,
            metadata=request.metadata,
            configuration=request.configuration,
            created_at=request.created_at,
        )
        for part in chunks(text, MOST_MESSAGE_CHARS)
    ]
    return ReadFile(**asdict(request), messages=messages)


def _texts(request: AddMessages | ReadFile) -> list[Upcoming]:
    return [
        Upcoming(one.content, moment_ms(one.created_at), one.peer_id, request.namespace)
        for one in request.messages
    ]


def _incoming(messages: list[NewMessage], kind: str) -> list[IncomingMessage]:
    return [
        IncomingMessage(
            one.peer_id,
            one.content,
            _metadata(one.metadata),
            moment_ms(one.created_at),
            _reasoning(one.configuration).enabled,
            kind,
            _reasoning(one.configuration).custom_instructions,
        )
        for one in messages
    ]


def _metadata(given: Mapping[str, Any] | None) -> JsonObject:
    encode_object(given)
    return dict(given or {})


def _reasoning(given: MessageHabits | None) -> Reasoning:
    return Reasoning() if given is None or given.reasoning is None else given.reasoning


def _list(call: AuthorisedRequest, request: ListMessages) -> Outcome:
    found, total = core.page_of(
        call.ctx,
        request.session_id,
        predicate(request.filters, core.FIELDS),
        newest_first=request.reverse,
        offset=request.offset,
        limit=request.size,
    )
    page = request.answer(MessagePage, [MessageAnswer.of(one) for one in found], total)
    return Outcome(page, _trace(call.ctx, found, request.session_id))


def _read(call: AuthorisedRequest, request: OfMessage) -> Outcome:
    found = core.read_message(call.ctx, request.session_id, request.message_id)
    return Outcome(MessageAnswer.of(found), _trace(call.ctx, [found], request.session_id))


def _change(call: AuthorisedRequest, request: ChangeMessage) -> Outcome:
    metadata = encode_object(request.metadata)
    if metadata is None:
        return _read(call, request)
    found = core.annotate(call.ctx, request.session_id, request.message_id, metadata)
    return Outcome(MessageAnswer.of(found), _trace(call.ctx, [found], request.session_id))


def _delete(call: AuthorisedRequest, request: DeleteMessage) -> Outcome:
    changes = erase.erase_message(
        call.ctx,
        request.session_id,
        request.message_id,
        with_empty_session=request.with_empty_session,
    )
    return erased(call, changes, Done())


def _search_workspace(call: AuthorisedRequest, request: SearchWorkspace) -> Outcome:
    sessions = None if request.scope is None else directory.scope_sessions(call.ctx, (request.scope,))
    return _search(call, request, Where(sessions=sessions))


def _search_peer(call: AuthorisedRequest, request: SearchPeer) -> Outcome:
    sessions = call.rights.looks(request.peer_id, request.peer_id)
    return _search(call, request, Where(peer=request.peer_id, sessions=sessions))


def _search_session(call: AuthorisedRequest, request: SearchSession) -> Outcome:
    directory.need(call.ctx, SESSION, request.session_id)
    return _search(call, request, Where(sessions=(request.session_id,)), request.session_id)


def _search(call: AuthorisedRequest, request: Search, where: Where, session: str | None = None) -> Outcome:
    filters = dict(request.filters or {})
    perspective = filters.pop("peer_perspective", None)
    if perspective is not None and not isinstance(perspective, str):
        raise InvalidInput("peer_perspective must name one peer")
    wanted = predicate(filters, core.FIELDS) if filters else None
    found = find_messages(
        call.ctx,
        request.query,
        Where(where.peer, where.sessions, perspective, wanted),
        request.limit,
        How(moment_ms(request.at, "at"), request.floor, request.explain),
    )
    messages = [MessageAnswer.of(one.message, one.explanation) for one in found]
    return Outcome(Messages(messages), _trace(call.ctx, [one.message for one in found], session))


def _trace(ctx: RequestContext, found: list[StoredMessage], session: str | None) -> Trace:
    namespaces = everywhere(ctx) if session is None else directory.where(ctx, session)
    return reading(namespaces, [one.line.id for one in found])


ADD_MESSAGES = operation(
    "messages.add", "put", AddMessages, Messages, _add, _may_add, rings=True, texts=_texts
)
ADD_FILE = operation(
    "messages.upload",
    "put",
    AddFile,
    Messages,
    _add_file,
    _may_add_file,
    rings=True,
    prepare=_read_file,
    texts=_texts,
)
LIST_MESSAGES = operation("messages.list", "get", ListMessages, MessagePage, _list, reads_session)
READ_MESSAGE = operation("messages.read", "get", OfMessage, MessageAnswer, _read, reads_session)
CHANGE_MESSAGE = operation("messages.change", "put", ChangeMessage, MessageAnswer, _change, writes_session)
DELETE_MESSAGE = operation(
    "messages.delete", "forget", DeleteMessage, Done, _delete, writes_session, rings=True
)
SEARCH_WORKSPACE = operation(
    "workspaces.search", "get", SearchWorkspace, Messages, _search_workspace, whole_workspace
)
SEARCH_PEER = operation(
    "peers.search", "get", SearchPeer, Messages, _search_peer, _may_search_peer, question=attrgetter("query")
)
SEARCH_SESSION = operation("sessions.search", "get", SearchSession, Messages, _search_session, reads_session)
