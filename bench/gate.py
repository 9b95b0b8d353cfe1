"""What the gate costs: put and get through cap, seal and audit, beside plain SQLite in the same run.

    python bench/gate.py [--sizes 1000,10000,100000] [--rounds 5] [--json FILE]
    python bench/gate.py --beside DIR [--lines 10000] [--embedder auto] [--rounds 5] [--json FILE]

With `--beside`, put, get and what the chat door adds are measured beside another checkout of this repository:
see `gate_beside.py`.

Method. Every round measures both sides in turns, one call each, so that whatever the machine is
doing hits both; a figure is the median of the rounds' medians, the spread is the smallest and the
largest of them. A ratio is taken round by round, and is the median of those. The text is made:
sentences over a vocabulary whose word frequencies follow Zipf's law, the same for both sides. Plain
SQLite is WAL with synchronous=FULL, as the book is; FTS5 is its `bm25()` over all words of the
question joined by OR, the text unsealed. Every get of ours includes its audit row; FTS5 writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import souvenance
from gate_worker import Step, Text, post, serving
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials

PUT_MOST = 3.0
GET_MOST_MS = 15.0
DOOR_MOST = 2.0
UNLIMITED = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000"}


@dataclass
class Figures:
    """The medians of each round, in seconds, by name."""

    rounds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, seconds: list[float]) -> None:
        self.rounds.setdefault(name, []).append(median(seconds))

    def us(self, name: str) -> float:
        return median(self.rounds[name]) * 1e6

    def ratios(self, ours: str, theirs: str) -> list[float]:
        """Ours to theirs, round by round."""
        return [a / b for a, b in zip(self.rounds[ours], self.rounds[theirs], strict=True)]

    def told(self, name: str) -> str:
        low, high = min(self.rounds[name]) * 1e6, max(self.rounds[name]) * 1e6
        return f"{self.us(name):10.1f} µs  ({low:.1f} to {high:.1f})"


def in_turns(figures: Figures, calls: int, **sides: Callable[[], Step]) -> None:
    """Measure each side `calls` times, one after the other. A side prepares a step outside the clock."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(calls):
        for name, prepare in sides.items():
            step = prepare()
            began = time.perf_counter()
            step()
            taken[name].append(time.perf_counter() - began)
    for name, seconds in taken.items():
        figures.add(name, seconds)


