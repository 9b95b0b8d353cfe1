"""The background worker: runs the jobs of the job list, each audited like a request.

A piece is claimed for a while, thought about outside any transaction, and stored together with its
leaving the list; so a crash loses nothing, and does nothing twice. What a reasoner can't do for now is
tried again until it can; what fails by a defect of ours is given up after some tries, and told.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import TypeVar

import msgspec

from souvenance.core.conversation import derive, directory
from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.derive import dream
from souvenance.core.conversation.summarise import by_quotes, keep_summary, read_stretch
from souvenance.core.embedding import embed_some, every_compartment, notice, renew_some
from souvenance.core.request_context import RequestContext, Services, own_context, own_event
from souvenance.core.retention import Retention
from souvenance.decoders import settled
from souvenance.domain.audit import OK
from souvenance.domain.directory import DELIVER, DERIVE, DREAM, REASONING, SUMMARISE, WEBHOOK, Task
from souvenance.domain.webhooks import retry_after_ms, sign
from souvenance.errors import ModelBudgetSpent, ModelUnavailable, ModelUnusable, SouvenanceError, Unavailable
from souvenance.pauses import Idle
from souvenance.ports.clock import Clock
from souvenance.ports.model import Model
from souvenance.ports.observer import WORK, Observer
from souvenance.ports.store import Store, Transaction
from souvenance.ports.webhook_sender import Undelivered, WebhookDelivery

LEASE_MS = 30 * 1000
MODEL_LEASE_MS = 10 * LEASE_MS
"""For how long work is claimed where a model thinks about it."""
MOST_AT_ONCE = 50
MOST_IN_A_STRETCH = 500
"""How many jobs of a session are claimed together where a model reads them."""
MOST_TRIES = 8
MOST_UNUSABLE = 3
"""How often a model is asked about one piece that it answers with what can't be used."""
_LONGEST_WAIT_MS = 5 * 60 * 1000
_LONGEST_ASKED_MS = 60 * 60 * 1000
_LOOK_SECONDS = 1.0
"""How often it looks for work that nobody rings for."""
_HEARING_SECONDS = 30.0
"""How often it looks where processes announce new work: in case that an announcement was lost."""
_LULL_SECONDS, _LULL_TIMES = 0.1, 5
"""Woken after a rest, it begins once no request came for so long, and in any case after so many times."""
_SENDERS = 4


_Found = TypeVar("_Found")


class _Lost(Exception):
    """The tasks are no longer ours: someone else does them, or what they are about was deleted."""


