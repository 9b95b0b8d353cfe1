"""Compartments in memory: the lines of each, their tokens and vectors up to one point of its feeds, and views
of several compartments side by side.

Tokens are a few immutable segments of numpy arrays. They are merged as they grow like the digits of a binary
counter, so that following a write costs little and a search touches few of them. Nothing of this is written
to disk.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import groupby
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

    def holding(self, tokens: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The places of the tokens that lines hold, and beside each such a line, dead ones too."""
        if not len(self.tokens) or not len(tokens):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint32)
        wanted = np.array(tokens, dtype=np.uint64)
        places = np.searchsorted(self.tokens, wanted)
        known = np.nonzero(self.tokens[np.minimum(places, len(self.tokens) - 1)] == wanted)[0]
        starts = self.starts[places[known]]
        widths = self.starts[places[known] + 1] - starts
        begun = np.cumsum(widths) - widths
        rows = np.repeat(starts - begun, widths) + np.arange(widths.sum())
        return np.repeat(known, widths), self.held[rows]

    def without(self, line_id: bytes) -> Segment | None:
        """The segment with that line dead, or None if it is not here."""
        found = np.nonzero(self.lines.ids == line_id)[0]
        if not len(found):
            return None
        alive = self.lines.alive.copy()
        alive[found] = False
        return replace(self, lines=replace(self.lines, alive=alive))

    def narrowed(self, kept: NDArray[np.bool_]) -> Segment:
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
    """Both in one, without their dead lines."""
    a, b = (one if one.lines.alive.all() else one.narrowed(one.lines.alive) for one in (a, b))
    return _segment(
        joined((a.lines, b.lines)),
        np.concatenate([np.repeat(one.tokens, np.diff(one.starts)) for one in (a, b)]),
        np.concatenate([a.held, b.held + np.uint32(a.size)]),
    )


_MOST_SEGMENTS = 32
_AT_ONCE = 256
"""How many vectors are unpacked at a time: so many stay in the processor's cache until they are compared."""
_FEW = 4
"""Where less than a fourth of the vectors are asked for, they alone are compared with the question."""


