"""An operation: the right it needs, what its request reaches for, its work, and what that work may use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from souvenance.core.remember import Upcoming
from souvenance.core.request_context import NO_TRACE, RequestContext, Services, Trace
from souvenance.domain.audit import Row
from souvenance.domain.capability import Chain
from souvenance.domain.policy import Need, Reach
from souvenance.gate import messages as m
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
        self.ctx.services.vault.forget()
        self.ctx.services.index.forget()
        self.ctx.services.memo.forget()
        return self.store.scrub()


class Outcome(Struct, frozen=True, gc=False):
    """The answer, or how to make it once the audit row is written, and what that row says."""

    answer: Answer | Callable[[Row], Answer]
    trace: Trace = NO_TRACE


class Operation(Struct, frozen=True):
    name: str
    need: Need
    request: type[m.Request]
    answer: type[m.Answer]
    work: Callable[[AuthorisedRequest, Any], Outcome]
    reach: Callable[[Any], Reach] = lambda request: Reach()
    verdict: bool = False
    """Whether all it does is judge the token: it looks at no line, and so takes next to no time."""
    writes: bool = False
    within: bool = False
    """For an operation that writes: whether that is within the one workspace that it reaches for, and so
    is its row in the log."""
    question: Callable[[Any], str | None] = lambda request: None
    """What is asked of memory in words, if anything is."""
    admit: Callable[[Rights, Any], None] | None = None
    """What else the cap must allow, once the workspace can be looked at."""
    prepare: Callable[[Services, Any], m.Request] | None = None
    """What is done with an admitted request before the store is written to, so that nobody waits for it."""
    texts: Callable[[Any], Iterable[Upcoming]] | None = None
    """The texts that it stores. Long ones are analysed before the store is written to, so that nobody waits
    for it."""
    waits: bool = False
    """Whether its answer may wait for something beyond the store."""
    rings: bool = False
    """Whether it may leave work behind."""
    peek: Callable[[AuthorisedRequest, Any], Outcome | None] | None = None
    """For an operation that writes: the outcome if nothing has to be written, found by reading alone."""
