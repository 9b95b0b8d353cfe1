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
from souvenance.gate.authorised_request import AuthorisedRequest, Outcome
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.conversation import serialisers
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


def _named(desk: RequestContext, *sessions: Entry) -> Trace:
    """What the log tells of names that were looked up: where the sessions lie, or, without any, may lie."""
    return reading(sorted({entry.namespace for entry in sessions}) or everywhere(desk))


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
    desk: RequestContext,
    kind: str,
    request: q.ListPeers | q.ListSessions | q.ListWorkspaces,
    show: Callable[[Entry], Any],
    answer: type[a.ResponsePage],
    *,
    workspace: str | None,
) -> Outcome:
    register = desk.tx.register
    namespaces = desk.scope.namespaces if kind == SESSION else None
    everyone = kind != PEER or _knows_every_peer(desk)
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
        known = there if everyone else [entry for entry in there if directory.knows_peer(desk, entry)]
        found = _matching(kind, request.filters, known, reverse=request.reverse)
        total, entries = len(found), found[request.offset : request.offset + request.size]
    items = [show(entry) for entry in entries]
    return Outcome(serialisers.page(answer, items, total, request.page, request.size), _named(desk))


def _knows_every_peer(desk: RequestContext) -> bool:
    namespaces = desk.scope.namespaces
    if namespaces is None:
        return True
    register, workspace = desk.tx.register, desk.scope.workspace
    return register.count(workspace, PEER) == register.count(workspace, PEER, namespaces)


def open_workspace(case: AuthorisedRequest, request: q.OpenWorkspace) -> Outcome:
    habits_of(request.configuration or {})
    entry, made = directory.ensure(
        case.desk,
        WORKSPACE,
        request.id,
        serialisers.bag(request.metadata) or "{}",
        serialisers.bag(request.configuration, "configuration") or "{}",
    )
    return Outcome(a.Opened(serialisers.workspace(entry), made), _named(case.desk))


def find_workspace(case: AuthorisedRequest, request: q.OpenWorkspace) -> Outcome | None:
    entry = directory.find(case.desk, WORKSPACE, request.id)
    return (
        None if entry is None else Outcome(a.Opened(serialisers.workspace(entry), False), _named(case.desk))
    )


def list_workspaces(case: AuthorisedRequest, request: q.ListWorkspaces) -> Outcome:
    return _listed(case.desk, WORKSPACE, request, serialisers.workspace, a.WorkspacePage, workspace=None)


def change_workspace(case: AuthorisedRequest, request: q.ChangeWorkspace) -> Outcome:
    entry, _ = directory.ensure(case.desk, WORKSPACE, request.workspace_id)
    return Outcome(serialisers.workspace(_changed(case.desk, entry, request)), _named(case.desk))


def _changed(
    desk: RequestContext, entry: Entry, request: q.ChangeWorkspace | q.ChangeSession | q.OpenSession
) -> Entry:
    """The entry with other metadata, and with the given keys of the configuration in place of its own."""
    serialisers.bag(request.configuration, "configuration")
    configuration = directory.merged(entry.configuration, request.configuration)
    if configuration is not None:
        habits_of(decode_metadata(configuration))
    return directory.change(desk, entry, serialisers.bag(request.metadata), configuration)


def delete_workspace(case: AuthorisedRequest, request: q.OfWorkspace) -> Outcome:
    changes = erase.erase_workspace(case.desk)
    return serialisers.erased(case, changes, a.Note("Workspace deleted"))


def open_peer(case: AuthorisedRequest, request: q.OpenPeer) -> Outcome:
    entry, made = directory.ensure(case.desk, PEER, request.id, namespace=directory.home(case.desk))
    configuration = None if request.configuration is None else directory.encoded(request.configuration)
    entry = directory.change(case.desk, entry, serialisers.bag(request.metadata), configuration)
    return Outcome(a.Opened(serialisers.peer(entry), made), _named(case.desk))


def find_peer(case: AuthorisedRequest, request: q.OpenPeer) -> Outcome | None:
    entry = directory.find(case.desk, PEER, request.id)
    if entry is None or request.changes:
        return None
    return Outcome(a.Opened(serialisers.peer(entry), False), _named(case.desk))


def change_peer(case: AuthorisedRequest, request: q.ChangePeer) -> Outcome:
    entry, _ = directory.ensure(case.desk, PEER, request.peer_id, namespace=directory.home(case.desk))
    configuration = None if request.configuration is None else directory.encoded(request.configuration)
    entry = directory.change(case.desk, entry, serialisers.bag(request.metadata), configuration)
    return Outcome(serialisers.peer(entry), _named(case.desk))


