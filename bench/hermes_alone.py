"""The provider alone, in processes of its own: recall that is warm, and recall in a process just started."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from hermes_figures import Verdict, figure, ms, p99
from hermes_gateway import OWNER
from hermes_store import messages, told

EMBEDDED_MS, PLAIN_MS = 20.0, 12.0
"""The most that a warm recall may take, with an embedder and without."""
PREFETCH_P99_MS = 100.0
INITIALIZE_MS = 20.0
COLD_MS = 300.0

_RECALL = Path(__file__).resolve().parent / "hermes_recall.py"
_HOST_MODULE = "run_agent"
_UNCOUNTED = 30
_PATIENCE_SECONDS = 900.0


class Place(NamedTuple):
    """Where the provider runs. Beside Hermes nothing is installed that an embedder needs."""

    name: str
    python: Path
    most_ms: float
    """What a warm recall may take there."""
    after: tuple[str, ...] = ()
    """What is imported before the clock starts."""


class Alone:
    """A folder with a home for each measurement."""

    def __init__(self, folder: Path, store: Path, environment: Path, lines: int) -> None:
        self._folder = folder
        self._store = store
        self._lines = lines
        self._environment = environment
        hermes = environment / "bin" / "python"
        self.places = (
            Place("Souvenance's environment", Path(sys.executable), EMBEDDED_MS),
            Place("Hermes' environment", hermes, PLAIN_MS),
        )
        self.cold_places = (
            *self.places,
            Place("after the host's imports", hermes, PLAIN_MS, (_HOST_MODULE,)),
        )

    def warm(self, rounds: int, calls: int) -> dict[str, list[dict[str, Any]]]:
        """What each round found, by place. Every round is a process with a copy of the store."""
        found: dict[str, list[dict[str, Any]]] = {place.name: [] for place in self.places}
        asked = messages(self._lines, _UNCOUNTED + calls)
        for number in range(rounds):
            for place in self.places:
                told(f"warm: round {number + 1} of {rounds}, {place.name}")
                home = self._home()
                found[place.name].append(self._run(place, "often", home, asked, uncounted=_UNCOUNTED))
                shutil.rmtree(home)
        return found

    def cold(self, rounds: int, samples: int) -> dict[str, list[list[float]]]:
        """The seconds of each sample of each round, by what they are of; all are measured in turns."""
        home = self._home()
        asked = messages(self._lines, rounds * samples + 1)
        for place in self.cold_places:
            self._run(place, "once", home, asked[-1:])
        for command in self._scale().values():
            self._timed(command)
        found: dict[str, list[list[float]]] = {}
        for number in range(rounds):
            taken: dict[str, list[float]] = {}
            for sample in range(samples):
                told(f"cold: round {number + 1} of {rounds}, {sample + 1} of {samples}")
                for place in self.cold_places:
                    for name, seconds in self._cold(place, home, asked[number * samples + sample]).items():
                        taken.setdefault(name, []).append(seconds)
                for name, command in self._scale().items():
                    taken.setdefault(name, []).append(self._timed(command))
            for name, every in taken.items():
                found.setdefault(name, []).append(every)
        shutil.rmtree(home)
        return found

    def _cold(self, place: Place, home: Path, message: str) -> dict[str, float]:
        began = time.perf_counter()
        answer = self._run(place, "once", home, [message])
        whole = time.perf_counter() - began
        assert answer["in_time"], "nothing was recalled"
        named = {"imports of the plugin": answer["imports"], "initialize": answer["initialize"]}
        named["to the answer"] = answer["answer"]
        if not place.after:
            named["the whole process"] = whole
        return {f"{place.name}: {name}": seconds for name, seconds in named.items()}

    def _scale(self) -> dict[str, list[str]]:
        """The host's own start, and that of an interpreter, to compare with."""
        programs = self._environment / "bin"
        return {
            "an interpreter that does nothing": [str(programs / "python"), "-c", "pass"],
            f"an interpreter that imports the host's {_HOST_MODULE}": [
                str(programs / "python"),
                "-c",
                f"import {_HOST_MODULE}",
            ],
            "hermes --version": [str(programs / "hermes"), "--version"],
        }

    def _home(self) -> Path:
        home = self._folder / "alone"
        shutil.copytree(self._store, home / "souvenance")
        (home / "souvenance.json").write_text(json.dumps(OWNER), "utf-8")
        (home / "souvenance.json").chmod(0o600)
        return home

    def _run(self, place: Place, mode: str, home: Path, asked: Sequence[str], **more: int) -> dict[str, Any]:
        ended = subprocess.run(
            [str(place.python), str(_RECALL), mode, *place.after],
            input=json.dumps({"home": str(home), "messages": asked, **more}),
            env=self._variables(),
            stdout=subprocess.PIPE,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=True,
        )
        found: dict[str, Any] = json.loads(ended.stdout)
        return found

    def _timed(self, command: Sequence[str]) -> float:
        began = time.perf_counter()
        subprocess.run(
            command, env=self._variables(), stdout=subprocess.DEVNULL, timeout=_PATIENCE_SECONDS, check=True
        )
        return time.perf_counter() - began

    def _variables(self) -> dict[str, str]:
        """Nothing of the caller's but the path."""
        return {"PATH": os.environ["PATH"], "HOME": str(self._folder), "LANG": "C.UTF-8", "PYTHONUTF8": "1"}


