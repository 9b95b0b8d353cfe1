"""The packaged thesaurus: English terms and how close they are, as an embedder sees their words.

`thesaurus.bin` beside this module holds, little-endian:

    number of terms (4 bytes) | bytes of the next part (4) | the terms in order, separated by line feeds
    | for each term how many kin it has (1 byte) | for each of those its term's number (2 bytes)
    | and for each how close it is, in hundredths (1 byte)
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path

_FILE = Path(__file__).with_name("thesaurus.bin")
_HEAD = struct.Struct("<II")


class PackagedThesaurus:
    """Read when it is first asked."""

    def kin(self, term: str) -> Sequence[tuple[str, float]]:
        return self._table.kin(term)

    @cached_property
    def _table(self) -> ThesaurusTable:
        return ThesaurusTable(_FILE.read_bytes())


class ThesaurusTable:
    def __init__(self, content: bytes) -> None:
        count, width = _HEAD.unpack_from(content)
        end = _HEAD.size + width
        self._terms = content[_HEAD.size : end].decode().split("\n")
        self._starts = [0, *accumulate(content[end : end + count])]
        self._kin = array("H", content[end + count : end + count + 2 * self._starts[-1]])
        if sys.byteorder == "big":
            self._kin.byteswap()
        self._closeness = content[end + count + 2 * self._starts[-1] :]

    def kin(self, term: str) -> list[tuple[str, float]]:
        place = bisect_left(self._terms, term)
        if self._terms[place : place + 1] != [term]:
            return []
        span = range(self._starts[place], self._starts[place + 1])
        return [(self._terms[self._kin[at]], self._closeness[at] / 100) for at in span]


def packed(kin: dict[str, Sequence[tuple[str, int]]]) -> bytes:
    """The file of a thesaurus that gives for each term its kin, in hundredths, the closest first."""
    terms = sorted({*kin, *(term for found in kin.values() for term, _ in found)})
    places = {term: place for place, term in enumerate(terms)}
    names = "\n".join(terms).encode()
    pairs = [pair for term in terms for pair in kin.get(term, ())]
    numbers = array("H", [places[term] for term, _ in pairs])
    if sys.byteorder == "big":
        numbers.byteswap()
    counts = bytes(len(kin.get(term, ())) for term in terms)
    head = _HEAD.pack(len(terms), len(names))
    return head + names + counts + numbers.tobytes() + bytes(closeness for _, closeness in pairs)