class Meanings:
    """The vectors of a compartment's lines in one space, packed as they are stored."""

    def __init__(self, space: str = "") -> None:
        self.space = space
        self.seq = 0
        self._used = 0
        self._ids = np.zeros(0, dtype=f"S{ID_BYTES}")
        self._packed = np.zeros((0, 0), dtype=np.int8)
        """A row for each line: the components of its vector."""
        self._scales = np.zeros(0, dtype=np.float32)
        """What the components are multiplied by; 0 for a line that lost its vector."""
        self._order = np.zeros(0, dtype=np.int64)
        """The rows in the order of their ids."""
        self._places: list[tuple[ref[NDArray[np.bytes_]], NDArray[np.int64]]] = []
        """The rows of the lines of each segment, as long as no row comes or goes."""
        self._nearness: tuple[bytes, NDArray[np.float64]] | None = None
        """Of the last question: it is asked of a compartment more than once."""

    @property
    def nbytes(self) -> int:
        arrays = [self._ids, self._packed, self._scales, self._order, *(rows for _, rows in self._places)]
        return sum(one.nbytes for one in arrays) + (0 if self._nearness is None else self._nearness[1].nbytes)

    @property
    def ids(self) -> list[bytes]:
        return self._ids[self._kept()].tolist() if self._used else []

    def _kept(self) -> NDArray[np.int64]:
        return np.nonzero(self._scales[: self._used])[0]

    def of(self, ids: Collection[bytes]) -> Meanings:
        """Those of these lines alone."""
        found = Meanings(self.space)
        rows = [row for row in self._kept().tolist() if self._ids[row] in ids]
        found._ids, found._packed, found._scales = self._ids[rows], self._packed[rows], self._scales[rows]
        found._use(len(rows))
        return found

    def _use(self, rows: int) -> None:
        self._used = rows
        self._order = np.argsort(self._ids[:rows], kind="stable")

    def follow(self, seq: int, latest: Mapping[bytes, bytes | None]) -> None:
        """Take in the packed vectors of these lines, all up to that point of the feed; None
        of one whose vector does not open."""
        for line_id, packed in latest.items():
            if packed is None:
                self.forget(line_id)
        if placed := {line_id: packed for line_id, packed in latest.items() if packed is not None}:
            self._place(placed)
        self.seq = seq

    def _place(self, vectors: dict[bytes, bytes]) -> None:
        """Unpack the vectors into the rows of their lines, all at once."""
        self._places.clear()
        self._nearness = None
        ids = np.array(list(vectors), dtype=self._ids.dtype)
        packed = np.frombuffer(b"".join(vectors.values()), dtype=np.int8).reshape(len(vectors), -1)
        rows = self._found(ids)
        if self._used + (more := int((rows == self._used).sum())) > len(self._ids):
            self._make_room(more, packed.shape[1] - SCALE_BYTES)
            rows = self._found(ids)
        new = rows == self._used
        used = self._used + int(new.sum())
        rows[new] = np.arange(self._used, used)
        self._ids[rows] = ids
        self._packed[rows] = packed[:, SCALE_BYTES:]
        self._scales[rows] = np.ascontiguousarray(packed[:, :SCALE_BYTES]).view("<f4")[:, 0]
        self._use(used)

    def _make_room(self, more: int, width: int) -> None:
        """Room for so many rows, and an eighth beyond, without those that have no vector any more."""
        kept = self._kept()
        room = len(kept) + more
        room += room // 8
        if not len(kept):
            self._packed = np.zeros((0, width), dtype=np.int8)
        for part in ("_ids", "_packed", "_scales"):
            held = getattr(self, part)
            roomy = np.zeros((room, *held.shape[1:]), dtype=held.dtype)
            roomy[: len(kept)] = held[kept]
            setattr(self, part, roomy)
        self._use(len(kept))

    def forget(self, line_id: bytes) -> None:
        row = self._row(line_id)
        if row is not None:
            self._nearness = None
            self._scales[row] = 0

    def near(
        self, ids: NDArray[np.bytes_], question: NDArray[np.float32], wanted: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """How similar each wanted line is to the question; 0 for one without a vector."""
        rows, asked = self.rows(ids), question.tobytes()
        if self._nearness is None or self._nearness[0] != asked:
            if np.count_nonzero(wanted) * _FEW < self._used:
                found = np.zeros(len(rows))
                found[wanted] = self._compared(question, rows[wanted])
                return found
            self._nearness = asked, np.append(self._compared(question), 0.0)
        return self._nearness[1][rows]

    def _compared(
        self, question: NDArray[np.float32], rows: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """How similar each row is to the question, or each of these; 0 for the one behind the last."""
        packed, scales = self._packed[: self._used], self._scales[: self._used]
        if rows is not None:
            there = rows < self._used
            packed, scales = packed[rows * there], scales[rows * there] * there
        near = np.zeros(len(packed), dtype=np.float32)
        unpacked = np.empty((min(len(packed), _AT_ONCE), len(question)), dtype=np.float32)
        for start in range(0, len(packed), _AT_ONCE):
            some = packed[start : start + _AT_ONCE]
            np.copyto(unpacked[: len(some)], some)
            np.dot(unpacked[: len(some)], question, out=near[start : start + len(some)])
        near *= scales
        return rounded(near.astype(np.float64))

    def place(self, line_id: str) -> NDArray[np.float32] | None:
        row = self._row(line_id.encode())
        return None if row is None else self._packed[row] * self._scales[row]

    def rows(self, ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """The row of each line of a segment, given by its very ids: who asks again need not wait for them."""
        known = next((rows for segment, rows in self._places if segment() is ids), None)
        if known is None:
            known = self._found(ids)
            there = [one for one in self._places if one[0]() is not None]
            self._places = [(ref(ids), known), *there[: _MOST_SEGMENTS - 1]]
        return known

    def _row(self, line_id: bytes) -> int | None:
        """Of a line that has a vector."""
        row = int(self._found(np.array([line_id], dtype=self._ids.dtype))[0])
        return row if row < self._used and self._scales[row] else None

    def _found(self, ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """The row of each line; the one behind the last for a line that has none."""
        if not self._used:
            return np.zeros(len(ids), dtype=np.int64)
        places = np.searchsorted(self._ids[: self._used], ids, sorter=self._order)
        rows = self._order[np.minimum(places, self._used - 1)]
        return np.where(self._ids[rows] == ids, rows, self._used)


class SeenLines:
    """How similar a compartment's lines are to one question, as the store computed it."""

    def __init__(self, found: Sequence[tuple[str, float]]) -> None:
        near = np.array([one for _, one in found], dtype=np.float64)
        self._found = dict(zip((line_id.encode() for line_id, _ in found), rounded(near), strict=True))

    def near(
        self, ids: NDArray[np.bytes_], question: NDArray[np.float32], wanted: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """0 for a line that the store did not tell of."""
        return np.fromiter((self._found.get(one, 0.0) for one in ids.tolist()), np.float64, len(ids))


def rounded(near: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.maximum(near, 0.0)
    return found.round(ROUNDED, out=found)


_OBJECTS_BYTES = 4096
"""What a compartment or a view takes beside its arrays, more or less."""
_ENTRY_BYTES = 128
"""What a number takes that is kept by another, more or less."""


class CompartmentIndex:
    """Segments are replaced, never changed."""

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.seq = 0
        self.segments: tuple[Segment, ...] = ()
        self.meanings: Meanings | None = None
        self.fresh = Meanings()
        """Vectors that were made for a question, of lines that had none in the store."""
        self.freshened = -1
        """The change up to which they were made."""
        self._bytes = 0
        self._changed: dict[int, int] = {}
        """Up to which change each session was followed when a line of it last came or went."""

    @property
    def lines(self) -> int:
        return sum(segment.size for segment in self.segments)

    @property
    def sessions(self) -> int:
        return len(self._changed)

    @property
    def nbytes(self) -> int:
        found = _OBJECTS_BYTES + self._bytes + _ENTRY_BYTES * len(self._changed) + self.fresh.nbytes
        return found if self.meanings is None else found + self.meanings.nbytes

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
"""How many of a segment's newest lines are searched for lines that were just written."""


def nearness(
    view: IndexView,
    compartments: Callable[[int], Meanings | SeenLines],
    fresh: Sequence[Meanings],
    question: NDArray[np.float32],
    wanted: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """How near each wanted line of the view lies to the question; 0 for one that has no vector.

    The vectors of one compartment are asked for at a time: not all may be kept.
    """
    parts = []
    placed = zip(view.segments, np.split(wanted, view.offsets[1:-1]), strict=True)
    for number, some in groupby(placed, lambda one: one[0][0]):
        vectors = compartments(number)
        parts += [vectors.near(segment.lines.ids, question, here) for (_, segment), here in some]
    found = np.concatenate(parts)
    for (number, segment), end in zip(view.segments, view.offsets[1:], strict=True):
        if fresh[number].ids:
            ids = segment.lines.ids[-_NEWEST:]
            here = slice(end - len(ids), end)
            newest = fresh[number].near(ids, question, wanted[here])
            np.copyto(found[here], newest, where=found[here] == 0)
    return found * wanted


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
        """`looked_into` has the sessions by their numbers, the last for none, and `earlier` the same view as
        it was before."""
        self.compartments = compartments
        self._whole = [(number, ref(segment)) for number, segment in whole]
        segments = whole
        self._narrowed = looked_into is not None
        if looked_into is not None:
            known = ((number, one, earlier and earlier.of(one)) for number, one in whole)
            segments = [
                (number, shown or one.narrowed(looked_into[one.lines.sessions]))
                for number, one, shown in known
            ]
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

    @property
    def nbytes(self) -> int:
        """What it takes beside the compartments' own segments."""
        arrays = [self.offsets, self.compartment, self.long, self.apart, self.order, self._starts]
        arrays += [self.session, self.before, self.before_that, self.after]
        own = _OBJECTS_BYTES + sum(one.nbytes for one in arrays)
        if len(self.segments) > 1:
            own += self.lines.nbytes
        if self._narrowed:
            own += sum(segment.nbytes for _, segment in self.segments)
        return own + self.size * sum(len(bears) for bears in list(self._borne.values()))

    def within(self, bounds: ViewBounds) -> NDArray[np.bool_]:
        found = self.lines.alive.copy()
        for bears in self.bearing(bounds.marks):
            found &= bears
        if bounds.said:
            found &= self.lines.turns >= 0
        return found

    def at(self, compartment: Compartment, line_id: str) -> NDArray[np.int64]:
        (found,) = np.nonzero(self.lines.ids == line_id.encode())
        return found[[self.compartments[number] == compartment for number in self.compartment[found]]]

    def of(self, segment: Segment) -> Segment | None:
        """The lines of that segment in the view."""
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
        found = self._borne.get(tokens)
        if found is None:
            bears = np.zeros((len(tokens[0]), self.size), dtype=bool)
            for (number, segment), offset in zip(self.segments, self.offsets, strict=False):
                places, lines = segment.holding(tokens[number])
                bears[places, offset + lines] = True
            found = list(bears)
            self._borne[tokens] = found
            if len(self._borne) > _MOST_REMEMBERED:
                self._borne.popitem(last=False)
        return found
