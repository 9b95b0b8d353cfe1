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

Steps 1 to 3 leave no row: anyone can send junk. From step 4 on the cap is known to be ours,
and every refusal, failure and success leaves its row before the answer does. The row of a read
is in the log at once, and on the disk with the next change or refusal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
from msgspec import Struct

from souvenance.core.remember import analysed_ahead, keys_ahead
from souvenance.core.request_context import RequestContext, Services, Trace
from souvenance.core.search import foresee
from souvenance.domain import ulid
from souvenance.domain.audit import OK, Event, Row
from souvenance.domain.capability import Chain, Grant, Revocation
from souvenance.domain.directory import WORKSPACE
from souvenance.domain.limits import Limits
from souvenance.domain.names import ALL
from souvenance.domain.policy import check_need, check_reach
from souvenance.domain.proof import Bound
from souvenance.errors import (
    AuditUnavailable,
    CapPopInvalid,
    Denied,
    RateLimited,
    SouvenanceError,
    Unauthenticated,
    Unavailable,
    Unsupported,
)
from souvenance.gate.messages import Nothing, Request
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome, Rights
from souvenance.gate.token_verifier import Credentials, RateLimit, TokenVerifier, home_of, used_before
from souvenance.pauses import Idle, never_pause
from souvenance.ports.clock import Clock
from souvenance.ports.keyring import Keyring
from souvenance.ports.observer import LINES, OPERATION, Observer, Watched
from souvenance.ports.store import LateRow, LateRows, Store, Transaction

if TYPE_CHECKING:
    from souvenance.gate.health import Health


_Found = TypeVar("_Found")
_LONG_CHARS = 4096
_LOOK_EVERY_MS = 1000
_LATE_KNOWN_MS = 366 * 24 * 3600 * 1000
"""How long the store recognises a late verdict and its proof, so that neither counts twice."""


_Given = Request | Callable[[], Request]
"""A request, or what reads it once the cap is admitted."""


class GateRequest(Struct, gc=False):
    operation: Operation
    chain: Chain
    credentials: Credentials
    request: _Given
    now: int
    log: str
    """The workspace whose log has the row of this request."""
    namespaces: Sequence[str] = ()
    """What the request reaches for, as soon as that is known."""
    together: dict[Hashable, Any] | None = None
    """What was found out for those that are asked together with it, in one transaction."""
    ahead: Collection[str] = ()
    """Questions that are asked together with it, later."""
    counted: bool = False
    """Whether it was counted against the cap's rate. A write may be checked twice and is counted once."""
    withdrawn: list[Revocation] = []

    def read(self) -> Request:
        """The request, which is read once. Raises: SouvenanceError."""
        if callable(self.request):
            self.request = self.request()
        return self.request


