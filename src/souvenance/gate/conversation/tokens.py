"""The gate's operation that mints caps the way Honcho's clients ask for keys, and those on webhooks."""

from __future__ import annotations

from souvenance.core.conversation import webhooks
from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.request_context import Trace
from souvenance.domain.capability import OPS
from souvenance.domain.names import ALL, COMMON_NAMESPACE
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import tokens
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.conversation import serialisers
from souvenance.gate.conversation.messages import moment_ms
from souvenance.gate.operation import AuthorisedRequest, Outcome

_CONVERSING = ("put", "get", "list", "snapshot", "invalidate", "forget")
_SPEAKING = ("put", "get", "list", "snapshot")
"""A peer's key deletes nothing: what it said belongs to the sessions too."""
_MANAGING = tuple(op for op in OPS if op != "chat")
"""No client of Honcho asks a model through the chat door, and a key should not spend what that costs."""
_LONGEST = 10 * 366 * 24 * 3600


def new_key(case: AuthorisedRequest, request: q.NewKey) -> Outcome:
    """A cap for a workspace, a peer or a session in one, or, naming none of them, for everything."""
    if request.workspace_id is None and (request.peer_id or request.session_id):
        raise InvalidInput("a key of a peer or a session needs workspace_id")
    minted = tokens.mint(
        case,
        m.Mint(
            sub=_subject(request),
            ops=_ops(request),
            namespaces_allowed=(ALL,) if request.workspace_id is None else (COMMON_NAMESPACE,),
            ttl_seconds=_ttl(case, request),
            wid=request.workspace_id or ALL,
            data_class=ALL if request.workspace_id is None else "memory",
            peers=(request.peer_id,) if request.peer_id else (ALL,),
            sessions=(request.session_id,) if request.session_id else None,
        ),
    )
    if not isinstance(minted.answer, m.CapAnswer):
        raise TypeError("a minted cap is answered as one")
    return Outcome(a.MintedKey(minted.answer.cap), minted.trace)


def _subject(request: q.NewKey) -> str:
    """In whose name the key acts: the peer's, or that of the place it opens."""
    if request.peer_id is not None:
        return request.peer_id
    if request.session_id is not None:
        return f"session:{request.session_id}"
    return "admin" if request.workspace_id is None else f"workspace:{request.workspace_id}"


def _ops(request: q.NewKey) -> tuple[str, ...]:
    if request.workspace_id is None:
        return _MANAGING
    return _CONVERSING if request.peer_id is None else _SPEAKING


def _ttl(case: AuthorisedRequest, request: q.NewKey) -> int:
    until = moment_ms(request.expires_at)
    if until is None:
        return _LONGEST
    seconds = until // 1000 - case.ctx.now // 1000
    if seconds < 1:
        raise InvalidInput("expires_at lies in the past")
    return min(seconds, _LONGEST)


def add_webhook(case: AuthorisedRequest, request: q.AddWebhook) -> Outcome:
    url = case.ctx.tools.webhook_sender.check(request.url)
    entry, made = webhooks.add_endpoint(case.ctx, url)
    return Outcome(a.Opened(serialisers.webhook(entry), made), _named(case))


def list_webhooks(case: AuthorisedRequest, request: q.Paged) -> Outcome:
    found = webhooks.endpoints(case.ctx)
    items = [serialisers.webhook(entry) for entry in found[request.offset : request.offset + request.size]]
    return Outcome(
        serialisers.page(a.WebhookPage, items, len(found), request.page, request.size), _named(case)
    )


def delete_webhook(case: AuthorisedRequest, request: q.OfWebhook) -> Outcome:
    webhooks.remove_endpoint(case.ctx, request.endpoint_id)
    return Outcome(a.Done(), _named(case))


def try_webhooks(case: AuthorisedRequest, request: q.OfWorkspace) -> Outcome:
    webhooks.announce(case.ctx, "test.event")
    return Outcome(a.Note("A test event is on its way to every webhook of the workspace"), _named(case))


def _named(case: AuthorisedRequest) -> Trace:
    return reading(everywhere(case.ctx))
