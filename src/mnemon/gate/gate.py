"""The gate: the only door inward. The order of its checks is fixed:

     1  cap_missing               401   no cap
     2  cap_malformed             401   can't be read
     3  cap_sig_invalid           401   not ours, altered, or wider than its parent
     4  cap_expired               401   outside its time
     5  cap_revoked               401   withdrawn
     6  cap_pop_invalid           401   bound, and no proof of this very request
     7  cap_op_mismatch           403   does not grant the operation
     8  cap_data_class_mismatch   403   of another data class
     9  invalid_input             400   the request can't be read
    10  cap_scope_mismatch        403   another workspace, actor or session
    11  namespace_denied          403   the same whether or not anything is there
    12  body_too_large, line_too_long 413, rate_limited 429
    13  the work
    14  audit_unavailable         503   no audit row, no answer

Steps 1 to 3 are only counted: anyone can send junk. From step 4 on the cap is known to be ours,
and every refusal, failure and success leaves its row before the answer does. The row of a read
is in the log at once, and on the disk with the next change or refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event as Bell
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from mnemon.core.desk import Desk, Tools, Trace
from mnemon.domain.audit import OK, Event, Row
from mnemon.domain.cap import Chain
from mnemon.domain.limits import Limits
from mnemon.domain.names import ALL
from mnemon.domain.policy import check_need, check_reach
from mnemon.domain.proof import Bound
from mnemon.domain.register import WORKSPACE
from mnemon.errors import AuditUnavailable, MnemonError, Unauthenticated, Unavailable
from mnemon.gate.admission import Credentials, Porter, burn_proof, home_of
from mnemon.gate.case import Case, Outcome
from mnemon.gate.conversation.rights import Rights
from mnemon.gate.messages import Request
from mnemon.gate.operation import Operation
from mnemon.gate.rate import RateLimit
from mnemon.gate.vitals import Vitals, look
from mnemon.gate.watched import WatchedBook
from mnemon.ports.book import Book, Transaction
from mnemon.ports.clock import Clock
from mnemon.ports.keyring import Keyring
from mnemon.ports.observer import LINES, OPERATION, Observer, Watched

_Found = TypeVar("_Found")


class Asked(Struct, gc=False):
    """One operation asked for with one cap, at one moment."""

    operation: Operation
    chain: Chain
    credentials: Credentials
    now: int
    log: str
    """The workspace whose log tells of it."""
    namespaces: Sequence[str] = ()
    """What the request reaches for, as soon as that is known."""
    counted: bool = False
    """Whether it was counted against the cap's rate: it may be looked at twice, before a write."""


