"""What a memory system is given in its own environment: conversations to store, questions, and an embedder.

Only the standard library is needed here: systems of others import it where there is no Souvenance. A driver
in `rivals/` has a class `Memory` with `__init__(place)`, `add(corpus)`, `search(question, most)`, which gives
the ids of turns, the best first, and `close()`. The last three may be coroutines.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from recall_data import Corpus

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384


class Place(NamedTuple):
    """Where one conversation is stored, and how."""

    folder: Path
    embedder: str
    """The base URL of an OpenAI-compatible endpoint, which `/embeddings` is added to."""
    options: Mapping[str, str]
    """What sets this system apart from others of the same driver."""


class Task(NamedTuple):
    driver: str
    place: Place
    corpora: list[Corpus]
    """Each is stored alone, in a folder of its own below the place."""
    most: int
    """How many turns a search is asked for."""


class Said(NamedTuple):
    """One turn, as every system is given it: who said it stands in the text."""

    id: str
    session: str
    speaker: str
    at: datetime
    text: str


def turns(corpus: Corpus) -> Iterator[Said]:
    """The turns in their order; those of a session are a second apart."""
    for session in corpus.sessions:
        for number, turn in enumerate(session.turns):
            at = session.at + timedelta(seconds=number)
            yield Said(turn.id, session.id, turn.speaker, at, f"{turn.speaker}: {turn.text}")


class EmbedderClient:
    """The served embedder, for what has no client of its own. Vectors have length one."""

    def __init__(self, base_url: str) -> None:
        address = urlsplit(base_url)
        assert address.hostname is not None
        self._connection = http.client.HTTPConnection(address.hostname, address.port)
        self._path = address.path

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        asked = json.dumps({"model": MODEL, "input": list(texts)})
        found = self._answer("POST", "/embeddings", asked)
        return [one["embedding"] for one in found["data"]]

    def seconds(self) -> float:
        """How long all requests for vectors have taken it so far."""
        return float(self._answer("GET", "/seconds")["seconds"])

    def _answer(self, method: str, path: str, body: str | None = None) -> Any:
        self._connection.request(method, self._path + path, body, {"content-type": "application/json"})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"the embedder answered {answer.status}")
        return json.loads(content)
