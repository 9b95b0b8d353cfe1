"""Webhooks: the endpoints that hear of a workspace's events, and the events that wait to be delivered.

An endpoint hears of the namespaces that were open to the token that added it. A token that opens none of them
finds no such endpoint.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import everywhere
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain.directory import WEBHOOK, WORKSPACE, Entry
from souvenance.domain.jobs import DELIVER, Job
from souvenance.domain.names import ALL, COMMON_NAMESPACE
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict, NotFound

MOST_ENDPOINTS = 10


class WebhookEndpoint(Struct, frozen=True):
    """What the entry of a webhook says."""

    url: str
    namespaces: tuple[str, ...] = (COMMON_NAMESPACE,)


class Delivery(Struct, frozen=True):
    """What a delivery's job says: to which endpoint, and what."""

    endpoint: str
    body: str


def add_endpoint(ctx: RequestContext, url: str) -> tuple[Entry, bool]:
    """The endpoint of that address, and whether it is new. Raises: Conflict if there are too many."""
    known = endpoints(ctx)
    for entry in known:
        if url_of(entry) == url:
            return entry, False
    if len(known) >= MOST_ENDPOINTS:
        raise Conflict(f"the workspace has {MOST_ENDPOINTS} webhooks already", hint="Delete one first.")
    configuration = msgspec.json.encode(WebhookEndpoint(url, everywhere(ctx))).decode()
    directory.ensure(ctx, WORKSPACE, ctx.scope.workspace)
    return directory.ensure(ctx, WEBHOOK, ctx.fresh_id(), configuration=configuration)


def endpoints(ctx: RequestContext) -> list[Entry]:
    """Those that hear of any namespace that may be looked into."""
    entries = ctx.tx.directory.entries(ctx.scope.workspace, WEBHOOK)
    return [entry for entry in entries if _hears(ctx, entry)]


def _hears(ctx: RequestContext, entry: Entry) -> bool:
    return any(name == ALL or ctx.scope.opens(name) for name in _endpoint(entry).namespaces)


def remove_endpoint(ctx: RequestContext, endpoint: str) -> None:
    """Raises: NotFound."""
    entry = directory.find(ctx, WEBHOOK, endpoint)
    if entry is None or not _hears(ctx, entry):
        raise NotFound("there is no such webhook")
    ctx.tx.directory.remove(ctx.scope.workspace, WEBHOOK, endpoint)


def url_of(entry: Entry) -> str:
    return _endpoint(entry).url


def _endpoint(entry: Entry) -> WebhookEndpoint:
    return msgspec.json.decode(entry.configuration, type=settled(WebhookEndpoint))


def announce(ctx: RequestContext, event: str, **data: Any) -> int:
    """Owe every endpoint that may hear of it word of the event; how many there are."""
    known = endpoints(ctx)
    if not known:
        return 0
    message = {"type": event, "data": {"workspace_id": ctx.scope.workspace, **data}}
    body = msgspec.json.encode({**message, "timestamp": to_datetime(ctx.now)}).decode()
    for entry in known:
        payload = msgspec.json.encode(Delivery(entry.name, body)).decode()
        ctx.tx.work.add(Job(ctx.scope.workspace, DELIVER, payload=payload), ctx.now)
    return len(known)
