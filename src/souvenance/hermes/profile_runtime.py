"""What the providers of one profile share in a process.

A host makes a provider for every request and may never say that it is done with one. So whatever
costs something lives here, once: the backend, the write queue, a few threads, and what is known of
recent conversations.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from contextlib import nullcontext, suppress
from contextvars import copy_context
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory, Together, answer_or_error
from souvenance.agents.narrow_tokens import CallableGate, NarrowTokens
from souvenance.errors import (
    Denied,
    Misconfigured,
    ServerUnreachable,
    SouvenanceError,
    Unauthenticated,
    Unavailable,
)
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.hermes.backend_health import Breaker, FarGate, TimedGate
from souvenance.hermes.configuration import Complaint, Configuration
from souvenance.hermes.delivery import Content, DeliveryThread, QueueDelivery, lane_of
from souvenance.hermes.gc_pause import undisturbed
from souvenance.hermes.host import bound, home_key
from souvenance.hermes.recall import CachedConversation
from souvenance.hermes.state_files import DELAY, StateFiles
from souvenance.ports.write_queue import QueuedWrite, WriteQueue, WriteQueueStatus, WriteRefused

QUIET_SECONDS = 5.0
"""This long after the last turn ended, it is quiet."""
_LONGEST_TURN_SECONDS = 600.0
"""The host says nothing when a turn is interrupted. After this time a turn counts as over."""
_LONGEST_WAIT_SECONDS = 900.0
"""A gateway may never be quiet. After this time background work goes ahead."""


class TurnsUnderWay:
    """Thread-safe."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._begun: dict[object, float] = {}
        self._ended = now() - QUIET_SECONDS
        self._busy_since = now()
        self.context = copy_context()
        """The latest turn's context, or who made this: by it the host knows its model and who pays."""

    def begin(self, whose: object) -> None:
        """A turn begins. Call it on the turn's own thread."""
        now = self._now()
        with self._lock:
            if self._is_quiet(now):
                self._busy_since = now
            self._begun = {name: at for name, at in self._begun.items() if _runs(at, now)}
            self._begun[whose] = now
            self.context = copy_context()

    def end(self, whose: object) -> None:
        """A turn has its answer, or its session is over."""
        with self._lock:
            if self._begun.pop(whose, None) is not None:
                self._ended = self._now()

    def busy(self) -> bool:
        """Whether a turn is under way, or ended only just now."""
        with self._lock:
            now = self._now()
            return not self._is_quiet(now) and now - self._busy_since < _LONGEST_WAIT_SECONDS

    def _is_quiet(self, now: float) -> bool:
        return now - self._ended >= QUIET_SECONDS and not any(_runs(at, now) for at in self._begun.values())


def _runs(began: float, now: float) -> bool:
    return now - began < _LONGEST_TURN_SECONDS


_OWN_LOOKUPS = 4
"""Where memory is in this process, more at once would only take turns."""
_LOOKUPS = 24
"""Lookups at once over a network: more turns than a host runs by default."""
_CALLS = 4
"""Calls that a lookup makes at once beside its own. Each has a thread."""
_DIALECTICS = 12
_TOOL_CALLS = 12
CALLS_AT_ONCE = _LOOKUPS * (1 + _CALLS) + _DIALECTICS + _TOOL_CALLS + 1
"""All calls to a server at one moment, and one write."""
_LAST_WRITTEN_SECONDS = 10.0
"""The work on a finished session waits at most this long for its last turns to be written."""
_SILENT_SECONDS = 3.0
"""After this time without an answer to a turn, a server counts as silent."""
_MOST_LIVE = 1_000
_MOST_LOOKED_AT = 50
"""How many conversations each turn checks for messages that were undone."""
_MOST_ANSWERED = 10_000
_MOST_WARNINGS = 1_000

_GO_ON = "Go on without it: it is tried again by itself. 'hermes souvenance status' says more."

_log = logging.getLogger("souvenance.hermes")
_T = TypeVar("_T")


_IDLE_SECONDS = 10.0
_MOST_WAITING = 100


class ThreadPool:
    """A few threads that come and go. Where all are busy, work waits, up to so many pieces; more is refused.

    No thread keeps the process from ending. Work that is cancelled before a thread begins is not done.
    """

    def __init__(self, most: int, name: str, *, most_waiting: int = _MOST_WAITING) -> None:
        self._most = most
        self._name = name
        self._most_waiting = most_waiting
        self._given: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._unfinished = 0
        self._threads = 0

    def give(self, work: Callable[[], _T]) -> Future[_T] | None:
        """What will come of the work; None if too much waits already."""
        task: Future[_T] = Future()
        work = bound(work)
        with self._lock:
            if self._unfinished >= self._most + self._most_waiting:
                return None
            self._unfinished += 1
            self._given.put((task, work))
            if self._threads < min(self._most, self._unfinished):
                self._threads += 1
                # It outlives who gave the work, so each piece has a context of its own, and the thread none.
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: Future[Any]) -> None:
        with self._lock:
            self._unfinished -= 1

    def _run(self) -> None:
        while True:
            try:
                task, work = self._given.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._given.empty():
                        self._threads -= 1
                        return
                continue
            if task.set_running_or_notify_cancel():
                fulfil(task, work)
            del task, work


