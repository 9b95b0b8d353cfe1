"""The machine's own clock, its time zone and its randomness."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, tzinfo


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000


class WallClock:
    """The time zone given, or without one that of the machine, which `TZ` may name."""

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone

    def offset(self, at: int) -> int:
        try:
            if self._zone is None:
                return time.localtime(at / 1000).tm_gmtoff * 1000
            ahead = datetime.fromtimestamp(at / 1000, self._zone).utcoffset() or timedelta()
        except (OverflowError, ValueError, OSError):
            return 0
        return ahead // timedelta(milliseconds=1)


class SystemEntropy:
    def take(self, size: int) -> bytes:
        return os.urandom(size)
