"""How often one cap may ask: a count per cap and minute, in this process."""

from __future__ import annotations

import threading

from souvenance.errors import RateLimited

_WINDOW_MS = 60_000


class RateLimit:
    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._window = 0
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def check(self, jti: str, now: int) -> None:
        """Raises: RateLimited."""
        window = now // _WINDOW_MS
        with self._lock:
            if window != self._window:
                self._window, self._counts = window, {}
            count = self._counts.get(jti, 0) + 1
            self._counts[jti] = count
        if count > self._per_minute:
            wait = -(-((window + 1) * _WINDOW_MS - now) // 1000)
            raise RateLimited(f"more than {self._per_minute} requests in a minute", retry_after=wait)
