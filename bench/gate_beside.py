"""Put, get and what the chat door adds, in this tree beside another one, in one run.

Method. In each round, each tree has a new process for each measurement: where a process happens to lie in
memory makes it up to a tenth slower than the next, as long as it lives. It runs this tree's `gate_worker.py`
on the package of that tree, whatever its name is. They are asked in turns, a small batch each, now the one
first and now the other, so that whatever the machine is doing hits both. A round is the median of a side's
batches; a ratio is taken round by round, and is the median of those. What the chat door adds is measured as
`chat.py` does it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from chat import measure as measure_chat
from chat import package_of
from machine import Machine

MOST = 1.10
HERE = Path(__file__).resolve().parent
CHAT_PEOPLE = 20
BATCHES = 5

CALLS = {
    "put": 60,
    "put_cpu": 60,
    "get": 20,
    "get_cpu": 20,
    "get_after_put": 10,
    "http_put": 40,
    "http_get": 20,
    "chat": 20,
}
"""How many calls a batch has of each measurement. `_cpu` is what they take of the processor, which says more
on a machine that is busy."""
JUDGED = tuple(name for name in CALLS if name != "get_after_put")
"""A get right after a put may cost more than before: it finds what was put."""


def _chat(other: Path, embedder: str, lines: int, rounds: int) -> list[tuple[float, float]]:
    """What the chat doors of this tree and the other add, round by round."""
    sides = measure_chat(lines, CHAT_PEOPLE, embedder, CALLS["chat"] * BATCHES, rounds, other).values()
    return [
        ((ours.first - directly.first) / 1000, (theirs.first - directly.first) / 1000)
        for directly, ours, theirs in zip(*sides, strict=True)
    ]


class Worker:
    """A process that measures one thing in one tree."""

    def __init__(self, tree: Path, name: str, embedder: str, lines: int) -> None:
        package = package_of(tree)
        prefix = f"{package.upper()}_"
        environment = {key: value for key, value in os.environ.items() if not key.startswith(prefix)}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "gate_worker.py"), package, name, embedder, str(lines)],
            env={**environment, "PYTHONPATH": str(tree / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ready(self) -> None:
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            raise SystemExit("a tree can't be measured")

    def batch(self, calls: int) -> float:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def _rounds(
    name: str, trees: list[Path], embedder: str, lines: int, rounds: int
) -> list[tuple[float, float]]:
    """What this tree and the other take, round by round."""
    if name == "chat":
        return _chat(trees[1], embedder, lines, rounds)
    return [_round(name, trees, embedder, lines) for _ in range(rounds)]


def _round(name: str, trees: list[Path], embedder: str, lines: int) -> tuple[float, float]:
    with ExitStack() as stack:
        workers = [Worker(tree, name, embedder, lines) for tree in trees]
        for worker in workers:
            stack.callback(worker.close)
        for worker in workers:
            worker.ready()
        taken: list[list[float]] = [[], []]
        for number in range(BATCHES):
            for at in (0, 1) if number % 2 else (1, 0):
                taken[at].append(workers[at].batch(CALLS[name]))
        return median(taken[0]), median(taken[1])


def compare(
    other: Path, names: Sequence[str], embedder: str, lines: int, rounds: int, report: Path | None
) -> int:
    """Measure both trees, tell, and say whether this one is as quick as it is to be."""
    trees = [HERE.parent, other.resolve()]
    machine = Machine()
    found = {name: _rounds(name, trees, embedder, lines, rounds) for name in names or CALLS}
    print(f"{rounds} rounds beside {other}, embedder {embedder}, {lines} lines")
    print(machine)
    met = True
    for name, pairs in found.items():
        ours, theirs = (median(side) * 1000 for side in zip(*pairs, strict=True))
        ratios = [one / another for one, another in pairs]
        holds = median(ratios) <= MOST
        judged = name in JUDGED
        met &= holds or not judged
        state = ("met" if holds else "MISSED") if judged else "not judged"
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        print(
            f"{name:>14}  {ours:8.3f} ms  beside {theirs:8.3f} ms"
            f"  x{median(ratios):.3f} ({spread})  at most {MOST}: {state}"
        )
    if report is not None:
        report.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0 if met else 1
