"""Figures of the Hermes benchmark: every round's, told as their median with the least and the most."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles
from typing import NamedTuple


class Verdict(NamedTuple):
    """A claim, and what every round found of it."""

    claim: str
    rounds: list[float]
    bound: float
    least: bool = False
    """Whether the bound is a least and not a most."""

    @property
    def value(self) -> float:
        return median(self.rounds)

    @property
    def met(self) -> bool:
        return self.value >= self.bound if self.least else self.value <= self.bound

    def __str__(self) -> str:
        word, state = "at least" if self.least else "at most", "met" if self.met else "MISSED"
        return (
            f"{self.claim:>66}  {self.value:8.2f}  {spread(self.rounds):>20}  {word} {self.bound:g}: {state}"
        )


def p99(taken: Sequence[float]) -> float:
    return quantiles(taken, n=100, method="inclusive")[-1]


def ms(seconds: Sequence[float]) -> list[float]:
    return [1000 * one for one in seconds]


def spread(rounds: Sequence[float]) -> str:
    return f"({min(rounds):.1f} to {max(rounds):.1f})"


def figure(rounds: Sequence[float], width: int = 8) -> str:
    """The median, the least and the most."""
    return f"{median(rounds):>{width}.1f} {spread(rounds):<20}"
