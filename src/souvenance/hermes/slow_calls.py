"""The calls to memory that are running now, so that a slow one can be named.

Of a server only its own silence counts: not that a thread of this process had no turn yet to ask it, or to
read what it answered.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from souvenance.agents.awaited_answers import Awaited
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials

_NEARLY = 0.9
"""Who waited is gone a little before the answer took as long: a hand had to begin with it first."""

_P = TypeVar("_P")
_T = TypeVar("_T")


class FarGate(Protocol):
    """A gate over a network, which says whose turn it is in each call."""

    def call(
        self, operation: Operation, credentials: Credentials, request: Request, *, awaited: Awaited
    ) -> Any: ...


class AwaitedCall:
    """A question that is under way."""

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
