"""Keys: tokens as clients of Honcho ask for them."""

from __future__ import annotations

from datetime import datetime

from souvenance.domain.capability import OPS
from souvenance.domain.names import ALL, COMMON_NAMESPACE
from souvenance.domain.policy import Reach
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import tokens
from souvenance.gate.conversation.resource import NewName, moment_ms, operation
from souvenance.gate.operation import AuthorisedRequest, Outcome

_CONVERSING = ("put", "get", "list", "snapshot", "invalidate", "forget")
_SPEAKING = ("put", "get", "list", "snapshot")
"""A peer's key deletes nothing: what it said belongs to the sessions too."""
_MANAGING = tuple(op for op in OPS if op != "chat")
"""No client of Honcho asks a model through the chat door, and a key should not spend what that costs."""
_LONGEST = 10 * 366 * 24 * 3600


class NewKey(m.Request, frozen=True, forbid_unknown_fields=False, kw_only=True):
    workspace_id: NewName | None = None
    peer_id: NewName | None = None
    session_id: NewName | None = None
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
            sub=_subject(request),
            ops=_ops(request),
            namespaces_allowed=(ALL,) if request.workspace_id is None else (COMMON_NAMESPACE,),
            ttl_seconds=_ttl(call, request),
            wid=request.workspace_id or ALL,
            data_class=ALL if request.workspace_id is None else "memory",
            peers=(request.peer_id,) if request.peer_id else (ALL,),
            sessions=(request.session_id,) if request.session_id else None,
        ),
    )
    if not isinstance(minted.answer, m.CapAnswer):
        raise TypeError("a minted cap is answered as one")
    return Outcome(MintedKey(minted.answer.cap), minted.trace)


def _subject(request: NewKey) -> str:
    """In whose name the key acts: the peer's, or that of the place it opens."""
    if request.peer_id is not None:
        return request.peer_id
    if request.session_id is not None:
        return f"session:{request.session_id}"
    return "admin" if request.workspace_id is None else f"workspace:{request.workspace_id}"


def _ops(request: NewKey) -> tuple[str, ...]:
    if request.workspace_id is None:
        return _MANAGING
    return _CONVERSING if request.peer_id is None else _SPEAKING


def _ttl(call: AuthorisedRequest, request: NewKey) -> int:
    until = moment_ms(request.expires_at)
    if until is None:
        return _LONGEST
    seconds = until // 1000 - call.ctx.now // 1000
    if seconds < 1:
        raise InvalidInput("expires_at lies in the past")
    return min(seconds, _LONGEST)


NEW_KEY = operation(
    "keys.new",
    "grant",
    NewKey,
    MintedKey,
    _new_key,
    lambda rights, request: None,
    reach=lambda request: Reach(workspace=request.workspace_id),
)
