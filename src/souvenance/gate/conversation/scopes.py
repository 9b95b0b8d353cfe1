"""Scopes: named sets of sessions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from souvenance.core.conversation import directory, erase
from souvenance.domain.directory import PEER, PICK, SCOPE, SESSION
from souvenance.domain.line import CONCLUSIONS
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict
from souvenance.gate.conversation.resource import (
    AnyName,
    Done,
    JsonObject,
    ListRequest,
    NamedAnswer,
    NewName,
    NewScopeName,
    Opened,
    ResponsePage,
    WorkspaceRequest,
    encode_object,
    found_by_name,
    list_entries,
    names_read,
    operation,
    page_of_entries,
    whole_workspace,
)
from souvenance.gate.conversation.sessions import SessionAnswer, SessionPage, sessions_named
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.gate.rights import Rights
from souvenance.ports.store import ViewQuery


class OpenScope(WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: NewName
    id: NewScopeName
    metadata: JsonObject | None = None

    @property
    def changes(self) -> bool:
        """Whether it asks for more than to find or make the scope."""
        return self.metadata is not None


class OfScope(WorkspaceRequest, frozen=True, kw_only=True):
    scope_id: AnyName


class AddToScope(OfScope, frozen=True, kw_only=True):
    session_ids: Annotated[list[AnyName], Meta(min_length=1, max_length=100)]


class RemoveFromScope(OfScope, frozen=True, kw_only=True):
    session_id: AnyName


class SessionsOfScope(ListRequest, frozen=True, kw_only=True):
    scope_id: AnyName


class ScopeAnswer(NamedAnswer, frozen=True):
    pass


class ScopePage(ResponsePage, frozen=True):
    items: list[ScopeAnswer]


class Backfill(Answer, frozen=True):
    state: str
    updated_at: datetime
    docs_copied: int = 0


class ScopeStatus(Answer, frozen=True):
    backfill_status: dict[str, Backfill]


def _may_open(rights: Rights, request: OpenScope) -> None:
    rights.workspace()
    if request.changes or not rights.known(SCOPE, request.id):
        rights.puts()


def _open(call: AuthorisedRequest, request: OpenScope) -> Outcome:
    if directory.find(call.ctx, PEER, f"scope.{request.id}") is not None:
        raise Conflict("a peer has that name already")
    entry, made = directory.ensure(call.ctx, SCOPE, request.id)
    entry = directory.change(call.ctx, entry, encode_object(request.metadata), None)
    return Outcome(Opened(ScopeAnswer.of(entry), made), names_read(call.ctx))


def _read(call: AuthorisedRequest, request: OfScope) -> Outcome:
    entry = directory.need(call.ctx, SCOPE, request.scope_id)
    return Outcome(ScopeAnswer.of(entry), names_read(call.ctx))


def _list(call: AuthorisedRequest, request: ListRequest) -> Outcome:
    return list_entries(call.ctx, SCOPE, request, ScopePage, ScopeAnswer.of)


def _delete(call: AuthorisedRequest, request: OfScope) -> Outcome:
    directory.need(call.ctx, SCOPE, request.scope_id)
    erase.erase_scope(call.ctx, request.scope_id)
    return Outcome(Done(), names_read(call.ctx))


def _add_sessions(call: AuthorisedRequest, request: AddToScope) -> Outcome:
    directory.need(call.ctx, SCOPE, request.scope_id)
    for session in request.session_ids:
        directory.need(call.ctx, SESSION, session)
        directory.pick(call.ctx, request.scope_id, session)
    return Outcome(Done(), names_read(call.ctx))


def _remove_session(call: AuthorisedRequest, request: RemoveFromScope) -> Outcome:
    ctx = call.ctx
    directory.need(ctx, SCOPE, request.scope_id)
    if directory.find(ctx, SESSION, request.session_id) is not None:
        ctx.tx.directory.remove_memberships(
            ctx.scope.workspace, PICK, holder=request.scope_id, held=request.session_id
        )
    return Outcome(Done(), names_read(ctx))


def _list_sessions(call: AuthorisedRequest, request: SessionsOfScope) -> Outcome:
    directory.need(call.ctx, SCOPE, request.scope_id)
    picks = directory.picks(call.ctx, request.scope_id)
    entries = sessions_named(call.ctx, (pick.held for pick in picks))
    page = page_of_entries(request, SessionPage, SessionAnswer.of, entries)
    return Outcome(page, names_read(call.ctx))


def _status(call: AuthorisedRequest, request: OfScope) -> Outcome:
    """A scope looks through to its sessions: nothing is copied, so there is nothing to wait for."""
    ctx, kinds = call.ctx, tuple(CONCLUSIONS.values())
    directory.need(ctx, SCOPE, request.scope_id)
    status = {}
    for pick in directory.picks(ctx, request.scope_id):
        held = ctx.tx.lines.views(
            ViewQuery(ctx.scope.workspace, kinds, sessions=(pick.held,), namespaces=ctx.scope.namespaces)
        )
        status[pick.held] = Backfill("completed", to_datetime(pick.since), len(held))
    return Outcome(ScopeStatus(status), names_read(ctx))


OPEN_SCOPE = operation(
    "scopes.open", "list", OpenScope, ScopeAnswer, _open, _may_open, peek=found_by_name(SCOPE, ScopeAnswer.of)
)
LIST_SCOPES = operation("scopes.list", "list", ListRequest, ScopePage, _list, whole_workspace)
READ_SCOPE = operation("scopes.read", "list", OfScope, ScopeAnswer, _read, whole_workspace)
DELETE_SCOPE = operation("scopes.delete", "put", OfScope, Done, _delete, whole_workspace)
ADD_TO_SCOPE = operation("scopes.add_sessions", "put", AddToScope, Done, _add_sessions, whole_workspace)
REMOVE_FROM_SCOPE = operation(
    "scopes.remove_session", "put", RemoveFromScope, Done, _remove_session, whole_workspace
)
SESSIONS_OF_SCOPE = operation(
    "scopes.sessions", "list", SessionsOfScope, SessionPage, _list_sessions, whole_workspace
)
SCOPE_STATUS = operation("scopes.status", "list", OfScope, ScopeStatus, _status, whole_workspace)