class Worker:
    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        services: Services,
        secret: Callable[[], bytes],
        report: Callable[[str], None],
        wake: threading.Event | None = None,
        idle: Idle | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._services = services
        self._secret = secret
        self._report = report
        self._lease = LEASE_MS if services.model is None else MODEL_LEASE_MS
        self._most = MOST_AT_ONCE if services.model_for(DERIVE) is None else MOST_IN_A_STRETCH
        self._name = services.entropy.take(8).hex()
        self._after = ""
        """The workspace that work was last done for: the others come first."""
        self._senders = ThreadPoolExecutor(_SENDERS, "souvenance-webhooks")
        self._retention = Retention(store, services, clock)
        self._idle = idle or Idle()
        self.wake = wake or threading.Event()
        """Rung when there may be work."""
        self.hears = False
        """Whether it is woken for work that other processes add, too."""
        self.busy = False
        """Whether a piece of work is under way."""
        self.observer: Observer | None = None
        """Sees each piece of work."""
        self.paused: Callable[[], bool] = lambda: False
        """While this is true, no piece of work is begun; lines are still indexed."""

    def run(self, stopped: threading.Event) -> None:
        """Work until stopped; what is under way is finished first."""
        looked = False
        while True:
            self.wake.clear()
            if stopped.is_set():
                break
            try:
                if not looked:
                    self.look_round()
                    looked = True
                found = self.work_once()
            except SouvenanceError as error:
                self._report(f"the work waits: {error.detail}")
                found = False
            if not found and self.wake.wait(self._rest()):
                self._idle.wait(_LULL_SECONDS, _LULL_TIMES, stopped)
        self._senders.shutdown()

    def look_round(self) -> None:
        """Look at every compartment for lines that another process left. Raises: Unavailable."""
        notice(self._store)
        if self._services.meaning.embedder is not None:
            with self._store.read() as tx:
                self._services.meaning.touch(every_compartment(tx))

    def work_once(self) -> bool:
        """Do the next piece of work; whether there was one. Raises: Unavailable."""
        self.busy = True
        try:
            return self._work_once()
        finally:
            self.busy = False

    def _work_once(self) -> bool:
        tidied = self.tidy()
        if self.paused():
            return tidied
        now = self._clock.now()
        with self._store.read() as tx:
            due = tx.work.is_due(now)
        if not due:
            if not tidied:
                self._retention.scrub()
            return tidied
        until, after = now + self._lease, self._after
        with self._store.claim() as tx:
            tasks = tx.work.claim(self._name, now=now, until=until, most=self._most, after=after)
        if not tasks:
            return False
        self._after = tasks[0].workspace
        if tasks[0].kind == DELIVER:
            self._senders.submit(self._attempt, tasks)
        else:
            self._attempt(tasks)
        return True

    def hurry(self, workspace: str, session: str) -> None:
        """Have what is new in a session read now, as if it were quiet. Raises: Unavailable."""
        if self._services.model_for(DERIVE) is None:
            return
        with self._store.write(workspace) as tx:
            tx.work.defer(workspace, session, DERIVE, self._clock.now())
        self.wake.set()

    def tidy(self) -> bool:
        """Remove, reindex or embed some lines; whether there were any. Raises: Unavailable."""
        parts = self._store, self._services
        return self._retain() or renew_some(*parts) or embed_some(*parts)

    def _retain(self) -> bool:
        """Remove some of what is over; whether there was any. What fails holds up nothing else."""
        try:
            return self._retention.remove_some()
        except Unavailable:
            raise
        except SouvenanceError as error:
            self._retention.postpone()
            self._report(f"what is over can't be removed: {error.detail}")
            return False

    def _rest(self) -> float:
        """For how many seconds there is nothing to do, unless it is woken."""
        if self.paused():
            return _LOOK_SECONDS
        longest = _HEARING_SECONDS if self.hears and not self._services.meaning.owes else _LOOK_SECONDS
        try:
            with self._store.read() as tx:
                due = tx.work.next_due()
        except Unavailable:
            return _LOOK_SECONDS
        wait = longest if due is None else (due - self._clock.now()) / 1000
        return min(max(wait, 0.0), longest)

    def _attempt(self, tasks: Sequence[Task]) -> None:
        watched = nullcontext() if self.observer is None else self.observer.watch(WORK, tasks[0].kind)
        try:
            with watched, suppress(_Lost):
                self._do(tasks)
        except Unavailable as error:
            self._postpone(tasks, error)
        except Exception as error:  # noqa: BLE001 - one piece of work that fails must not stop the others
            if len(tasks) > 1:
                for task in tasks:
                    self._attempt([task])
                return
            self._report(f"{tasks[0].kind} failed: {type(error).__name__}")
            if tasks[0].attempts < MOST_TRIES:
                self._postpone(tasks, error)
            else:
                code = why = error.code if isinstance(error, SouvenanceError) else "internal_error"
                if not isinstance(error, SouvenanceError):
                    why += f": {type(error).__name__}"
                self._finish(tasks, lambda ctx: Changes(), outcome=code, failed=why)

    def _do(self, tasks: Sequence[Task]) -> None:
        if tasks[0].kind == DERIVE:
            self._derive(tasks)
            return
        work = {SUMMARISE: self._summarise, DREAM: self._dream, DELIVER: self._deliver}[tasks[0].kind]
        for task in tasks:
            work(task)

    def _derive(self, tasks: Sequence[Task]) -> None:
        with self._store.read(tasks[0].workspace) as tx:
            ctx = self._ctx(tx, tasks[0])
            stretch = None if ctx.services.model_for(DERIVE) is None else derive.read_for_model(ctx, tasks)
        if stretch is not None:
            found = self._by_model(tasks[0], lambda model: model.revise(tasks[0].workspace, stretch.reading))
            if found is not None:
                self._finish(tasks, lambda ctx: derive.keep_revisions(ctx, stretch, found))
                return
        self._derive_by_rule(tasks)

    def _derive_by_rule(self, tasks: Sequence[Task]) -> None:
        session = tasks[0].session or ""
        passages = []
        for about, own in derive.by_peer(tasks).items():
            with self._store.read(tasks[0].workspace) as tx:
                passages.append(derive.read_passage(self._ctx(tx, tasks[0]), own, session, about))

        def keep(ctx: RequestContext) -> Changes:
            changes = Changes()
            for passage in passages:
                changes.join(derive.keep_statements(ctx, passage))
            return changes

        self._finish(tasks, keep)

    def _summarise(self, task: Task) -> None:
        with self._store.read(task.workspace) as tx:
            stretch = read_stretch(self._ctx(tx, task), task)
        if stretch is None:
            self._finish([task], lambda ctx: Changes())
            return
        inputs = stretch.earlier, stretch.turns, stretch.most_tokens, self._services.tokenizer.count
        text = None
        if stretch.turns and self._services.model_for(SUMMARISE) is not None:
            text = self._by_model(task, lambda model: model.summarise(task.workspace, *inputs))
        summary = text or by_quotes(*inputs)
        self._finish([task], lambda ctx: keep_summary(ctx, stretch, summary, by_model=bool(text)))

    def _by_model(self, task: Task, think: Callable[[Model], _Found]) -> _Found | None:
        """What the model says; None if its budget is spent or its replies are no use. Raises: Unavailable."""
        model = self._services.model_for(task.kind)
        if model is None:
            return None
        try:
            return think(model)
        except ModelBudgetSpent:
            return None
        except ModelUnusable as error:
            if task.attempts < MOST_UNUSABLE:
                raise
            self._report(f"{task.kind} without the model, after {task.attempts} tries: {error.detail}")
            return None

    def _dream(self, task: Task) -> None:
        observer, about = msgspec.json.decode(task.payload)["observer"], task.peer or ""
        self._finish([task], lambda ctx: dream(ctx, observer, about, task.namespace))

    def _deliver(self, task: Task) -> None:
        if task.until is not None and task.until <= self._clock.now():
            raise _Lost  # It waited for a webhook sender too long; the next that claims it delivers it.
        delivery = msgspec.json.decode(task.payload, type=settled(directory.Delivery))
        with self._store.read(task.workspace) as tx:
            entry = tx.directory.entry(task.workspace, WEBHOOK, delivery.endpoint)
        outcome, why = "gone", ""
        if entry is not None:
            body = delivery.body.encode()
            try:
                self._services.webhook_sender.deliver(
                    WebhookDelivery(directory.webhook_url(entry), body, sign(self._secret(), body))
                )
                outcome = OK
            except Undelivered as error:
                wait = retry_after_ms(task.attempts) if error.retry else None
                if wait is not None:
                    with self._store.write(task.workspace) as tx:
                        tx.work.postpone(task, self._clock.now() + wait)
                    return
                outcome, why = "undelivered", f"undelivered: {error.reason}"
        self._finish([task], lambda ctx: Changes(), outcome=outcome, failed=why)

    def _finish(
        self,
        tasks: Sequence[Task],
        keep: Callable[[RequestContext], Changes],
        *,
        outcome: str = OK,
        failed: str = "",
    ) -> None:
        """Store what came of the tasks and take them off the list, at once or not at all. `failed` says why
        they were given up: they are kept, to be tried again."""
        with self._store.write(tasks[0].workspace) as tx:
            ctx = self._ctx(tx, tasks[0])
            for task in tasks:
                if not tx.work.finish(task):
                    raise _Lost
                if failed:
                    tx.work.keep_failed(task, failed, ctx.now)
            changes = keep(ctx)
            if tasks[0].kind != DELIVER:
                changes.namespaces.add(tasks[0].namespace)
            event = own_event(ctx.now, f"work.{tasks[0].kind}", changes.trace(), outcome)
            tx.audit.append(tasks[0].workspace, event)
            if tasks[0].kind != DELIVER:
                self._announce(ctx, tasks[0])

    def _announce(self, ctx: RequestContext, task: Task) -> None:
        """Tell the webhooks when nothing is left to do for the session."""
        if not directory.endpoints(ctx):
            return
        if not ctx.tx.work.left(task.workspace, task.session, REASONING, task.namespace):
            kind = "summary" if task.kind == SUMMARISE else "representation"
            directory.announce(
                ctx, "queue.empty", queue_type=kind, session_id=task.session, sender_id=task.peer
            )

    def _postpone(self, tasks: Sequence[Task], error: Exception) -> None:
        wait = min(1000 * 2 ** min(tasks[0].attempts, 20), _LONGEST_WAIT_MS)
        if isinstance(error, ModelUnavailable):
            wait = max(wait, min(1000 * (error.retry_after or 0), _LONGEST_ASKED_MS))
            if tasks[0].attempts == 1:
                self._report(f"{tasks[0].kind} waits for the model: {error.detail}")
        try:
            with self._store.write(tasks[0].workspace) as tx:
                for task in tasks:
                    tx.work.postpone(task, self._clock.now() + wait)
        except Unavailable as error:
            self._report(f"the work waits for its lease to end: {error.detail}")

    def _ctx(self, tx: Transaction, task: Task) -> RequestContext:
        return own_context(tx, self._services, task.workspace, task.namespace, self._clock.now())
