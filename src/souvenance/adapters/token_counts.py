"""Token counts as `o200k_base` gives them, without its vocabulary and without a download.

`o200k.table` beside this module holds a 32-bit checksum and the merge rank of each of the
vocabulary's 199 998 tokens, which is all that byte-pair encoding needs; no token can be read from
it. `tests/adapters/make_token_table.py` makes it and says how it is laid out.

Counts are exact but for rare cases: a checksum that collides (1 in 20 000 look-ups of something
that is no token), letters beyond the Basic Multilingual Plane, and unbroken runs longer than 128
characters, the vocabulary's longest token: these are counted in slices, of very long ones only some.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from threading import Lock
from zlib import crc32

from msgspec import Struct

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

    def __init__(self) -> None:
        self._lock = Lock()
        self._costs: _Costs | None = None

    def count(self, text: str) -> int:
        costs = self._load() if self._costs is None else self._costs
        split = _ascii_split() if text.isascii() else _wide_split()
        return sum(map(costs.__getitem__, split(text)))

    def _load(self) -> _Costs:
        with self._lock:
            if self._costs is None:
                self._costs = _Costs(_read_table())
            return self._costs


class _TokenTable(Struct, frozen=True):
    """Ranks by checksum: bucket `b` is `starts[b]` to `starts[b + 1]`, its tails in order."""

    starts: array[int]
    tails: array[int]
    ranks: array[int]

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


def _read_table() -> _TokenTable:
    data = _TABLE.read_bytes()
    size = (len(data) - _BUCKETS) // 6
    tails, ranks = array("H"), array("I")
    tails.frombytes(data[_BUCKETS : _BUCKETS + 2 * size])
    ranks.frombytes(data[_BUCKETS + 2 * size :])
    if sys.byteorder == "big":
        tails.byteswap()
        ranks.byteswap()
    return _TokenTable(array("I", accumulate(data[:_BUCKETS], initial=0)), tails, ranks)


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
