"""What is known of words from packaged tables: token counts, similar terms, and spelling.

Tokens are counted as `o200k_base` does, without its vocabulary and without a download. `o200k.table` beside
this module holds a 32-bit checksum and the merge rank of each of the vocabulary's 199 998 tokens, which is
all that byte-pair encoding needs; no token can be read from it. `tests/adapters/make_token_table.py` makes it
and says how it is laid out.

Counts are exact but for rare cases: a checksum that collides (1 in 20 000 look-ups of something
that is no token), letters beyond the Basic Multilingual Plane, and unbroken runs longer than 128
characters, the vocabulary's longest token: these are counted in slices, of very long ones only some.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from string import ascii_lowercase
from zlib import crc32

from souvenance.language import terms
from souvenance.ports.text import Tokenizer

_TABLE = Path(__file__).with_name("o200k.table")
_BUCKETS = 1 << 16
_NEVER = 1 << 32
_SLICE = 128
_MOST_SLICES = 16
_REMEMBERED = 32_768
_WORTH_REMEMBERING = 32

Split = Callable[[str], list[str]]


class TokenCounter:
    """A `Tokenizer`. The table is read at the first count; a few megabytes stay in memory."""

    def count(self, text: str) -> int:
        split = _ascii_split() if text.isascii() else _wide_split()
        return sum(map(self._costs.__getitem__, split(text)))

    @cached_property
    def _costs(self) -> _Costs:
        return _Costs(_TokenTable(_TABLE.read_bytes()))


class _TokenTable:
    """Ranks by checksum: bucket `b` is `starts[b]` to `starts[b + 1]`, its tails in order."""

    __slots__ = ("ranks", "starts", "tails")

    def __init__(self, data: bytes) -> None:
        end = _BUCKETS + 2 * ((len(data) - _BUCKETS) // 6)
        self.starts = array("I", accumulate(data[:_BUCKETS], initial=0))
        self.tails, self.ranks = array("H", data[_BUCKETS:end]), array("I", data[end:])

    def rank(self, token: bytes) -> int:
        checksum = crc32(token)
        bucket, tail = checksum >> 16, checksum & 0xFFFF
        end = self.starts[bucket + 1]
        at = bisect_left(self.tails, tail, self.starts[bucket], end)
        return self.ranks[at] if at < end and self.tails[at] == tail else _NEVER


class _Costs(dict[str, int]):
    """What each piece of text costs, worked out when first asked for and then remembered for a while."""

    def __init__(self, table: _TokenTable) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, piece: str) -> int:
        if len(piece) > _SLICE:
            return self._cost_of_long(piece)
        cost = self._cost(piece)
        if len(piece) <= _WORTH_REMEMBERING:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[piece] = cost
        return cost

    def _cost(self, piece: str) -> int:
        data = piece.encode("utf-8", "replace")
        if self._table.rank(data) != _NEVER:
            return 1
        return _merged(self._table, [data[at : at + 1] for at in range(len(data))])

    def _cost_of_long(self, piece: str) -> int:
        slices = [piece[at : at + _SLICE] for at in range(0, len(piece), _SLICE)]
        counted = slices[:: -(-len(slices) // _MOST_SLICES)]
        cost = sum(self._cost(part) for part in counted)
        return -(-cost * len(piece) // sum(map(len, counted)))


def _merged(table: _TokenTable, parts: list[bytes]) -> int:
    """How many parts are left when the pair of lowest rank has been joined as long as there is one."""
    ranks = [table.rank(left + right) for left, right in pairwise(parts)]
    while ranks and (lowest := min(ranks)) != _NEVER:
        at = ranks.index(lowest)
        parts[at] += parts.pop(at + 1)
        del ranks[at]
        if at < len(ranks):
            ranks[at] = table.rank(parts[at] + parts[at + 1])
        if at:
            ranks[at - 1] = table.rank(parts[at - 1] + parts[at])
    return len(parts)


def _splitter(upper: str, lower: str, letter: str, mark: str, number: str) -> Split:
    """What cuts text into the pieces that are encoded one by one, given the insides of character classes."""
    word = f"{upper}{lower}{letter}{number}"
    head, tail = f"{upper}{letter}{mark}", f"{lower}{letter}{mark}"
    ending = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    return re.compile(
        rf"[^\r\n{word}]?[{head}]*[{tail}]+{ending}"
        rf"|[^\r\n{word}]?[{head}]+[{tail}]*{ending}"
        rf"|[{number}]{{1,3}}"
        rf"| ?[^\s{word}]+[\r\n/]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    ).findall


@cache
def _ascii_split() -> Split:
    return _splitter("A-Z", "a-z", "", "", "0-9")


_BEYOND = {
    "letter": "\U00010000-\U0001cfff\U0001d400-\U0001d7cb\U0001e000-\U0001efff\U00020000-\U000323af",
    "mark": "\U000e0100-\U000e01ef",
    "number": "\U0001d7ce-\U0001d7ff",
}
"""Roughly: a class with many ranges beyond the BMP makes every match several times slower."""

_CATEGORIES = {
    "upper": ("Lu", "Lt"),
    "lower": ("Ll",),
    "letter": ("Lm", "Lo"),
    "mark": ("Mn", "Mc", "Me"),
    "number": ("Nd", "Nl", "No"),
}


@cache
def _wide_split() -> Split:
    """The splitter for any text; made from the interpreter's own Unicode tables, once."""
    ranges: dict[str, str] = {}
    start = 0
    for category, points in groupby(map(unicodedata.category, map(chr, range(0x10000)))):
        end = start + sum(1 for _ in points)
        ranges[category] = ranges.get(category, "") + f"{chr(start)}-{chr(end - 1)}"
        start = end
    return _splitter(
        **{
            name: "".join(ranges[category] for category in categories) + _BEYOND.get(name, "")
            for name, categories in _CATEGORIES.items()
        }
    )


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
    """How close terms are, as an embedder sees their words, in English. `thesaurus.bin` holds, little-endian:

        number of terms (4 bytes) | bytes of the next part (4) | the terms in order, separated by line feeds
        | for each term the number of its similar terms (1 byte) | for each of those its number (2 bytes)
        | and for each how similar it is, in hundredths (1 byte)

    `tests/adapters/make_thesaurus.py` makes it.
    """

    def __init__(self, content: bytes) -> None:
        count, width = _HEAD.unpack_from(content)
        end = _HEAD.size + width
        self._terms = content[_HEAD.size : end].decode().split("\n")
        self._starts = [0, *accumulate(content[end : end + count])]
        self._similar = array("H", content[end + count : end + count + 2 * self._starts[-1]])
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
    """Goes by the words of an embedder's vocabulary and of a tokenizer's, read when it is first asked.

    A slip is a letter too many, one missing, another in its place, or two that changed places. It spares the
    first letter: people seldom mistake it, and many words differ in it alone.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.meant = lru_cache(_KEPT)(self._meant)
        self._ranks = cache(self._ranks_of)

    def _meant(self, word: str) -> str | None:
        if not _LEAST_LETTERS <= len(word) <= _MOST_LETTERS or f"\n{word}\n" in self._vocabulary:
            return None
        if self._tokenizer.count(f" {word}") == 1:
            return None
        ranks = self._ranks(word[0])
        found = sorted(ranks.keys() & set(_slips(word)), key=ranks.__getitem__)
        inflected = any(terms.asked(one) == terms.asked(word) for one in found)
        return found[0] if found and not inflected else None

    @cached_property
    def _vocabulary(self) -> str:
        return _FILE.read_text("utf-8")

    def _ranks_of(self, first: str) -> Mapping[str, int]:
        """The words that begin with that letter, by how common they are, the commonest first."""
        ranked = enumerate(self._vocabulary.split("\n"))
        return {word: rank for rank, word in ranked if word.startswith(first) and word.isalpha()}


def _slips(word: str) -> Iterator[str]:
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in ascii_lowercase)
        if tail:
            yield head + tail[1:]
            yield head + tail[1::-1] + tail[2:]
            yield from (head + letter + tail[1:] for letter in ascii_lowercase)
