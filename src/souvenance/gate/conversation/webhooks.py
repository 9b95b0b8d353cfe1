"""Webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from souvenance.core.conversation import webhooks
from souvenance.domain.directory import Entry
from souvenance.domain.timestamps import to_datetime
from souvenance.gate.conversation.resource import (
    AnyName,
    Done,
    ListRequest,
    NewName,
    Note,
    Opened,
    ResponsePage,
    WorkspaceRequest,
    names_read,
    operation,
    page_of_entries,
    whole_workspace,
)
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome


class AddWebhook(WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: NewName
    url: Annotated[str, Meta(min_length=1, max_length=2048)]


class OfWebhook(WorkspaceRequest, frozen=True, kw_only=True):
    endpoint_id: AnyName


class Webhook(Answer, frozen=True):
    id: str
    workspace_id: str | None
    url: str
    created_at: datetime

    @classmethod
    def of(cls, entry: Entry) -> Webhook:
        return cls(entry.name, entry.workspace, webhooks.url_of(entry), to_datetime(entry.created_at))


class WebhookPage(ResponsePage, frozen=True):
    items: list[Webhook]


def _add(call: AuthorisedRequest, request: AddWebhook) -> Outcome:
    url = call.ctx.services.webhook_sender.check(request.url)
    entry, made = webhooks.add_endpoint(call.ctx, url)
    return Outcome(Opened(Webhook.of(entry), made), names_read(call.ctx))


def _list(call: AuthorisedRequest, request: ListRequest) -> Outcome:
    page = page_of_entries(request, WebhookPage, Webhook.of, webhooks.endpoints(call.ctx))
    return Outcome(page, names_read(call.ctx))


def _delete(call: AuthorisedRequest, request: OfWebhook) -> Outcome:
    webhooks.remove_endpoint(call.ctx, request.endpoint_id)
    return Outcome(Done(), names_read(call.ctx))


def _try_all(call: AuthorisedRequest, request: WorkspaceRequest) -> Outcome:
    webhooks.announce(call.ctx, "test.event")
    note = Note("A test event is on its way to every webhook of the workspace")
    return Outcome(note, names_read(call.ctx))


ADD_WEBHOOK = operation("webhooks.add", "put", AddWebhook, Webhook, _add, whole_workspace)
LIST_WEBHOOKS = operation("webhooks.list", "list", ListRequest, WebhookPage, _list, whole_workspace)
DELETE_WEBHOOK = operation("webhooks.delete", "put", OfWebhook, Done, _delete, whole_workspace)
TRY_WEBHOOKS = operation(
    "webhooks.test", "put", WorkspaceRequest, Note, _try_all, whole_workspace, rings=True
)
