"""Memory systems side by side: how often they find the right turn, how fast, and in how much space.

    python bench/rivals.py [--systems souvenance,bm25,mem0,...] [--conversations 3] [--questions 20]
        [--install anew|kept|none] [--scratch DIR] [--json FILE]

Each system runs in a virtual environment of its own, installed from the registries below the scratch folder,
with its best documented settings for no language model (`rivals_systems`). All get the same turns, as
`Speaker: text` with date and session where they take them, and the same questions. All that take an embedder
get the same vectors from 127.0.0.1. What they find is judged by `recall_judge`, as in `recall.py`.

LoCoMo: the first conversations, all their questions, ten turns asked for. LongMemEval_S: the first questions
by id that have an answer in the user's turns, each with its whole haystack, of which the user's turns are
stored; a hundred turns are asked for, since sessions are counted. Every conversation is a store of its own.

Times are those of a system without the served embedder's. Memory is the most that its process held, disk what
its folders hold at the end. The error of a system that fails is printed, and the others go on. A JSON file
that is there already keeps the figures of the systems that this run leaves out, if the sample is the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import pickle
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from machine import Machine
from recall_data import Corpus, Question, Session, Turn, locomo, longmemeval
from recall_judge import quality
from recall_metrics import by_session
from recall_systems import Ranking
from rivals_embedder import served_embedder
from rivals_systems import SYSTEMS, System
from rivals_table import markdown
from rivals_task import Place, Task

_HERE = Path(__file__).resolve().parent
_DATA = _HERE.parents[1] / "shared" / "data"
_MOST = {"locomo": 10, "longmemeval": 100}
_MEASURES = (
    "turn_frac@10",
    "turn_frac@10_cat1",
    "turn_all@10",
    "turn_mrr",
    "session_all@5",
    "session_all@10",
)
_QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "MEM0_TELEMETRY": "False",
}
_LOADS_EXTENSIONS = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"


class Failed(Exception):
    """A system could not be installed or run."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="some of the systems, by name")
    parser.add_argument("--locomo", type=Path, default=_DATA / "locomo-dev.json.gz")
    parser.add_argument("--longmemeval", type=Path, default=_DATA / "longmemeval-s-dev.json.gz")
    parser.add_argument("--conversations", type=int, default=3, help="of LoCoMo, the first by id")
    parser.add_argument("--questions", type=int, default=20, help="of LongMemEval_S, the first by id")
    parser.add_argument(
        "--install",
        choices=("anew", "kept", "none"),
        default="anew",
        help="kept: take environments that an earlier run installed; none: run all in this one",
    )
    parser.add_argument("--scratch", type=Path, default=Path.home() / ".cache" / "souvenance-rivals")
    parser.add_argument("--python", help="for the environments; its sqlite3 has to load extensions")
    parser.add_argument("--minutes", type=float, default=60, help="that a system may take for a dataset")
    parser.add_argument("--json", type=Path, help="write all figures there")
    asked = parser.parse_args()
    asked.systems = asked.systems.split(",")
    if unknown := set(asked.systems) - set(SYSTEMS):
        parser.error(f"{unknown.pop()} is none of {', '.join(SYSTEMS)}")
    if asked.conversations < 1 or asked.questions < 1:
        parser.error("at least one conversation and one question are needed")
    return asked


def sample(asked: argparse.Namespace) -> dict[str, list[Corpus]]:
    """What is stored and asked: the turns that are looked through, the questions that have an answer."""
    conversations = sorted(locomo(asked.locomo), key=lambda corpus: corpus.name)
    haystacks = sorted(longmemeval(asked.longmemeval), key=lambda corpus: corpus.name)
    answered = [one for one in haystacks if not one.questions[0].unanswerable]
    return {
        "locomo": conversations[: asked.conversations],
        "longmemeval": [_looked_through(one) for one in answered[: asked.questions]],
    }


def _looked_through(corpus: Corpus) -> Corpus:
    speaker = corpus.views[""]
    sessions = [
        session._replace(turns=[turn for turn in session.turns if turn.speaker == speaker])
        for session in corpus.sessions
    ]
    return corpus._replace(sessions=sessions)