def fulfil(task: Future[_T], work: Callable[[], _T]) -> None:
    try:
        task.set_result(work())
    except BaseException as error:  # noqa: BLE001 - the future carries it to the caller
        task.set_exception(error)


class Backend(Struct):
    gate: CallableGate
    tokens: NarrowTokens
    delivery: QueueDelivery
    where: str
    """How messages to people name it."""
    together: Together | None = None
    """Asks several things at one moment, where memory is in this process."""
    far: FarGate | None = None
    """The gate once more, where it is over a network."""
    timeout: float = inf
    """In seconds, for one call over the network."""
    found: bool = False
    """Whether it was found rather than configured; then there may be another when it fails."""
    settle: Callable[[float], None] = lambda seconds: None
    """Gives the work that follows from what was written that long to be done."""
    hurry: Callable[[str, str], None] = lambda workspace, session: None
    """Has the work begun that waits for the end of a session."""
    close: Callable[[], None] = lambda: None


class ProfileRuntime:
    def __init__(
        self,
        *,
        open_backend: Callable[[], Backend],
        write_queue: WriteQueue,
        now: Callable[[], int],
        state_files: StateFiles,
        turns: TurnsUnderWay,
        load: Callable[[], None],
    ) -> None:
        """`load` loads what opens and uses the backend, so that only the store itself is waited for then."""
        self._open_backend = open_backend
        self._write_queue = write_queue
        self._lookups = ThreadPool(_LOOKUPS, "souvenance-recall")
        self._own_lookups = ThreadPool(_OWN_LOOKUPS, "souvenance-recall")
        self._calls = ThreadPool(_LOOKUPS * _CALLS, "souvenance-call")
        self._dialectics = ThreadPool(_DIALECTICS, "souvenance-dialectic")
        self._tool_calls = ThreadPool(_TOOL_CALLS, "souvenance-tool")
        self._delivery_thread = DeliveryThread(write_queue, self._carry)
        self._lock = threading.RLock()
        self._backend: Backend | None = None
        self._small_lock = threading.Lock()
        self._live: OrderedDict[tuple[str, ...], CachedConversation] = OrderedDict()
        self._load = load
        self._loaded = threading.Event()
        self._tried = threading.Event()
        """Set when the backend is open, or when no thread is opening it."""
        self._opening = False
        self._answered: set[tuple[str, str]] = set()
        self._closed = False
        self.now = now
        self.turns = turns
        """The turns of all its providers: background work with a model waits for their end."""
        self.breaker = Breaker(now, state_files.note, state_files.health())
        self._state_files = state_files
        self._delay: str | None = None
        """Why what is to be written waits, as far as this process knows."""

    def loaded(self, seconds: float) -> bool:
        """Whether the modules that open the backend are loaded. Waits for up to that long."""
        return self._backend is not None or (self.warm_up() and self._loaded.wait(max(0.0, seconds)))

    def ready(self, seconds: float) -> bool:
        """Whether the backend is open. Waits for up to that long if a thread is opening it."""
        if self._backend is None:
            self._tried.wait(max(0.0, seconds))
        return self._backend is not None

    def cold(self, scope: ConversationScope) -> bool:
        """Whether memory is in this process and has yet to load what that person has in it."""
        return self.near and _whom(scope) not in self._answered

    @property
    def near(self) -> bool:
        """Whether memory is in this process, where two that ask at once only hinder each other."""
        return self._backend is not None and self._backend.together is not None

    def live(self, key: tuple[str, ...]) -> CachedConversation:
        """What is cached of a conversation. The key ends with the host's session id."""
        with self._small_lock:
            found = self._live.setdefault(key, CachedConversation(self.now()))
            self._live.move_to_end(key)
            if len(self._live) > _MOST_LIVE:
                self._live.popitem(last=False)
            return found

    def written(self) -> dict[str, ConversationScope]:
        """The sessions of the host in which something was written recently, and their scopes."""
        with self._small_lock:
            latest = list(islice(reversed(self._live.items()), _MOST_LOOKED_AT))
        return {key[-1]: live.scope for key, live in latest if live.scope is not None}

    def warm_up(self, *, here: bool = False) -> bool:
        """Open the backend, and deliver what the write queue still has; whether that is done or under way.

        `here`: load what it takes on this thread first. Loaded by another one while the host reads standard
        input, numpy never ends on Windows.
        """
        if here and not self._loaded.is_set():
            with suppress(Exception):  # The thread that opens the backend says what is wrong.
                self._load_once()
        with self._small_lock:
            if self._backend is None and not self._opening and self.breaker.admits():
                self._tried.clear()
                self._opening = self._lookups.give(self._get_ready) is not None
            return self._backend is not None or self._opening

    def _get_ready(self) -> None:
        try:
            self._load_once()
            if self._write_queue.standing().waiting:
                self._delivery_thread.ring()
            self.backend()
        except SouvenanceError as error:
            self._failed(error)
        except Exception as error:  # noqa: BLE001 - what can't even be loaded is a memory that fails, too
            _log.warning("souvenance: memory can't be used: %s: %s", type(error).__name__, error)
            self.breaker.failed(f"broken: {type(error).__name__}: {error}")
        finally:
            with self._small_lock:
                self._opening = False
                self._tried.set()

    def _load_once(self) -> None:
        """Load the modules. If that fails, end the waiting of others too."""
        try:
            with undisturbed():
                self._load()
        finally:
            self._loaded.set()

    def backend(self) -> Backend:
        """Raises: SouvenanceError."""
        with self._lock:
            if self._closed:
                raise ServerUnreachable("the settings changed, and this backend is no longer used")
            if self._backend is None:
                self._backend = self._open_backend()
                self._tried.set()
            return self._backend

    def ask(
        self, scope: ConversationScope, question: Callable[[GatedMemory], _T], patience: float | None = None
    ) -> Future[_T] | None:
        """What memory will answer; None if it is better not asked now.

        An answer that takes longer than the asker's patience counts as a failure. Without `patience` nobody
        waits, and it may take a model's time.
        """
        if not self.breaker.admits():
            return None
        if patience is None:
            return self._dialectics.give(lambda: self._answer(scope, question))
        pool = self._own_lookups if self.near else self._lookups
        return pool.give(lambda: self._answer(scope, question, patience, in_turn=True))

    def ask_and_wait(
        self, scope: ConversationScope, question: Callable[[GatedMemory], _T], seconds: float
    ) -> _T:
        """What memory answers, within that time.

        Raises: SouvenanceError, at once if memory is better not asked now.
        """
        if not self.breaker.admits(patient=True):
            raise _silent(f"memory does not answer: {self.breaker.health.error}")
        answer = self._tool_calls.give(lambda: self._answer(scope, question, seconds))
        if answer is None:
            raise _silent("too many wait for memory already")
        try:
            return answer.result(seconds)
        except TooLate:
            answer.cancel()
            raise _silent(f"memory did not answer within {seconds:g} s") from None
        except ServerUnreachable as error:
            raise ServerUnreachable(error.detail, hint=_GO_ON) from error

    def _answer(
        self,
        scope: ConversationScope,
        question: Callable[[GatedMemory], _T],
        patience: float | None = None,
        *,
        in_turn: bool = False,
    ) -> _T:
        """`in_turn`: a turn waits for it, so that an answer which is late, or denied, is a failure.

        It finds what was said before, if that can be written within half of the wait; but a turn does not
        wait for what is on its way to a server.

        Raises: SouvenanceError.
        """
        began, gate = time.monotonic(), None
        try:
            backend = self.backend()
            if patience is not None and (self.near or not in_turn):
                self._delivery_thread.catch_up(patience / 2)
                began = time.monotonic()
            if backend.far is not None:
                longest = max(patience or 0.0, _SILENT_SECONDS)
                gate = TimedGate(backend.far, min(longest, backend.timeout) if in_turn else None)
            with nullcontext() if self._answered else undisturbed():
                found = question(self._memory(scope, backend, gate))
        except SouvenanceError as error:
            if in_turn or not isinstance(error, Denied):
                self._failed(error)
            raise
        took = time.monotonic() - began if gate is None else gate.slowest
        if in_turn and patience is not None and took > patience and _whom(scope) in self._answered:
            slow = f"slow: an answer took {took:.1f} s, and a turn waits {patience:.1f} s"
            self.breaker.failed(slow, late=True)
        else:
            self.breaker.succeeded(in_time=in_turn)
        if len(self._answered) >= _MOST_ANSWERED:
            self._answered.clear()
        self._answered.add(_whom(scope))
        return found

    def _memory(self, scope: ConversationScope, backend: Backend, timed: TimedGate | None) -> GatedMemory:
        gate = backend.gate if timed is None else timed
        together = backend.together if timed is None else partial(self._in_parallel, timed)
        tokens = backend.tokens
        return GatedMemory(gate, scope, tokens.of(scope), capped=tokens.capped, together=together)

    def _in_parallel(
        self, gate: CallableGate, credentials: Credentials, asked: Sequence[tuple[Operation, Request]]
    ) -> list[Any]:
        """Each by a call of its own, all at once: the first here, and what no thread takes."""
        calls = [partial(answer_or_error, gate, credentials, *one) for one in asked]
        given = [self._calls.give(call) if at else None for at, call in enumerate(calls)]
        here = [call() if task is None else None for task, call in zip(given, calls, strict=True)]
        return [own if task is None else task.result() for task, own in zip(given, here, strict=True)]

    def _failed(self, error: SouvenanceError) -> None:
        if not isinstance(error, Unavailable | Unauthenticated | Denied | Misconfigured):
            return
        self.breaker.failed(f"{error.code}: {error.detail}")
        with self._lock:
            if self._backend is not None and self._backend.found:
                self._backend.close()
                self._backend = None

    def post(self, content: Content) -> str:
        """Queue a write, and start to deliver it; its id.

        Raises: StorageUnavailable.
        """
        write_id = self._write_queue.put(lane_of(content.scope), msgspec.to_builtins(content))
        self._delivery_thread.ring()
        return write_id

    def _carry(self, queued: QueuedWrite) -> None:
        try:
            self.backend().delivery(queued)
        except SouvenanceError as error:
            self._note_delay(f"{error.code}: {error.detail}")
            if isinstance(error, Denied):
                _log.warning("souvenance: a write waits, for it is denied: %s: %s", error.code, error.detail)
            else:
                self._failed(error)
            raise
        except WriteRefused as refused:
            _log.warning("souvenance: a write is set aside: %s", refused)
            raise
        self._note_delay("")
        self.breaker.succeeded()

    def _note_delay(self, reason: str) -> None:
        if reason != self._delay:
            self._delay = reason
            self._state_files.note_trouble(DELAY, reason)

    def ended(self, scope: ConversationScope) -> None:
        """A session is over: once all of it is written, the work on it may begin."""
        if self.near:
            self._dialectics.give(lambda: self._hurry(scope))

    def _hurry(self, scope: ConversationScope) -> None:
        backend = self._backend
        try:
            self._delivery_thread.flush(_LAST_WRITTEN_SECONDS)
            if backend is not None:
                backend.hurry(scope.workspace, scope.session)
        except SouvenanceError as error:
            _log.warning("souvenance: a session is read later: %s: %s", error.code, error.detail)

    def flush(self, seconds: float) -> bool:
        """Wait up to that long for what was posted to be written, and for what follows from it."""
        deadline = time.monotonic() + seconds
        try:
            done = not self._write_queue.standing().waiting or self._delivery_thread.flush(seconds)
            if (backend := self._backend) is not None:
                backend.settle(max(0.0, deadline - time.monotonic()))
            return done
        except SouvenanceError as error:
            _log.warning("souvenance: what waits can't be written: %s: %s", error.code, error.detail)
            return False

    def standing(self) -> WriteQueueStatus:
        return self._write_queue.standing()

    def leave(self) -> None:
        self._closed = True
        self._delivery_thread.dismiss()

    def close(self) -> None:
        """What is under way ends as it may; what waits is for the next."""
        self.leave()
        with self._lock:
            backend, self._backend = self._backend, None
        self._delivery_thread.stop()
        if backend is not None:
            backend.close()


class Surroundings(Struct, kw_only=True):
    """Where a provider finds itself. What it gives is shared by all providers of the process."""

    home: Callable[[], Path]
    directory: Callable[[], Path]
    configuration: Callable[[Path, str], tuple[Configuration, Sequence[Complaint]]]
    runtime: Callable[[Configuration], ProfileRuntime]
    state_files: Callable[[Configuration], StateFiles]
    warned: dict[tuple[str, ...], None] = {}

    def warn(self, warning: str, *whom: str) -> bool:
        """Log a warning once in a profile, or once for each of its people; whether that was now."""
        key = (home_key(self.home()), warning, *whom)
        if key in self.warned:
            return False
        self.warned[key] = None
        if len(self.warned) > _MOST_WARNINGS:
            del self.warned[next(iter(self.warned))]
        _log.warning("souvenance: %s", warning)
        return True


def _silent(detail: str) -> Unavailable:
    return Unavailable(detail, hint=_GO_ON)


def _whom(scope: ConversationScope) -> tuple[str, str]:
    return scope.workspace, scope.user