def list_peers(case: AuthorisedRequest, request: q.ListPeers) -> Outcome:
    if request.kind is None:
        return _listed(
            case.desk, PEER, request, serialisers.peer, a.PeerPage, workspace=case.desk.scope.workspace
        )
    register, workspace = case.desk.tx.register, case.desk.scope.workspace
    entries = [] if request.kind == "scope" else register.entries(workspace, PEER)
    entries = [entry for entry in entries if directory.knows_peer(case.desk, entry)]
    entries += [_as_peer(entry) for entry in register.entries(workspace, SCOPE)]
    found = _matching(PEER, request.filters, entries, reverse=request.reverse)
    items = [serialisers.peer(entry) for entry in found[request.offset : request.offset + request.size]]
    return Outcome(
        serialisers.page(a.PeerPage, items, len(found), request.page, request.size), _named(case.desk)
    )


def _as_peer(scope: Entry) -> Entry:
    """A scope as peer lists show it to who asks for scopes there."""
    return Entry(scope.workspace, PEER, f"scope.{scope.name}", scope.uid, scope.created_at, scope.metadata)


def delete_peer(case: AuthorisedRequest, request: q.DeletePeer) -> Outcome:
    changes = erase.erase_peer(case.desk, request.peer_id, keep_messages=request.keep_messages)
    return serialisers.erased(case, changes, a.Note("Peer deleted"))


def rename_peer(case: AuthorisedRequest, request: q.RenamePeer) -> Outcome:
    done = rename_some(case.desk, request.peer_id, request.name, request.after, request.limit)
    facts: dict[str, object] = {"renamed": (request.peer_id, request.name)}
    if done.replaced:
        facts["replaced"] = done.replaced
    answer = a.Renamed(done.lines, done.cursor)
    if done.cursor is not None:
        return Outcome(answer, done.changes.trace(**facts))
    return serialisers.erased(case, done.changes, answer, **facts)


def sessions_of_peer(case: AuthorisedRequest, request: q.SessionsOfPeer) -> Outcome:
    register, workspace = case.desk.tx.register, case.desk.scope.workspace
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
    found = [entry for name in dict.fromkeys(names) if (entry := directory.find(case.desk, SESSION, name))]
    if by_age:
        found.sort(key=lambda entry: entry.uid)
    found = _matching(SESSION, filters, found, reverse=request.reverse)
    items = [serialisers.session(entry) for entry in found[request.offset : request.offset + request.size]]
    return Outcome(
        serialisers.page(a.SessionPage, items, len(found), request.page, request.size), _named(case.desk)
    )


def open_session(case: AuthorisedRequest, request: q.OpenSession) -> Outcome:
    desk = case.desk
    entry, made = directory.ensure_session(desk, request.id, request.namespace)
    entry = _changed(desk, entry, request)
    if request.peers:
        directory.join(desk, request.id, dict(request.peers))
    for scope in request.scopes or ():
        directory.ensure(desk, SCOPE, scope)
        _pick(desk, scope, request.id)
    return Outcome(a.Opened(serialisers.session(entry), made), _named(desk, entry))


def find_session(case: AuthorisedRequest, request: q.OpenSession) -> Outcome | None:
    entry = directory.find(case.desk, SESSION, request.id)
    if entry is None or request.changes:
        return None
    return Outcome(a.Opened(serialisers.session(entry), False), _named(case.desk, entry))


def change_session(case: AuthorisedRequest, request: q.ChangeSession) -> Outcome:
    entry, _ = directory.ensure_session(case.desk, request.session_id)
    return Outcome(serialisers.session(_changed(case.desk, entry, request)), _named(case.desk, entry))


def list_sessions(case: AuthorisedRequest, request: q.ListSessions) -> Outcome:
    return _listed(
        case.desk, SESSION, request, serialisers.session, a.SessionPage, workspace=case.desk.scope.workspace
    )


def delete_session(case: AuthorisedRequest, request: q.OfSession) -> Outcome:
    changes = erase.erase_session(case.desk, request.session_id)
    return serialisers.erased(case, changes, a.Note("Session deleted successfully"))


def clone_session(case: AuthorisedRequest, request: q.CloneSession) -> Outcome:
    entry, changes = clone(case.desk, request.session_id, request.message_id)
    return Outcome(serialisers.session(entry), changes.trace(session=entry.name))


def add_members(case: AuthorisedRequest, request: q.SetMembers) -> Outcome:
    entry, _ = directory.ensure_session(case.desk, request.session_id, request.namespace)
    directory.join(case.desk, request.session_id, dict(request.peers))
    return Outcome(serialisers.session(entry), _named(case.desk, entry))


def set_members(case: AuthorisedRequest, request: q.SetMembers) -> Outcome:
    entry, _ = directory.ensure_session(case.desk, request.session_id, request.namespace)
    directory.set_members(case.desk, request.session_id, dict(request.peers))
    return Outcome(serialisers.session(entry), _named(case.desk, entry))


def remove_members(case: AuthorisedRequest, request: q.RemoveMembers) -> Outcome:
    entry = directory.need(case.desk, SESSION, request.session_id)
    directory.leave(case.desk, request.session_id, request.peers)
    return Outcome(serialisers.session(entry), _named(case.desk, entry))


