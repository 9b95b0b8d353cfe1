"""The default index: BM25 over blinded tokens, in memory, following the book's feed of changes.

A room's tokens are kept in a few immutable segments of numpy arrays, merged as they grow like the
digits of a binary counter, so that following a write costs little and a search touches few of
them. Rooms are loaded when first asked about and dropped, least recently used first, when
together they grow beyond the given size. Nothing of this is written to disk.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mnemon.adapters.index.arrays import NDArray, np
from mnemon.domain.bm25 import damping, idf, weight
from mnemon.domain.names import Room
from mnemon.ports.book import TermsChange, Transaction
from mnemon.ports.index import Hit, Question

DEFAULT_CACHE_BYTES = 128 * 1024 * 1024


class _Postings(NamedTuple):
    lines: NDArray[np.uint32]
    counts: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Some lines of a room and their postings, sorted by token."""

    ids: NDArray[np.bytes_]
    lengths: NDArray[np.float64]
    alive: NDArray[np.bool_] | None
    tokens: NDArray[np.uint64]
    starts: NDArray[np.int64]
    lines: NDArray[np.uint32]
    counts: NDArray[np.uint8]

    @property
    def size(self) -> int:
        return len(self.ids)

    @property
    def bytes(self) -> int:
        return sum(
            a.nbytes for a in (self.ids, self.lengths, self.tokens, self.starts, self.lines, self.counts)
        )

    def postings(self, tokens: Sequence[int]) -> list[_Postings | None]:
        """For each token the lines that hold it and how often, or None where none does."""
        if not len(self.tokens):
            return [None] * len(tokens)
        wanted = np.array(tokens, dtype=np.uint64)
        places = np.searchsorted(self.tokens, wanted)
        known = self.tokens[np.minimum(places, len(self.tokens) - 1)] == wanted
        return [
            self._held(place) if here else None
            for place, here in zip(places.tolist(), known.tolist(), strict=True)
        ]

    def _held(self, place: int) -> _Postings | None:
        span = slice(self.starts[place], self.starts[place + 1])
        lines, counts = self.lines[span], self.counts[span]
        if self.alive is not None:
            kept = self.alive[lines]
            lines, counts = lines[kept], counts[kept]
        return _Postings(lines, counts) if len(lines) else None

    def totals(self) -> tuple[int, float]:
        """How many lines are alive, and the sum of their lengths."""
        if self.alive is None:
            return self.size, float(self.lengths.sum())
        return int(self.alive.sum()), float(self.lengths[self.alive].sum())

    def without(self, line_id: str) -> _Segment | None:
        """The segment with that line dead, or None if it is not here."""
        found = np.nonzero(self.ids == line_id.encode())[0]
        if not len(found):
            return None
        alive = np.ones(self.size, dtype=bool) if self.alive is None else self.alive.copy()
        alive[found] = False
        return _Segment(self.ids, self.lengths, alive, self.tokens, self.starts, self.lines, self.counts)


def _segment(
    ids: NDArray[np.bytes_],
    lengths: NDArray[np.float64],
    alive: NDArray[np.bool_] | None,
    tokens: NDArray[np.uint64],
    lines: NDArray[np.uint32],
    counts: NDArray[np.uint8],
) -> _Segment:
    """A segment of postings that are not sorted yet."""
    order = np.argsort(tokens)
    tokens = tokens[order]
    distinct = np.ones(len(tokens), dtype=bool)
    distinct[1:] = tokens[1:] != tokens[:-1]
    firsts = np.nonzero(distinct)[0]
    starts = np.append(firsts, len(tokens))
    return _Segment(ids, lengths, alive, tokens[firsts], starts, lines[order], counts[order])


def _loaded(changes: Sequence[TermsChange]) -> _Segment:
    tokens = np.frombuffer(b"".join(change.tokens or b"" for change in changes), dtype="<u8")
    counts = np.frombuffer(b"".join(change.counts for change in changes), dtype=np.uint8)
    widths = np.fromiter((len(change.counts) for change in changes), dtype=np.int64, count=len(changes))
    lines = np.repeat(np.arange(len(changes), dtype=np.uint32), widths)
    lengths = np.bincount(lines, weights=counts, minlength=len(changes)).astype(np.float64)
    ids = np.array([change.id.encode() for change in changes], dtype="S26")
    return _segment(ids, lengths, None, tokens, lines, counts)


def _merged(a: _Segment, b: _Segment) -> _Segment:
    alive = None
    if a.alive is not None or b.alive is not None:
        alive = np.concatenate([np.ones(s.size, dtype=bool) if s.alive is None else s.alive for s in (a, b)])
    return _segment(
        np.concatenate([a.ids, b.ids]),
        np.concatenate([a.lengths, b.lengths]),
        alive,
        np.concatenate([np.repeat(s.tokens, np.diff(s.starts)) for s in (a, b)]),
        np.concatenate([a.lines, b.lines + np.uint32(a.size)]),
        np.concatenate([a.counts, b.counts]),
    )