class Gate:
    def __init__(self, *, book: Book, keyring: Keyring, clock: Clock, tools: Tools) -> None:
        self._book = book
        self._keyring = keyring
        self._clock = clock
        self._tools = tools
        self._porter = Porter(keyring)
        self._rate = RateLimit(tools.limits.requests_per_minute)
        self.junk = 0
        self.bell: Bell | None = None
        """Rung when a request left work behind."""
        self._observer: Observer | None = None

    def observe(self, observer: Observer) -> None:
        """Have every request, its transactions and the calls of its model watched from now on."""
        self._observer = observer
        self._book = WatchedBook(self._book, observer)
        if self._tools.model is not None:
            self._tools.model.observe(observer)

    @property
    def reasoner(self) -> str:
        """What answers in words are made by."""
        model = self._tools.model
        return self._tools.reasoner.name if model is None else model.name

    def thinking(self) -> dict[str, str]:
        """What anybody may know of the model and the embedder: whether there is one, and whether it works."""
        model, meaning = self._tools.model, self._tools.meaning
        told = {"embedder": "none"} if meaning.embedder is None else {"embedder": _works(meaning.trouble)}
        if model is None:
            return told
        return {**told, "reasoner": "model", "model": _works(model.standing(ALL).trouble)}

    def probe(self) -> None:
        """Reach for the store, as a request that leaves its row has to. Raises: MnemonError if that fails."""
        with self._book.claim() as tx:
            tx.work.next_due()

    def vitals(self) -> Vitals:
        """How the installation is, in numbers, for whoever may see them. Raises: Unavailable."""
        with self._book.read() as tx:
            return look(tx, self._tools, self._clock.now())

    @property
    def limits(self) -> Limits:
        return self._tools.limits

    def bind(self, operation: Operation, request: Request) -> Bound:
        """What a proof of possession is made over when the gate is called in process."""
        return Bound("CALL", operation.name, msgspec.json.encode(request))

    def call(
        self,
        operation: Operation,
        credentials: Credentials,
        request: Request | Callable[[], Request],
    ) -> Any:
        """The answer to one request; `request` may be a function that reads it once the cap is admitted.

        Raises: MnemonError; whatever the cap allowed or refused is in the audit log by then.
        """
        if self._observer is None:
            return self._call(operation, credentials, request)
        with self._observer.watch(OPERATION, operation.name) as watched:
            return self._call(operation, credentials, request, watched)

    def _call(
        self,
        operation: Operation,
        credentials: Credentials,
        request: Request | Callable[[], Request],
        watched: Watched | None = None,
    ) -> Any:
        try:
            chain = self._porter.authenticate(credentials.token)
        except Unauthenticated:
            self.junk += 1
            raise
        asked = Asked(operation, chain, credentials, self._clock.now(), home_of(chain.grant))
        try:
            if chain.bound:
                self._burn_proof(asked)
            outcome, row = self._transact(asked, request)
        except Unavailable:
            raise  # The row of this failure would fail the same way.
        except MnemonError as error:
            self._record(asked, error.code, Trace(asked.namespaces))
            raise
        if watched is not None:
            watched.count(LINES, len(outcome.trace.lines))
        return outcome.answer(row) if callable(outcome.answer) else outcome.answer

    def _burn_proof(self, asked: Asked) -> None:
        with self._book.write(asked.log) as tx:
            self._porter.check_alive(tx, asked.chain, asked.now)
            burn_proof(tx, asked.credentials, asked.chain.grant, asked.now)

    def _transact(self, asked: Asked, request: Request | Callable[[], Request]) -> tuple[Outcome, Row]:
        workspace = asked.chain.grant.workspace
        if asked.operation.prepare is not None:
            with self._book.read(workspace) as tx:
                admitted = self._perform(tx, asked, request, lambda case, message: message)
            request = asked.operation.prepare(self._tools, admitted)
        reading = asked.operation.peek if asked.operation.writes else asked.operation.work
        if reading is not None:
            with self._book.read(workspace) as tx:
                found = self._perform(tx, asked, request, reading)
            if found is not None:
                return found, self._record(asked, OK, found.trace, lasting=False)
        with self._book.write(workspace) as tx:
            outcome = self._perform(tx, asked, request, asked.operation.work)
            row = _append(tx, asked, OK, outcome.trace)
        if asked.operation.rings and self.bell is not None:
            self.bell.set()
        return outcome, row

    def _perform(
        self,
        tx: Transaction,
        asked: Asked,
        request: Request | Callable[[], Request],
        work: Callable[[Case, Any], _Found],
    ) -> _Found:
        grant, operation = asked.chain.grant, asked.operation
        self._porter.check_alive(tx, asked.chain, asked.now)
        check_need(grant, operation.need)
        message = request() if callable(request) else request
        reach = operation.reach(message)
        asked.namespaces = reach.namespaces or ()
        scope = check_reach(grant, reach)
        if not asked.counted:
            self._rate.check(asked.chain.blocks[0].jti, asked.now)
            asked.counted = True
        desk = Desk(tx, scope, grant.jti, asked.now, self._tools)
        token = asked.credentials.token or ""

        def again(look: Callable[[Case], Outcome]) -> Outcome:
            return self._look_again(asked, message, look)

        case = Case(desk, asked.chain, token, self._keyring, self._book, again, Rights(desk, grant))
        if operation.admit is None:
            return work(case, message)
        if _is_known(tx, scope.workspace):
            asked.log = scope.workspace
        operation.admit(case.rights, message)
        outcome = work(case, message)
        if asked.log != scope.workspace and _is_known(tx, scope.workspace):
            asked.log = scope.workspace
        return outcome

    def _look_again(self, asked: Asked, message: Request, look: Callable[[Case], Outcome]) -> Outcome:
        """Read once more for a request whose transaction is over, as if it came now."""
        now = Asked(asked.operation, asked.chain, asked.credentials, self._clock.now(), asked.log)
        try:
            with self._book.read(asked.chain.grant.workspace) as tx:
                found = self._perform(tx, now, message, lambda case, _: look(case))
        except Unavailable:
            raise
        except MnemonError as error:
            self._record(now, error.code, Trace(now.namespaces))
            raise
        self._record(now, OK, found.trace, lasting=False)
        return found

    def _record(self, asked: Asked, outcome: str, trace: Trace, *, lasting: bool = True) -> Row:
        try:
            with self._book.write(asked.log, lasting=lasting) as tx:
                return _append(tx, asked, outcome, trace)
        except Unavailable as error:
            raise AuditUnavailable(f"the audit log can't be written: {error.detail}") from error


def _works(trouble: str) -> str:
    return "resting" if trouble else "ok"


def _is_known(tx: Transaction, workspace: str) -> bool:
    return tx.register.entry(workspace, WORKSPACE, workspace) is not None


def _append(tx: Transaction, asked: Asked, outcome: str, trace: Trace) -> Row:
    """Raises: AuditUnavailable."""
    grant = asked.chain.grant
    event = Event(
        at=asked.now,
        actor=grant.actor,
        cap=grant.jti,
        operation=asked.operation.name,
        outcome=outcome,
        namespaces=trace.namespaces,
        lines=trace.lines,
        detail=trace.detail,
    )
    try:
        return tx.audit.append(asked.log, event)
    except Unavailable as error:
        raise AuditUnavailable(f"the audit log can't be written: {error.detail}") from error