def list_members(case: AuthorisedRequest, request: q.ListMembers) -> Outcome:
    session = directory.need(case.desk, SESSION, request.session_id)
    present = directory.members(case.desk, request.session_id)
    found = [entry for name in present if (entry := directory.find(case.desk, PEER, name))]
    found = found[::-1] if request.reverse else found
    items = [serialisers.peer(entry) for entry in found[request.offset : request.offset + request.size]]
    page = serialisers.page(a.PeerPage, items, len(found), request.page, request.size)
    return Outcome(page, _named(case.desk, session))


def read_member(case: AuthorisedRequest, request: q.OfMember) -> Outcome:
    session = directory.need(case.desk, SESSION, request.session_id)
    habits = directory.member_habits(directory.members(case.desk, request.session_id).get(request.peer_id))
    return Outcome(a.MemberSettings(habits.observe_me, habits.observe_others), _named(case.desk, session))


def configure_member(case: AuthorisedRequest, request: q.ConfigureMember) -> Outcome:
    session = directory.need(case.desk, SESSION, request.session_id)
    habits = MemberReasoning(request.observe_me, request.observe_others)
    directory.configure_member(case.desk, request.session_id, request.peer_id, habits)
    return Outcome(a.Done(), _named(case.desk, session))


def open_scope(case: AuthorisedRequest, request: q.OpenScope) -> Outcome:
    if directory.find(case.desk, PEER, f"scope.{request.id}") is not None:
        raise Conflict("a peer has that name already")
    entry, made = directory.ensure(case.desk, SCOPE, request.id)
    entry = directory.change(case.desk, entry, serialisers.bag(request.metadata), None)
    return Outcome(a.Opened(serialisers.scope(entry), made), _named(case.desk))


def find_scope(case: AuthorisedRequest, request: q.OpenScope) -> Outcome | None:
    entry = directory.find(case.desk, SCOPE, request.id)
    if entry is None or request.changes:
        return None
    return Outcome(a.Opened(serialisers.scope(entry), False), _named(case.desk))


def read_scope(case: AuthorisedRequest, request: q.OfScope) -> Outcome:
    return Outcome(serialisers.scope(directory.need(case.desk, SCOPE, request.scope_id)), _named(case.desk))


def list_scopes(case: AuthorisedRequest, request: q.Paged) -> Outcome:
    register, workspace = case.desk.tx.register, case.desk.scope.workspace
    entries = register.entries(
        workspace, SCOPE, newest_first=request.reverse, offset=request.offset, limit=request.size
    )
    items = [serialisers.scope(entry) for entry in entries]
    total = register.count(workspace, SCOPE)
    return Outcome(serialisers.page(a.ScopePage, items, total, request.page, request.size), _named(case.desk))


def delete_scope(case: AuthorisedRequest, request: q.OfScope) -> Outcome:
    directory.need(case.desk, SCOPE, request.scope_id)
    erase.erase_scope(case.desk, request.scope_id)
    return Outcome(a.Done(), _named(case.desk))


def add_to_scope(case: AuthorisedRequest, request: q.AddToScope) -> Outcome:
    directory.need(case.desk, SCOPE, request.scope_id)
    for session in request.session_ids:
        directory.need(case.desk, SESSION, session)
        _pick(case.desk, request.scope_id, session)
    return Outcome(a.Done(), _named(case.desk))


def remove_from_scope(case: AuthorisedRequest, request: q.RemoveFromScope) -> Outcome:
    directory.need(case.desk, SCOPE, request.scope_id)
    if directory.find(case.desk, SESSION, request.session_id) is not None:
        case.desk.tx.register.untie(
            case.desk.scope.workspace, PICK, holder=request.scope_id, held=request.session_id
        )
    return Outcome(a.Done(), _named(case.desk))


def sessions_of_scope(case: AuthorisedRequest, request: q.SessionsOfScope) -> Outcome:
    directory.need(case.desk, SCOPE, request.scope_id)
    names = [pick.held for pick in directory.picks(case.desk, request.scope_id)]
    return _sessions(case, names, request, None, by_age=False)


def scope_status(case: AuthorisedRequest, request: q.OfScope) -> Outcome:
    """A scope looks through to its sessions: nothing is copied, so there is nothing to wait for."""
    desk = case.desk
    directory.need(desk, SCOPE, request.scope_id)
    status = {}
    for pick in directory.picks(desk, request.scope_id):
        kinds = tuple(CONCLUSIONS.values())
        held = desk.tx.lines.views(
            Views(desk.scope.workspace, kinds, sessions=(pick.held,), namespaces=desk.scope.namespaces)
        )
        status[pick.held] = a.Backfill("completed", to_datetime(pick.since), len(held))
    return Outcome(a.ScopeStatus(status), _named(desk))


def _pick(desk: RequestContext, scope: str, session: str) -> None:
    register, workspace = desk.tx.register, desk.scope.workspace
    if not register.ties(workspace, PICK, holder=scope, held=session):
        register.tie(Tie(workspace, PICK, scope, session, desk.now))
