"""The BM25 formula, shared by every index so that they agree on every score."""

from __future__ import annotations

from math import log
from typing import Any

K1 = 0.9
B = 0.4


def idf(lines: int, holding: int) -> float:
    """How telling a term is that `holding` of `lines` lines hold."""
    return log(1 + (lines - holding + 0.5) / (holding + 0.5))


def damping(length: Any, average: float) -> Any:
    """How much a line's length, against the average, damps what a term adds; a number or an array."""
    return K1 * (1 - B + B * length / average)


def weight(count: Any, damped: Any) -> Any:
    """What a term occurring `count` times adds in a line so damped; numbers or arrays."""
    return count * (K1 + 1) / (count + damped)
