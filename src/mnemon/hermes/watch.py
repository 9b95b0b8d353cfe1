"""What memory is being asked right now, so that an answer that does not come is noticed before it fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_NEARLY = 0.9
"""Who waited is gone a little before the answer took as long: a hand had to begin with it first."""


class Asked:
    """A question that is under way."""

    def __init__(self, patience: float | None) -> None:
        self.patience = patience
        """For how long somebody waits for the answer; None if nobody does."""
        self.began = time.monotonic()
        self.took = 0.0
        self.overdue = False


class Watch:
    def __init__(self, overdue: Callable[[Asked], None]) -> None:
        """`overdue` is told, once, of what takes longer than whoever asked waits for it."""
        self._overdue = overdue
        self._lock = threading.Lock()
        self._under_way: set[Asked] = set()

    @contextmanager
    def over(self, patience: float | None) -> Iterator[Asked]:
        """From asking to the answer, or to its failure."""
        asked = Asked(patience)
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


def _is_late(asked: Asked, now: float) -> bool:
    return asked.patience is not None and not asked.overdue and now - asked.began >= _NEARLY * asked.patience