def plain_database(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE lines (id TEXT PRIMARY KEY, text TEXT NOT NULL)")
    database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter')")
    return database


class Sides:
    """The same lines behind the gate and in plain SQLite."""

    def __init__(self, folder: Path, seed: int, **settings: str) -> None:
        folder.mkdir(exist_ok=True)
        self.text = Text(seed)
        self.installation = souvenance.open_installation(
            souvenance.settings_from({**UNLIMITED, **settings}, str(folder / "home"))
        )
        self.credentials = Credentials(self.installation.owner_cap)
        self.database = plain_database(folder / "plain.db")
        self.stored: list[str] = []
        self._questions = random.Random(seed + 1)

    def close(self) -> None:
        self.database.close()
        self.installation.close()

    def gate_put(self) -> Step:
        request = m.Put(self.text.sentence(), "work")
        return lambda: self.installation.gate.call(o.PUT, self.credentials, request)

    def bare_insert(self) -> Step:
        values = (os.urandom(13).hex(), self.text.sentence())
        return lambda: self.database.execute("INSERT INTO lines VALUES (?, ?)", values)

    def grow(self, size: int) -> None:
        """The same lines on both sides, up to that many."""
        fresh = [self.text.sentence() for _ in range(size - len(self.stored))]
        for number, sentence in enumerate(fresh):
            self.installation.gate.call(o.PUT, self.credentials, m.Put(sentence, "notes"))
            if number % 1000 == 0:
                print(f"\r  storing {len(self.stored) + number} of {size}", end="", file=sys.stderr)
        print("\r" + " " * 40, end="\r", file=sys.stderr)
        self.database.execute("BEGIN")
        self.database.executemany("INSERT INTO words (text) VALUES (?)", ((one,) for one in fresh))
        self.database.execute("COMMIT")
        self.stored += fresh

    def question(self) -> str:
        return self.text.question(self._questions.choice(self.stored))

    def gate_get(self) -> Step:
        request = m.Get(self.question(), ("notes",))
        return lambda: self.installation.gate.call(o.GET, self.credentials, request)

    def fts5_get(self) -> Step:
        return self._fts5(self.question().split())

    def fts5_get_stopped(self) -> Step:
        """FTS5 with the stop words that our tokeniser leaves out left out too."""
        from souvenance.language.terms import terms

        return self._fts5(list(terms(self.question())))

    def _fts5(self, words: list[str]) -> Step:
        match = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT text FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 5"
        return lambda: self.database.execute(sql, (match,)).fetchall()

    def bare_select(self) -> Step:
        rows = [(self._questions.randrange(1, len(self.stored)),) for _ in range(5)]
        return lambda: [
            self.database.execute("SELECT text FROM words WHERE rowid = ?", row).fetchone() for row in rows
        ]


def measure_raw(figures: Figures, rounds: int) -> None:
    key, sealed, message = AESGCM(os.urandom(32)), os.urandom(12), os.urandom(200)
    signer = Ed25519PrivateKey.generate()
    signature, public = signer.sign(message), signer.public_key()
    for _ in range(rounds):
        in_turns(
            figures,
            1000,
            aes_gcm=lambda: lambda: key.encrypt(sealed, message, b"place"),
            ed25519_verify=lambda: lambda: public.verify(signature, message),
        )


def measure_put(figures: Figures, rounds: int, folder: Path) -> None:
    sides = Sides(folder, seed=1)
    for step in (sides.gate_put(), sides.bare_insert()):
        step()
    for _ in range(rounds):
        in_turns(figures, 1000, gate_put=sides.gate_put, bare_insert=sides.bare_insert)
    sides.close()


def measure_get(figures: Figures, rounds: int, folder: Path, sizes: list[int]) -> None:
    sides = Sides(folder, seed=2)
    for size in sizes:
        sides.grow(size)
        sides.gate_get()()
        for _ in range(rounds):
            in_turns(
                figures,
                100 if size <= 10_000 else 40,
                **{
                    f"gate_get@{size}": sides.gate_get,
                    f"fts5@{size}": sides.fts5_get,
                    f"fts5_stopped@{size}": sides.fts5_get_stopped,
                    f"bare_select@{size}": sides.bare_select,
                },
            )
        for _ in range(rounds):
            figures.add(f"cold_get@{size}", [cold_get(sides)])
    sides.close()


def cold_get(sides: Sides) -> float:
    """One get by a process that has just started: open the folder, load the index, answer."""
    script = (
        "import sys, time; began = time.perf_counter()\n"
        "import souvenance; from souvenance.gate import messages as m, operations as o\n"
        "from souvenance.gate.token_verifier import Credentials\n"
        "house = souvenance.open_installation(souvenance.settings_from({}, sys.argv[1]))\n"
        "house.gate.call(o.GET, Credentials(house.owner_cap), m.Get(sys.argv[2], ('notes',)))\n"
        "print(time.perf_counter() - began)"
    )
    command = [sys.executable, "-c", script, str(sides.installation.settings.home), sides.question()]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


EMPTY_APP = """
import socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

async def answer(request):
    await request.json()
    return JSONResponse({})

listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
app = Starlette(routes=[Route("/", answer, methods=["POST"])])
uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])
"""


def measure_door(figures: Figures, rounds: int, folder: Path) -> None:
    sides, served = (Sides(folder / name, seed=3) for name in ("here", "served"))
    for one in (sides, served):
        one.grow(1000)
    served.close()
    home, token = str(served.installation.settings.home), served.installation.owner_cap
    serve = [sys.executable, "-m", "souvenance", "serve", "--port", "0", "--home", home]
    with serving(serve, **UNLIMITED) as door, serving([sys.executable, "-c", EMPTY_APP]) as empty:
        sides_of_door: dict[str, Callable[[], Step]] = {
            "http_put": lambda: post(
                door, "/v1/memory/put", {"text": sides.text.sentence(), "namespace": "work"}, token
            ),
            "in_process_put": sides.gate_put,
            "http_get": lambda: post(
                door, "/v1/memory/get", {"query": sides.question(), "namespaces": ["notes"]}, token
            ),
            "in_process_get": sides.gate_get,
            "empty_post": lambda: post(empty, "/", {"text": sides.text.sentence()}),
        }
        for prepare in sides_of_door.values():
            prepare()()
        for _ in range(rounds):
            in_turns(figures, 300, **sides_of_door)
    sides.close()


@dataclass(frozen=True)
class Verdict:
    claim: str
    rounds: list[float]
    most: float

    @property
    def value(self) -> float:
        return median(self.rounds)

    @property
    def met(self) -> bool:
        return self.value <= self.most


def verdicts(figures: Figures, sizes: list[int]) -> list[Verdict]:
    found = [Verdict("put / bare durable insert", figures.ratios("gate_put", "bare_insert"), PUT_MOST)]
    for size in sizes:
        ratios = figures.ratios(f"gate_get@{size}", f"fts5@{size}")
        found.append(Verdict(f"get / FTS5 at {size} lines", ratios, 1.0))
    if 100_000 in sizes:
        milliseconds = [seconds * 1000 for seconds in figures.rounds["gate_get@100000"]]
        found.append(Verdict("get at 100000 lines, ms", milliseconds, GET_MOST_MS))
    for name in ("put", "get"):
        outside, inside = figures.rounds[f"http_{name}"], figures.rounds[f"in_process_{name}"]
        empty = figures.rounds["empty_post"]
        ratios = [(out - within) / bare for out, within, bare in zip(outside, inside, empty, strict=True)]
        found.append(Verdict(f"door adds to {name} / empty POST", ratios, DOOR_MOST))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--beside", type=Path, metavar="DIR", help="another checkout, to be as quick as")
    parser.add_argument("--embedder", default="auto", help="beside another checkout")
    parser.add_argument("--only", metavar="NAMES", help="beside another checkout: some of what it measures")
    parser.add_argument("--lines", type=int, default=10_000, help="beside another checkout")
    asked = parser.parse_args()
    if asked.beside:
        from gate_beside import compare

        names = asked.only.split(",") if asked.only else ()
        return compare(asked.beside, names, asked.embedder, asked.lines, asked.rounds, asked.json)
    sizes = [int(size) for size in asked.sizes.split(",")]
    figures = Figures()
    measure_raw(figures, asked.rounds)
    for part in (
        lambda folder: measure_put(figures, asked.rounds, folder),
        lambda folder: measure_get(figures, asked.rounds, folder, sizes),
        lambda folder: measure_door(figures, asked.rounds, folder),
    ):
        with tempfile.TemporaryDirectory() as folder:
            part(Path(folder))
    print(f"{'median of ' + str(asked.rounds) + ' rounds (least to most)':>60}")
    for name in figures.rounds:
        print(f"{name:>24} {figures.told(name)}")
    print()
    found = verdicts(figures, sizes)
    for verdict in found:
        state = "met" if verdict.met else "MISSED"
        spread = f"{min(verdict.rounds):.2f} to {max(verdict.rounds):.2f}"
        print(f"{verdict.claim:>40}  {verdict.value:6.2f}  ({spread})  at most {verdict.most:g}: {state}")
    if asked.json:
        report = {
            "rounds": figures.rounds,
            "verdicts": {v.claim: {"rounds": v.rounds, "most": v.most, "met": v.met} for v in found},
        }
        asked.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0 if all(verdict.met for verdict in found) else 1


if __name__ == "__main__":
    sys.exit(main())
