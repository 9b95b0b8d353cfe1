"""The machine's own clock and randomness."""

from __future__ import annotations

import os
import time


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000


class SystemEntropy:
    def take(self, size: int) -> bytes:
        return os.urandom(size)
