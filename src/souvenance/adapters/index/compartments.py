"""Compartments in memory: the lines of each, their tokens and vectors up to one point of its feeds, and views
of several compartments side by side.

Tokens are a few immutable segments of numpy arrays. They are merged as they grow like the digits of a binary
counter, so that following a write costs little and a search touches few of them. Nothing of this is written
to disk.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import ref

from msgspec import Struct
from msgspec.structs import replace

from souvenance.adapters.index.lazy_numpy import NDArray, np
from souvenance.domain.change_feed import ID_BYTES, NONE, Feed
from souvenance.domain.names import Compartment
from souvenance.domain.relevance import ROUNDED
from souvenance.domain.seal import SCALE_BYTES
from souvenance.pauses import pause

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


_FIRST_ROWS = 64
_MOST_SEGMENTS = 32


class Meanings:
    """The vectors of a compartment's lines in one space."""

    def __init__(self, space: str = "") -> None:
        self.space = space
        self.seq = 0
        self._rows: dict[bytes, int] = {}
        self._used = 0
        self._matrix = np.zeros((0, 0), dtype=np.float32)
        self._places: list[tuple[NDArray[np.bytes_], NDArray[np.int64]]] = []
        """The rows of the lines of each segment, as long as no row comes or goes."""
        self._nearness: tuple[bytes, NDArray[np.float64]] | None = None
        """Of the last question: it is asked of a compartment more than once."""

    @property
    def size(self) -> int:
        """In bytes."""
        return int(self._matrix.nbytes)

    @property
    def ids(self) -> list[bytes]:
        """The lines that have one."""
        return list(self._rows)

    def of(self, ids: Collection[bytes]) -> Meanings:
        """Those of these lines alone."""
        kept, found = [one for one in self.ids if one in ids], Meanings(self.space)
        found._rows = {line_id: row for row, line_id in enumerate(kept)}
        found._used = len(kept)
        found._matrix = self._matrix[[self._rows[line_id] for line_id in kept]]
        return found

    def follow(self, seq: int, latest: Mapping[bytes, bytes | None]) -> None:
        """Know the packed vectors of these lines, which are all that came up to that point of the feed; None
        of one whose vector does not open."""
        self._lose_track()
        for line_id, packed in latest.items():
            if packed is None:
                self.forget(line_id)
        if placed := {line_id: packed for line_id, packed in latest.items() if packed is not None}:
            self._place(placed)
        self.seq = seq

    def _place(self, vectors: dict[bytes, bytes]) -> None:
        """Lay the packed vectors into the rows of their lines, all at once."""
        rows = []
        for line_id in vectors:
            rows.append(self._rows.setdefault(line_id, self._used))
            self._used = max(self._used, rows[-1] + 1)
        packed = np.frombuffer(b"".join(vectors.values()), dtype=np.int8).reshape(len(vectors), -1)
        if self._used > len(self._matrix):
            more = max(self._used, 2 * len(self._matrix), _FIRST_ROWS) - len(self._matrix)
            wider = packed.shape[1] - SCALE_BYTES - self._matrix.shape[1]
            self._matrix = np.pad(self._matrix, ((0, more), (0, wider)))
        scales = np.ascontiguousarray(packed[:, :SCALE_BYTES]).view("<f4")
        self._matrix[rows] = packed[:, SCALE_BYTES:] * scales

    def forget(self, line_id: bytes) -> None:
        row = self._rows.pop(line_id, None)
        if row is not None:
            self._lose_track()
            self._matrix[row] = 0

    def _lose_track(self) -> None:
        self._places.clear()
        self._nearness = None

    def near(self, ids: NDArray[np.bytes_], question: NDArray[np.float32]) -> NDArray[np.float64]:
        """How near each line lies to the question; 0 for one that has no vector."""
        asked = question.tobytes()
        if self._nearness is None or self._nearness[0] != asked:  # Behind the last row one lies nowhere.
            near = self._matrix[: self._used] @ question if self._used else ()
            self._nearness = asked, rounded(np.append(near, np.float32(0)).astype(np.float64))
        return self._nearness[1][self.rows(ids)]

    def place(self, line_id: str) -> NDArray[np.float32] | None:
        """Where a line lies; None if it has no vector."""
        row = self._rows.get(line_id.encode())
        return None if row is None else self._matrix[row].copy()

    def rows(self, ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """The row of each line of a segment, given by its very ids: who asks again need not wait for them."""
        known = next((rows for segment, rows in self._places if segment is ids), None)
        if known is None:
            found = (self._rows.get(one, self._used) for one in ids.tolist())
            known = np.fromiter(found, np.int64, len(ids))
            self._places = [(ids, known), *self._places[: _MOST_SEGMENTS - 1]]
        return known


class SeenLines:
    """How near a compartment's lines lie to one question, as the store says."""

    def __init__(self, found: Sequence[tuple[str, float]]) -> None:
        near = np.array([one for _, one in found], dtype=np.float64)
        self._found = dict(zip((line_id.encode() for line_id, _ in found), rounded(near), strict=True))

    def near(self, ids: NDArray[np.bytes_], question: NDArray[np.float32]) -> NDArray[np.float64]:
        """0 for a line that the store did not tell of."""
        return np.fromiter((self._found.get(one, 0.0) for one in ids.tolist()), np.float64, len(ids))


def rounded(near: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(near, 0.0).round(ROUNDED)


class CompartmentIndex:
    """Segments are replaced, never changed."""

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.seq = 0
        self.segments: tuple[Segment, ...] = ()
        self.meanings: Meanings | None = None
        self.fresh = Meanings()
        """Of lines that the store had none of, made for a question."""
        self.freshened = -1
        """Up to which change such vectors were made of all lines that they were to be made of."""
        self._bytes = 0
        self._changed: dict[int, int] = {}
        """Up to which change each session was followed when a line of it last came or went."""

    @property
    def lines(self) -> int:
        return sum(segment.size for segment in self.segments)

    @property
    def size(self) -> int:
        """In bytes."""
        return self._bytes + self.fresh.size + (0 if self.meanings is None else self.meanings.size)

    def changed(self, sessions: Collection[int] | None) -> int:
        """A number that grows with each change to a line of these sessions, given by their numbers."""
        if sessions is None:
            return self.seq
        return max((self._changed.get(session, 0) for session in sessions), default=0)

    def follow(self, feed: Feed, code: Coder) -> None:
        segments, kept = list(self.segments), None
        ids, gone = ids_of(feed).tolist(), numbers(feed.token_bytes) == NONE
        if gone.any() or len(set(ids)) < len(ids):
            last: dict[bytes, int] = {}
            for place, (line_id, disappears) in enumerate(zip(ids, gone.tolist(), strict=True)):
                if not disappears:
                    last[line_id] = place
                else:
                    if last.pop(line_id, None) is None:
                        segments = [segment.without(line_id) or segment for segment in segments]
                        self._changed = dict.fromkeys(self._changed, feed.last)
                    if self.meanings is not None:
                        self.meanings.forget(line_id)
                    self.fresh.forget(line_id)
            kept = np.zeros(len(feed), dtype=bool)
            kept[list(last.values())] = True
        if kept is None or kept.any():
            segments.append(loaded(feed, code, kept))
            self._changed.update(dict.fromkeys(segments[-1].lines.sessions.tolist(), feed.last))
        while len(segments) > 1 and segments[-1].size * 2 > segments[-2].size:
            pause()
            newer, older = segments.pop(), segments.pop()
            segments.append(merged(older, newer))
        self.seq = feed.last
        self.segments = tuple(segments)
        self._bytes = sum(segment.nbytes for segment in segments)


_NEWEST = 256
"""Among how many of a segment's newest lines those are looked for that were just written."""


def nearness(
    view: IndexView,
    compartments: Sequence[Meanings | SeenLines],
    fresh: Sequence[Meanings],
    question: NDArray[np.float32],
) -> NDArray[np.float64]:
    """How near each line of the view lies to the question; 0 for one that has no vector."""
    found = np.concatenate(
        [compartments[number].near(segment.lines.ids, question) for number, segment in view.segments]
    )
    for (number, segment), end in zip(view.segments, view.offsets[1:], strict=True):
        if fresh[number].ids:
            ids = segment.lines.ids[-_NEWEST:]
            newest = found[end - len(ids) : end]
            np.copyto(newest, fresh[number].near(ids, question), where=newest == 0)
    return found


_MOST_REMEMBERED = 16

ByCompartment = tuple[tuple[int, ...], ...]
"""Tokens, as each compartment has them."""


class ViewBounds(NamedTuple):
    """What every question of a kind asks of a view: which lines are there for it, and which bear signs."""

    marks: ByCompartment
    signs: ByCompartment
    said: bool


class IndexView:
    """Compartments at one moment, or some sessions of them, and for each line those before and after.

    A place that is not there is the number of lines, so that an array with one element more answers for it.
    """

    def __init__(
        self,
        compartments: Sequence[Compartment],
        whole: Sequence[tuple[int, Segment]],
        looked_into: NDArray[np.bool_] | None = None,
        earlier: IndexView | None = None,
    ) -> None:
        """`looked_into` has the sessions by their numbers, `earlier` the same view as it was before."""
        self.compartments = compartments
        self._whole = [(number, ref(segment)) for number, segment in whole]
        segments = whole
        if looked_into is not None:
            known = ((number, one, earlier and earlier.of(one)) for number, one in whole)
            segments = [(number, shown or one.narrowed(looked_into)) for number, one, shown in known]
        self.segments = segments
        self.lines = joined([segment.lines for _, segment in segments])
        self.size = len(self.lines.ids)
        self.offsets = np.cumsum([0, *(segment.size for _, segment in segments)])
        self.compartment = np.repeat(
            [compartment for compartment, _ in segments], [segment.size for _, segment in segments]
        )
        self._borne: OrderedDict[ByCompartment, list[NDArray[np.bool_]]] = OrderedDict()
        self.long = np.log1p(self.lines.lengths)
        self.apart = self.lines.sessions < 0
        """Which lines are of no session."""
        self.order = np.lexsort((self.lines.turns, self.lines.sessions))
        codes = self.lines.sessions[self.order]
        begins = np.append(True, codes[1:] != codes[:-1])
        self._starts = np.nonzero(begins)[0]
        """Where each session begins in this order."""
        self.sessions = len(self._starts)
        self.session = np.empty(self.size, dtype=np.int64)
        self.session[self.order] = np.cumsum(begins) - 1
        placed = self.lines.alive & ~self.apart & (self.lines.turns >= 0)
        living = self.order[placed[self.order]]
        self.before = self._beside(living, -1)
        self.before_that = self._beside(living, -2)
        self.after = self._beside(living, 1)

    def within(self, bounds: ViewBounds) -> NDArray[np.bool_]:
        """The living lines within these bounds."""
        found = self.lines.alive.copy()
        for bears in self.bearing(bounds.marks):
            found &= bears
        if bounds.said:
            found &= self.lines.turns >= 0
        return found

    def at(self, compartment: Compartment, line_id: str) -> NDArray[np.int64]:
        """Where that line is, if it is there."""
        (found,) = np.nonzero(self.lines.ids == line_id.encode())
        return found[[self.compartments[number] == compartment for number in self.compartment[found]]]

    def of(self, segment: Segment) -> Segment | None:
        """What it shows of that segment."""
        pairs = zip(self._whole, self.segments, strict=True)
        return next((shown for (_, one), (_, shown) in pairs if one() is segment), None)

    def _beside(self, living: NDArray[np.int64], step: int) -> NDArray[np.int64]:
        """For each line the place of the one that many turns away in its session, of the living in order."""
        found = np.full(self.size, self.size, dtype=np.int64)
        session, turn = self.session[living], self.lines.turns[living]
        for apart in range(1, abs(step) + 1):
            if len(living) <= apart:
                break
            same = (session[apart:] == session[:-apart]) & (turn[apart:] - turn[:-apart] == abs(step))
            here, there = (apart, 0) if step < 0 else (0, apart)
            found[living[here:][: len(same)][same]] = living[there:][: len(same)][same]
        return found

    def in_session(self, values: NDArray[np.float64], lines: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each of these lines the highest value of its session; of one of none, its own."""
        highest = np.maximum.reduceat(values[self.order], self._starts)
        return self.of_session(highest, values[lines], lines)

    def of_session(
        self, values: NDArray[np.float64], own: NDArray[np.float64], lines: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """For each of these lines the value of its session; for one of none, its own."""
        return np.where(self.apart[lines], own, values[self.session[lines]])

    def bearing(self, tokens: ByCompartment) -> list[NDArray[np.bool_]]:
        """For each of the tokens, given by compartment, which lines hold it."""
        found = self._borne.get(tokens)
        if found is None:
            found = [np.zeros(self.size, dtype=bool) for _ in tokens[0]]
            for (number, segment), offset in zip(self.segments, self.offsets, strict=False):
                for bears, held in zip(found, segment.holding(tokens[number]), strict=True):
                    if held is not None:
                        bears[offset + held] = True
            self._borne[tokens] = found
            if len(self._borne) > _MOST_REMEMBERED:
                self._borne.popitem(last=False)
        return found
