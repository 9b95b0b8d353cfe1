"""How the backend does: the circuit breaker, and the calls to memory that are running now."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from souvenance.agents.awaited_answers import Awaited
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials

_MOST = 3
_FIRST_REST_MS = 2_000
_LONGEST_REST_MS = 60_000


class BackendHealth(Struct, frozen=True):
    """How the backend did, as far as this process knows."""

    ok: bool = True
    failures: int = 0
    """How many calls in a row failed, or came late."""
    error: str = ""
    since: int = 0
    """When it began to be so, in milliseconds; 0 if it was never otherwise."""


class Breaker:
    """Closed while calls succeed; open for a growing while after three failures in a row.

    After each such while one call is let through: if it succeeds, all are, and if it fails, the next while is
    longer; what was asked before and fails meanwhile says nothing new. An answer that comes too late
    for who asked is a failure of its own kind: only one that comes in time makes up for it.
    """

    def __init__(
        self,
        now: Callable[[], int],
        changed: Callable[[BackendHealth], None],
        before: BackendHealth | None = None,
    ) -> None:
        """`before`: what is last known from elsewhere; that it is better now has then to be told."""
        self._now = now
        self._changed = changed
        self._lock = threading.Lock()
        self._health = BackendHealth()
        self._failed = 0
        self._late = 0
        self._rest = _FIRST_REST_MS
        self._until = 0
        self._trying = False
        self._told_ill = before is not None and not before.ok

    @property
    def health(self) -> BackendHealth:
        return self._health

    def admits(self, *, patient: bool = False) -> bool:
        """Whether a call may be made now. Who is patient may call what only answers too late for others."""
        with self._lock:
            if self._health.ok or (patient and self._failed < _MOST):
                return True
            if self._now() < self._until:
                return False
            self._until = self._now() + self._rest
            self._trying = True
            return True

    def succeeded(self, *, in_time: bool = False) -> None:
        """`in_time`: for somebody who waited for it."""
        with self._lock:
            self._failed = 0
            self._late = 0 if in_time else self._late
            if self._late or not (self._health.failures or self._told_ill):
                return
            recovered = self._told_ill or not self._health.ok
            self._told_ill = False
            self._rest = _FIRST_REST_MS
            self._trying = False
            self._health = BackendHealth(since=self._now())
        if recovered:
            self._changed(self._health)

    def failed(self, error: str, *, late: bool = False) -> None:
        """`late`: there was an answer, but who had asked was gone."""
        with self._lock:
            if late:
                self._late += 1
                self._failed = 0
            else:
                self._failed += 1
            count = max(self._late, self._failed)
            opened = self._health.ok and count >= _MOST
            if opened or self._trying:
                self._trying = False
                self._until = self._now() + self._rest
                self._rest = min(self._rest * 2, _LONGEST_REST_MS)
            since = self._now() if opened else self._health.since
            self._health = BackendHealth(self._health.ok and not opened, count, error, since)
        if opened:
            self._changed(self._health)


_NEARLY = 0.9
"""Who waited is gone a little before the answer took as long: a thread had to begin with it first."""

_P = TypeVar("_P")
_T = TypeVar("_T")


class FarGate(Protocol):
    """A gate over a network, which says whose turn it is in each call."""

    def call(
        self, operation: Operation, credentials: Credentials, request: Request, *, awaited: Awaited
    ) -> Any: ...


class AwaitedCall:
    """A question that is under way.

    Of a server only its own silence counts: not that a thread of this process had no turn yet to ask it, or
    to read what it answered.
    """

    def __init__(self, patience: float | None) -> None:
        self.patience = patience
        """For how long somebody waits for the answer; None if nobody does."""
        self.far = False
        """Whether it is known to be asked of a server."""
        self._calls: list[Awaited] = []
        self.began = time.monotonic()
        self.took = 0.0
        self.overdue = False

    def awaits(self) -> Awaited:
        """Another call that it takes."""
        call = Awaited()
        self._calls.append(call)
        return call

    def awaiting(self, get: Callable[[_P], _T]) -> Callable[[_P], _T]:
        """The same, and while it is not there somebody else is waited for."""

        def got(wanted: _P) -> _T:
            call = self.awaits()
            call.begins(time.monotonic())
            try:
                return get(wanted)
            finally:
                call.ends()

        return got

    def silence(self, now: float) -> float:
        """For how long memory has owed the answer by then."""
        return max((one.silence(now) for one in self._calls), default=0.0) if self.far else now - self.began


class WatchedCall:
    """A gate over a network, of whose calls a question knows."""

    def __init__(self, gate: FarGate, asked: AwaitedCall) -> None:
        self._gate = gate
        self._asked = asked

    def call(self, operation: Operation, credentials: Credentials, request: Request) -> Any:
        """Raises: SouvenanceError."""
        return self._gate.call(operation, credentials, request, awaited=self._asked.awaits())


class Watch:
    def __init__(self, overdue: Callable[[AwaitedCall], None]) -> None:
        """`overdue` is told, once, of what memory owes longer than whoever asked waits for it."""
        self._overdue = overdue
        self._lock = threading.Lock()
        self._under_way: set[AwaitedCall] = set()

    @contextmanager
    def over(self, patience: float | None) -> Iterator[AwaitedCall]:
        """From asking to the answer, or to its failure."""
        asked = AwaitedCall(patience)
        with self._lock:
            self._under_way.add(asked)
        try:
            yield asked
        finally:
            with self._lock:
                self._under_way.discard(asked)
            asked.took = time.monotonic() - asked.began

    def look(self) -> None:
        """Tell of what is overdue by now."""
        now = time.monotonic()
        with self._lock:
            late = [one for one in self._under_way if _is_late(one, now)]
            for one in late:
                one.overdue = True
        for one in late:
            self._overdue(one)


def _is_late(asked: AwaitedCall, now: float) -> bool:
    if asked.patience is None or asked.overdue:
        return False
    silence = asked.silence(now)
    return silence > 0 and silence >= _NEARLY * asked.patience
