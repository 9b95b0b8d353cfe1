"""How a list of steps is played: in order, each giving exactly one result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from souvenance.surfaces.cli.demo.checks import CheckSkipped

OK, SKIP, FAIL = "ok", "skip", "FAIL"
_Stage = TypeVar("_Stage")


@dataclass(frozen=True, slots=True)
class DemoStep(Generic[_Stage]):
    """A step tells what it saw, or raises. It is skipped if one that it needs was not ok."""

    id: str
    perform: Callable[[_Stage], str]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DemoResult:
    id: str
    outcome: str
    seen: str

    @property
    def line(self) -> str:
        return f"{self.outcome:<5}{self.id:<10} {' '.join(self.seen.split())}"


def play(steps: Iterable[DemoStep[_Stage]], stage: _Stage) -> Iterator[DemoResult]:
    done: set[str] = set()
    for step in steps:
        result = _played(step, stage, done)
        if result.outcome == OK:
            done.add(step.id)
        yield result


def summary(results: Iterable[DemoResult]) -> dict[str, int]:
    outcomes = [result.outcome for result in results]
    return {"ok": outcomes.count(OK), "skipped": outcomes.count(SKIP), "failed": outcomes.count(FAIL)}


def _played(step: DemoStep[_Stage], stage: _Stage, done: set[str]) -> DemoResult:
    if missing := [name for name in step.needs if name not in done]:
        return DemoResult(step.id, SKIP, f"needs {', '.join(missing)}")
    try:
        return DemoResult(step.id, OK, step.perform(stage))
    except CheckSkipped as why:
        return DemoResult(step.id, SKIP, str(why))
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a step, the step has failed
        return DemoResult(step.id, FAIL, str(error) or type(error).__name__)
