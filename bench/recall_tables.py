"""How the recall benchmark tells its figures: tables of systems, and the targets met or missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hermes_figures import Verdict

Figures = Mapping[str, Mapping[str, Any]]

LOCOMO = (
    "turn_frac@5",
    "turn_frac@10",
    "turn_frac@20",
    "turn_any@10",
    "turn_all@10",
    "turn_mrr",
    "turn_ndcg@10",
    *(f"turn_frac@10_cat{number}" for number in range(1, 6)),
    "session_frac@5",
    "session_frac@10",
    "session_all@5",
    "session_all@10",
)
LONGMEMEVAL = (
    "session_any@5",
    "session_all@5",
    "session_all@10",
    "session_mrr",
    "session_ndcg@10",
    "turn_any@5",
    "turn_all@5",
    "turn_all@10",
    "turn_all@50",
    "turn_frac@10",
    "both_session_all@5",
    "both_session_all@10",
    "both_turn_all@5",
    "both_turn_all@10",
    "both_session_all@5_wide",
    "both_session_all@10_wide",
    "both_turn_all@5_wide",
    "both_turn_all@10_wide",
)
INJECTION = (
    "false_injection",
    "false_injection_abstention",
    "false_injection_smalltalk",
    "turn_frac@10_guarded",
    "recall_lost",
)
COSTS = (
    "tokens@10",
    "both_tokens@10",
    "ms_median",
    "ms_p95",
    "ms_first",
    "both_ms_median",
    "both_ms_p95",
    "ingest_ms_per_message",
    "behind_ms_per_message",
    "bytes_per_message",
    "text_bytes_per_message",
    "resident_mb",
    "same_top10",
)
_NAME_WIDTH, _WIDTH = 28, 12


class Target(NamedTuple):
    dataset: str
    metric: str
    bound: float
    least: bool = True


TARGETS = (
    Target("longmemeval", "session_all@5", 93),
    Target("longmemeval", "session_all@10", 97),
    Target("longmemeval", "turn_all@5", 75),
    Target("longmemeval", "turn_all@10", 85),
    Target("longmemeval", "false_injection", 20, least=False),
    Target("longmemeval", "false_injection_abstention", 20, least=False),
    Target("longmemeval", "false_injection_smalltalk", 20, least=False),
    Target("longmemeval", "recall_lost", 2, least=False),
    Target("locomo", "turn_frac@10", 85),
    Target("locomo", "turn_frac@10_cat1", 57),
    Target("locomo", "recall_lost", 2, least=False),
)


def print_table(title: str, names: Sequence[str], figures: Figures) -> None:
    """A row for each figure that any of the systems has, a column for each system."""
    print(f"\n{title}")
    print(" " * _NAME_WIDTH + "".join(f"{system:>{max(_WIDTH, len(system) + 2)}}" for system in figures))
    for name in names:
        values = [found.get(name) for found in figures.values()]
        if any(value is not None for value in values):
            cells = (
                f"{_shown(value):>{max(_WIDTH, len(system) + 2)}}"
                for system, value in zip(figures, values, strict=True)
            )
            print(f"{name:>{_NAME_WIDTH}}" + "".join(cells))
    spreads = {system: found["ms_median_rounds"] for system, found in figures.items() if "ms_median" in names}
    for system, rounds in spreads.items():
        print(f"{system:>{_NAME_WIDTH}}: ms_median of the rounds from {min(rounds):.2f} to {max(rounds):.2f}")


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if 0 < abs(value) < 1 else f"{value:.1f}"


def verdicts(system: str, found: Mapping[str, Figures]) -> list[Verdict]:
    """What was to be reached on the development halves, and what the system did."""
    return [
        Verdict(
            f"{system} on {one.dataset}: {one.metric}",
            [found[one.dataset][system][one.metric]],
            one.bound,
            one.least,
        )
        for one in TARGETS
        if one.metric in found.get(one.dataset, {}).get(system, {})
    ]