class _RoomIndex:
    """One room, up to one point of its feed. Segments are replaced, never changed."""

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.seq = 0
        self.segments: tuple[_Segment, ...] = ()
        self.lines = 0
        self.length = 0.0
        self.bytes = 0

    def follow(self, changes: Sequence[TermsChange]) -> None:
        segments = list(self.segments)
        added: dict[str, TermsChange] = {}
        for change in changes:
            if change.tokens is not None:
                added[change.id] = change
            elif added.pop(change.id, None) is None:
                segments = [segment.without(change.id) or segment for segment in segments]
        if added:
            segments.append(_loaded(list(added.values())))
        while len(segments) > 1 and segments[-1].size * 2 > segments[-2].size:
            newer, older = segments.pop(), segments.pop()
            segments.append(_merged(older, newer))
        self.seq = changes[-1].seq
        self.segments = tuple(segments)
        self.bytes = sum(segment.bytes for segment in segments)
        totals = [segment.totals() for segment in segments]
        self.lines = sum(lines for lines, _ in totals)
        self.length = sum(length for _, length in totals)


class Bm25Index:
    """Thread-safe; one per process."""

    def __init__(self, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self._cache_bytes = cache_bytes
        self._rooms: OrderedDict[Room, _RoomIndex] = OrderedDict()
        self._lock = threading.Lock()

    def search(
        self,
        tx: Transaction,
        questions: Sequence[Question],
        k: int,
        within: Collection[str] | None = None,
    ) -> list[Hit]:
        with self._lock:
            marks = {
                workspace: tx.marks(workspace).rooms for workspace in {q.room.workspace for q in questions}
            }
            rooms = [
                (question, *self._followed(tx, question.room, marks[question.room.workspace]))
                for question in questions
            ]
        lines = sum(count for _, _, count, _ in rooms)
        if not lines:
            return []
        average = sum(length for *_, length in rooms) / lines
        parts = [
            (question, segment, segment.postings(question.tokens))
            for question, segments, _, _ in rooms
            for segment in segments
        ]
        telling = _idfs(lines, [postings for _, _, postings in parts])
        allowed = None if within is None else frozenset(one.encode() for one in within)
        hits = [
            Hit(question.room, line_id, score)
            for question, segment, postings in parts
            if any(postings)
            for line_id, score in _best(
                segment,
                _marked(segment, question.marks, _scores(segment, postings, telling, average)),
                k,
                allowed,
            )
        ]
        hits.sort(key=lambda hit: (hit.score, hit.id, hit.room), reverse=True)
        return hits[:k]

    def forget(self) -> None:
        with self._lock:
            self._rooms.clear()

    def _followed(self, tx: Transaction, room: Room, mark: int) -> tuple[tuple[_Segment, ...], int, float]:
        index = self._rooms.get(room)
        if index is None or index.mark != mark:
            index = self._rooms[room] = _RoomIndex(mark)
        self._rooms.move_to_end(room)
        changes = list(tx.terms.since(room, index.seq))
        if changes:
            index.follow(changes)
            self._evict()
        return index.segments, index.lines, index.length

    def _evict(self) -> None:
        """Drop the rooms asked about longest ago, but never the last one."""
        total = sum(index.bytes for index in self._rooms.values())
        while total > self._cache_bytes and len(self._rooms) > 1:
            total -= self._rooms.popitem(last=False)[1].bytes


def _idfs(lines: int, parts: Sequence[Sequence[_Postings | None]]) -> list[float]:
    """How telling each term is, over all parts together."""
    return [idf(lines, sum(len(held.lines) for held in term if held)) for term in zip(*parts, strict=True)]


def _scores(
    segment: _Segment, postings: Sequence[_Postings | None], telling: Sequence[float], average: float
) -> NDArray[np.float64]:
    scores = np.zeros(segment.size)
    damped = damping(segment.lengths, average)
    for held, worth in zip(postings, telling, strict=True):
        if held:
            scores[held.lines] += worth * weight(held.counts, damped[held.lines])
    return scores


def _marked(segment: _Segment, marks: Sequence[int], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores of the lines that hold every mark, and 0 for the others."""
    for held in segment.postings(marks) if marks else ():
        kept = np.zeros(segment.size)
        if held:
            kept[held.lines] = scores[held.lines]
        scores = kept
    return scores


def _best(
    segment: _Segment, scores: NDArray[np.float64], k: int, allowed: Collection[bytes] | None
) -> list[tuple[str, float]]:
    """The k best lines of a segment; equal scores, newest id first."""
    found = np.nonzero(scores)[0]
    if allowed is not None:
        found = found[[line_id in allowed for line_id in segment.ids[found].tolist()]]
    if len(found) > k:
        threshold = np.partition(scores[found], -k)[-k]
        found = found[scores[found] >= threshold]
    order = np.lexsort((segment.ids[found], scores[found]))[::-1][:k]
    return [(segment.ids[line].decode(), float(scores[line])) for line in found[order]]
