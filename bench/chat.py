"""What the chat door adds to the time until a model's first word, beside asking the model directly.

    python bench/chat.py [--lines 10000] [--people 20] [--embedder none] [--calls 60] [--rounds 5]
                         [--beside DIR] [--json FILE]

Method. A stand-in for a model streams a dozen pieces, one every 5 ms, the first at once. Every round asks
it in turns, directly and through the door, one call each, so that whatever the machine is doing hits both;
each side has a connection of its own that stays open. The time is from sending the request until the first
piece of the answer is there. A figure is the median of the rounds' medians, the spread is the smallest and
the largest of them; what is added is taken round by round. The lines are made conversations of some people,
concluded from before the clock starts; they speak in turn, each asks for words of a line of their own, and
the door recalls for each and writes each turn when it is over, as it always does. Search is by words, as
without the extra `embed`; `--embedder auto` adds what comparing meanings takes. With `--beside` every call is
asked of another checkout's door too, which may have another package name; its own `bench/chat.py` fills it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

import souvenance
from honcho_chat import message, question
from machine import Machine
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.token_verifier import Credentials

MOST_MS = 15.0
MOST_BESIDE = 1.10
"""How many times what another checkout adds may be added."""
UNLIMITED = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000"}
PIECES = 12
PAUSE_MS = 5
_BATCH = 100
_LONGEST_SETTLING = 1800.0

STAND_IN = f"""
import asyncio, socket, uvicorn

PIECE = b'data: {{"choices":[{{"index":0,"delta":{{"content":"word "}}}}]}}\\n\\n'
END = b'data: {{"choices":[{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}\\n\\ndata: [DONE]\\n\\n'

async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"text/event-stream")]
    await send({{"type": "http.response.start", "status": 200, "headers": headers}})
    for at in range({PIECES}):
        if at:
            await asyncio.sleep({PAUSE_MS} / 1000)
        await send({{"type": "http.response.body", "body": PIECE, "more_body": True}})
    await send({{"type": "http.response.body", "body": END}})

listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"at http://127.0.0.1:{{listener.getsockname()[1]}}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off")).run(
    sockets=[listener]
)
"""


@contextmanager
def serving(command: list[str], **settings: str) -> Iterator[int]:
    """The port of a server in a process of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**kept, **settings}) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline().rsplit(":", 1)[1])
        finally:
            server.terminate()


def remember(home: Path, lines: int, people: int, settings: dict[str, str]) -> str:
    """Store that many lines of these people's conversations, and conclude from them; the owner's cap."""
    installation = souvenance.open_installation(souvenance.settings_from(settings, str(home)))
    owner = Credentials(installation.owner_cap)
    began = datetime.now(UTC) - timedelta(days=300)
    with installation.working():
        for first in range(0, lines, _BATCH):
            person = first // _BATCH % people
            said = [
                NewMessage(
                    content=message(number, assistant=bool(number % 2)),
                    peer_id="assistant" if number % 2 else f"person-{person}",
                    created_at=began + timedelta(minutes=40 * number),
                )
                for number in range(first, min(first + _BATCH, lines))
            ]
            session = f"chat-{person}-{first // _BATCH // people // 5}"
            asked = AddMessages(workspace_id="default", session_id=session, messages=said)
            installation.gate.call(ADD_MESSAGES, owner, asked)
        installation.settle(_LONGEST_SETTLING)
    installation.close()
    return installation.owner_cap


