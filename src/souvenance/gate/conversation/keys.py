"""The gate's operation that mints caps the way Honcho's clients ask for keys, and those on webhooks."""

from __future__ import annotations

from souvenance.core.conversation import hooks
from souvenance.core.conversation.place import everywhere, reading
from souvenance.core.desk import Trace
from souvenance.domain.cap import OPS
from souvenance.domain.names import ALL, COMMON_NAMESPACE
from souvenance.errors import InvalidInput
from souvenance.gate import caps
from souvenance.gate import messages as m
from souvenance.gate.case import Case, Outcome
from souvenance.gate.conversation import answers as a
from souvenance.gate.conversation import asks as q
from souvenance.gate.conversation import shown
from souvenance.gate.conversation.speech import moment_ms

_CONVERSING = ("put", "get", "list", "snapshot", "invalidate", "forget")
_SPEAKING = ("put", "get", "list", "snapshot")
"""A peer's key deletes nothing: what it said belongs to the sessions too."""
_MANAGING = tuple(op for op in OPS if op != "chat")
"""No client of Honcho asks a model through the chat door, and a key should not spend what that costs."""
_LONGEST = 10 * 366 * 24 * 3600


def new_key(case: Case, request: q.NewKey) -> Outcome:
    """A cap for a workspace, a peer or a session in one, or, naming none of them, for everything."""
    if request.workspace_id is None and (request.peer_id or request.session_id):
        raise InvalidInput("a key of a peer or a session needs workspace_id")
    minted = caps.mint(
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
    return Outcome(a.Key(minted.answer.cap), minted.trace)


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


def _ttl(case: Case, request: q.NewKey) -> int:
    until = moment_ms(request.expires_at)
    if until is None:
        return _LONGEST
    seconds = until // 1000 - case.desk.now // 1000
    if seconds < 1:
        raise InvalidInput("expires_at lies in the past")
    return min(seconds, _LONGEST)


def add_webhook(case: Case, request: q.AddWebhook) -> Outcome:
    url = case.desk.tools.courier.check(request.url)
    entry, made = hooks.add_endpoint(case.desk, url)
    return Outcome(a.Opened(shown.webhook(entry), made), _named(case))


def list_webhooks(case: Case, request: q.Paged) -> Outcome:
    found = hooks.endpoints(case.desk)
    items = [shown.webhook(entry) for entry in found[request.offset : request.offset + request.size]]
    return Outcome(shown.page(a.WebhookPage, items, len(found), request.page, request.size), _named(case))


def delete_webhook(case: Case, request: q.OfWebhook) -> Outcome:
    hooks.remove_endpoint(case.desk, request.endpoint_id)
    return Outcome(a.Done(), _named(case))


def try_webhooks(case: Case, request: q.OfWorkspace) -> Outcome:
    hooks.announce(case.desk, "test.event")
    return Outcome(a.Note("A test event is on its way to every webhook of the workspace"), _named(case))


def _named(case: Case) -> Trace:
    return reading(everywhere(case.desk))
