"""The tokens of a chat's calls, each no wider than its task and the caller's own token.

A cap that reaches everybody is narrowed offline to the person and the session. Any other can't speak for
the assistant, nor open a session: there the door's own cap is narrowed in its stead, to that person, that
session, and what the caller's cap grants.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from msgspec import Struct

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.narrow_tokens import Narrowed, Purpose
from souvenance.domain.names import ALL
from souvenance.errors import CapMalformed, CapScopeMismatch
from souvenance.gate import messages as m
from souvenance.gate.token_verifier import Credentials

_LIFE_SECONDS = 3600


class Admitted(Struct, frozen=True):
    """A caller with a good cap."""

    token: str
    grant: m.WhoAmIAnswer
    store_down: bool = False
    """Whether the store was out of reach: the cap may have been withdrawn, and gets no memory."""

    @property
    def credentials(self) -> Credentials:
        """What tells whose turn it is. It proves nothing for a bound cap."""
        return Credentials(self.token)

    @property
    def wide(self) -> bool:
        return not self.grant.bound and ALL in self.grant.peers and self.grant.sessions is None


class ChatTokens:
    def __init__(self, own: str | None) -> None:
        self._own = own
        self._narrowed = Narrowed(now=lambda: int(time.time()), chance=os.urandom)

    def of(self, caller: Admitted, seat: ConversationScope) -> Callable[[Purpose], Credentials]:
        """What gives the pass for each purpose of that seat. It raises CapScopeMismatch, CapMalformed."""
        return lambda purpose: self._pass(caller, seat, purpose)

    def _pass(self, caller: Admitted, seat: ConversationScope, purpose: Purpose) -> Credentials:
        source = caller.token if caller.wide else self._own
        if source is None:
            raise CapScopeMismatch("the cap does not reach the assistant, and the door has none")
        what_for = caller.token, seat, purpose
        try:
            return self._narrowed.of(source, what_for, lambda: _wanted(caller, seat, purpose))
        except CapMalformed:  # A cap of as many blocks as there may be can't be narrowed any more.
            if self._own is None or source == self._own:
                raise
            return self._narrowed.of(self._own, what_for, lambda: _wanted(caller, seat, purpose))


def _wanted(caller: Admitted, seat: ConversationScope, purpose: Purpose) -> m.Attenuate:
    speaks = purpose == "speak"
    return m.Attenuate(
        sub=seat.user,
        wid=seat.workspace,
        data_class="memory",
        ttl_seconds=max(1, min(_LIFE_SECONDS, caller.grant.exp - int(time.time()))),
        ops=("put",) if speaks else ("get",),
        namespaces_allowed=(seat.namespaces.write or "",) if speaks else seat.namespaces.read,
        peers=(seat.user, seat.ai) if speaks else (seat.user,),
        via=() if speaks else (seat.ai,),
        sessions=(seat.session,) if speaks else None,
    )