class Gate:
    def __init__(
        self,
        *,
        store: Store,
        keyring: Keyring,
        clock: Clock,
        services: Services,
        late: LateRows | None = None,
    ) -> None:
        self._store = store
        self._keyring = keyring
        self._clock = clock
        self._services = services
        self.verifier = TokenVerifier(keyring)
        self._late = late
        self._look_at = 0
        """From when on to look for late verdicts again: another process on the data folder may keep some."""
        self.computing: Callable[[str, Callable[[], Any]], Any] = self._one_at_a_time
        """Runs what a request computes before it writes, one at a time: more would take the interpreter from
        requests that wait for a verdict. A server runs it in turn with its searches."""
        self._turn = threading.Lock()
        self._rate = RateLimit(services.limits.requests_per_minute)
        self.idle = Idle()
        """Background work waits for it."""
        self.wake: threading.Event | None = None
        """Set when a request adds background work."""
        self._observer: Observer | None = None

    def _one_at_a_time(self, caller: str, work: Callable[[], _Found]) -> _Found:
        with self._turn:
            return work()

    def observe(self, observer: Observer) -> None:
        """Show every request, its transactions and its model calls to the observer from now on."""
        from souvenance.core.store_wrapper import TracedStore

        self._observer = observer
        self._store = cast("Store", TracedStore(self._store, observer))
        if self._services.model is not None:
            self._services.model.observe(observer)

    @property
    def reasoner(self) -> str:
        """What makes answers in words: a model or quotations."""
        return self._services.reasoner

    def thinking(self) -> dict[str, str]:
        """Whether there are a model and an embedder, and whether they work. Anybody may know that."""
        model, meaning = self._services.model, self._services.meaning
        state = {"embedder": "none"} if meaning.embedder is None else {"embedder": _works(meaning.trouble)}
        if model is None:
            return state
        return {**state, "reasoner": "model", "model": _works(model.standing(ALL).trouble)}

    def probe(self) -> None:
        """Check that the store can be written to. Raises: SouvenanceError."""
        with self._store.claim() as tx:
            tx.work.next_due()

    def health(self) -> Health:
        """The state of the installation in numbers. Raises: Unavailable."""
        from souvenance.gate.health import look

        with self._store.read() as tx:
            return look(tx, self._services, self._clock.now())

    def caller(self, credentials: Credentials) -> str:
        """Whose token it is, as in `recognised`; "" if it is not one of ours."""
        try:
            return self.recognised(credentials.token)
        except Unauthenticated:
            return ""

    def admit(self, operation: Operation, credentials: Credentials, full: RateLimited | None = None) -> None:
        """Refuse a request that has to wait, if its cap does not grant it, or as it is `full` already.

        Raises: Unauthenticated, Denied, Unavailable, `full`; a refusal is in the audit log by then.
        """
        asked = self._asked(operation, credentials, Nothing())
        grant = asked.chain.grant
        try:
            with self._store.read(grant.workspace) as tx:
                self.verifier.check_alive(tx, asked.chain, asked.now)
            check_need(grant, operation.need)
            if full is not None:
                raise full
        except (Unauthenticated, Denied, RateLimited) as error:
            self._record(asked, error)
            raise

    def judge_late(
        self,
        operation: Operation,
        credentials: Credentials,
        request: Request,
        why: Unavailable,
        *,
        grants: bool,
    ) -> Grant:
        """What a cap grants while the store is out of reach, if anything may be granted then.

        A withdrawal since the last look can't be known: nothing of memory may be given for it. The verdict
        is kept where the store is not, and becomes a row of the log once the store is back.

        Raises: Unauthenticated, Denied, RateLimited; `why` if nothing may be granted, or nothing is kept.
        """
        asked = self._asked(operation, credentials, request)
        chain = asked.chain
        try:
            shown = self.verifier.check_late(credentials, chain, asked.now)
            check_need(chain.grant, operation.need)
            check_reach(chain.grant, operation.reach(request))
            self._rate.check(chain.blocks[0].jti, asked.now)
            if not grants:
                raise why
            self._keep_late(asked, OK, why, shown)
        except SouvenanceError as error:
            self._keep_late(asked, error.code, why)
            raise
        return chain.grant

    def _keep_late(self, asked: GateRequest, outcome: str, why: Unavailable, shown: str = "") -> None:
        if self._late is None:
            raise why
        row_id = ulid.compose(asked.now, self._services.entropy.take(ulid.ENTROPY_BYTES))
        event = _event(asked, outcome, Trace(detail=f"late={row_id}"))
        try:
            kept = self._late.add(LateRow(row_id, asked.log, event, shown))
        except Unavailable as error:
            raise why from error
        if not kept:
            raise used_before()
        self._look_at = 0

    def append_late(self) -> None:
        """Append the verdicts that were kept while the store was out of reach, each once.

        If it still is, they wait for the next time.
        """
        self._look_at = self._clock.now() + _LOOK_EVERY_MS
        with suppress(Unavailable):
            self._drain_late()

    def _drain_late(self) -> None:
        """Raises: Unavailable."""
        if self._late is not None and self._late.waiting:
            self._late.drain(self._append_late_rows)

    def _append_late_rows(self, rows: Sequence[LateRow]) -> None:
        for workspace in sorted({row.workspace for row in rows}):
            with self._store.write(workspace) as tx:
                for row in [one for one in rows if one.workspace == workspace]:
                    at = row.event.at
                    if tx.caps.burn(workspace, row.id, at, at + _LATE_KNOWN_MS):
                        tx.audit.append(workspace, row.event)
                    if row.proof:
                        tx.caps.burn(workspace, row.proof, at, at + _LATE_KNOWN_MS)

    @property
    def limits(self) -> Limits:
        return self._services.limits

    @contextmanager
    def still(self) -> Iterator[Gate]:
        """A gate, for one thread, to which the store is meanwhile as it was at the first request.

        What it writes is written; what others write, withdrawals of caps too, it does not see.
        """
        from copy import copy

        from souvenance.core.store_wrapper import SnapshotStore

        with ExitStack() as looks:
            gate = copy(self)
            gate._store = cast("Store", SnapshotStore(self._store, looks))
            yield gate

    def bind(self, operation: Operation, request: Request) -> Bound:
        """What a proof of possession signs when the gate is called in the same process."""
        return Bound("CALL", operation.name, msgspec.json.encode(request))

    def _asked(self, operation: Operation, credentials: Credentials, request: _Given) -> GateRequest:
        """Raises: Unauthenticated."""
        chain = self.verifier.authenticate(credentials.token)
        return GateRequest(operation, chain, credentials, request, self._clock.now(), home_of(chain.grant))

    def call(self, operation: Operation, credentials: Credentials, request: _Given) -> Any:
        """The answer to one request.

        Raises: SouvenanceError; what the cap allowed or refused is in the audit log by then.
        """
        with self.idle:
            if self._observer is None:
                return self._call(self._asked(operation, credentials, request))
            with self._observer.watch(OPERATION, operation.name) as watched:
                return self._call(self._asked(operation, credentials, request), watched)

    def call_all(
        self, credentials: Credentials, calls: Sequence[tuple[Operation, Request]]
    ) -> list[Any | SouvenanceError]:
        """The answers to requests that only read, as it is at one moment; of one that is refused, the error.

        What asks nothing in words is looked up first, while an embedder finds out where the questions lie.
        Each is judged, counted and recorded as if it had come alone.

        Raises: Unsupported, Unauthenticated, also for a bound cap, Unavailable.
        """
        if any(operation.writes for operation, _ in calls):
            raise Unsupported("only what reads can be asked together")
        chain = self.verifier.authenticate(credentials.token)
        if chain.bound:
            raise CapPopInvalid("a proof speaks for one request")
        now, log = self._clock.now(), home_of(chain.grant)
        together: dict[Hashable, Any] = {}
        every = [
            GateRequest(operation, chain, credentials, request, now, log, together=together)
            for operation, request in calls
        ]
        questions = [operation.question(request) for operation, request in calls]
        order = sorted(range(len(calls)), key=lambda at: bool(questions[at]))
        for first in order[:1]:
            every[first].ahead = dict.fromkeys(filter(None, questions))
        outcomes: dict[int, Outcome | SouvenanceError] = {}
        with self.idle, self._store.read(chain.grant.workspace) as tx:
            for at in order:
                outcomes[at] = self._looked_up(tx, every[at])
        found = [(asked, outcomes[at]) for at, asked in enumerate(every)]
        answers: list[Any | SouvenanceError] = []
        for _, some in groupby(found, key=lambda one: one[0].log):
            results = list(some)
            failed = any(isinstance(one, SouvenanceError) for _, one in results)
            rows = self._record_all(results, lasting=failed)
            answers += [_answer(one, row) for (_, one), row in zip(results, rows, strict=True)]
        return answers

    def _looked_up(self, tx: Transaction, asked: GateRequest) -> Outcome | SouvenanceError:
        try:
            if self._observer is None:
                return self._perform(tx, asked, asked.operation.work)
            with self._observer.watch(OPERATION, asked.operation.name) as watched:
                found = self._perform(tx, asked, asked.operation.work)
                watched.count(LINES, len(found.trace.lines))
                return found
        except Unavailable:
            raise
        except SouvenanceError as error:
            return error

    def recognised(self, token: str | None) -> str:
        """The id of the token that this one was made from. Only its signatures are checked.

        Raises: CapMissing, CapMalformed, CapSigInvalid.
        """
        return self.verifier.authenticate(token).blocks[0].jti

    def _call(self, asked: GateRequest, watched: Watched | None = None) -> Any:
        try:
            if asked.chain.bound:
                self._burn_proof(asked)
            outcome, row = self._transact(asked)
        except Unavailable:
            raise  # The row of this failure would fail the same way.
        except SouvenanceError as error:
            self._record(asked, error)
            raise
        if asked.now >= self._look_at:
            self.append_late()
        if watched is not None:
            watched.count(LINES, len(outcome.trace.lines))
        return _answer(outcome, row)

    def _burn_proof(self, asked: GateRequest) -> None:
        self._drain_late()  # It may have been accepted while the store was out of reach.
        with self._store.write(asked.log) as tx:
            self.verifier.check_alive(tx, asked.chain, asked.now)
            shown = self.verifier.burn(tx, asked.credentials, asked.chain.grant, asked.now)
        self.verifier.spend(shown, asked.now)

    def _transact(self, asked: GateRequest) -> tuple[Outcome, Row]:
        workspace = asked.chain.grant.workspace
        if asked.operation.prepare is not None or _brings_much(asked):
            with self._store.read(workspace) as tx:
                admitted = self._perform(tx, asked, lambda authorised, message: message)
            asked.request = self._prepared(asked, admitted)
        if asked.operation.verdict:
            with self._store.write(asked.log, lasting=False) as tx:
                outcome = self._perform(tx, asked, asked.operation.work)
                return outcome, _append(tx, asked, outcome)
        reading = asked.operation.peek if asked.operation.writes else asked.operation.work
        if reading is not None:
            with self._store.read(workspace) as tx:
                found = self._perform(tx, asked, reading)
            if found is not None:
                return found, self._record(asked, found, lasting=False)
        if asked.together is None:
            outcome, row = self._write(asked)
        else:  # Beside a thread that computes, much text would keep the store three times as long.
            outcome, row = self.computing(asked.chain.blocks[0].jti, lambda: self._write(asked))
        if asked.operation.rings and self.wake is not None:
            self.wake.set()
        return outcome, row

    def _write(self, asked: GateRequest) -> tuple[Outcome, Row]:
        place = _place_of(asked)
        with never_pause(), self._store.write(place) as tx:
            outcome = self._perform(tx, asked, asked.operation.work)
            asked.log = asked.log if place == ALL else place
            row = _append(tx, asked, outcome)
        self.verifier.made += asked.withdrawn
        return outcome, row

    def _prepared(self, asked: GateRequest, admitted: Request) -> Request:
        """The request as it is written, with what would take long found out before."""
        operation = asked.operation
        request = admitted if operation.prepare is None else operation.prepare(self._services, admitted)
        if operation.texts is not None:
            longest = self.limits.line_bytes
            texts = [one for one in operation.texts(request) if len(one.text) <= longest]
            scope = check_reach(asked.chain.grant, operation.reach(request))
            with self._store.read(asked.chain.grant.workspace) as tx:
                keys = keys_ahead(self._services, tx, scope, texts)
            asked.together = self.computing(
                asked.chain.blocks[0].jti, lambda: analysed_ahead(self._services, texts, keys, asked.now)
            )
        return request

    def _perform(
        self, tx: Transaction, asked: GateRequest, work: Callable[[AuthorisedRequest, Any], _Found]
    ) -> _Found:
        grant, operation = asked.chain.grant, asked.operation
        self.verifier.check_alive(tx, asked.chain, asked.now)
        check_need(grant, operation.need)
        message = asked.read()
        reach = operation.reach(message)
        asked.namespaces = reach.namespaces or ()
        scope = check_reach(grant, reach)
        if not asked.counted:
            self._rate.check(asked.chain.blocks[0].jti, asked.now)
            asked.counted = True
        known = {} if asked.together is None else asked.together
        ctx = RequestContext(tx, scope, grant.jti, asked.now, self._services, known)
        for question in asked.ahead:
            foresee(ctx, question)
        token = asked.credentials.token or ""

        def again(look: Callable[[AuthorisedRequest], Outcome]) -> Outcome:
            return self._look_again(asked, look)

        authorised = AuthorisedRequest(
            ctx, asked.chain, token, self._keyring, self._store, again, Rights(ctx, grant), asked.withdrawn
        )
        if operation.admit is None:
            return work(authorised, message)
        if _is_known(tx, scope.workspace):
            asked.log = scope.workspace
        operation.admit(authorised.rights, message)
        outcome = work(authorised, message)
        if asked.log != scope.workspace and _is_known(tx, scope.workspace):
            asked.log = scope.workspace
        return outcome

    def _look_again(self, asked: GateRequest, look: Callable[[AuthorisedRequest], Outcome]) -> Outcome:
        """Read again for a request whose transaction has ended, as if it came now."""
        now = GateRequest(
            asked.operation, asked.chain, asked.credentials, asked.request, self._clock.now(), asked.log
        )
        try:
            with self._store.read(asked.chain.grant.workspace) as tx:
                found = self._perform(tx, now, lambda authorised, _: look(authorised))
        except Unavailable:
            raise
        except SouvenanceError as error:
            self._record(now, error)
            raise
        self._record(now, found, lasting=False)
        return found

    def _record(self, asked: GateRequest, outcome: Outcome | SouvenanceError, *, lasting: bool = True) -> Row:
        return self._record_all([(asked, outcome)], lasting=lasting)[0]

    def _record_all(
        self, results: Sequence[tuple[GateRequest, Outcome | SouvenanceError]], *, lasting: bool
    ) -> list[Row]:
        """What came of each is in the log, which is the same for all."""
        try:
            with self._store.write(results[0][0].log, lasting=lasting) as tx:
                return [_append(tx, asked, outcome) for asked, outcome in results]
        except Unavailable as error:
            raise AuditUnavailable(f"the audit log can't be written: {error.detail}") from error


