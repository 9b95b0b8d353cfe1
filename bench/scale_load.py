"""The clients of the scale benchmark: for every server a process with one kept-alive connection.

Requests are made before the clock starts, and answers are looked at after it has stopped.
"""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple

from honcho_load import Failed, Plain, checked
from scale_crowd import CONTEXT, GET, Body, Crowd

_WARM_CALLS = 5
_PUTS = 200
"""How many lines are put one by one."""
PUT = "put"
CALLS = (GET, CONTEXT)


class Visit(NamedTuple):
    """One request: what it counts as, its bytes, and what its answer must hold."""

    name: str
    request: bytes
    expected: bytes = b""


class Taken(NamedTuple):
    """How long a request took, in seconds, and whether its answer held what it must."""

    name: str
    seconds: float
    right: bool


class Visitors:
    """Client processes, one for each server."""

    def __init__(self, base_urls: Sequence[str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._lines: list[Connection] = []
        self._processes = []
        for base_url in base_urls:
            ours, theirs = context.Pipe()
            process = context.Process(target=_visitor, args=(theirs, base_url), daemon=True)
            process.start()
            theirs.close()
            self._lines.append(ours)
            self._processes.append(process)

    def go(self, visits: Sequence[Sequence[Visit]]) -> tuple[list[Taken], float]:
        """Make the visits, each server's one after the other; and the seconds until the last was made.

        Raises: Failed.
        """
        for line, some in zip(self._lines, visits, strict=True):
            line.send(some)
        for line in self._lines:
            line.recv()
        began = time.perf_counter()
        for line in self._lines:
            line.send("go")
        found: list[Taken] = []
        for line in self._lines:
            told = line.recv()
            if isinstance(told, str):
                raise Failed(told)
            found += told
        return found, time.perf_counter() - began

    def dismiss(self) -> None:
        for line, process in zip(self._lines, self._processes, strict=True):
            line.send(None)
            process.join()
            line.close()


def _visitor(line: Connection, base_url: str) -> None:
    client = Plain(base_url, None)
    while (visits := line.recv()) is not None:
        client.close()  # A server ends a connection that waited while the others were visited.
        line.send("ready")
        line.recv()
        try:
            line.send([_taken(client, visit) for visit in visits])
        except Exception as error:  # noqa: BLE001 - told to whoever gave the visits, whatever it is
            line.send(f"{type(error).__name__}: {error}")


def _taken(client: Plain, visit: Visit) -> Taken:
    began = time.perf_counter()
    answer = client.send(visit.request)
    seconds = time.perf_counter() - began
    return Taken(visit.name, seconds, visit.expected in checked(answer).body)


class Asker:
    """Makes the visits to one server."""

    def __init__(self, crowd: Crowd, base_url: str, caps: Sequence[str], calls: Sequence[str]) -> None:
        self._crowd = crowd
        self._calls = calls
        self._clients = [Plain(base_url, cap) for cap in caps]

    def warming(self) -> list[Visit]:
        """What loads all parts of a new process: questions of the first owner."""
        return [self._ask(call, "warm", 0, number) for number in range(_WARM_CALLS) for call in self._calls]

    def touching(self, seed: int) -> list[Visit]:
        """Every other owner's first question, half of them each call; and then the other call."""
        owners = list(range(1, self._crowd.owners))
        random.Random(seed).shuffle(owners)
        found = []
        for at, owner in enumerate(owners):
            first, *others = self._calls if at % 2 else self._calls[::-1]
            found.append(self._ask(first, f"first {first}", owner, seed + at))
            found += [self._ask(call, "second", owner, seed + at + 1) for call in others]
        return found

    def asking(self, seed: int, count: int) -> list[Visit]:
        """So many questions in each call, of owners at random."""
        chance = random.Random(seed)
        return [
            self._ask(call, call, chance.randrange(self._crowd.owners), chance.randrange(10_000))
            for _ in range(count)
            for call in self._calls
        ]

    def _ask(self, call: str, name: str, owner: int, number: int) -> Visit:
        asked = self._crowd.ask(call, owner, number)
        request = self._clients[owner].request(asked.method, asked.path, asked.body)
        return Visit(name, request, asked.expected.encode())


def storing(client: Plain, bodies: Sequence[Body]) -> list[Visit]:
    return [Visit("batch", client.request("POST", body.path, body.content)) for body in bodies]


def putting(client: Plain, crowd: Crowd, owner: int) -> list[Visit]:
    """Lines put one by one, each in a request of its own."""
    texts = [crowd.said_at(owner, 0, turn) for turn in range(_PUTS)]
    return [
        Visit(PUT, client.request("POST", "/v1/memory/put", {"text": text, "namespace": "default"}))
        for text in texts
    ]
