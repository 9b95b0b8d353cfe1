"""Workspaces, their webhooks, and keys: tokens as clients of Honcho ask for them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.compartments import everywhere
from souvenance.domain.capability import OPS
from souvenance.domain.directory import WEBHOOK, WORKSPACE, Entry
from souvenance.domain.names import ALL, COMMON_NAMESPACE
from souvenance.domain.policy import Reach
from souvenance.domain.reasoning_settings import habits_of
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict, InvalidInput, NotFound
from souvenance.gate import messages as m
from souvenance.gate import tokens
from souvenance.gate.conversation import resource as r
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights, in_workspace


class OpenWorkspace(Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    id: r.NewName
    metadata: r.JsonObject | None = None
    configuration: r.JsonObject | None = None

    @property
    def changes(self) -> bool:
        """A workspace that is there stays as it is."""
        return False


class ListWorkspaces(r.PagedRequest, frozen=True, kw_only=True):
    filters: r.JsonObject | None = None


class ChangeWorkspace(r.ChangeRequest, frozen=True, kw_only=True):
    pass


class WorkspaceAnswer(r.NamedAnswer, frozen=True):
    configuration: r.JsonObject
    uid: str = ""


class WorkspacePage(r.ResponsePage, frozen=True):
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
        r.encode_object(request.metadata) or "{}",
        r.encode_object(request.configuration, "configuration") or "{}",
    )
    return Outcome(r.Opened(WorkspaceAnswer.of(entry), made), r.names_read(call.ctx))


def _list(call: AuthorisedRequest, request: ListWorkspaces) -> Outcome:
    return r.list_entries(
        call.ctx,
        WORKSPACE,
        request,
        WorkspacePage,
        WorkspaceAnswer.of,
        r.filter_of(WORKSPACE, request.filters),
        of_every_workspace=True,
    )


def _change(call: AuthorisedRequest, request: ChangeWorkspace) -> Outcome:
    entry, _ = directory.ensure(call.ctx, WORKSPACE, request.workspace_id)
    entry = r.change_entry(call.ctx, entry, request.metadata, request.configuration)
    return Outcome(WorkspaceAnswer.of(entry), r.names_read(call.ctx))


def _delete(call: AuthorisedRequest, request: r.WorkspaceRequest) -> Outcome:
    return r.erased(call, erase.erase_workspace(call.ctx), r.Note("Workspace deleted"))


OPEN_WORKSPACE = r.operation(
    "workspaces.open",
    "list",
    WorkspaceAnswer,
    _open,
    _may_open,
    reach=lambda request: Reach(workspace=request.id, some_compartment=True),
    peek=r.found_by_name(WORKSPACE, WorkspaceAnswer.of),
)
LIST_WORKSPACES = r.operation(
    "workspaces.list",
    "list",
    WorkspacePage,
    _list,
    lambda rights, request: rights.operator(),
    reach=lambda request: Reach(some_compartment=True),
)
CHANGE_WORKSPACE = r.operation("workspaces.change", "put", WorkspaceAnswer, _change)
DELETE_WORKSPACE = r.operation("workspaces.delete", "forget", r.Note, _delete)


MOST_WEBHOOKS = 10


class AddWebhook(r.WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: r.NewName
    url: Annotated[str, Meta(min_length=1, max_length=2048)]


class OfWebhook(r.WorkspaceRequest, frozen=True, kw_only=True):
    endpoint_id: r.AnyName


class Webhook(Answer, frozen=True):
    id: str
    workspace_id: str | None
    url: str
    created_at: datetime

    @classmethod
    def of(cls, entry: Entry) -> Webhook:
        return cls(entry.name, entry.workspace, directory.webhook_url(entry), to_datetime(entry.created_at))


class WebhookPage(r.ResponsePage, frozen=True):
    items: list[Webhook]


def _add_webhook(call: AuthorisedRequest, request: AddWebhook) -> Outcome:
    """The webhook of that address, which is there at most once. Raises: InvalidInput, Conflict."""
    ctx, known = call.ctx, directory.endpoints(call.ctx)
    url = ctx.services.webhook_sender.check(request.url)
    entry, made = next((one for one in known if directory.webhook_url(one) == url), None), False
    if entry is None:
        if len(known) >= MOST_WEBHOOKS:
            raise Conflict(f"the workspace has {MOST_WEBHOOKS} webhooks already", hint="Delete one first.")
        endpoint = directory.encoded(directory.WebhookEndpoint(url, everywhere(ctx)))
        entry, made = directory.ensure(ctx, WEBHOOK, ctx.fresh_id(), configuration=endpoint)
    return Outcome(r.Opened(Webhook.of(entry), made), r.names_read(ctx))


def _list_webhooks(call: AuthorisedRequest, request: r.ListRequest) -> Outcome:
    page = r.page_of_entries(request, WebhookPage, Webhook.of, directory.endpoints(call.ctx))
    return Outcome(page, r.names_read(call.ctx))


def _delete_webhook(call: AuthorisedRequest, request: OfWebhook) -> Outcome:
    if all(entry.name != request.endpoint_id for entry in directory.endpoints(call.ctx)):
        raise NotFound("there is no such webhook")
    call.ctx.tx.directory.remove(call.ctx.scope.workspace, WEBHOOK, request.endpoint_id)
    return Outcome(r.Done(), r.names_read(call.ctx))


def _try_webhooks(call: AuthorisedRequest, request: r.WorkspaceRequest) -> Outcome:
    directory.announce(call.ctx, "test.event")
    note = r.Note("A test event is on its way to every webhook of the workspace")
    return Outcome(note, r.names_read(call.ctx))


ADD_WEBHOOK = r.operation("webhooks.add", "put", Webhook, _add_webhook)
LIST_WEBHOOKS = r.operation("webhooks.list", "list", WebhookPage, _list_webhooks)
DELETE_WEBHOOK = r.operation("webhooks.delete", "put", r.Done, _delete_webhook)
TRY_WEBHOOKS = r.operation("webhooks.test", "put", r.Note, _try_webhooks, rings=True)


_CONVERSING = ("put", "get", "list", "snapshot", "invalidate", "forget")
_SPEAKING = ("put", "get", "list", "snapshot")
"""A peer's key deletes nothing: what it said belongs to the sessions too."""
_MANAGING = tuple(op for op in OPS if op != "chat")
"""No client of Honcho asks a model through the chat door, and a key should not spend what that costs."""
_LONGEST_TTL = 10 * 366 * 24 * 3600


