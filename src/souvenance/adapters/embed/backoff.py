"""Leaving alone for a while what has just failed: a recall must not wait for it again and again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from souvenance.errors import Unavailable


class Rest:
    """Any number of threads may use it."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._now = now
        self._failed: tuple[float, Unavailable] | None = None

    @contextmanager
    def between(self) -> Iterator[None]:
        """Around each try. Raises: Unavailable at once if the last try raised it a moment ago."""
        failed = self._failed
        if failed is not None and self._now() < failed[0]:
            raise Unavailable(failed[1].detail, hint=failed[1].hint)
        try:
            yield
        except Unavailable as error:
            self._failed = (self._now() + self._seconds, error)
            raise
        self._failed = None
