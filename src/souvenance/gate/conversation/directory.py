"""The gate's operations on workspaces, peers, sessions, their members and scopes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.conversation.messages import clone
from souvenance.core.conversation.rename import rename_some
from souvenance.core.request_context import RequestContext, Trace
from souvenance.domain.content import decode_metadata
from souvenance.domain.directory import MEMBER, PEER, PICK, SCOPE, SESSION, WORKSPACE, Entry, Tie
from souvenance.domain.filters import Column, Field, predicate
from souvenance.domain.line import CONCLUSIONS
from souvenance.domain.reasoning_settings import MemberReasoning, habits_of
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.conversation import serialisers
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.ports.store import Views

_FIELDS = {
    "id": Field(Column.TEXT),
    "created_at": Field(Column.TIME),
    "metadata": Field(Column.METADATA),
}
_IN_WORKSPACE = {**_FIELDS, "workspace_id": Field(Column.TEXT)}
FIELDS = {
    WORKSPACE: _FIELDS,
    PEER: {**_IN_WORKSPACE, "peer_id": Field(Column.TEXT)},
    SESSION: {**_IN_WORKSPACE, "session_id": Field(Column.TEXT), "is_active": Field(Column.FLAG)},
}


def _named(ctx: RequestContext, *sessions: Entry) -> Trace:
    """What the log tells of names that were looked up: where the sessions lie, or, without any, may lie."""
    return reading(sorted({entry.namespace for entry in sessions}) or everywhere(ctx))


def _row(entry: Entry) -> Mapping[str, Any]:
    return {
        "id": entry.name,
        "workspace_id": entry.workspace,
        "peer_id": entry.name,
        "session_id": entry.name,
        "created_at": entry.created_at,
        "is_active": True,
        "metadata": decode_metadata(entry.metadata),
    }


def _matching(
    kind: str, filters: Mapping[str, Any] | None, entries: list[Entry], *, reverse: bool
) -> list[Entry]:
    wanted = predicate(filters, FIELDS[kind])
    found = entries if wanted is None else [entry for entry in entries if wanted(_row(entry))]
    return found[::-1] if reverse else found


def _listed(
    ctx: RequestContext,
    kind: str,
    request: q.ListPeers | q.ListSessions | q.ListWorkspaces,
    show: Callable[[Entry], Any],
    answer: type[a.ResponsePage],
    *,
    workspace: str | None,
) -> Outcome:
    register = ctx.tx.register
    namespaces = ctx.scope.namespaces if kind == SESSION else None
    everyone = kind != PEER or _knows_every_peer(ctx)
    if everyone and predicate(request.filters, FIELDS[kind]) is None:
        total = register.count(workspace, kind, namespaces)
        entries = register.entries(
            workspace,
            kind,
            namespaces=namespaces,
            newest_first=request.reverse,
            offset=request.offset,
            limit=request.size,
        )
    else:
        there = register.entries(workspace, kind, namespaces=namespaces)
        known = there if everyone else [entry for entry in there if directory.knows_peer(ctx, entry)]
        found = _matching(kind, request.filters, known, reverse=request.reverse)
        total, entries = len(found), found[request.offset : request.offset + request.size]
    items = [show(entry) for entry in entries]
    return Outcome(serialisers.page(answer, items, total, request.page, request.size), _named(ctx))


def _knows_every_peer(ctx: RequestContext) -> bool:
    namespaces = ctx.scope.namespaces
    if namespaces is None:
        return True
    register, workspace = ctx.tx.register, ctx.scope.workspace
    return register.count(workspace, PEER) == register.count(workspace, PEER, namespaces)


def open_workspace(case: AuthorisedRequest, request: q.OpenWorkspace) -> Outcome:
    habits_of(request.configuration or {})
    entry, made = directory.ensure(
        case.ctx,
        WORKSPACE,
        request.id,
        serialisers.bag(request.metadata) or "{}",
        serialisers.bag(request.configuration, "configuration") or "{}",
    )
    return Outcome(a.Opened(serialisers.workspace(entry), made), _named(case.ctx))


def find_workspace(case: AuthorisedRequest, request: q.OpenWorkspace) -> Outcome | None:
    entry = directory.find(case.ctx, WORKSPACE, request.id)
    return None if entry is None else Outcome(a.Opened(serialisers.workspace(entry), False), _named(case.ctx))


def list_workspaces(case: AuthorisedRequest, request: q.ListWorkspaces) -> Outcome:
    return _listed(case.ctx, WORKSPACE, request, serialisers.workspace, a.WorkspacePage, workspace=None)


def change_workspace(case: AuthorisedRequest, request: q.ChangeWorkspace) -> Outcome:
    entry, _ = directory.ensure(case.ctx, WORKSPACE, request.workspace_id)
    return Outcome(serialisers.workspace(_changed(case.ctx, entry, request)), _named(case.ctx))


def _changed(
    ctx: RequestContext, entry: Entry, request: q.ChangeWorkspace | q.ChangeSession | q.OpenSession
) -> Entry:
    """The entry with other metadata, and with the given keys of the configuration in place of its own."""
    serialisers.bag(request.configuration, "configuration")
    configuration = directory.merged(entry.configuration, request.configuration)
    if configuration is not None:
        habits_of(decode_metadata(configuration))
    return directory.change(ctx, entry, serialisers.bag(request.metadata), configuration)


def delete_workspace(case: AuthorisedRequest, request: q.OfWorkspace) -> Outcome:
    changes = erase.erase_workspace(case.ctx)
    return serialisers.erased(case, changes, a.Note("Workspace deleted"))


def open_peer(case: AuthorisedRequest, request: q.OpenPeer) -> Outcome:
    entry, made = directory.ensure(case.ctx, PEER, request.id, namespace=directory.home(case.ctx))
    configuration = None if request.configuration is None else directory.encoded(request.configuration)
    entry = directory.change(case.ctx, entry, serialisers.bag(request.metadata), configuration)
    return Outcome(a.Opened(serialisers.peer(entry), made), _named(case.ctx))


def find_peer(case: AuthorisedRequest, request: q.OpenPeer) -> Outcome | None:
    entry = directory.find(case.ctx, PEER, request.id)
    if entry is None or request.changes:
        return None
    return Outcome(a.Opened(serialisers.peer(entry), False), _named(case.ctx))


def change_peer(case: AuthorisedRequest, request: q.ChangePeer) -> Outcome:
    entry, _ = directory.ensure(case.ctx, PEER, request.peer_id, namespace=directory.home(case.ctx))
    configuration = None if request.configuration is None else directory.encoded(request.configuration)
    entry = directory.change(case.ctx, entry, serialisers.bag(request.metadata), configuration)
    return Outcome(serialisers.peer(entry), _named(case.ctx))


def list_peers(case: AuthorisedRequest, request: q.ListPeers) -> Outcome:
    if request.kind is None:
        return _listed(
            case.ctx, PEER, request, serialisers.peer, a.PeerPage, workspace=case.ctx.scope.workspace
        )
    register, workspace = case.ctx.tx.register, case.ctx.scope.workspace
    entries = [] if request.kind == "scope" else register.entries(workspace, PEER)
    entries = [entry for entry in entries if directory.knows_peer(case.ctx, entry)]
    entries += [_as_peer(entry) for entry in register.entries(workspace, SCOPE)]
    found = _matching(PEER, request.filters, entries, reverse=request.reverse)
    items = [serialisers.peer(entry) for entry in found[request.offset : request.offset + request.size]]
    return Outcome(
        serialisers.page(a.PeerPage, items, len(found), request.page, request.size), _named(case.ctx)
    )


def _as_peer(scope: Entry) -> Entry:
    """A scope as peer lists show it to who asks for scopes there."""
    return Entry(scope.workspace, PEER, f"scope.{scope.name}", scope.uid, scope.created_at, scope.metadata)


def delete_peer(case: AuthorisedRequest, request: q.DeletePeer) -> Outcome:
    changes = erase.erase_peer(case.ctx, request.peer_id, keep_messages=request.keep_messages)
    return serialisers.erased(case, changes, a.Note("Peer deleted"))


def rename_peer(case: AuthorisedRequest, request: q.RenamePeer) -> Outcome:
    done = rename_some(case.ctx, request.peer_id, request.name, request.after, request.limit)
    facts: dict[str, object] = {"renamed": (request.peer_id, request.name)}
    if done.replaced:
        facts["replaced"] = done.replaced
    answer = a.Renamed(done.lines, done.cursor)
    if done.cursor is not None:
        return Outcome(answer, done.changes.trace(**facts))
    return serialisers.erased(case, done.changes, answer, **facts)


def sessions_of_peer(case: AuthorisedRequest, request: q.SessionsOfPeer) -> Outcome:
    register, workspace = case.ctx.tx.register, case.ctx.scope.workspace
    ties = register.ties(workspace, MEMBER, held=request.peer_id)
    return _sessions(case, [tie.holder for tie in ties if tie.until is None], request, request.filters)


def _sessions(
    case: AuthorisedRequest,
    names: list[str],
    request: q.Paged,
    filters: Mapping[str, Any] | None,
    *,
    by_age: bool = True,
) -> Outcome:
    found = [entry for name in dict.fromkeys(names) if (entry := directory.find(case.ctx, SESSION, name))]
    if by_age:
        found.sort(key=lambda entry: entry.uid)
    found = _matching(SESSION, filters, found, reverse=request.reverse)
    items = [serialisers.session(entry) for entry in found[request.offset : request.offset + request.size]]
    return Outcome(
        serialisers.page(a.SessionPage, items, len(found), request.page, request.size), _named(case.ctx)
    )


def open_session(case: AuthorisedRequest, request: q.OpenSession) -> Outcome:
    ctx = case.ctx
    entry, made = directory.ensure_session(ctx, request.id, request.namespace)
    entry = _changed(ctx, entry, request)
    if request.peers:
        directory.join(ctx, request.id, dict(request.peers))
    for scope in request.scopes or ():
        directory.ensure(ctx, SCOPE, scope)
        _pick(ctx, scope, request.id)
    return Outcome(a.Opened(serialisers.session(entry), made), _named(ctx, entry))


def find_session(case: AuthorisedRequest, request: q.OpenSession) -> Outcome | None:
    entry = directory.find(case.ctx, SESSION, request.id)
    if entry is None or request.changes:
        return None
    return Outcome(a.Opened(serialisers.session(entry), False), _named(case.ctx, entry))


def change_session(case: AuthorisedRequest, request: q.ChangeSession) -> Outcome:
    entry, _ = directory.ensure_session(case.ctx, request.session_id)
    return Outcome(serialisers.session(_changed(case.ctx, entry, request)), _named(case.ctx, entry))


def list_sessions(case: AuthorisedRequest, request: q.ListSessions) -> Outcome:
    return _listed(
        case.ctx, SESSION, request, serialisers.session, a.SessionPage, workspace=case.ctx.scope.workspace
    )


def delete_session(case: AuthorisedRequest, request: q.OfSession) -> Outcome:
    changes = erase.erase_session(case.ctx, request.session_id)
    return serialisers.erased(case, changes, a.Note("Session deleted successfully"))


def clone_session(case: AuthorisedRequest, request: q.CloneSession) -> Outcome:
    entry, changes = clone(case.ctx, request.session_id, request.message_id)
    return Outcome(serialisers.session(entry), changes.trace(session=entry.name))


def add_members(case: AuthorisedRequest, request: q.SetMembers) -> Outcome:
    entry, _ = directory.ensure_session(case.ctx, request.session_id, request.namespace)
    directory.join(case.ctx, request.session_id, dict(request.peers))
    return Outcome(serialisers.session(entry), _named(case.ctx, entry))


def set_members(case: AuthorisedRequest, request: q.SetMembers) -> Outcome:
    entry, _ = directory.ensure_session(case.ctx, request.session_id, request.namespace)
    directory.set_members(case.ctx, request.session_id, dict(request.peers))
    return Outcome(serialisers.session(entry), _named(case.ctx, entry))


def remove_members(case: AuthorisedRequest, request: q.RemoveMembers) -> Outcome:
    entry = directory.need(case.ctx, SESSION, request.session_id)
    directory.leave(case.ctx, request.session_id, request.peers)
    return Outcome(serialisers.session(entry), _named(case.ctx, entry))


def list_members(case: AuthorisedRequest, request: q.ListMembers) -> Outcome:
    session = directory.need(case.ctx, SESSION, request.session_id)
    present = directory.members(case.ctx, request.session_id)
    found = [entry for name in present if (entry := directory.find(case.ctx, PEER, name))]
    found = found[::-1] if request.reverse else found
    items = [serialisers.peer(entry) for entry in found[request.offset : request.offset + request.size]]
    page = serialisers.page(a.PeerPage, items, len(found), request.page, request.size)
    return Outcome(page, _named(case.ctx, session))


def read_member(case: AuthorisedRequest, request: q.OfMember) -> Outcome:
    session = directory.need(case.ctx, SESSION, request.session_id)
    habits = directory.member_habits(directory.members(case.ctx, request.session_id).get(request.peer_id))
    return Outcome(a.MemberSettings(habits.observe_me, habits.observe_others), _named(case.ctx, session))


def configure_member(case: AuthorisedRequest, request: q.ConfigureMember) -> Outcome:
    session = directory.need(case.ctx, SESSION, request.session_id)
    habits = MemberReasoning(request.observe_me, request.observe_others)
    directory.configure_member(case.ctx, request.session_id, request.peer_id, habits)
    return Outcome(a.Done(), _named(case.ctx, session))


def open_scope(case: AuthorisedRequest, request: q.OpenScope) -> Outcome:
    if directory.find(case.ctx, PEER, f"scope.{request.id}") is not None:
        raise Conflict("a peer has that name already")
    entry, made = directory.ensure(case.ctx, SCOPE, request.id)
    entry = directory.change(case.ctx, entry, serialisers.bag(request.metadata), None)
    return Outcome(a.Opened(serialisers.scope(entry), made), _named(case.ctx))


def find_scope(case: AuthorisedRequest, request: q.OpenScope) -> Outcome | None:
    entry = directory.find(case.ctx, SCOPE, request.id)
    if entry is None or request.changes:
        return None
    return Outcome(a.Opened(serialisers.scope(entry), False), _named(case.ctx))


def read_scope(case: AuthorisedRequest, request: q.OfScope) -> Outcome:
    return Outcome(serialisers.scope(directory.need(case.ctx, SCOPE, request.scope_id)), _named(case.ctx))


def list_scopes(case: AuthorisedRequest, request: q.Paged) -> Outcome:
    register, workspace = case.ctx.tx.register, case.ctx.scope.workspace
    entries = register.entries(
        workspace, SCOPE, newest_first=request.reverse, offset=request.offset, limit=request.size
    )
    items = [serialisers.scope(entry) for entry in entries]
    total = register.count(workspace, SCOPE)
    return Outcome(serialisers.page(a.ScopePage, items, total, request.page, request.size), _named(case.ctx))


def delete_scope(case: AuthorisedRequest, request: q.OfScope) -> Outcome:
    directory.need(case.ctx, SCOPE, request.scope_id)
    erase.erase_scope(case.ctx, request.scope_id)
    return Outcome(a.Done(), _named(case.ctx))


def add_to_scope(case: AuthorisedRequest, request: q.AddToScope) -> Outcome:
    directory.need(case.ctx, SCOPE, request.scope_id)
    for session in request.session_ids:
        directory.need(case.ctx, SESSION, session)
        _pick(case.ctx, request.scope_id, session)
    return Outcome(a.Done(), _named(case.ctx))


def remove_from_scope(case: AuthorisedRequest, request: q.RemoveFromScope) -> Outcome:
    directory.need(case.ctx, SCOPE, request.scope_id)
    if directory.find(case.ctx, SESSION, request.session_id) is not None:
        case.ctx.tx.register.untie(
            case.ctx.scope.workspace, PICK, holder=request.scope_id, held=request.session_id
        )
    return Outcome(a.Done(), _named(case.ctx))


def sessions_of_scope(case: AuthorisedRequest, request: q.SessionsOfScope) -> Outcome:
    directory.need(case.ctx, SCOPE, request.scope_id)
    names = [pick.held for pick in directory.picks(case.ctx, request.scope_id)]
    return _sessions(case, names, request, None, by_age=False)


def scope_status(case: AuthorisedRequest, request: q.OfScope) -> Outcome:
    """A scope looks through to its sessions: nothing is copied, so there is nothing to wait for."""
    ctx = case.ctx
    directory.need(ctx, SCOPE, request.scope_id)
    status = {}
    for pick in directory.picks(ctx, request.scope_id):
        kinds = tuple(CONCLUSIONS.values())
        held = ctx.tx.lines.views(
            Views(ctx.scope.workspace, kinds, sessions=(pick.held,), namespaces=ctx.scope.namespaces)
        )
        status[pick.held] = a.Backfill("completed", to_datetime(pick.since), len(held))
    return Outcome(a.ScopeStatus(status), _named(ctx))


def _pick(ctx: RequestContext, scope: str, session: str) -> None:
    register, workspace = ctx.tx.register, ctx.scope.workspace
    if not register.ties(workspace, PICK, holder=scope, held=session):
        register.tie(Tie(workspace, PICK, scope, session, ctx.now))
