"""The BM25 formula, shared by every index so that they agree on every score."""

from __future__ import annotations

from math import log
from typing import Any

K1 = 0.9
B = 0.4


def idf(lines: int, holding: int) -> float:
    """How telling a term is that `holding` of `lines` lines hold."""
    return log(1 + (lines - holding + 0.5) / (holding + 0.5))


def weight(count: Any, length: Any, average: float) -> Any:
    """What a term occurring `count` times adds in a line of that length; numbers or arrays."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))
