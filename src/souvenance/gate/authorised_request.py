"""One authorised request with everything its work may use, and its outcome."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from souvenance.core.request_context import NO_TRACE, RequestContext, Trace
from souvenance.domain.audit import Row
from souvenance.domain.capability import Chain
from souvenance.gate.messages import Answer
from souvenance.gate.rights import Rights
from souvenance.ports.keyring import Keyring
from souvenance.ports.store import Store


class AuthorisedRequest(Struct, frozen=True, gc=False):
    ctx: RequestContext
    chain: Chain
    token: str
    keyring: Keyring
    store: Store
    again: Callable[[Callable[[AuthorisedRequest], Outcome]], Outcome]
    """Looks again for the same request once its own transaction is over: the cap is judged anew, and the
    look leaves a row of its own. Raises: SouvenanceError."""
    rights: Rights

    def scrub(self) -> bool:
        """After something was erased: out of memory, and out of the files; False if that must wait."""
        self.ctx.tools.vault.forget()
        self.ctx.tools.index.forget()
        self.ctx.tools.memo.forget()
        return self.store.scrub()


class Outcome(Struct, frozen=True, gc=False):
    """The answer, or how to make it once the audit row is written, and what that row says."""

    answer: Answer | Callable[[Row], Answer]
    trace: Trace = NO_TRACE
