"""Sessions, the peers in them, and scopes: named sets of sessions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.compartments import Changes, write_line
from souvenance.core.conversation.messages import find_message, read_messages
from souvenance.core.request_context import RequestContext, said_at
from souvenance.domain.directory import MEMBER, PEER, PICK, SCOPE, SESSION, Entry
from souvenance.domain.line import CONCLUSIONS, STATEMENT
from souvenance.domain.names import Namespace
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict, NotFound
from souvenance.gate.conversation import resource as r
from souvenance.gate.conversation.peers import PeerAnswer, PeerPage, of_peer
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights
from souvenance.ports.store import TurnQuery, ViewQuery

Members = Annotated[dict[r.NewName, MemberReasoning], Meta(max_length=1000)]


class OpenSession(r.OpenRequest, frozen=True, kw_only=True):
    configuration: r.JsonObject | None = None
    peers: Members | None = None
    scopes: Annotated[list[r.NewScopeName], Meta(max_length=100)] | None = None
    namespace: Namespace | None = None
    """Where the session is made; without it, in the common namespace."""

    @property
    def changes(self) -> bool:
        return super().changes or bool(self.peers or self.scopes)


class ChangeSession(r.ChangeRequest, frozen=True, kw_only=True):
    session_id: r.NewName


class ListSessions(r.ListRequest, frozen=True, kw_only=True):
    filters: r.JsonObject | None = None


class SessionsOfPeer(ListSessions, frozen=True, kw_only=True):
    peer_id: r.PeerName


class OfSession(r.WorkspaceRequest, frozen=True, kw_only=True):
    session_id: r.AnyName


class CloneSession(OfSession, frozen=True, kw_only=True):
    message_id: r.AnyName | None = None


class SetMembers(r.WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: r.NewName
    session_id: r.NewName
    peers: Members
    namespace: Namespace | None = None


class RemoveMembers(OfSession, frozen=True, kw_only=True):
    peers: Annotated[list[r.PeerName], Meta(max_length=1000)]


class ListMembers(r.ListRequest, frozen=True, kw_only=True):
    session_id: r.AnyName


class OfMember(OfSession, frozen=True, kw_only=True):
    peer_id: r.PeerName


class ConfigureMember(OfMember, frozen=True, kw_only=True):
    observe_me: bool | None = None
    observe_others: bool | None = None


class SessionAnswer(r.NamedAnswer, frozen=True):
    configuration: r.JsonObject
    workspace_id: str
    is_active: bool
    uid: str = ""


class SessionPage(r.ResponsePage, frozen=True):
    items: list[SessionAnswer]


class MemberSettings(Answer, frozen=True):
    observe_me: bool | None
    observe_others: bool | None


def reads_session(rights: Rights, request: Any) -> None:
    rights.reads(request.session_id)


def writes_session(rights: Rights, request: Any) -> None:
    rights.writes(request.session_id)


def _may_open(rights: Rights, request: OpenSession) -> None:
    if request.scopes:
        rights.workspace()
    if request.changes or not rights.known(SESSION, request.id):
        rights.writes(request.id, request.peers or ())
        rights.puts()
    else:
        rights.reads(request.id)
    rights.lies(request.id, request.namespace)


def _may_set_members(rights: Rights, request: SetMembers) -> None:
    rights.makes(request.session_id, request.peers, request.namespace)


def _may_read_member(rights: Rights, request: OfMember) -> None:
    """A token of peers may look at their own settings only."""
    rights.reads(request.session_id)
    if not rights.opens(request.session_id):
        rights.peer(request.peer_id)


def _open(call: AuthorisedRequest, request: OpenSession) -> Outcome:
    ctx = call.ctx
    entry, made = directory.ensure_session(ctx, request.id, request.namespace)
    entry = r.change_entry(ctx, entry, request.metadata, request.configuration)
    if request.peers:
        directory.join(ctx, request.id, dict(request.peers))
    for scope in request.scopes or ():
        directory.ensure(ctx, SCOPE, scope)
        directory.pick(ctx, scope, request.id)
    return Outcome(r.Opened(SessionAnswer.of(entry), made), r.names_read(ctx, entry))


def _change(call: AuthorisedRequest, request: ChangeSession) -> Outcome:
    entry, _ = directory.ensure_session(call.ctx, request.session_id)
    return _answer(call, r.change_entry(call.ctx, entry, request.metadata, request.configuration))


def _read(call: AuthorisedRequest, request: OfSession) -> Outcome:
    return _answer(call, directory.need(call.ctx, SESSION, request.session_id))


def _answer(call: AuthorisedRequest, entry: Entry) -> Outcome:
    return Outcome(SessionAnswer.of(entry), r.names_read(call.ctx, entry))


def _list(call: AuthorisedRequest, request: ListSessions) -> Outcome:
    wanted = r.filter_of(SESSION, request.filters)
    return r.list_entries(call.ctx, SESSION, request, SessionPage, SessionAnswer.of, wanted)


def _list_of_peer(call: AuthorisedRequest, request: SessionsOfPeer) -> Outcome:
    memberships = call.ctx.tx.directory.memberships(call.ctx.scope.workspace, MEMBER, held=request.peer_id)
    sessions = sessions_named(call.ctx, (stay.holder for stay in memberships if stay.until is None))
    by_age = sorted(sessions, key=lambda entry: entry.uid)
    wanted = r.filter_of(SESSION, request.filters)
    page = r.page_of_entries(request, SessionPage, SessionAnswer.of, by_age, wanted)
    return Outcome(page, r.names_read(call.ctx))


def sessions_named(ctx: RequestContext, names: Iterable[str]) -> list[Entry]:
    """Those of the sessions that there are and that may be looked into."""
    return [entry for name in dict.fromkeys(names) if (entry := directory.find(ctx, SESSION, name))]


def _delete(call: AuthorisedRequest, request: OfSession) -> Outcome:
    changes = erase.erase_session(call.ctx, request.session_id)
    return r.erased(call, changes, r.Note("Session deleted successfully"))


def _clone(call: AuthorisedRequest, request: CloneSession) -> Outcome:
    """A new session in the same namespace, with the same peers and messages, up to and with that one. Nothing
    is concluded from them again."""
    ctx, session = call.ctx, request.session_id
    source = directory.need(ctx, SESSION, session)
    last = None if request.message_id is None else find_message(ctx, session, request.message_id).turn
    entry, _ = directory.ensure(
        ctx, SESSION, ctx.fresh_id(), source.metadata, source.configuration, namespace=source.namespace
    )
    end = directory.next_turn(ctx, session) if last is None else last + 1
    for stay in directory.stays(ctx, session):
        if stay.since < end or stay.until is None:
            until = None if stay.until is None else min(stay.until, end)
            ctx.tx.directory.add_membership(
                replace(stay, holder=entry.name, since=min(stay.since, end), until=until)
            )
    changes = Changes({source.namespace})
    lines = ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, session, last=last))
    here = [line for line in lines if line.compartment.namespace == source.namespace]
    for one, line_id in zip(read_messages(ctx, here), ctx.fresh_ids(len(here)), strict=True):
        line = one.line
        copy = write_line(
            ctx,
            ctx.services.vault.compartment(ctx.tx, line.compartment),
            line_id,
            line.kind,
            one.text,
            session=entry.name,
            turn=line.turn,
            said_at=said_at(line),
            metadata=line.metadata,
            tokens=line.tokens,
        )
        changes.add(copy)
    return Outcome(SessionAnswer.of(entry), changes.trace(session=entry.name))


def _add_members(call: AuthorisedRequest, request: SetMembers) -> Outcome:
    entry, _ = directory.ensure_session(call.ctx, request.session_id, request.namespace)
    directory.join(call.ctx, request.session_id, dict(request.peers))
    return _answer(call, entry)


def _set_members(call: AuthorisedRequest, request: SetMembers) -> Outcome:
    added = _add_members(call, request)
    others = [peer for peer in directory.members(call.ctx, request.session_id) if peer not in request.peers]
    directory.leave(call.ctx, request.session_id, others)
    return added


def _remove_members(call: AuthorisedRequest, request: RemoveMembers) -> Outcome:
    entry = directory.need(call.ctx, SESSION, request.session_id)
    directory.leave(call.ctx, request.session_id, request.peers)
    return _answer(call, entry)


def _list_members(call: AuthorisedRequest, request: ListMembers) -> Outcome:
    session = directory.need(call.ctx, SESSION, request.session_id)
    present = directory.members(call.ctx, request.session_id)
    entries = [entry for name in present if (entry := directory.find(call.ctx, PEER, name))]
    page = r.page_of_entries(request, PeerPage, PeerAnswer.of, entries)
    return Outcome(page, r.names_read(call.ctx, session))


def _read_member(call: AuthorisedRequest, request: OfMember) -> Outcome:
    session = directory.need(call.ctx, SESSION, request.session_id)
    habits = directory.member_habits(directory.members(call.ctx, request.session_id).get(request.peer_id))
    answer = MemberSettings(habits.observe_me, habits.observe_others)
    return Outcome(answer, r.names_read(call.ctx, session))


def _configure_member(call: AuthorisedRequest, request: ConfigureMember) -> Outcome:
    session = directory.need(call.ctx, SESSION, request.session_id)
    if request.peer_id not in directory.members(call.ctx, request.session_id):
        raise NotFound("the peer is not in the session")
    habits = MemberReasoning(request.observe_me, request.observe_others)
    directory.join(call.ctx, request.session_id, {request.peer_id: habits})
    return Outcome(r.Done(), r.names_read(call.ctx, session))


OPEN_SESSION = r.operation(
    "sessions.open", "list", SessionAnswer, _open, _may_open, peek=r.found_by_name(SESSION, SessionAnswer.of)
)
READ_SESSION = r.operation("sessions.read", "list", SessionAnswer, _read, reads_session)
CHANGE_SESSION = r.operation(
    "sessions.change", "put", SessionAnswer, _change, lambda rights, request: rights.makes(request.session_id)
)
LIST_SESSIONS = r.operation("sessions.list", "list", SessionPage, _list)
SESSIONS_OF_PEER = r.operation("peers.sessions", "list", SessionPage, _list_of_peer, of_peer)
DELETE_SESSION = r.operation("sessions.delete", "forget", r.Note, _delete, writes_session, rings=True)
CLONE_SESSION = r.operation("sessions.clone", "put", SessionAnswer, _clone)
ADD_MEMBERS = r.operation("sessions.add_peers", "put", SessionAnswer, _add_members, _may_set_members)
SET_MEMBERS = r.operation("sessions.set_peers", "put", SessionAnswer, _set_members, _may_set_members)
REMOVE_MEMBERS = r.operation(
    "sessions.remove_peers",
    "put",
    SessionAnswer,
    _remove_members,
    lambda rights, request: rights.writes(request.session_id, request.peers),
)
LIST_MEMBERS = r.operation("sessions.peers", "list", PeerPage, _list_members, reads_session)
READ_MEMBER = r.operation("sessions.peer_config", "list", MemberSettings, _read_member, _may_read_member)
CONFIGURE_MEMBER = r.operation(
    "sessions.set_peer_config",
    "put",
    r.Done,
    _configure_member,
    lambda rights, request: rights.writes(request.session_id, (request.peer_id,)),
)


class OpenScope(r.OpenRequest, frozen=True, kw_only=True):
    id: r.NewScopeName


class OfScope(r.WorkspaceRequest, frozen=True, kw_only=True):
    scope_id: r.AnyName


class AddToScope(OfScope, frozen=True, kw_only=True):
    session_ids: Annotated[list[r.AnyName], Meta(min_length=1, max_length=100)]


class RemoveFromScope(OfScope, frozen=True, kw_only=True):
    session_id: r.AnyName


class SessionsOfScope(r.ListRequest, frozen=True, kw_only=True):
    scope_id: r.AnyName


class ScopeAnswer(r.NamedAnswer, frozen=True):
    pass


class ScopePage(r.ResponsePage, frozen=True):
    items: list[ScopeAnswer]


class Backfill(Answer, frozen=True):
    state: str
    updated_at: datetime
    docs_copied: int = 0


class ScopeStatus(Answer, frozen=True):
    backfill_status: dict[str, Backfill]


def _may_open_scope(rights: Rights, request: OpenScope) -> None:
    rights.workspace()
    if request.changes or not rights.known(SCOPE, request.id):
        rights.puts()


def _open_scope(call: AuthorisedRequest, request: OpenScope) -> Outcome:
    if directory.find(call.ctx, PEER, f"scope.{request.id}") is not None:
        raise Conflict("a peer has that name already")
    entry, made = directory.ensure(call.ctx, SCOPE, request.id)
    entry = directory.change(call.ctx, entry, r.encode_object(request.metadata), None)
    return Outcome(r.Opened(ScopeAnswer.of(entry), made), r.names_read(call.ctx))


def _read_scope(call: AuthorisedRequest, request: OfScope) -> Outcome:
    return Outcome(ScopeAnswer.of(directory.need(call.ctx, SCOPE, request.scope_id)), r.names_read(call.ctx))


def _list_scopes(call: AuthorisedRequest, request: r.ListRequest) -> Outcome:
    return r.list_entries(call.ctx, SCOPE, request, ScopePage, ScopeAnswer.of)


def _delete_scope(call: AuthorisedRequest, request: OfScope) -> Outcome:
    directory.need(call.ctx, SCOPE, request.scope_id)
    erase.erase_scope(call.ctx, request.scope_id)
    return Outcome(r.Done(), r.names_read(call.ctx))


def _add_sessions(call: AuthorisedRequest, request: AddToScope) -> Outcome:
    directory.need(call.ctx, SCOPE, request.scope_id)
    for session in request.session_ids:
        directory.need(call.ctx, SESSION, session)
        directory.pick(call.ctx, request.scope_id, session)
    return Outcome(r.Done(), r.names_read(call.ctx))


def _remove_session(call: AuthorisedRequest, request: RemoveFromScope) -> Outcome:
    ctx = call.ctx
    directory.need(ctx, SCOPE, request.scope_id)
    if directory.find(ctx, SESSION, request.session_id) is not None:
        ctx.tx.directory.remove_memberships(
            ctx.scope.workspace, PICK, holder=request.scope_id, held=request.session_id
        )
    return Outcome(r.Done(), r.names_read(ctx))


def _list_sessions(call: AuthorisedRequest, request: SessionsOfScope) -> Outcome:
    directory.need(call.ctx, SCOPE, request.scope_id)
    entries = sessions_named(call.ctx, (pick.held for pick in directory.picks(call.ctx, request.scope_id)))
    page = r.page_of_entries(request, SessionPage, SessionAnswer.of, entries)
    return Outcome(page, r.names_read(call.ctx))


def _scope_status(call: AuthorisedRequest, request: OfScope) -> Outcome:
    """A scope looks through to its sessions: nothing is copied, so there is nothing to wait for."""
    ctx, kinds = call.ctx, (STATEMENT, *CONCLUSIONS.values())
    directory.need(ctx, SCOPE, request.scope_id)
    status = {}
    for pick in directory.picks(ctx, request.scope_id):
        held = ctx.tx.lines.views(
            ViewQuery(ctx.scope.workspace, kinds, sessions=(pick.held,), namespaces=ctx.scope.namespaces)
        )
        status[pick.held] = Backfill("completed", to_datetime(pick.since), len(held))
    return Outcome(ScopeStatus(status), r.names_read(ctx))


OPEN_SCOPE = r.operation(
    "scopes.open",
    "list",
    ScopeAnswer,
    _open_scope,
    _may_open_scope,
    peek=r.found_by_name(SCOPE, ScopeAnswer.of),
)
LIST_SCOPES = r.operation("scopes.list", "list", ScopePage, _list_scopes)
READ_SCOPE = r.operation("scopes.read", "list", ScopeAnswer, _read_scope)
DELETE_SCOPE = r.operation("scopes.delete", "put", r.Done, _delete_scope)
ADD_TO_SCOPE = r.operation("scopes.add_sessions", "put", r.Done, _add_sessions)
REMOVE_FROM_SCOPE = r.operation("scopes.remove_session", "put", r.Done, _remove_session)
SESSIONS_OF_SCOPE = r.operation("scopes.sessions", "list", SessionPage, _list_sessions)
SCOPE_STATUS = r.operation("scopes.status", "list", ScopeStatus, _scope_status)
