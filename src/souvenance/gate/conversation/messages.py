"""Messages: what is said in sessions, also as files, and searches for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from operator import attrgetter
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation import messages as core
from souvenance.core.conversation.compartments import Changes, compartment_of, everywhere, reading, write_line
from souvenance.core.conversation.messages import StoredMessage, find_message, read_messages
from souvenance.core.conversation.search import How, Where, find_messages
from souvenance.core.explanations import Explanation
from souvenance.core.remember import Upcoming
from souvenance.core.request_context import RequestContext, Services, Trace, said_at
from souvenance.core.vault import CompartmentKeys
from souvenance.domain import reasoning_settings as h
from souvenance.domain.chunking import chunks
from souvenance.domain.content import check_characters, decode_metadata, encode_metadata
from souvenance.domain.directory import DERIVE, PEER, SESSION, Entry, Job
from souvenance.domain.encoding import frame
from souvenance.domain.filters import predicate
from souvenance.domain.line import DOCUMENT, MESSAGE, RELAYED, SealedLine
from souvenance.domain.names import Namespace
from souvenance.domain.reasoning_settings import Reasoning
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.trust import is_carried
from souvenance.errors import Conflict, InvalidInput
from souvenance.gate.conversation import resource as r
from souvenance.gate.conversation.sessions import Members, OfSession, reads_session, writes_session
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights
from souvenance.ports.directory import Batch
from souvenance.ports.store import TurnQuery

MOST_MESSAGE_CHARS = 25_000
RETRY_WINDOW_MS = 3 * 60 * 1000
"""A client that waits a minute for an answer and tries three times is done by then."""

KEY_WINDOW_MS = 24 * 3600 * 1000

Text = Annotated[str, Meta(max_length=MOST_MESSAGE_CHARS)]


class MessageHabits(Request, frozen=True, forbid_unknown_fields=False):
    reasoning: Reasoning | None = None


class NewMessage(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    content: Text
    peer_id: r.NewName
    metadata: r.JsonObject | None = None
    configuration: MessageHabits | None = None
    created_at: datetime | None = None


class AddMessages(r.WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: r.NewName
    session_id: r.NewName
    messages: Annotated[list[NewMessage], Meta(min_length=1, max_length=100)]
    idempotency_key: Annotated[str, Meta(min_length=1, max_length=255)] | None = None
    namespace: Namespace | None = None
    members: Members | None = None
    """Who is let in beside those who speak. The habits hold for those who were never in the session."""


class AddFile(r.WorkspaceRequest, frozen=True, kw_only=True):
    """A file whose text becomes messages."""

    workspace_id: r.NewName
    session_id: r.NewName
    peer_id: r.NewName
    file: bytes
    filename: str | None = None
    media_type: str = ""
    metadata: r.JsonObject | None = None
    configuration: MessageHabits | None = None
    created_at: datetime | None = None
    namespace: Namespace | None = None


class ReadFile(AddFile, frozen=True, kw_only=True):
    """A file whose text was read."""

    messages: list[NewMessage]


class ListMessages(r.ListRequest, frozen=True, kw_only=True):
    session_id: r.AnyName
    filters: r.JsonObject | None = None


class OfMessage(OfSession, frozen=True, kw_only=True):
    message_id: r.AnyName


class DeleteMessage(OfMessage, frozen=True, kw_only=True):
    with_empty_session: bool = False
    """Delete the session too, if it then holds nothing."""


class ChangeMessage(OfMessage, frozen=True, kw_only=True):
    metadata: r.JsonObject | None = None


class Search(r.WorkspaceRequest, frozen=True, kw_only=True):
    query: r.Query
    filters: r.JsonObject | None = None
    limit: r.UpTo100 = 10
    at: datetime | None = None
    """When the question is asked, if not now: "last week" is the week before that."""
    floor: bool = False
    """Hide weak matches. Nothing may be left then."""
    explain: bool = False
    """Whether each message says why it came."""


class SearchWorkspace(Search, frozen=True, kw_only=True):
    scope: r.AnyName | None = None


class SearchPeer(Search, frozen=True, kw_only=True):
    peer_id: r.PeerName


class SearchSession(Search, frozen=True, kw_only=True):
    session_id: r.AnyName


class MessageAnswer(Answer, frozen=True, omit_defaults=True):
    id: str
    content: str
    peer_id: str
    session_id: str
    metadata: r.JsonObject
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


class MessagePage(r.ResponsePage, frozen=True):
    items: list[MessageAnswer]


class Messages(r.BareListAnswer, frozen=True):
    messages: list[MessageAnswer]
    repeated: bool = False
    """Whether these are what an earlier, identical request stored."""


def _may_add(rights: Rights, request: AddMessages) -> None:
    authors = {one.peer_id for one in request.messages}
    rights.makes(request.session_id, authors.union(request.members or ()), request.namespace)


def _may_search_peer(rights: Rights, request: SearchPeer) -> None:
    rights.looks(request.peer_id, request.peer_id)


def _add(call: AuthorisedRequest, request: AddMessages) -> Outcome:
    stored, changes = _added(call.ctx, request, MESSAGE, request.idempotency_key, request.members)
    answer = Messages([MessageAnswer.of(one) for one in stored], repeated=not changes.put)
    return Outcome(answer, changes.trace())


def _add_file(call: AuthorisedRequest, request: ReadFile) -> Outcome:
    stored, changes = _added(call.ctx, request, DOCUMENT)
    answer = Messages([MessageAnswer.of(one) for one in stored])
    return Outcome(answer, changes.trace(file=len(request.file)))


def _added(
    ctx: RequestContext,
    request: AddMessages | ReadFile,
    kind: str,
    key: str | None = None,
    members: Members | None = None,
) -> tuple[list[StoredMessage], Changes]:
    """Store the messages; a retry changes nothing. Turns are given out inside the one writing transaction, so
    a session has no gap, no duplicate and no reordering. A batch is a retry if it has the key of an earlier
    one, or, without a key, if it says the same as one of the last minutes and nothing was said since.
    Raises: InvalidInput, LimitExceeded, NamespaceDenied, Conflict, Tampered."""
    said, session = request.messages, request.session_id
    for one in said:
        check_characters(one.content, "content")
        r.encode_object(one.metadata)
    entry, _ = directory.ensure_session(ctx, session, request.namespace)
    changes = Changes({entry.namespace})
    authors = list(dict.fromkeys(one.peer_id for one in said))
    keys = {
        author: ctx.services.vault.compartment(ctx.tx, compartment_of(ctx, author, entry.namespace))
        for author in authors
    }
    digest = _digest(keys[authors[0]].blind, session, said, key)
    earlier = _first_time(ctx, session, digest, said, keyed=key is not None)
    if earlier is not None:
        return earlier, changes
    known = {stay.held for stay in directory.stays(ctx, session)} if members else set()
    newcomers = {peer: habits for peer, habits in (members or {}).items() if peer not in known}
    directory.join(ctx, session, {**dict.fromkeys(authors), **newcomers})
    first = directory.next_turn(ctx, session)
    stored = _store(ctx, session, said, kind, keys, first)
    for message in stored:
        changes.add(message.line)
    last = first + len(stored) - 1
    ctx.tx.directory.keep_batch(
        Batch(ctx.scope.workspace, session, digest, ctx.now, first, last), ctx.now - KEY_WINDOW_MS
    )
    _owe_work(ctx, entry, said, first)
    return stored, changes


def _store(
    ctx: RequestContext,
    session: str,
    said: Sequence[NewMessage],
    kind: str,
    keys: Mapping[str, CompartmentKeys],
    first: int,
) -> list[StoredMessage]:
    stored: list[StoredMessage] = []
    counts = [ctx.services.tokenizer.count(one.content) for one in said]
    for turn, (one, line_id) in enumerate(zip(said, ctx.fresh_ids(len(said)), strict=True), first):
        # The seal binds the kind: metadata that is changed later makes nothing one's own.
        carried = kind == MESSAGE and is_carried(MESSAGE, one.metadata or {})
        kept = write_line(
            ctx,
            keys[one.peer_id],
            line_id,
            RELAYED if carried else kind,
            one.content,
            session=session,
            turn=turn,
            said_at=r.moment_ms(one.created_at),
            metadata=encode_metadata(one.metadata or {}),
            tokens=counts[turn - first],
        )
        stored.append(StoredMessage(kept, one.content))
    return stored


def _digest(blind: bytes, session: str, said: Sequence[NewMessage], key: str | None) -> bytes:
    """What makes a batch known again: keyed, because a bare hash of few words can be guessed."""
    digest = blake2b(key=blind, digest_size=16)
    if key is not None:
        digest.update(frame("key", session, key))
        return digest.digest()
    for one in said:
        metadata = encode_metadata(one.metadata or {})
        digest.update(frame("said", session, one.peer_id, one.content, r.moment_ms(one.created_at), metadata))
    return digest.digest()


def _first_time(
    ctx: RequestContext, session: str, digest: bytes, said: Sequence[NewMessage], *, keyed: bool
) -> list[StoredMessage] | None:
    """What was stored of the same batch. Raises: Conflict if the key stored anything else."""
    batch = ctx.tx.directory.batch(ctx.scope.workspace, session, digest)
    if batch is None or batch.at < ctx.now - (KEY_WINDOW_MS if keyed else RETRY_WINDOW_MS):
        return None
    if not keyed and directory.next_turn(ctx, session) != batch.last + 1:
        return None
    lines = ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, session, first=batch.first, last=batch.last))
    found = read_messages(ctx, lines)
    wanted = [(one.peer_id, one.content) for one in said]
    if [(one.line.compartment.owner, one.text) for one in found] == wanted:
        return found
    if found and keyed:
        raise Conflict(
            "this Idempotency-Key stored other messages, or some of those it stored were deleted",
            hint="Nothing was stored now. Send these messages with a new key.",
        )
    return None


def _owe_work(ctx: RequestContext, entry: Entry, said: Sequence[NewMessage], first: int) -> None:
    """Note what must still be done with these messages, in the transaction that stores them."""
    session = entry.name
    near, far = directory.habits(ctx, session)
    present = directory.members(ctx, session)
    last = first + len(said) - 1
    for author in dict.fromkeys(one.peer_id for one in said):
        peer = directory.find(ctx, PEER, author)
        if not h.observed(directory.member_habits(present.get(author)), directory.peer_habits(peer)):
            continue
        reasoned: dict[str | None, list[int]] = {}
        for turn, one in enumerate(said, first):
            asked = (one.configuration or MessageHabits()).reasoning or Reasoning()
            if one.peer_id == author and h.reasons(asked.enabled, near, far):
                reasoned.setdefault(asked.custom_instructions, []).append(turn)
        for wishes, turns in reasoned.items():
            job = Job(
                workspace=ctx.scope.workspace,
                kind=DERIVE,
                session=session,
                peer=author,
                first=turns[0],
                last=turns[-1],
                units=len(turns),
                payload=_particulars(turns, wishes),
                namespace=entry.namespace,
            )
            ctx.tx.work.add(job, ctx.now)
    _wait_for_quiet(ctx, session, last)
    core.owe_summaries(ctx, entry, first, last)


def _wait_for_quiet(ctx: RequestContext, session: str, last: int) -> None:
    """Where a model derives, let it read what is new in one call, when the session is quiet or has grown."""
    model = ctx.services.model_for(DERIVE)
    if model is None:
        return
    workspace, pace = ctx.scope.workspace, model.pace
    first = ctx.tx.work.defer(workspace, session, DERIVE, ctx.now + pace.quiet_ms)
    if first is not None:
        lines = ctx.tx.lines.turns(TurnQuery(workspace, session, first=first, last=last))
        if sum(line.tokens or 0 for line in lines) >= pace.tokens:
            ctx.tx.work.defer(workspace, session, DERIVE, ctx.now)


def _particulars(turns: Sequence[int], wishes: str | None) -> str:
    """Which turns to look at, if not all of the range, and what is wished to be noted of them."""
    particulars: dict[str, object] = {}
    if turns[-1] - turns[0] + 1 != len(turns):
        particulars["turns"] = list(turns)
    if wishes is not None:
        particulars["wishes"] = wishes
    return msgspec.json.encode(particulars).decode()


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
        Upcoming(one.content, r.moment_ms(one.created_at), one.peer_id, request.namespace)
        for one in request.messages
    ]


def _list(call: AuthorisedRequest, request: ListMessages) -> Outcome:
    ctx, session, wanted = call.ctx, request.session_id, predicate(request.filters, core.FIELDS)
    directory.need(ctx, SESSION, session)
    span = TurnQuery(ctx.scope.workspace, session, newest_first=request.reverse)
    if wanted is None:
        total = ctx.tx.lines.count_turns(ctx.scope.workspace, session)
        lines = ctx.tx.lines.turns(replace(span, offset=request.offset, limit=request.size))
    else:
        matching = [line for line in ctx.tx.lines.turns(span) if wanted(core.row(line))]
        total, lines = len(matching), request.cut(matching)
    found = read_messages(ctx, lines)
    page = request.answer(MessagePage, [MessageAnswer.of(one) for one in found], total)
    return Outcome(page, _trace(call.ctx, found, request.session_id))


def _read(call: AuthorisedRequest, request: OfMessage) -> Outcome:
    return _shown(call, find_message(call.ctx, request.session_id, request.message_id))


def _shown(call: AuthorisedRequest, line: SealedLine) -> Outcome:
    [found] = read_messages(call.ctx, [line])
    return Outcome(MessageAnswer.of(found), _trace(call.ctx, [found], line.session))


def _change(call: AuthorisedRequest, request: ChangeMessage) -> Outcome:
    """The message with other metadata; what was said can't be changed."""
    metadata = r.encode_object(request.metadata)
    line = find_message(call.ctx, request.session_id, request.message_id)
    if metadata is not None:
        call.ctx.tx.lines.annotate(line.compartment, line.id, metadata)
        line = replace(line, metadata=metadata)
    return _shown(call, line)


