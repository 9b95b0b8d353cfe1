"""Servers that start cold: work pending, a question at once, no compiled modules, and a machine that is busy.

    nice python bench/cold_start.py [--processes 200] [--at-once 4] [--busy 2] [--minutes 60]

Each process serves a copy of one data folder with lines that have no vectors, and is asked a question by
meaning the moment it listens, four times at once. It has a cache of compiled modules of its own, which is
empty, so that importing takes long. Meanwhile other processes keep the cores busy. It fails if a process
answers with anything but 200, dies, or reports a failed import. After the given minutes no other is started,
and the report says how many there were.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from machine import Machine

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


def start_one(made: Path, number: int) -> list[str]:
    """What went wrong with one process; nothing if all is well."""
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
            server = subprocess.Popen(
                [sys.executable, "-m", "souvenance", "serve", "--port", "0"],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=told,
                text=True,
            )
            try:
                assert server.stdout is not None
                found = re.search(r"http://[\d.]+:(\d+)", server.stdout.readline())
                if found is None:
                    return ["it did not start", log.read_text("utf-8")[-300:]]
                token = (home / "owner.cap").read_text().strip()
                with ThreadPoolExecutor(QUESTIONS) as pool:
                    asked = [pool.submit(ask, int(found.group(1)), token) for _ in range(QUESTIONS)]
                    answers = [one.result() for one in asked]
                died = server.poll() is not None
            except (OSError, http.client.HTTPException) as error:
                return [f"{type(error).__name__}: {error}"]
            finally:
                server.terminate()
                server.wait(60)
        wrong = [f"a question was answered {status}" for status in answers if status != 200]
        wrong += ["it died"] if died else []
        trouble = log.read_text("utf-8")
        return wrong + ([trouble[-300:]] if _TROUBLE.search(trouble) else [])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--busy", type=int, default=2, help="how many processes keep the cores busy")
    parser.add_argument("--minutes", type=float, default=60, help="start no process after that")
    asked = parser.parse_args()
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
    for problem, times in wrong.most_common(10):
        print(f"{times:5d}  {problem}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
