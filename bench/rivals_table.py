"""The comparison as Markdown: a table, and what has to be known to read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GIVEN = (
    "Souvenance is given the order, sessions, speakers and dates of the messages, which its users have; the "
    "others get each turn as a memory, with date and session where they take them."
)
_DATASETS = {"locomo": "LoCoMo", "longmemeval": "LongMemEval_S"}
_COLUMNS = (
    ("LoCoMo turns frac@10", "locomo", "turn_frac@10", "{:.1f}"),
    ("multi-hop", "locomo", "turn_frac@10_cat1", "{:.1f}"),
    ("LongMemEval_S sessions all@5", "longmemeval", "session_all@5", "{:.1f}"),
    ("all@10", "longmemeval", "session_all@10", "{:.1f}"),
    ("store, ms a turn", "locomo", "ingest_ms_per_turn", "{:.1f}"),
    ("search, ms", "locomo", "search_ms", "{:.1f}"),
    ("memory, MB", "locomo", "peak_mb", "{:.0f}"),
    ("disk, KB a turn", "locomo", "disk_kb_per_turn", "{:,.1f}"),
    ("installed, MB", None, "install_mb", "{:,.0f}"),
    ("install to first recall, s", None, "to_first_recall_seconds", "{:.0f}"),
)
_NOTHING = "–"


def markdown(told: Mapping[str, Any]) -> str:
    systems = sorted(told["systems"].items(), key=_rank)
    head = ["system", *(column[0] for column in _COLUMNS)]
    rows = [head, ["---", *("---:" for _ in _COLUMNS)], *(_row(*one) for one in systems)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    notes = "\n".join(f"- {name}: {found['settings']}{_failures(found)}" for name, found in systems)
    return f"{_sample(told)}\n\n{table}\n\n{GIVEN}\n\n{notes}\n"


def _rank(one: tuple[str, Mapping[str, Any]]) -> float:
    found: float = one[1].get("locomo", {}).get("turn_frac@10", -1)
    return -found


def _sample(told: Mapping[str, Any]) -> str:
    sizes = {name: len(about["names"]) for name, about in told["sample"].items()}
    return (
        f"{told['date']}, `{told['command']}`, on {told['machine']}.\n"
        f"The sample: the first {sizes['locomo']} conversations of LoCoMo's development half with all their "
        f"questions, and the first {sizes['longmemeval']} answerable questions of LongMemEval_S' by id, each "
        "with its whole haystack."
    )


def _row(name: str, found: Mapping[str, Any]) -> list[str]:
    cells = [f"{name} {found.get('version', '')}".strip()]
    for _, dataset, measure, form in _COLUMNS:
        value = (found.get(dataset, {}) if dataset else found).get(measure)
        cells.append(_NOTHING if value is None else form.format(value))
    return cells


def _failures(found: Mapping[str, Any]) -> str:
    """What went wrong, in the system's own words."""
    if "error" in found:
        return f". It did not run: `{found['error']}`"
    told = ""
    for dataset, name in _DATASETS.items():
        if "error" in found[dataset]:
            told += f". It did not run on {name}: `{found[dataset]['error']}`"
        elif found[dataset]["failed_searches"]:
            told += f". {found[dataset]['failed_searches']} searches of {name} failed, the first with "
            told += f"`{found[dataset]['first_error']}`"
    return told
