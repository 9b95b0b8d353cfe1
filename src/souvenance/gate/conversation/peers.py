"""Peers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.rename import rename_some
from souvenance.core.request_context import RequestContext
from souvenance.domain.directory import PEER, SCOPE, Entry
from souvenance.domain.names import ALL
from souvenance.domain.policy import Reach
from souvenance.domain.reasoning_settings import PeerHabits
from souvenance.domain.ulid import LineId
from souvenance.gate.conversation.resource import (
    JsonObject,
    ListRequest,
    NamedAnswer,
    NewName,
    Note,
    Opened,
    PeerName,
    ResponsePage,
    WorkspaceRequest,
    encode_object,
    erased,
    filter_of,
    found_by_name,
    list_entries,
    names_read,
    operation,
    page_of_entries,
    whole_workspace,
)
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.gate.rights import Rights


class OpenPeer(WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: NewName
    id: NewName
    metadata: JsonObject | None = None
    configuration: PeerHabits | None = None

    @property
    def changes(self) -> bool:
        """Whether it asks for more than to find or make the peer."""
        return self.metadata is not None or self.configuration is not None


class ChangePeer(WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: NewName
    peer_id: NewName
    metadata: JsonObject | None = None
    configuration: PeerHabits | None = None


class ListPeers(ListRequest, frozen=True, kw_only=True):
    filters: JsonObject | None = None
    kind: Literal["scope", "all"] | None = None


class OfPeer(WorkspaceRequest, frozen=True, kw_only=True):
    peer_id: PeerName


class DeletePeer(OfPeer, frozen=True, kw_only=True):
    keep_messages: bool = False


class RenamePeer(OfPeer, frozen=True, kw_only=True):
    name: NewName
    after: LineId | None = None
    """Where the part before ended, as it was answered."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 250
    """How many lines are taken along at once, but for the last part."""


class PeerAnswer(NamedAnswer, frozen=True):
    configuration: JsonObject
    workspace_id: str
    uid: str = ""


class PeerPage(ResponsePage, frozen=True):
    items: list[PeerAnswer]


class Renamed(Answer, frozen=True):
    lines: int
    """How many were taken along in this part."""
    after: str | None = None
    """Where the next part begins; null if all is done."""


def of_peer(rights: Rights, request: Any) -> None:
    rights.peer(request.peer_id)


def _may_open(rights: Rights, request: OpenPeer) -> None:
    rights.peer(request.id)
    if request.changes or not rights.known(PEER, request.id):
        rights.puts()


def _may_rename(rights: Rights, request: RenamePeer) -> None:
    rights.workspace()
    rights.puts()


def _open(call: AuthorisedRequest, request: OpenPeer) -> Outcome:
    entry, made = _ensure(call.ctx, request.id, request.metadata, request.configuration)
    return Outcome(Opened(PeerAnswer.of(entry), made), names_read(call.ctx))


def _change(call: AuthorisedRequest, request: ChangePeer) -> Outcome:
    entry, _ = _ensure(call.ctx, request.peer_id, request.metadata, request.configuration)
    return Outcome(PeerAnswer.of(entry), names_read(call.ctx))


def _ensure(
    ctx: RequestContext, name: str, metadata: JsonObject | None, given: PeerHabits | None
) -> tuple[Entry, bool]:
    """The peer with what is given in place of what it had, and whether it was made just now."""
    entry, made = directory.ensure(ctx, PEER, name, namespace=directory.home(ctx))
    configuration = None if given is None else directory.encoded(given)
    return directory.change(ctx, entry, encode_object(metadata), configuration), made


def _list(call: AuthorisedRequest, request: ListPeers) -> Outcome:
    ctx, wanted = call.ctx, filter_of(PEER, request.filters)
    if request.kind is not None:
        entries = _with_scopes(ctx, request)
        return Outcome(page_of_entries(request, PeerPage, PeerAnswer.of, entries, wanted), names_read(ctx))
    if _knows_every_peer(ctx):
        return list_entries(ctx, PEER, request, PeerPage, PeerAnswer.of, wanted)

    def known(entry: Entry) -> bool:
        return directory.knows_peer(ctx, entry) and (wanted is None or wanted(entry))

    return list_entries(ctx, PEER, request, PeerPage, PeerAnswer.of, known)


def _knows_every_peer(ctx: RequestContext) -> bool:
    namespaces = ctx.scope.namespaces
    if namespaces is None:
        return True
    stored, workspace = ctx.tx.directory, ctx.scope.workspace
    return stored.count(workspace, PEER) == stored.count(workspace, PEER, namespaces)


def _with_scopes(ctx: RequestContext, request: ListPeers) -> list[Entry]:
    """Peers, unless only scopes are asked for, and then scopes, as peer lists show them."""
    stored, workspace = ctx.tx.directory, ctx.scope.workspace
    peers = [] if request.kind == "scope" else stored.entries(workspace, PEER)
    scopes = [
        Entry(workspace, PEER, f"scope.{scope.name}", scope.uid, scope.created_at, scope.metadata)
        for scope in stored.entries(workspace, SCOPE)
    ]
    return [*(entry for entry in peers if directory.knows_peer(ctx, entry)), *scopes]


def _delete(call: AuthorisedRequest, request: DeletePeer) -> Outcome:
    changes = erase.erase_peer(call.ctx, request.peer_id, keep_messages=request.keep_messages)
    return erased(call, changes, Note("Peer deleted"))


def _rename(call: AuthorisedRequest, request: RenamePeer) -> Outcome:
    done = rename_some(call.ctx, request.peer_id, request.name, request.after, request.limit)
    answer, renamed = Renamed(done.lines, done.cursor), (request.peer_id, request.name)
    if done.cursor is not None:
        return Outcome(answer, done.changes.trace(renamed=renamed))
    return erased(call, done.changes, answer, renamed=renamed)


OPEN_PEER = operation(
    "peers.open", "list", OpenPeer, PeerAnswer, _open, _may_open, peek=found_by_name(PEER, PeerAnswer.of)
)
CHANGE_PEER = operation("peers.change", "put", ChangePeer, PeerAnswer, _change, of_peer)
LIST_PEERS = operation("peers.list", "list", ListPeers, PeerPage, _list, whole_workspace)
DELETE_PEER = operation("peers.delete", "forget", DeletePeer, Note, _delete, whole_workspace, rings=True)
RENAME_PEER = operation(
    "peers.rename",
    "forget",
    RenamePeer,
    Renamed,
    _rename,
    _may_rename,
    rings=True,
    reach=lambda request: Reach(workspace=request.workspace_id, namespaces=(ALL,), whole_compartments=True),
)