class Bench:
    def __init__(self, asked: argparse.Namespace, embedder: str) -> None:
        self._asked = asked
        self._embedder = embedder
        self._scratch: Path = asked.scratch.absolute()
        self._python = asked.python or _python()

    def figures(self, name: str, corpora: Mapping[str, list[Corpus]]) -> dict[str, Any]:
        """Everything that is known of a system, and where it failed, the error in its place."""
        system = SYSTEMS[name]
        found: dict[str, Any] = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "settings": system.settings}
        try:
            python, installed = self._installed(system)
            found |= {name: installed.get(name) for name in ("install_seconds", "install_mb")}
            found["version"] = installed.get("packages", {}).get(system.package, "")
            began = time.perf_counter()
            self._run(name, python, [_TINY], 1, "first")
            first = time.perf_counter() - began
            found["to_first_recall_seconds"] = installed["install_seconds"] + first if installed else None
        except Failed as failed:
            return {**found, "error": str(failed)}
        for dataset, chosen in corpora.items():
            try:
                found[dataset] = _judged(chosen, self._run(name, python, chosen, _MOST[dataset], dataset))
            except Failed as failed:
                found[dataset] = {"error": str(failed)}
        return found

    def _installed(self, system: System) -> tuple[str, dict[str, Any]]:
        """The environment's Python, and what it took to install; nothing of that if nothing was installed."""
        if self._asked.install == "none":
            return sys.executable, {}
        folder = self._scratch / "environments" / f"{system.driver}-{_digest(system.requirements)}"
        python, told = str(folder / "bin" / "python"), folder / "installed.json"
        if self._asked.install == "kept" and told.exists():
            return python, json.loads(told.read_text("utf-8"))
        shutil.rmtree(folder, ignore_errors=True)
        began = time.perf_counter()
        self._called([self._python, "-m", "venv", str(folder)])
        empty = _megabytes(folder)
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        self._called([*pip, "install", "--quiet", "--no-cache-dir", *system.requirements])
        seconds = time.perf_counter() - began
        packages = json.loads(self._called([*pip, "list", "--format", "json"]))
        found = {
            "install_seconds": seconds,
            "install_mb": _megabytes(folder) - empty,
            "packages": {one["name"]: one["version"] for one in packages},
        }
        told.write_text(json.dumps(found), "utf-8")
        return python, found

    def _run(self, name: str, python: str, corpora: list[Corpus], most: int, part: str) -> dict[str, Any]:
        """What the system found for the questions, in a process and a folder of its own."""
        system = SYSTEMS[name]
        folder = self._scratch / "runs" / f"{name}-{part}"
        shutil.rmtree(folder, ignore_errors=True)
        home = folder / "home"
        home.mkdir(parents=True)
        place = Place(folder / "data", self._embedder, system.options)
        task, result = folder / "task", folder / "result.json"
        task.write_bytes(
            pickle.dumps(Task(str(_HERE / "rivals" / f"{system.driver}.py"), place, corpora, most))
        )
        kept = {key: value for key, value in os.environ.items() if not key.startswith("SOUVENANCE_")}
        environment = {**kept, **_QUIET, "HOME": str(home)}
        self._called([python, str(_HERE / "rivals_worker.py"), str(task), str(result)], environment)
        found: dict[str, Any] = json.loads(result.read_text("utf-8"))
        if "error" in found:
            raise Failed(found["error"])
        shutil.rmtree(folder)
        return found

    def _called(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
        """What a program printed. Raises: Failed with its last words."""
        with subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,
        ) as process:
            try:
                out, err = process.communicate(timeout=60 * self._asked.minutes)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise Failed(f"it took longer than {self._asked.minutes:g} minutes") from None
        if process.returncode:
            said = [line.strip() for line in err.splitlines() if line.strip()]
            raise Failed(said[-1] if said else f"it ended with status {process.returncode}")
        return out


_MOMENT = datetime(2024, 1, 1, tzinfo=UTC)
_TINY = Corpus(
    "tiny",
    [Session("D1", _MOMENT, [Turn("D1:1", "Ann", "I live in Lisbon.")])],
    [Question("Where does Ann live?", _MOMENT, "", frozenset(), frozenset(), {})],
    {"": None},
)
"""What a first recall is from."""


def _python() -> str:
    """A Python whose sqlite3 can load extensions, which many of the systems need."""
    for one in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([one, "-c", _LOADS_EXTENSIONS], capture_output=True).returncode == 0:
            return one
    return sys.executable


def _digest(parts: tuple[str, ...]) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


def _megabytes(folder: Path) -> float:
    return sum(one.lstat().st_size for one in folder.rglob("*") if one.is_file()) / 1e6


def _judged(corpora: Sequence[Corpus], found: dict[str, Any]) -> dict[str, Any]:
    rankings = [
        Ranking(turns, by_session(turns, corpus.session_of))
        for corpus in corpora
        for turns in found["rankings"][corpus.name]
    ]
    stored = sum(len(corpus.session_of) for corpus in corpora)
    measures = quality(corpora, rankings)
    return {
        **{name: measures[name] for name in _MEASURES if name in measures},
        "ingest_ms_per_turn": 1000 * found["ingest_seconds"] / stored,
        "search_ms": 1000 * median(found["search_seconds"]) if found["search_seconds"] else None,
        "disk_kb_per_turn": found["disk_bytes"] / 1000 / stored,
        **{key: found[key] for key in ("peak_mb", "cpu_seconds", "failed_searches", "first_error", "load")},
    }


def _command(asked: argparse.Namespace) -> str:
    """What chooses the figures; where files lie does not."""
    told = f"python bench/rivals.py --conversations {asked.conversations} --questions {asked.questions}"
    return told if asked.systems == list(SYSTEMS) else f"{told} --systems {','.join(asked.systems)}"


def main() -> int:
    asked, machine = arguments(), Machine()
    corpora = sample(asked)
    about = {
        name: {"corpora": len(chosen), "digest": _digest(tuple(one.digest for one in chosen))}
        for name, chosen in corpora.items()
    }
    systems: dict[str, Any] = {}
    if asked.json and asked.json.exists():
        earlier = json.loads(asked.json.read_text("utf-8"))
        systems = earlier["systems"] if earlier["sample"] == about else {}
    told: dict[str, Any] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "command": _command(asked),
        "sample": about,
        "systems": systems,
    }
    with served_embedder() as embedder:
        bench = Bench(asked, embedder)
        for name in asked.systems:
            print(f"{name} ...", file=sys.stderr, flush=True)
            systems[name] = bench.figures(name, corpora)
            told["machine"] = f"{platform.machine()}, {machine}"
            if asked.json:
                asked.json.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print(markdown(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
