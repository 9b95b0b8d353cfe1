"""The packaged thesaurus and spelling, in English.

The thesaurus says how close terms are, as an embedder sees their words. `thesaurus.bin` beside this module
holds, little-endian:

    number of terms (4 bytes) | bytes of the next part (4) | the terms in order, separated by line feeds
    | for each term the number of its similar terms (1 byte) | for each of those its number (2 bytes)
    | and for each how similar it is, in hundredths (1 byte)

`tests/adapters/make_thesaurus.py` makes it.

The spelling goes by the words of an embedder's vocabulary and of a tokenizer's. A slip is a letter too many,
one missing, another in its place, or two that changed places. It spares the first letter: people seldom
mistake it, and many words differ in it alone.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from string import ascii_lowercase

from souvenance.language import terms
from souvenance.ports.text import Tokenizer

_THESAURUS_FILE = Path(__file__).with_name("thesaurus.bin")
_HEAD = struct.Struct("<II")


class PackagedThesaurus:
    """Read when it is first asked."""

    def similar(self, term: str) -> Sequence[tuple[str, float]]:
        return self._table.similar(term)

    @cached_property
    def _table(self) -> ThesaurusTable:
        return ThesaurusTable(_THESAURUS_FILE.read_bytes())


class ThesaurusTable:
    def __init__(self, content: bytes) -> None:
        count, width = _HEAD.unpack_from(content)
        end = _HEAD.size + width
        self._terms = content[_HEAD.size : end].decode().split("\n")
        self._starts = [0, *accumulate(content[end : end + count])]
        self._similar = array("H", content[end + count : end + count + 2 * self._starts[-1]])
        if sys.byteorder == "big":
            self._similar.byteswap()
        self._closeness = content[end + count + 2 * self._starts[-1] :]

    def similar(self, term: str) -> list[tuple[str, float]]:
        place = bisect_left(self._terms, term)
        if self._terms[place : place + 1] != [term]:
            return []
        span = range(self._starts[place], self._starts[place + 1])
        return [(self._terms[self._similar[at]], self._closeness[at] / 100) for at in span]


_FILE = Path(__file__).parent / "embed" / "bert-uncased.txt"
_LEAST_LETTERS = 6
"""Shorter words lie one slip away from too many others."""
_MOST_LETTERS = 30
"""Longer ones are none, and have more slips than a memory holds."""
_KEPT = 1 << 12
"""How many words are kept in mind: the same few thousand come again and again."""


class PackagedSpelling:
    """Read when it is first asked."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.meant = lru_cache(_KEPT)(self._meant)

    def _meant(self, word: str) -> str | None:
        if not _LEAST_LETTERS <= len(word) <= _MOST_LETTERS or f"\n{word}\n" in self._vocabulary:
            return None
        if self._tokenizer.count(f" {word}") == 1:
            return None
        found = sorted(self._ranks.keys() & set(_slips(word)), key=self._ranks.__getitem__)
        inflected = any(terms.asked(one) == terms.asked(word) for one in found)
        return found[0] if found and not inflected else None

    @cached_property
    def _vocabulary(self) -> str:
        return _FILE.read_text("utf-8")

    @cached_property
    def _ranks(self) -> Mapping[str, int]:
        """The words by how common they are, the commonest first."""
        return {word: rank for rank, word in enumerate(self._vocabulary.split("\n")) if word.isalpha()}


def _slips(word: str) -> Iterator[str]:
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in ascii_lowercase)
        if tail:
            yield head + tail[1:]
            yield head + tail[1::-1] + tail[2:]
            yield from (head + letter + tail[1:] for letter in ascii_lowercase)
