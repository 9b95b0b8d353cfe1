"""How what a piece of work costs grows with the length of its text."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_TRIES = 10
_NOISE_SECONDS = 0.01


def keeps_to_length(work: Callable[[str], object], unit: str, short: int, times: int) -> bool:
    """Whether a text so many times as long costs at most twice its share.

    Both are measured in turns, and the least of each counts: other work on the machine makes single ones
    dearer, never cheaper. Work that looks back at all it has read would cost the square.
    """
    texts = [(unit * (length // len(unit) + 1))[:length] for length in (short, times * short)]
    least = [float("inf")] * 2
    for _ in range(_TRIES):
        least = [min(cost, _seconds(work, text)) for cost, text in zip(least, texts, strict=True)]
        if least[1] <= 2 * times * least[0] + _NOISE_SECONDS:
            return True
    return False


def _seconds(work: Callable[[str], object], text: str) -> float:
    """Of the processor, for this thread alone."""
    gc.disable()
    try:
        begun = time.thread_time()
        work(text)
        return time.thread_time() - begun
    finally:
        gc.enable()
