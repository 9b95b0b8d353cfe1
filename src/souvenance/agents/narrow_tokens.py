"""The tokens of a conversation's calls, each narrowed to its task.

They are made offline from the cap that the provider was configured with, so the gate enforces what
the configuration grants, and its log says for whom each call was made. Each asks for what its purpose
needs and the configured cap has. A key of a server that has no caps is used as it is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import inf
from typing import Any, Literal, Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.domain import capability, ulid
from souvenance.errors import CapMalformed, CapOpMismatch
from souvenance.gate import messages as m
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.gate.tokens import attenuated
from souvenance.ports.clock import Clock, Entropy


class CallableGate(Protocol):
    """The gate, in this process or behind a URL."""

    def call(self, operation: Operation, credentials: Credentials, request: m.Request) -> Any: ...


_MOST_KEPT = 1_000


class Narrowed:
    """Thread-safe. `now` gives the time in seconds, `chance` so many bytes that nobody can guess."""

    def __init__(self, *, now: Callable[[], int], chance: Callable[[int], bytes]) -> None:
        self._now = now
        self._chance = chance
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[str, Hashable], tuple[float, Credentials]] = OrderedDict()

    def of(self, token: str, what_for: Hashable, wanted: Callable[[], m.Attenuate]) -> Credentials:
        """What is made of that cap for that purpose: the same each time, until half of its life is over.

        Raises: CapMalformed, CapScopeMismatch, InvalidInput.
        """
        now, key = self._now(), (token, what_for)
        with self._lock:
            spent, found = self._made.get(key, (0.0, None))
            if found is None or spent <= now:
                asked = wanted()
                jti, secret = (
                    ulid.compose(now * 1000, self._chance(ulid.ENTROPY_BYTES)),
                    Ed25519PrivateKey.generate(),
                )
                found = Credentials(attenuated(token, asked, jti=jti, now=now, secret=secret).cap)
                self._made[key] = (now + asked.ttl_seconds // 2 if asked.ttl_seconds else inf, found)
            self._made.move_to_end(key)
            if len(self._made) > _MOST_KEPT:
                self._made.popitem(last=False)
            return found


Purpose = Literal["read", "list", "name", "speak", "undo", "note", "erase"]

_LIFE_SECONDS = 24 * 3600
_OPS: dict[Purpose, str] = {
    "read": "get",
    "list": "list",
    "name": "put",
    "speak": "put",
    "undo": "forget",
    "note": "put",
    "erase": "forget",
}

_LOOKS = ("read", "list")
_WHOLE = ("put", "forget")


def is_cap(token: str) -> bool:
    try:
        capability.read_unverified(token)
    except CapMalformed:
        return False
    return True


class NarrowTokens:
    """Makes the narrowed tokens of any number of conversations from one token."""

    def __init__(self, token: Callable[[], str], clock: Clock, entropy: Entropy) -> None:
        self._token = token
        self._narrowed = Narrowed(now=lambda: clock.now() // 1000, chance=entropy.take)
        self.capped = is_cap(token())

    def of(self, scope: ConversationScope) -> Callable[[Purpose], Credentials]:
        """What gives the token for each purpose of that scope: the same one, until half of its life is over.

        It raises CapOpMismatch or CapScopeMismatch if the configured cap does not grant it.
        """
        return lambda purpose: self._pass(scope, purpose)

    def itself(self) -> Credentials:
        """The configured token as it is, to ask whether it is good."""
        return Credentials(self._token())

    def whole(self, workspace: str) -> Credentials:
        """What changes the names of a workspace, as far as the configured cap opens it.

        Raises: CapScopeMismatch.
        """
        token = self._token()
        if not self.capped:
            return Credentials(token)
        wanted = m.Attenuate(wid=workspace, data_class="memory", ttl_seconds=_LIFE_SECONDS, ops=_WHOLE)
        return self._narrowed.of(token, (workspace, _WHOLE), lambda: wanted)

    def _pass(self, scope: ConversationScope, purpose: Purpose) -> Credentials:
        token = self._token()
        if not self.capped:
            return Credentials(token)
        return self._narrowed.of(token, (scope, purpose), lambda: wanted(token, scope, purpose))


def wanted(token: str, scope: ConversationScope, purpose: Purpose) -> m.Attenuate:
    """What a token for that purpose says. Raises: CapOpMismatch if that one does not grant it."""
    op = _OPS[purpose]
    if op not in capability.read_unverified(token)[0][-1].ops:
        raise CapOpMismatch(f"the token does not grant {op!r}")
    written = () if scope.namespaces.write is None else (scope.namespaces.write,)
    speaks = purpose in ("speak", "undo")
    both = speaks or purpose == "name" or scope.alone or (scope.personal and purpose not in _LOOKS)
    both = both and scope.agent == "speaks"
    return m.Attenuate(
        sub=scope.user,
        wid=scope.workspace,
        data_class="memory",
        ttl_seconds=_LIFE_SECONDS,
        ops=(op,),
        namespaces_allowed=scope.namespaces.read if purpose in _LOOKS else written,
        peers=(scope.user, scope.ai) if both else (scope.user,),
        via=() if both or scope.agent == "absent" else (scope.ai,),
        sessions=(scope.session,) if speaks else None,
    )
