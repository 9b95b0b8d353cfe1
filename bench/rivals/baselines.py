"""Plain retrieval: BM25 over turns, cosine of the served embedder, and the two fused by reciprocal rank."""

from __future__ import annotations

import numpy as np

from recall_bm25 import Bm25, stems, words
from recall_data import Corpus, Question
from rivals_task import EmbedderClient, Place, turns

DEEP = 100
"""How many of each ranking are fused."""
K = 60


class Memory:
    def __init__(self, place: Place) -> None:
        self._kinds = place.options["kinds"].split("+")
        self._embedder = EmbedderClient(place.embedder)

    def add(self, corpus: Corpus) -> None:
        said = {turn.id: turn.text for turn in turns(corpus)}
        self._ids = list(said)
        for kind, terms in (("words", words), ("stems", stems)):
            if kind in self._kinds:
                self._bm25 = Bm25(said, terms)
        if "cosine" in self._kinds:
            self._vectors = np.array([self._embedder.vectors([text])[0] for text in said.values()], "f4")

    def search(self, question: Question, most: int) -> list[str]:
        points: dict[str, float] = {}
        for kind in self._kinds:
            for rank, turn in enumerate(self._ranked(kind, question.text), 1):
                points[turn] = points.get(turn, 0) + 1 / (K + rank)
        return sorted(points, key=lambda turn: -points[turn])[:most]

    def _ranked(self, kind: str, question: str) -> list[str]:
        if kind != "cosine":
            return self._bm25.ranked(question, DEEP)
        scores = self._vectors @ np.array(self._embedder.vectors([question])[0], "f4")
        return [self._ids[place] for place in np.argsort(-scores)[:DEEP]]

    def close(self) -> None:
        """Nothing is kept."""
