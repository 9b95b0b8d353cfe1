"""Servers, workers and hosts that start cold: work pending, no compiled modules, and a machine that is busy.

    nice python bench/cold_start.py [--processes 200] [--at-once 4] [--busy 2] [--minutes 60]

Each process opens a copy of one data folder with lines that have no vectors, and has a cache of compiled
modules of its own, which is empty, so that importing takes long. Meanwhile other processes keep the cores
busy. By turns it is a server, asked a question by meaning four times at once the moment it listens; a worker,
which makes the vectors; and a host, a program that opens the memory itself and asks in four threads at once.
It fails if one of them answers badly, dies, reports a failed import, or was not started in the given minutes.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from machine import Machine

Try = Callable[[subprocess.Popen[str], Path], list[str]]
"""What is wrong with a process that was started on a data folder."""

LINES = 20
QUESTIONS = 4
_PATIENCE_SECONDS = 300.0
_TROUBLE = re.compile("ImportError|partially initialized|Traceback|work waits|failed")


def prepared(folder: Path) -> Path:
    """A data folder with lines that nobody has embedded."""
    import souvenance
    from souvenance.gate import messages as m
    from souvenance.gate import operations as o
    from souvenance.gate.token_verifier import Credentials

    installation = souvenance.open_installation(
        souvenance.settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(folder))
    )
    for number in range(LINES):
        text = f"On day {number} Mia practised the cello for {number} minutes"
        installation.gate.call(o.PUT, Credentials(installation.owner_cap), m.Put(text))
    installation.close()
    return folder


def ask(port: int, token: str) -> int:
    """The status of a question, asked again while nothing listens. Raises: OSError."""
    until = time.monotonic() + _PATIENCE_SECONDS
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SECONDS)
        try:
            connection.request("POST", "/v1/memory/get", json.dumps({"query": "who makes music?"}), headers)
            return connection.getresponse().status
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
        finally:
            connection.close()


def try_server(process: subprocess.Popen[str], home: Path) -> list[str]:
    assert process.stdout is not None
    found = re.search(r"http://[\d.]+:(\d+)", process.stdout.readline())
    if found is None:
        return ["it did not start"]
    token = (home / "owner.cap").read_text().strip()
    with ThreadPoolExecutor(QUESTIONS) as pool:
        asked = [pool.submit(ask, int(found.group(1)), token) for _ in range(QUESTIONS)]
        answers = [one.result() for one in asked]
    return [f"a question was answered {status}" for status in answers if status != 200]


def try_worker(process: subprocess.Popen[str], home: Path) -> list[str]:
    import souvenance
    from souvenance.gate import messages as m
    from souvenance.gate import operations as o
    from souvenance.gate.token_verifier import Credentials

    until = time.monotonic() + _PATIENCE_SECONDS
    with closing(souvenance.open_installation(souvenance.settings_from({}, str(home)))) as here:
        while here.gate.call(o.STATUS, Credentials(here.owner_cap), m.Nothing()).waiting:
            if time.monotonic() > until or process.poll() is not None:
                return ["lines were left without their vectors"]
            time.sleep(0.1)
    return []


def try_host(process: subprocess.Popen[str], home: Path) -> list[str]:
    assert process.stdout is not None
    said = process.stdout.readline().strip()
    return [] if said == "answered" else [f"a host found nothing: {said or 'it said nothing'}"]


_HOST = f"""
import signal, sys, souvenance
from concurrent.futures import ThreadPoolExecutor
with souvenance.open(sys.argv[1]) as memory, ThreadPoolExecutor({QUESTIONS}) as pool:
    found = list(pool.map(memory.get, ["who makes music?"] * {QUESTIONS}))
    print("answered" if all(found) else "no lines", flush=True)
    signal.pause()
"""
KINDS: dict[str, tuple[tuple[str, ...], Try]] = {
    "server": (("-m", "souvenance", "serve", "--port", "0"), try_server),
    "worker": (("-m", "souvenance", "work"), try_worker),
    "host": (("-c", _HOST), try_host),
}
"""How each is started, and tried."""


def start_one(made: Path, number: int) -> list[str]:
    """What went wrong with one process; nothing if all is well."""
    kind = list(KINDS)[number % len(KINDS)]
    arguments, tried = KINDS[kind]
    with tempfile.TemporaryDirectory(prefix=f"cold-{number}-") as place:
        home = Path(place) / "home"
        shutil.copytree(made, home)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")
        }
        environment |= {"PYTHONPYCACHEPREFIX": f"{place}/compiled", "SOUVENANCE_HOME": str(home)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        log = Path(place) / "log"
        with log.open("wb") as told:
            process = subprocess.Popen(
                [sys.executable, *arguments, *([str(home)] if kind == "host" else [])],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=told,
                text=True,
            )
            try:
                wrong = tried(process, home)
                wrong += ["it died"] if process.poll() is not None else []
            except (OSError, http.client.HTTPException) as error:
                wrong = [f"{type(error).__name__}: {error}"]
            finally:
                process.terminate()
                process.wait(60)
        trouble = log.read_text("utf-8")
        wrong += [trouble[-300:]] if wrong or _TROUBLE.search(trouble) else []
        return [f"{kind}: {one}" for one in wrong if one]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--busy", type=int, default=2, help="how many processes keep the cores busy")
    parser.add_argument("--minutes", type=float, default=60, help="start no process after that")
    asked = parser.parse_args(arguments)
    machine, began = Machine(), time.monotonic()

    def start(number: int) -> list[str] | None:
        return start_one(made, number) if time.monotonic() - began < asked.minutes * 60 else None

    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(asked.busy)]
    try:
        with tempfile.TemporaryDirectory(prefix="cold-") as folder, ThreadPoolExecutor(asked.at_once) as pool:
            made = prepared(Path(folder) / "home")
            found = [one for one in pool.map(start, range(asked.processes)) if one is not None]
    finally:
        for one in busy:
            one.kill()
            one.wait()
    wrong = Counter(problem for problems in found for problem in problems)
    taken = time.monotonic() - began
    failed = sum(bool(problems) for problems in found)
    print(machine)
    count = f"{len(found)} of {asked.processes} processes"
    print(f"{count} in {taken:.0f} s, {asked.at_once} at once: {failed} failed")
    if missing := asked.processes - len(found):
        print(f"{missing} were not started: the time was up")
    for problem, times in wrong.most_common(10):
        print(f"{times:5d}  {problem}")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