def print_warm(found: dict[str, list[dict[str, Any]]], lines: int, places: Sequence[Place]) -> list[Verdict]:
    [calls] = {len(one["prefetch"]) for rounds in found.values() for one in rounds}
    print(f"\nwarm: {lines} lines, a new provider for each of {calls} calls a round; ms")
    print(f"{'':>24} {'prefetch median':>29} {'p99':>29} {'initialize most':>29} {'sync_turn median':>29}")
    verdicts = []
    most = {one.name: one.most_ms for one in places}
    for place, rounds in found.items():
        medians = [median(ms(one["prefetch"])) for one in rounds]
        highest = [p99(ms(one["prefetch"])) for one in rounds]
        starts = [max(ms(one["initialize"])) for one in rounds]
        written = [median(ms(one["sync_turn"])) for one in rounds]
        print(f"{place:>24} {figure(medians)} {figure(highest)} {figure(starts)} {figure(written)}")
        cpu = figure(ms([one["cpu"] for one in rounds]))
        late = sum(one["late"] for one in rounds)
        print(f"{'':>24} {cpu} CPU of a call; memory came too late for {late} of {calls * len(rounds)} calls")
        verdicts += [
            Verdict(f"warm prefetch, median ms, {place}", medians, most[place]),
            Verdict(f"warm prefetch, p99 ms, {place}", highest, PREFETCH_P99_MS),
            Verdict(f"initialize, most ms, {place}", [max(starts)], INITIALIZE_MS),
            Verdict(f"warm calls for which memory came too late, {place}", [late], 0),
        ]
    return verdicts


def print_cold(found: dict[str, list[list[float]]], lines: int) -> list[Verdict]:
    samples = len(next(iter(found.values()))[0])
    print(f"\ncold: {lines} lines, {samples} processes a round; ms from the first line of the script")
    verdicts = []
    for name, rounds in found.items():
        medians = [median(ms(one)) for one in rounds]
        print(f"{name:>56} {figure(medians)}")
        if name.endswith("to the answer") and not name.startswith("after"):
            verdicts.append(Verdict(f"cold, ms, {name}", medians, COLD_MS))
        elif name.endswith("initialize"):
            most = max(1000 * seconds for one in rounds for seconds in one)
            verdicts.append(Verdict(f"cold, most ms, {name}", [most], INITIALIZE_MS))
    return verdicts
