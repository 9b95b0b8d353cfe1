"""Workspaces."""

from __future__ import annotations

from souvenance.core.conversation import directory, erase
from souvenance.domain.directory import WORKSPACE
from souvenance.domain.policy import Reach
from souvenance.domain.reasoning_settings import habits_of
from souvenance.gate.conversation.resource import (
    JsonObject,
    NamedAnswer,
    NewName,
    Note,
    Opened,
    PagedRequest,
    ResponsePage,
    WorkspaceRequest,
    change_entry,
    encode_object,
    erased,
    filter_of,
    found_by_name,
    list_entries,
    names_read,
    operation,
    whole_workspace,
)
from souvenance.gate.messages import Request
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.gate.rights import Rights


class OpenWorkspace(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    id: NewName
    metadata: JsonObject | None = None
    configuration: JsonObject | None = None

    @property
    def changes(self) -> bool:
        """A workspace that is there stays as it is."""
        return False


class ListWorkspaces(PagedRequest, frozen=True, kw_only=True):
    filters: JsonObject | None = None


class ChangeWorkspace(WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: NewName
    metadata: JsonObject | None = None
    configuration: JsonObject | None = None


class WorkspaceAnswer(NamedAnswer, frozen=True):
    configuration: JsonObject
    uid: str = ""


class WorkspacePage(ResponsePage, frozen=True):
    items: list[WorkspaceAnswer]


def _may_open(rights: Rights, request: OpenWorkspace) -> None:
    """Any token of a workspace may look it up; only one of all of it may make it."""
    if not rights.known(WORKSPACE, request.id):
        rights.workspace()
        rights.puts()


def _open(call: AuthorisedRequest, request: OpenWorkspace) -> Outcome:
    habits_of(request.configuration or {})
    entry, made = directory.ensure(
        call.ctx,
        WORKSPACE,
        request.id,
        encode_object(request.metadata) or "{}",
        encode_object(request.configuration, "configuration") or "{}",
    )
    return Outcome(Opened(WorkspaceAnswer.of(entry), made), names_read(call.ctx))


def _list(call: AuthorisedRequest, request: ListWorkspaces) -> Outcome:
    return list_entries(
        call.ctx,
        WORKSPACE,
        request,
        WorkspacePage,
        WorkspaceAnswer.of,
        filter_of(WORKSPACE, request.filters),
        of_every_workspace=True,
    )


def _change(call: AuthorisedRequest, request: ChangeWorkspace) -> Outcome:
    entry, _ = directory.ensure(call.ctx, WORKSPACE, request.workspace_id)
    entry = change_entry(call.ctx, entry, request.metadata, request.configuration)
    return Outcome(WorkspaceAnswer.of(entry), names_read(call.ctx))


def _delete(call: AuthorisedRequest, request: WorkspaceRequest) -> Outcome:
    return erased(call, erase.erase_workspace(call.ctx), Note("Workspace deleted"))


OPEN_WORKSPACE = operation(
    "workspaces.open",
    "list",
    OpenWorkspace,
    WorkspaceAnswer,
    _open,
    _may_open,
    reach=lambda request: Reach(workspace=request.id, some_compartment=True),
    peek=found_by_name(WORKSPACE, WorkspaceAnswer.of),
)
LIST_WORKSPACES = operation(
    "workspaces.list",
    "list",
    ListWorkspaces,
    WorkspacePage,
    _list,
    lambda rights, request: rights.operator(),
    reach=lambda request: Reach(some_compartment=True),
)
CHANGE_WORKSPACE = operation(
    "workspaces.change", "put", ChangeWorkspace, WorkspaceAnswer, _change, whole_workspace
)
DELETE_WORKSPACE = operation("workspaces.delete", "forget", WorkspaceRequest, Note, _delete, whole_workspace)
