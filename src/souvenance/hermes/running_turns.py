"""Which turns are under way in this process, so that background work with a model can wait for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import Context, copy_context

QUIET_SECONDS = 5.0
"""This long after the last turn ended, it is quiet."""
_LONGEST_TURN_SECONDS = 600.0
"""The host says nothing when a turn is interrupted. After this time a turn counts as over."""
_LONGEST_WAIT_SECONDS = 900.0
"""On a gateway somebody may always be talking. After this time background work goes ahead."""


class TurnsUnderWay:
    """Any number of threads may use it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._begun: dict[object, float] = {}
        self._ended = now() - QUIET_SECONDS
        self._busy_since = now()
        self.context: Context | None = None
        """The latest turn's context: by it the host knows its model and the session that pays."""

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
