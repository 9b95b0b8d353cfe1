"""Vectors without what all vectors of a model have in common.

In many models unrelated texts lie almost as near each other as related ones. Ranking weighs nearness as it
is, and learned its weights where unrelated texts lie apart. So the mean of some vectors is taken off each: of
texts that mean nothing together, made of words from all over a vocabulary.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import fsum, hypot
from threading import Lock

from souvenance.adapters.embed.local import packed, vocabulary
from souvenance.ports.embedder import Embedder

_TEXTS, _WORDS = 32, 8
_LEAST_LEFT = 1e-3
"""A vector that is nearly the mean itself stays as it is."""


class CentredEmbedder:
    """An `Embedder` around another."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.description = embedder.description
        self._lock = Lock()
        self._mean: list[float] | None = None

    @property
    def space(self) -> str:
        return f"{self._embedder.space}/centred"

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        mean = self._measured()
        return [_without(mean, vector) for vector in self._embedder.passages(texts)]

    def question(self, text: str) -> bytes:
        return _without(self._measured(), self._embedder.question(text))

    def close(self) -> None:
        self._embedder.close()

    def _measured(self) -> list[float]:
        with self._lock:
            if self._mean is None:
                vectors = [array("f", vector) for vector in self._embedder.passages(_meaningless())]
                self._mean = [fsum(values) / len(vectors) for values in zip(*vectors, strict=True)]
            return self._mean


def _meaningless() -> list[str]:
    words = [word for word in vocabulary().split() if word.isalpha()]
    step = len(words) // (_TEXTS * _WORDS)
    return [" ".join(words[at * step :: _TEXTS * step][:_WORDS]) for at in range(_TEXTS)]


def _without(mean: Sequence[float], vector: bytes) -> bytes:
    left = [value - common for value, common in zip(array("f", vector), mean, strict=True)]
    return packed(left) if hypot(*left) > _LEAST_LEFT else vector