def _brings_much(asked: GateRequest) -> bool:
    """Whether the request brings texts that take long to analyse."""
    if asked.operation.texts is None:
        return False
    if callable(asked.request):
        return len(asked.credentials.request.body) > _LONG_CHARS
    return sum(len(one.text) for one in asked.operation.texts(asked.request)) > _LONG_CHARS


def _works(trouble: str) -> str:
    return "resting" if trouble else "ok"


def _place_of(asked: GateRequest) -> str:
    """The workspace that the request is written in.

    A cap of every workspace that writes within one holds up nobody who writes in others.
    """
    grant = asked.chain.grant
    if grant.workspace != ALL or not asked.operation.within:
        return grant.workspace
    try:
        return asked.operation.reach(asked.read()).workspace or home_of(grant)
    except SouvenanceError:
        return ALL  # It is refused in its turn, which is after the cap's.


def _is_known(tx: Transaction, workspace: str) -> bool:
    return tx.directory.entry(workspace, WORKSPACE, workspace) is not None


def _answer(outcome: Outcome | SouvenanceError, row: Row) -> Any | SouvenanceError:
    if isinstance(outcome, SouvenanceError):
        return outcome
    return outcome.answer(row) if callable(outcome.answer) else outcome.answer


def _append(tx: Transaction, asked: GateRequest, outcome: Outcome | SouvenanceError) -> Row:
    """Raises: AuditUnavailable."""
    trace = Trace(asked.namespaces) if isinstance(outcome, SouvenanceError) else outcome.trace
    event = _event(asked, outcome.code if isinstance(outcome, SouvenanceError) else OK, trace)
    try:
        return tx.audit.append(asked.log, event)
    except Unavailable as error:
        raise AuditUnavailable(f"the audit log can't be written: {error.detail}") from error


def _event(asked: GateRequest, outcome: str, trace: Trace) -> Event:
    grant = asked.chain.grant
    return Event(
        at=asked.now,
        actor=grant.actor,
        cap=grant.jti,
        operation=asked.operation.name,
        outcome=outcome,
        namespaces=trace.namespaces,
        lines=trace.lines,
        detail=trace.detail,
    )
