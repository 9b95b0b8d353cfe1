"""What a piece of work costs on one text, beside another."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_TRIES = 10
_NOISE_SECONDS = 0.01


def keeps_to_length(work: Callable[[str], object], unit: str, short: int, times: int) -> bool:
    """Whether a text so many times as long costs at most twice its share.

    Work that looks back at all it has read would cost the square.
    """
    return is_within(work, repeated(unit, times * short), 2 * times, repeated(unit, short), _NOISE_SECONDS)


def is_within(work: Callable[[str], object], text: str, times: float, other: str, noise: float = 0.0) -> bool:
    """Whether a text costs at most so many times what the other does.

    Both are measured in turns, and the least of each counts: other work on the machine makes single ones
    dearer, never cheaper.
    """
    least = [float("inf")] * 2
    for _ in range(_TRIES):
        least = [min(cost, _seconds(work, one)) for cost, one in zip(least, (text, other), strict=True)]
        if least[0] <= times * least[1] + noise:
            return True
    return False


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def _seconds(work: Callable[[str], object], text: str) -> float:
    """Of the processor, for this thread alone."""
    gc.disable()
    try:
        begun = time.thread_time()
        work(text)
        return time.thread_time() - begun
    finally:
        gc.enable()