class NewKey(m.Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    workspace_id: r.NewName | None = None
    peer_id: r.NewName | None = None
    session_id: r.NewName | None = None
    expires_at: datetime | None = None


class MintedKey(m.Answer, frozen=True):
    key: str


def _new_key(call: AuthorisedRequest, request: NewKey) -> Outcome:
    """A token for a workspace, a peer or a session in one, or, naming none of them, for everything."""
    if request.workspace_id is None and (request.peer_id or request.session_id):
        raise InvalidInput("a key of a peer or a session needs workspace_id")
    minted = tokens.mint(
        call,
        m.Mint(
            sub=_subject_of(request),
            ops=_ops_of(request),
            namespaces_allowed=(ALL,) if request.workspace_id is None else (COMMON_NAMESPACE,),
            ttl_seconds=_ttl_of(call, request),
            wid=request.workspace_id or ALL,
            data_class=ALL if request.workspace_id is None else "memory",
            peers=(request.peer_id,) if request.peer_id else (ALL,),
            sessions=(request.session_id,) if request.session_id else None,
        ),
    )
    if not isinstance(minted.answer, m.CapAnswer):
        raise TypeError("a minted cap is answered as one")
    return Outcome(MintedKey(minted.answer.cap), minted.trace)


def _subject_of(request: NewKey) -> str:
    """In whose name the key acts: the peer's, or that of the place it opens."""
    if request.peer_id is not None:
        return request.peer_id
    if request.session_id is not None:
        return f"session:{request.session_id}"
    return "admin" if request.workspace_id is None else f"workspace:{request.workspace_id}"


def _ops_of(request: NewKey) -> tuple[str, ...]:
    if request.workspace_id is None:
        return _MANAGING
    return _CONVERSING if request.peer_id is None else _SPEAKING


def _ttl_of(call: AuthorisedRequest, request: NewKey) -> int:
    until = r.moment_ms(request.expires_at)
    if until is None:
        return _LONGEST_TTL
    seconds = until // 1000 - call.ctx.now // 1000
    if seconds < 1:
        raise InvalidInput("expires_at lies in the past")
    return min(seconds, _LONGEST_TTL)


NEW_KEY = r.operation(
    "keys.new", "grant", MintedKey, _new_key, lambda rights, request: None, reach=in_workspace
)
