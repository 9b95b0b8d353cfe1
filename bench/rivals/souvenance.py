"""Souvenance through its own write and read path: a session for each session, a peer for each speaker."""

from __future__ import annotations

from recall_data import Corpus, Question
from recall_souvenance import EMBEDDER, Ask, fill, opened, search
from rivals_task import DIMENSIONS, MODEL, Place
from souvenance.gate.token_verifier import Credentials


class Memory:
    def __init__(self, place: Place) -> None:
        served = {
            EMBEDDER: "endpoint",
            f"{EMBEDDER}_BASE_URL": place.embedder,
            f"{EMBEDDER}_MODEL": MODEL,
            f"{EMBEDDER}_DIMENSIONS": str(DIMENSIONS),
        }
        self._installation = opened(place.folder, {**served, **place.options})
        self._credentials = Credentials(self._installation.owner_cap)

    def add(self, corpus: Corpus) -> None:
        self._filled = fill(self._installation, corpus)

    def search(self, question: Question, most: int) -> list[str]:
        ask = Ask(self._filled.workspace, question.text, question.at)
        found = search(self._installation, self._credentials, ask, most)
        return [self._filled.turns[message.id] for message in found]

    def close(self) -> None:
        self._installation.close()