def _delete(call: AuthorisedRequest, request: DeleteMessage) -> Outcome:
    changes = erase.erase_message(
        call.ctx, request.session_id, request.message_id, with_empty_session=request.with_empty_session
    )
    return r.erased(call, changes, r.Done())


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
        How(r.moment_ms(request.at, "at"), request.floor, request.explain),
    )
    messages = [MessageAnswer.of(one.message, one.explanation) for one in found]
    return Outcome(Messages(messages), _trace(call.ctx, [one.message for one in found], session))


def _trace(ctx: RequestContext, found: list[StoredMessage], session: str | None) -> Trace:
    namespaces = everywhere(ctx) if session is None else directory.where(ctx, session)
    return reading(namespaces, [one.line.id for one in found])


ADD_MESSAGES = r.operation("messages.add", "put", Messages, _add, _may_add, rings=True, texts=_texts)
ADD_FILE = r.operation(
    "messages.upload",
    "put",
    Messages,
    _add_file,
    lambda rights, request: rights.makes(request.session_id, (request.peer_id,), request.namespace),
    rings=True,
    prepare=_read_file,
    texts=_texts,
    request=AddFile,
)
LIST_MESSAGES = r.operation("messages.list", "get", MessagePage, _list, reads_session)
READ_MESSAGE = r.operation("messages.read", "get", MessageAnswer, _read, reads_session)
CHANGE_MESSAGE = r.operation("messages.change", "put", MessageAnswer, _change, writes_session)
DELETE_MESSAGE = r.operation("messages.delete", "forget", r.Done, _delete, writes_session, rings=True)
SEARCH_WORKSPACE = r.operation("workspaces.search", "get", Messages, _search_workspace)
SEARCH_PEER = r.operation(
    "peers.search", "get", Messages, _search_peer, _may_search_peer, question=attrgetter("query")
)
SEARCH_SESSION = r.operation("sessions.search", "get", Messages, _search_session, reads_session)