def questions(lines: int, people: int) -> Iterator[tuple[str, str]]:
    """Who asks, and what: of one's own lines, person by person."""
    for number in range(0, lines, 2):
        turn = number // 2
        person, count = turn % people, turn // people
        own = (person + people * (count * 2 // _BATCH)) * _BATCH + count * 2 % _BATCH
        yield f"person-{person}", question(number, message(own % lines, assistant=False))


class Round(NamedTuple):
    """The first and the last word, in milliseconds, and in how many pieces they came."""

    first: float
    last: float
    pieces: float


class Side:
    """A way to the model: how long its first word took, and its last."""

    def __init__(self, port: int, cap: str | None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._cap = cap
        self.first: list[float] = []
        self.last: list[float] = []
        self.reads: list[int] = []

    def ask(self, person: str, text: str) -> None:
        named = {"authorization": f"Bearer {self._cap}", "x-hermes-user-id": person} if self._cap else {}
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
        body = json.dumps({"model": "stand-in", "stream": True, "messages": messages})
        began = time.perf_counter()
        self._connection.request("POST", "/v1/chat/completions", body, named)
        answer = self._connection.getresponse()
        heard = answer.read1()
        first = time.perf_counter() - began
        reads = 1
        while piece := answer.read1():
            heard += piece
            reads += 1
        assert answer.status == 200 and heard.count(b"word ") == PIECES, heard
        self.first.append(first)
        self.last.append(time.perf_counter() - began)
        self.reads.append(reads)

    def round(self) -> Round:
        """The medians since the last one was taken."""
        found = Round(median(self.first) * 1000, median(self.last) * 1000, median(self.reads))
        self.first, self.last, self.reads = [], [], []
        return found


FILL = """
import sys, chat, pathlib
home, lines, people, prefix, embedder = sys.argv[1:]
settings = {**chat.UNLIMITED, f"{prefix}_EMBEDDER": embedder}
print(chat.remember(pathlib.Path(home), int(lines), int(people), settings))
"""


def package_of(tree: Path) -> str:
    """The name of the package that a checkout holds."""
    [package] = (init.parent.name for init in (tree / "src").glob("*/__init__.py"))
    return package


@contextmanager
def other_door(tree: Path, model: int, lines: int, people: int, embedder: str) -> Iterator[Side]:
    """The way through the door of another checkout."""
    package = package_of(tree)
    prefix = package.upper()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(prefix)}
    environment = {**kept, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{tree / 'bench'}"}
    with tempfile.TemporaryDirectory() as folder:
        home = str(Path(folder) / "home")
        fill = [sys.executable, "-c", FILL, home, str(lines), str(people), prefix, embedder]
        owner = subprocess.run(fill, env=environment, check=True, capture_output=True, text=True).stdout
        settings = {
            "REQUESTS_PER_MINUTE": UNLIMITED["SOUVENANCE_REQUESTS_PER_MINUTE"],
            "EMBEDDER": embedder,
            "CHAT_BASE_URL": f"http://127.0.0.1:{model}/v1",
        }
        named = {f"{prefix}_{name}": value for name, value in settings.items()}
        serve = [sys.executable, "-m", package, "serve", "--port", "0", "--home", home]
        with serving(serve, PYTHONPATH=environment["PYTHONPATH"], **named) as door:
            yield Side(door, owner.strip())


@contextmanager
def staged(
    lines: int, people: int, embedder: str, beside: Path | None = None
) -> Iterator[tuple[dict[str, Side], Iterator[tuple[str, str]]]]:
    """The ways to the model, warmed up, and what is asked."""
    settings = {**UNLIMITED, "SOUVENANCE_EMBEDDER": embedder}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home = Path(folder) / "home"
        owner = remember(home, lines, people, settings)
        serve = [sys.executable, "-m", "souvenance", "serve", "--port", "0", "--home", str(home)]
        with (
            serving([sys.executable, "-c", STAND_IN]) as model,
            serving(serve, SOUVENANCE_CHAT_BASE_URL=f"http://127.0.0.1:{model}/v1", **settings) as door,
        ):
            sides = {"directly": Side(model, None), "through the door": Side(door, owner)}
            if beside is not None:
                other = other_door(beside.resolve(), model, lines, people, embedder)
                sides["through the other door"] = stack.enter_context(other)
            asked = questions(lines, people)
            take_turns(sides, islice(asked, 2 * people))
            yield sides, asked


def take_turns(sides: dict[str, Side], asked: Iterable[tuple[str, str]]) -> dict[str, Round]:
    """Ask all ways in turns; the medians of each."""
    for person, text in asked:
        for side in sides.values():
            side.ask(person, text)
    return {name: side.round() for name, side in sides.items()}


def measure(
    lines: int, people: int, embedder: str, calls: int, rounds: int, beside: Path | None
) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = {}
    with staged(lines, people, embedder, beside) as (sides, asked):
        for _ in range(rounds):
            for name, round in take_turns(sides, islice(asked, calls)).items():
                found.setdefault(name, []).append(round)
    return found


def _told_beside(added: list[float], found: dict[str, list[Round]]) -> bool:
    """Tell what is added beside the other checkout; whether it is little enough."""
    others = zip(found["through the other door"], found["directly"], strict=True)
    theirs = [through.first - directly.first for through, directly in others]
    ratios = [one / other for one, other in zip(added, theirs, strict=True)]
    met = median(ratios) <= MOST_BESIDE
    told = f"{median(ratios):6.2f}  ({min(ratios):.2f} to {max(ratios):.2f})  at most {MOST_BESIDE:g}"
    print(f"{'times what the other door adds':>40}  {told}: {'met' if met else 'MISSED'}")
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--beside", type=Path, metavar="DIR", help="another checkout, to be as quick as")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    machine = Machine()
    found = measure(asked.lines, asked.people, asked.embedder, asked.calls, asked.rounds, asked.beside)
    print(f"{asked.lines} lines of {asked.people} people and their assistant, embedder {asked.embedder}")
    print(f"median of {asked.rounds} rounds of {asked.calls} calls (least to most)")
    print(machine)
    for name, rounds in found.items():
        first, last, reads = zip(*rounds, strict=True)
        print(
            f"{name:>24}  first word {median(first):6.2f} ms  ({min(first):.2f} to {max(first):.2f})"
            f"   last word {median(last):6.2f} ms   in {median(reads):.0f} pieces"
        )
    pairs = list(zip(found["through the door"], found["directly"], strict=True))
    added = [ours.first - theirs.first for ours, theirs in pairs]
    met = median(added) <= MOST_MS
    told = f"{median(added):6.2f}  ({min(added):.2f} to {max(added):.2f})"
    print(f"{'added to the first word, ms':>40}  {told}  at most {MOST_MS:g}: {'met' if met else 'MISSED'}")
    streams = min(ours.pieces for ours, _ in pairs) >= PIECES
    shown = f"{min(ours.pieces for ours, _ in pairs):.0f} pieces"
    print(f"{'streaming stays streaming':>40}  {shown} of {PIECES}: {'met' if streams else 'MISSED'}")
    if asked.beside:
        met &= _told_beside(added, found)
    if asked.json:
        report = {"rounds": found, "added_ms": added, "most_ms": MOST_MS}
        asked.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0 if met and streams else 1


if __name__ == "__main__":
    sys.exit(main())
