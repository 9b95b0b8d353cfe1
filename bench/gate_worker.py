"""One measurement of one tree, in a process of its own: see `gate_beside.py`.

    PYTHONPATH=TREE/src python bench/gate_worker.py PACKAGE MEASUREMENT EMBEDDER LINES

Nothing of Souvenance is imported by name: in another tree the package, its settings and some of its
modules may be called otherwise.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

COMMON = "the to and a of in i is that it was for you on with my me at"

Step = Callable[[], object]
Batch = Callable[[int], float]
"""Makes so many calls; the median of what they took, in seconds."""


class Text:
    """Sentences and questions over a made vocabulary with Zipf's frequencies."""

    def __init__(self, seed: int, words: int = 20_000) -> None:
        self._random = random.Random(seed)
        common = COMMON.split()
        letters = "bcdfghklmnprstvw"
        made = {
            "".join(self._random.choice(letters) + self._random.choice("aeiou") for _ in range(size))
            for size in (2, 3, 4)
            for _ in range(words // 2)
        }
        self._words = common + sorted(made, key=lambda word: (len(word), word))[: words - len(common)]
        self._weights = [1 / (rank + 2) for rank in range(len(self._words))]
        self._cumulative: list[float] = []
        total = 0.0
        for weight in self._weights:
            total += weight
            self._cumulative.append(total)

    def sentence(self, words: int = 24) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._cumulative, k=words))

    def question(self, about: str) -> str:
        """Some words of a stored sentence among common ones, as people ask."""
        known = self._random.sample(about.split(), 4)
        return f"what did {' '.join(known)} the {self.sentence(2)}"


@contextmanager
def serving(command: list[str], **settings: str) -> Iterator[http.client.HTTPConnection]:
    """A connection to a server in a process of its own."""
    environment = {**os.environ, **settings}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().rsplit(":", 1)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port)
        try:
            yield connection
        finally:
            connection.close()
            server.terminate()


def post(connection: http.client.HTTPConnection, path: str, body: object, token: str = "") -> Step:
    encoded = json.dumps(body)
    headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}

    def step() -> None:
        connection.request("POST", path, encoded, headers)
        response = connection.getresponse()
        answer = response.read()
        assert response.status in (200, 201), answer

    return step


class Lines:
    """An installation of the tree with made lines, and what is asked of it."""

    def __init__(self, package: str, home: Path, embedder: str) -> None:
        prefix = package.upper()
        self.settings = {
            f"{prefix}_REQUESTS_PER_MINUTE": "1000000000",
            f"{prefix}_EMBEDDER": embedder,
        }
        self.home = home
        self.text = Text(3)
        tree = import_module(package)
        opened = tree.open_installation if hasattr(tree, "open_installation") else tree.open_house
        self._installation: Any = opened(tree.settings_from(self.settings, str(home)))
        verifier = f"{package}.gate.token_verifier"
        credentials = import_module(verifier if find_spec(verifier) else f"{package}.gate.admission")
        self.token: str = self._installation.owner_cap
        self._credentials = credentials.Credentials(self.token)
        self._messages = import_module(f"{package}.gate.messages")
        self._operations = import_module(f"{package}.gate.operations")
        self._stored: list[str] = []
        self._questions = random.Random(4)

    def close(self) -> None:
        self._installation.close()

    def grow(self, size: int) -> None:
        self._stored = [self.text.sentence() for _ in range(size)]
        for sentence in self._stored:
            self._put(sentence, "notes")()

    def put(self, namespace: str = "work") -> Step:
        return self._put(self.text.sentence(), namespace)

    def _put(self, text: str, namespace: str) -> Step:
        request = self._messages.Put(text, namespace)
        return lambda: self._installation.gate.call(self._operations.PUT, self._credentials, request)

    def question(self) -> str:
        return self.text.question(self._questions.choice(self._stored))

    def get(self) -> Step:
        request = self._messages.Get(self.question(), ("notes",))
        return lambda: self._installation.gate.call(self._operations.GET, self._credentials, request)


def _timed(
    prepare: Callable[[], Step],
    before: Callable[[], object] | None = None,
    clock: Callable[[], float] = perf_counter,
) -> Batch:
    def batch(calls: int) -> float:
        taken = []
        for _ in range(calls):
            if before is not None:
                before()
            step = prepare()
            began = clock()
            step()
            taken.append(clock() - began)
        return median(taken)

    return batch


def _in_process(name: str, lines: Lines) -> Batch:
    before = (lambda: lines.put("notes")()) if name == "get_after_put" else None
    clock = process_time if name.endswith("_cpu") else perf_counter
    return _timed(lines.put if name.startswith("put") else lines.get, before, clock)


def _over_http(name: str, lines: Lines, door: http.client.HTTPConnection) -> Batch:
    def prepare() -> Step:
        if name == "http_put":
            return post(
                door, "/v1/memory/put", {"text": lines.text.sentence(), "namespace": "work"}, lines.token
            )
        return post(door, "/v1/memory/get", {"query": lines.question(), "namespaces": ["notes"]}, lines.token)

    def batch(calls: int) -> float:
        door.close()  # A server ends a connection that rested for long.
        prepare()()
        return _timed(prepare)(calls)

    return batch


@contextmanager
def _measurement(package: str, name: str, lines: Lines) -> Iterator[Batch]:
    if not name.startswith("http"):
        yield _in_process(name, lines)
        return
    serve = [sys.executable, "-m", package, "serve", "--port", "0", "--home", str(lines.home)]
    with serving(serve, **lines.settings) as door:
        yield _over_http(name, lines, door)


def work(package: str, name: str, embedder: str, size: str) -> None:
    """Measure a batch for each line on standard input, until there is none."""
    with tempfile.TemporaryDirectory() as folder:
        lines = Lines(package, Path(folder) / "home", embedder)
        lines.grow(1 if name.startswith(("put", "http_put")) else int(size))
        with _measurement(package, name, lines) as batch:
            batch(3)
            print("ready", flush=True)
            for line in sys.stdin:
                print(batch(int(line)), flush=True)
        lines.close()


if __name__ == "__main__":
    work(*sys.argv[1:5])
