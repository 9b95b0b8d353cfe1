"""Runs one memory system over a task, in that system's own environment: `rivals_worker.py TASK RESULT`.

The task is a pickled `Task`. The result is a JSON file: what was found for each question, and what it took,
without the served embedder's time. A search that fails finds nothing, and the first such error is kept. If
anything else fails, the result is its error alone.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import pickle
import resource
import runpy
import sys
import time
from pathlib import Path
from typing import Any

# Behind what is installed: no module of the benchmarks may stand in for one of a system's own.
sys.path.append(sys.path.pop(0))

from recall_data import Corpus
from rivals_task import EmbedderClient, Task


async def _finished(result: Any) -> Any:
    return await result if inspect.isawaitable(result) else result


class Run:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._memory = runpy.run_path(task.driver)["Memory"]
        self._embedder = EmbedderClient(task.place.embedder)
        self._rankings: dict[str, list[list[str]]] = {}
        self._errors: list[str] = []
        self._ingest_seconds = 0.0
        self._search_seconds: list[float] = []

    async def result(self) -> dict[str, Any]:
        for number, corpus in enumerate(self._task.corpora):
            folder = self._task.place.folder / str(number)
            os.makedirs(folder)
            await self._corpus(corpus, folder)
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return {
            "rankings": self._rankings,
            "failed_searches": len(self._errors),
            "first_error": next(iter(self._errors), None),
            "ingest_seconds": self._ingest_seconds,
            "search_seconds": self._search_seconds,
            "peak_mb": _peak_mb(),
            "cpu_seconds": sum(one.ru_utime + one.ru_stime for one in used),
            "disk_bytes": _bytes(self._task.place.folder),
            "load": os.getloadavg()[0],
        }

    async def _corpus(self, corpus: Corpus, folder: Path) -> None:
        memory = await _finished(self._memory(self._task.place._replace(folder=folder)))
        began = self._now()
        await _finished(memory.add(corpus))
        self._ingest_seconds += self._now() - began
        self._rankings[corpus.name] = [await self._found(memory, question) for question in corpus.questions]
        await _finished(memory.close())

    async def _found(self, memory: Any, question: Any) -> list[str]:
        began = self._now()
        try:
            found = await _finished(memory.search(question, self._task.most))
        except Exception as error:  # noqa: BLE001 - what another's program raises is one of its results
            self._errors.append(_told(error))
            return []
        self._search_seconds.append(self._now() - began)
        return list(dict.fromkeys(found))[: self._task.most]

    def _now(self) -> float:
        """Seconds that go by, those of the embedder left out."""
        return time.perf_counter() - self._embedder.seconds()


def _peak_mb() -> float:
    """The most that this process has held; `ru_maxrss` would begin with what the parent held."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))


def _told(error: Exception) -> str:
    """On one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _bytes(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file() and not one.is_symlink())


def main() -> None:
    task, result = (Path(name) for name in sys.argv[1:])
    try:
        found = asyncio.run(Run(pickle.loads(task.read_bytes())).result())
    except Exception as error:  # noqa: BLE001 - as for a search
        found = {"error": _told(error)}
    result.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
