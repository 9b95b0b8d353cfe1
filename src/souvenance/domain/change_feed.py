"""How a compartment's index changes: what lines are found by, as it comes and goes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from msgspec import Struct

ID_BYTES = 26
NUMBER_BYTES = 8
NONE = -1


class Saying(NamedTuple):
    """Where in its session a line was said, and when (in milliseconds)."""

    session: str | None = None
    turn: int | None = None
    at: int = 0


UNSAID = Saying()


class TermsChange(NamedTuple):
    """One step in a compartment's index: a line's tokens appear, or (tokens None) disappear."""

    seq: int
    id: str
    tokens: bytes | None
    counts: bytes
    said: Saying = UNSAID


class Feed(Struct, frozen=True):
    """Some changes, packed in columns: there may be many, and they are loaded in haste.

    Numbers take 8 bytes each, little-endian; -1 stands for none.
    """

    seqs: bytes = b""
    ids: bytes = b""
    tokens: bytes = b""
    token_bytes: bytes = b""
    """How many bytes of tokens each change has; none, if the line disappears."""
    counts: bytes = b""
    count_bytes: bytes = b""
    sessions: list[str | None] = []
    turns: bytes = b""
    times: bytes = b""

    def __len__(self) -> int:
        return len(self.sessions)

    def __iter__(self) -> Iterator[TermsChange]:
        token, count = 0, 0
        columns = (self.seqs, self.token_bytes, self.count_bytes, self.turns, self.times)
        numbers = zip(*map(_unpacked, columns), self.sessions, strict=True)
        for place, (seq, tokens, counts, turn, at, session) in enumerate(numbers):
            yield TermsChange(
                seq,
                self.ids[ID_BYTES * place : ID_BYTES * (place + 1)].decode(),
                None if tokens == NONE else self.tokens[token : token + tokens],
                self.counts[count : count + counts],
                Saying(session, None if turn == NONE else turn, at),
            )
            token, count = token + max(tokens, 0), count + counts

    @property
    def last(self) -> int:
        return _unpacked(self.seqs[-NUMBER_BYTES:])[0]


_COLUMNS = [name for name in Feed.__struct_fields__ if name != "sessions"]


def packed(rows: Sequence[tuple[Any, ...]]) -> Feed:
    """Of changes, each given as its number, line, tokens and counts, and then its session, turn and time."""
    if not rows:
        return Feed()
    seqs, ids, tokens, counts, sessions, turns, times = zip(*rows, strict=True)
    return Feed(
        _packed(seqs),
        "".join(ids).encode(),
        b"".join([some or b"" for some in tokens]),
        _packed([NONE if some is None else len(some) for some in tokens]),
        b"".join(counts),
        _packed(list(map(len, counts))),
        list(sessions),
        _packed([NONE if turn is None else turn for turn in turns]),
        _packed(times),
    )


def joined(feeds: Sequence[Feed]) -> Feed:
    if len(feeds) == 1:
        return feeds[0]
    columns = {name: b"".join([getattr(feed, name) for feed in feeds]) for name in _COLUMNS}
    return Feed(sessions=[*chain.from_iterable(feed.sessions for feed in feeds)], **columns)


def _packed(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}q", *numbers)


def _unpacked(column: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(column) // NUMBER_BYTES}q", column)
