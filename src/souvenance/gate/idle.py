"""Background work waits here until no request is being answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event as Bell
from threading import Lock


class Idle:
    """Any number of threads may use it."""

    def __init__(self) -> None:
        self._asked = self._answered = 0
        self._lock = Lock()

    @contextmanager
    def broken(self) -> Iterator[None]:
        """Somebody waits for an answer meanwhile."""
        with self._lock:
            self._asked += 1
        try:
            yield
        finally:
            with self._lock:
                self._answered += 1

    def wait(self, seconds: float, times: int, stopped: Bell) -> None:
        """Wait so many seconds, and again as often as somebody asked meanwhile or still waits for an answer.

        It is over after so many times, and once it is stopped.
        """
        for _ in range(times):
            asked = self._asked
            if stopped.wait(seconds) or self._answered == self._asked == asked:
                break
