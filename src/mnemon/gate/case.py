"""A case: one admitted request with everything its work may use, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from mnemon.core.desk import NO_TRACE, Desk, Trace
from mnemon.domain.audit import Row
from mnemon.domain.cap import Chain
from mnemon.gate.conversation.rights import Rights
from mnemon.gate.messages import Answer
from mnemon.ports.book import Book
from mnemon.ports.keyring import Keyring


class Case(Struct, frozen=True, gc=False):
    desk: Desk
    chain: Chain
    token: str
    keyring: Keyring
    book: Book
    again: Callable[[Callable[[Case], Outcome]], Outcome]
    """Looks again for the same request once its own transaction is over: the cap is judged anew, and the
    look leaves a row of its own. Raises: MnemonError."""
    rights: Rights

    def scrub(self) -> bool:
        """After something was erased: out of memory, and out of the files; False if that must wait."""
        self.desk.tools.vault.forget()
        self.desk.tools.index.forget()
        self.desk.tools.memo.forget()
        return self.book.scrub()


class Outcome(Struct, frozen=True, gc=False):
    """The answer, or how to make it once the audit row is written, and what that row says."""

    answer: Answer | Callable[[Row], Answer]
    trace: Trace = NO_TRACE
