"""Put, get and what the chat door adds, in this tree beside another one, in one run.

Method. Each tree has processes of its own for each measurement, which run that tree's copy of this file and
stay until the end. They are asked in turns, a small batch each, now the one first and now
the other, so that whatever the machine is doing hits both. A round is the median of a side's batches; a ratio
is taken round by round, and is the median of those. What the chat door adds is measured as `chat.py` does it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from chat import measure as measure_chat
from gate import Sides, post, serving
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

Batch = Callable[[int], float]
"""Makes so many calls; the median of what they took, in seconds."""


def _timed(
    prepare: Callable[[], Callable[[], object]],
    before: Callable[[], object] | None = None,
    clock: Callable[[], float] = perf_counter,
) -> Batch:
    def batch(calls: int) -> float:
        taken = []
        for _ in range(calls):
            if before is not None:
                before()
            step = prepare()
            began = clock()
            step()
            taken.append(clock() - began)
        return median(taken)

    return batch


def _chat(other: Path, embedder: str, lines: int, rounds: int) -> list[tuple[float, float]]:
    """What the chat doors of this tree and the other add, round by round."""
    sides = measure_chat(lines, CHAT_PEOPLE, embedder, CALLS["chat"] * BATCHES, rounds, other).values()
    return [
        ((ours.first - directly.first) / 1000, (theirs.first - directly.first) / 1000)
        for directly, ours, theirs in zip(*sides, strict=True)
    ]


@contextmanager
def _in_process(name: str, embedder: str, lines: int) -> Iterator[Batch]:
    with tempfile.TemporaryDirectory() as folder, closing(_sides(folder, name, embedder, lines)) as sides:
        before = (lambda: sides.gate_put("notes")()) if name == "get_after_put" else None
        clock = process_time if name.endswith("_cpu") else perf_counter
        yield _timed(sides.gate_put if name.startswith("put") else sides.gate_get, before, clock)


@contextmanager
def _over_http(name: str, embedder: str, lines: int) -> Iterator[Batch]:
    os.environ["SOUVENANCE_EMBEDDER"] = embedder
    with tempfile.TemporaryDirectory() as folder, closing(_sides(folder, name, embedder, lines)) as sides:
        home, token = str(sides.installation.settings.home), sides.installation.owner_cap
        with serving([sys.executable, "-m", "souvenance", "serve", "--port", "0", "--home", home]) as door:

            def prepare() -> Callable[[], object]:
                if name == "http_put":
                    body = {"text": sides.text.sentence(), "namespace": "work"}
                    return post(door, "/v1/memory/put", body, token)
                return post(
                    door, "/v1/memory/get", {"query": sides.question(), "namespaces": ["notes"]}, token
                )

            def batch(calls: int) -> float:
                door.close()  # A server ends a connection that rested for long.
                prepare()()
                return _timed(prepare)(calls)

            yield batch


def _sides(folder: str, name: str, embedder: str, lines: int) -> Sides:
    sides = Sides(Path(folder), 3, SOUVENANCE_EMBEDDER=embedder)
    sides.grow(1 if name.startswith(("put", "http_put")) else lines)
    return sides


def _measurement(name: str, embedder: str, lines: int) -> AbstractContextManager[Batch]:
    return (_over_http if name.startswith("http") else _in_process)(name, embedder, lines)


def work(name: str, embedder: str, lines: str) -> None:
    """Measure a batch for each line on standard input, until there is none."""
    with _measurement(name, embedder, int(lines)) as batch:
        batch(3)
        print("ready", flush=True)
        for line in sys.stdin:
            print(batch(int(line)), flush=True)


class Worker:
    """A process that measures one thing in one tree."""

    def __init__(self, tree: Path, name: str, embedder: str, lines: int) -> None:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SOUVENANCE_")}
        self._process = subprocess.Popen(
            [sys.executable, str(tree / "bench" / "gate_beside.py"), name, embedder, str(lines)],
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
    with ExitStack() as stack:
        workers = [Worker(tree, name, embedder, lines) for tree in trees]
        for worker in workers:
            stack.callback(worker.close)
        for worker in workers:
            worker.ready()
        found = []
        for _ in range(rounds):
            taken: list[list[float]] = [[], []]
            for number in range(BATCHES):
                for at in (0, 1) if number % 2 else (1, 0):
                    taken[at].append(workers[at].batch(CALLS[name]))
            found.append((median(taken[0]), median(taken[1])))
        return found


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


if __name__ == "__main__":
    work(*sys.argv[1:4])
