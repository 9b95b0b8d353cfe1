"""The health of the backend: the circuit breaker, and how long answers take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

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
        """`before` is the last known state from elsewhere. A change for the better is then reported."""
        self._now = now
        self._changed = changed
        self._lock = threading.Lock()
        self.health = BackendHealth()
        self._failed = 0
        self._late = 0
        self._rest = _FIRST_REST_MS
        self._until = 0
        self._trying = False
        self._known_ill = before is not None and not before.ok

    def admits(self, *, patient: bool = False) -> bool:
        """Whether a call may be made now. Who is patient may call what only answers too late for others."""
        with self._lock:
            if self.health.ok or (patient and self._failed < _MOST):
                return True
            if self._now() < self._until:
                return False
            self._until = self._now() + self._rest
            self._trying = True
            return True

    def succeeded(self, *, in_time: bool = False) -> None:
        """`in_time`: whether the caller was still waiting."""
        with self._lock:
            self._failed = 0
            self._late = 0 if in_time else self._late
            if self._late or not (self.health.failures or self._known_ill):
                return
            recovered = self._known_ill or not self.health.ok
            self._known_ill = False
            self._rest = _FIRST_REST_MS
            self._trying = False
            self.health = BackendHealth(since=self._now())
        if recovered:
            self._changed(self.health)

    def failed(self, error: str, *, late: bool = False) -> None:
        """`late`: there was an answer, but who had asked was gone."""
        with self._lock:
            if late:
                self._late += 1
                self._failed = 0
            else:
                self._failed += 1
            count = max(self._late, self._failed)
            opened = self.health.ok and count >= _MOST
            if opened or self._trying:
                self._trying = False
                self._until = self._now() + self._rest
                self._rest = min(self._rest * 2, _LONGEST_REST_MS)
            since = self._now() if opened else self.health.since
            self.health = BackendHealth(self.health.ok and not opened, count, error, since)
        if opened:
            self._changed(self.health)


class FarGate(Protocol):
    def call(
        self, operation: Operation, credentials: Credentials, request: Request, *, timeout: float | None
    ) -> Any: ...


class TimedGate:
    """A gate over a network, and how long its slowest answer took."""

    def __init__(self, gate: FarGate, timeout: float | None) -> None:
        self._gate = gate
        self._timeout = timeout
        self.slowest = 0.0

    def call(self, operation: Operation, credentials: Credentials, request: Request) -> Any:
        """Raises: SouvenanceError."""
        began = time.monotonic()
        try:
            return self._gate.call(operation, credentials, request, timeout=self._timeout)
        finally:
            self.slowest = max(self.slowest, time.monotonic() - began)
