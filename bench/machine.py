"""What the machine was like while something was measured: figures in milliseconds mean little without it."""

from __future__ import annotations

import os
import time
from pathlib import Path

_ADDITIONS = 10_000_000


class Machine:
    """Watched from the moment it is made."""

    def __init__(self) -> None:
        self._load = os.getloadavg()[0]
        self._speed = _additions()
        self._spent = _spent()

    def __str__(self) -> str:
        """One line: its cores, their load, and how quick they were before and at the end."""
        load = os.getloadavg()[0]
        told = f"{os.cpu_count()} cores; the load was {self._load:.1f} before and {load:.1f} at the end"
        told += f"; ten million additions took {self._speed:.2f} s and {_additions():.2f} s"
        if self._spent is not None and (now := _spent()) is not None:
            stolen, all_time = (after - before for before, after in zip(self._spent, now, strict=True))
            told += f"; {stolen / max(1, all_time):.0%} of the cores' time went to other machines"
        return told


def _additions() -> float:
    """What ten million additions take."""
    began, total = time.perf_counter(), 0
    for number in range(_ADDITIONS):
        total += number
    return time.perf_counter() - began


def _spent() -> tuple[int, int] | None:
    """The time that other machines took from this one's cores, and all of it; None if that is not told."""
    try:
        first = Path("/proc/stat").read_text("ascii").splitlines()[0].split()
    except OSError:
        return None
    times = [int(one) for one in first[1:9]]
    return times[7], sum(times)
