"""The reference embedder: words by their hashes, so that texts are as near as they share words."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from souvenance.adapters.embed.local import packed
from souvenance.patterns import pattern

DIMENSIONS = 64

_words = pattern(r"\w+")


class ReferenceEmbedder:
    def __init__(self, space: str = "reference") -> None:
        self._space = space

    @property
    def space(self) -> str:
        return self._space

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    @property
    def description(self) -> str:
        return f"words by their hashes, {DIMENSIONS} dimensions"

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        return [self.question(text) for text in texts]

    def question(self, text: str) -> bytes:
        sums = [0.0] * (DIMENSIONS - 1) + [1e-3]
        for word in _words.findall(text.casefold()):
            bits = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "little")
            for at in range(DIMENSIONS):
                sums[at] += 1.0 if bits >> at & 1 else -1.0
        return packed(sums)

    def close(self) -> None:
        pass
