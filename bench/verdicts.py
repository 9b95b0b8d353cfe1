"""How long a verdict takes while another token floods the server, beside the same server left alone.

    python bench/verdicts.py [--connections 8,32] [--calls 400] [--rounds 3] [--embedder none] [--json FILE]

Method. A real `souvenance serve`. A narrow token of one workspace stores lines of 64 kB and recalls them by
some of their words, over so many connections at once, from a process of its own. A token of another workspace
asks `GET /v1/caps/whoami` over one connection that stays open, with a short pause after each answer. Every
round measures it without the flood and under each flood, one after the other. A figure is the median of the
rounds' 99th percentiles, the spread is the smallest and the largest of them. The ratio is taken round by
round.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import souvenance
from machine import Machine
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials

MOST = 3.0
"""How many times longer a verdict may take under the flood."""
LINE_BYTES = 64_000
_STORED_BEFORE = 20
_GETS_PER_PUT = 4
_WARM_SECONDS = 2.0
_DRAINING = 10
_PAUSE_SECONDS = 0.01
_LONGEST_SECONDS = 20.0
_WORDS = [
    f"{first}{last}" for first in ("ba", "ce", "di", "fo", "gu", "ha", "je") for last in map(str, range(900))
]


class Client:
    def __init__(self, port: int, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {"authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: object = None) -> int:
        content = None if body is None else json.dumps(body)
        self._connection.request(method, path, content, self._headers)
        answer = self._connection.getresponse()
        answer.read()
        return answer.status


def line(chance: random.Random) -> str:
    words: list[str] = []
    size = 0
    while size < LINE_BYTES - 20:
        words.append(chance.choice(_WORDS))
        size += len(words[-1]) + 1
    return " ".join(words)


_LINES = [line(random.Random(seed)) for seed in range(20)]


def put(client: Client, chance: random.Random) -> int:
    return client.ask(
        "POST", "/v1/memory/put", {"namespace": "default", "kind": "event", "text": chance.choice(_LINES)}
    )


def recall(client: Client, chance: random.Random) -> int:
    asked = " ".join(chance.choices(_WORDS, k=12))
    return client.ask("POST", "/v1/memory/get", {"query": asked, "k": 20})


def flood(port: int, token: str, connections: int) -> None:
    """Until this process is ended."""

    def one(seed: int) -> None:
        client, chance = Client(port, token), random.Random(seed)
        for _ in iter(int, 1):
            put(client, chance)
            for _ in range(_GETS_PER_PUT):
                recall(client, chance)

    for seed in range(connections):
        threading.Thread(target=one, args=(seed,), daemon=True).start()
    print("flooding", flush=True)
    threading.Event().wait()


@contextmanager
def flooding(port: int, token: str, connections: int) -> Iterator[None]:
    command = [
        sys.executable,
        __file__,
        "--flood",
        f"{port}",
        "--token",
        token,
        "--connections",
        f"{connections}",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()
            time.sleep(_WARM_SECONDS)
            yield
        finally:
            process.kill()


@contextmanager
def serving(home: Path, settings: dict[str, str]) -> Iterator[int]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
    command = [sys.executable, "-m", "souvenance", "serve", "--port", "0"]
    environment = {**kept, **settings, "SOUVENANCE_HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline().split()[-1].rsplit(":", 1)[1])
        finally:
            server.terminate()


def tokens(home: Path, settings: dict[str, str]) -> tuple[str, str]:
    """One that floods a workspace of its own, and one of another workspace."""
    installation = souvenance.open_installation(souvenance.settings_from(settings, str(home)))
    owner = Credentials(installation.owner_cap)
    made = [
        installation.gate.call(
            o.MINT, owner, m.Mint(sub=sub, wid=sub, ops=ops, namespaces_allowed=("default",))
        ).cap
        for sub, ops in (("noisy", ("put", "get")), ("quiet", ("get",)))
    ]
    installation.close()
    return made[0], made[1]


def drain(client: Client, chance: random.Random) -> None:
    """Until the server is done with what the flood left behind: requests of one token wait for each other."""
    for _ in range(_DRAINING):
        put(client, chance)
        recall(client, chance)


def p99_ms(port: int, token: str, calls: int) -> float:
    client = Client(port, token)
    took: list[float] = []
    ends = time.monotonic() + _LONGEST_SECONDS
    while len(took) < calls and time.monotonic() < ends:
        time.sleep(_PAUSE_SECONDS)
        began = time.perf_counter()
        status = client.ask("GET", "/v1/caps/whoami")
        took.append(time.perf_counter() - began)
        if status != 200:
            raise SystemExit(f"whoami answered {status}")
    return 1000 * sorted(took)[max(0, -(-99 * len(took) // 100) - 1)]


def measure(
    connections: list[int], calls: int, rounds: int, settings: dict[str, str]
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        noisy, quiet = tokens(home, settings)
        with serving(home, settings) as port:
            chance = random.Random(0)
            filling = Client(port, noisy)
            for _ in range(_STORED_BEFORE):
                put(filling, chance)
            p99_ms(port, quiet, calls)
            for _ in range(rounds):
                found.setdefault("alone", []).append(p99_ms(port, quiet, calls))
                for count in connections:
                    with flooding(port, noisy, count):
                        found.setdefault(f"{count} connections", []).append(p99_ms(port, quiet, calls))
                    drain(Client(port, noisy), chance)
    return found


def report(found: dict[str, list[float]]) -> list[str]:
    """What is too slow."""
    slow = []
    for name, took in found.items():
        ratios = [one / alone for one, alone in zip(took, found["alone"], strict=True)]
        print(
            f"{name:>16}: p99 {median(took):6.2f} ms ({min(took):.2f} to {max(took):.2f}),"
            f" {median(ratios):.2f} times alone ({min(ratios):.2f} to {max(ratios):.2f})"
        )
        if median(ratios) > MOST:
            slow.append(f"{name}: {median(ratios):.2f} times as long, and at most {MOST} is allowed")
    return slow


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--connections", default="8,32")
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--flood", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--token", help=argparse.SUPPRESS)
    given = parser.parse_args()
    connections = [int(one) for one in given.connections.split(",")]
    if given.flood:
        flood(given.flood, given.token, connections[0])
        return
    machine = Machine()
    found = measure(connections, given.calls, given.rounds, {"SOUVENANCE_EMBEDDER": given.embedder})
    print(f"{machine}\n")
    if given.json:
        given.json.write_text(json.dumps(found))
    if slow := report(found):
        raise SystemExit("\n".join(slow))


if __name__ == "__main__":
    main()
