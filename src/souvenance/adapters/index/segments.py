"""A compartment's tokens in memory: a few immutable segments of numpy arrays.

They are merged as they grow like the digits of a binary counter, so that following a write costs
little and a search touches few of them. Nothing of this is written to disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.adapters.index.lazy_numpy import NDArray, np
from souvenance.domain.change_feed import ID_BYTES, Feed

Coder = Callable[[str], int]
"""From the name of a session to a number that stands for it."""

_NOWHERE = -1


class SegmentLines(Struct, frozen=True, eq=False):
    """What is known of each line but for its tokens."""

    ids: NDArray[np.bytes_]
    lengths: NDArray[np.float64]
    sessions: NDArray[np.int64]
    """-1 for a line of no session."""
    turns: NDArray[np.int64]
    times: NDArray[np.int64]
    alive: NDArray[np.bool_]

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, part).nbytes for part in self.__struct_fields__)


def joined(parts: Sequence[SegmentLines]) -> SegmentLines:
    if len(parts) == 1:
        return parts[0]
    return SegmentLines(
        *(np.concatenate([getattr(one, part) for one in parts]) for part in SegmentLines.__struct_fields__)
    )


class Segment(Struct, frozen=True, eq=False, weakref=True):
    """Some lines of a compartment and their postings, sorted by token."""

    lines: SegmentLines
    tokens: NDArray[np.uint64]
    starts: NDArray[np.int64]
    held: NDArray[np.uint32]
    """For each token the lines that hold it."""

    @property
    def size(self) -> int:
        return len(self.lines.ids)

    @property
    def nbytes(self) -> int:
        return self.lines.nbytes + sum(a.nbytes for a in (self.tokens, self.starts, self.held))

    def holding(self, tokens: Sequence[int]) -> list[NDArray[np.uint32] | None]:
        """For each token the lines that hold it, dead ones too, or None where none does."""
        if not len(self.tokens) or not len(tokens):
            return [None] * len(tokens)
        wanted = np.array(tokens, dtype=np.uint64)
        places = np.searchsorted(self.tokens, wanted)
        known = self.tokens[np.minimum(places, len(self.tokens) - 1)] == wanted
        return [
            self.held[self.starts[place] : self.starts[place + 1]] if here else None
            for place, here in zip(places.tolist(), known.tolist(), strict=True)
        ]

    def without(self, line_id: bytes) -> Segment | None:
        """The segment with that line dead, or None if it is not here."""
        found = np.nonzero(self.lines.ids == line_id)[0]
        if not len(found):
            return None
        alive = self.lines.alive.copy()
        alive[found] = False
        return replace(self, lines=replace(self.lines, alive=alive))

    def narrowed(self, looked_into: NDArray[np.bool_]) -> Segment:
        """The lines of some sessions alone, given by their numbers; the last stands for no session."""
        kept = looked_into[self.lines.sessions]
        places = np.nonzero(kept.take(self.held))[0]
        widths = np.diff(np.searchsorted(places, self.starts))
        return Segment(
            SegmentLines(*(getattr(self.lines, part)[kept] for part in SegmentLines.__struct_fields__)),
            self.tokens[widths > 0],
            np.append(0, np.cumsum(widths[widths > 0])),
            (np.cumsum(kept, dtype=np.uint32) - np.uint32(1))[self.held[places]],
        )


def _segment(lines: SegmentLines, tokens: NDArray[Any], held: NDArray[Any]) -> Segment:
    """A segment of postings that are not sorted yet."""
    tokens, order = _sorted(tokens)
    distinct = np.ones(len(tokens), dtype=bool)
    distinct[1:] = tokens[1:] != tokens[:-1]
    firsts = np.nonzero(distinct)[0]
    return Segment(lines, tokens[firsts], np.append(firsts, len(tokens)), held[order])


def _sorted(tokens: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The tokens in their order, and where each was.

    Its place is written over the last bits of each token: numbers alone are sorted several times sooner than
    the places of numbers. Tokens that differ in these bits only are so rare that they are sorted again.
    """
    last = np.uint64((1 << len(tokens).bit_length()) - 1)
    placed = tokens & ~last
    placed |= np.arange(len(tokens), dtype=np.uint64)
    placed.sort()
    placed &= last
    order = placed.view(np.int64)
    found = tokens[order]
    if (found[1:] < found[:-1]).any():
        order = np.argsort(tokens)
        found = tokens[order]
    return found, order


def loaded(feed: Feed, code: Coder, kept: NDArray[np.bool_] | None = None) -> Segment:
    """The lines of a feed, or those of its changes that are kept: each once, and none that disappears."""
    lines = _lines(feed, code)
    tokens, widths = np.frombuffer(feed.tokens, dtype="<u8"), numbers(feed.count_bytes)
    if kept is not None:
        held = np.repeat(kept, widths)
        lines = SegmentLines(*(getattr(lines, part)[kept] for part in SegmentLines.__struct_fields__))
        tokens, widths = tokens[held], widths[kept]
    return _segment(lines, tokens, np.repeat(np.arange(len(widths), dtype=np.uint32), widths))


def _lines(feed: Feed, code: Coder) -> SegmentLines:
    ends = np.cumsum(numbers(feed.count_bytes))
    summed = np.cumsum(np.frombuffer(b"\0" + feed.counts, dtype=np.uint8), dtype=np.float64)
    codes = {session: _NOWHERE if session is None else code(session) for session in set(feed.sessions)}
    return SegmentLines(
        ids=ids_of(feed),
        lengths=np.diff(summed[ends], prepend=0.0),
        sessions=np.fromiter(map(codes.__getitem__, feed.sessions), dtype=np.int64, count=len(feed)),
        turns=numbers(feed.turns),
        times=numbers(feed.times),
        alive=np.ones(len(feed), dtype=bool),
    )


def ids_of(feed: Feed) -> NDArray[np.bytes_]:
    return np.frombuffer(feed.ids, dtype=f"S{ID_BYTES}")


def numbers(column: bytes) -> NDArray[np.int64]:
    return np.frombuffer(column, dtype="<i8")


def merged(a: Segment, b: Segment) -> Segment:
    return _segment(
        joined((a.lines, b.lines)),
        np.concatenate([np.repeat(one.tokens, np.diff(one.starts)) for one in (a, b)]),
        np.concatenate([a.held, b.held + np.uint32(a.size)]),
    )
