"""One compartment in memory: its lines, their tokens and their vectors, up to one point of its feeds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from souvenance.adapters.index.lazy_numpy import NDArray, np
from souvenance.adapters.index.segments import Coder, Segment, ids_of, loaded, merged, numbers
from souvenance.domain.change_feed import NONE, Feed
from souvenance.domain.relevance import ROUNDED
from souvenance.domain.seal import SCALE_BYTES
from souvenance.ports.index import Opened
from souvenance.ports.store import Vector

_FIRST_ROWS = 64
_MOST_SEGMENTS = 32


class Meanings:
    """The vectors of a compartment's lines in one space."""

    def __init__(self, space: str) -> None:
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

    def follow(self, seq: int, latest: Mapping[bytes, bytes | None]) -> None:
        """Know the packed vectors of these lines, which are all that came up to that point of the feed."""
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
        return self._near_all(question)[self.rows(ids)]

    def place(self, line_id: str) -> NDArray[np.float32] | None:
        """Where a line lies; None if it has no vector."""
        row = self._rows.get(line_id.encode())
        return None if row is None else self._matrix[row].copy()

    def _near_all(self, question: NDArray[np.float32]) -> NDArray[np.float64]:
        """How near each row lies; behind the last there is one that lies nowhere."""
        asked = question.tobytes()
        if self._nearness is None or self._nearness[0] != asked:
            near = self._matrix[: self._used] @ question if self._used else ()
            self._nearness = asked, rounded(np.append(near, np.float32(0)).astype(np.float64))
        return self._nearness[1]

    def rows(self, ids: NDArray[np.bytes_]) -> NDArray[np.int64]:
        """The row of each line of a segment, given by its very ids: who asks again need not wait for them."""
        known = next((rows for segment, rows in self._places if segment is ids), None)
        if known is None:
            found = (self._rows.get(one, self._used) for one in ids.tolist())
            known = np.fromiter(found, np.int64, len(ids))
            self._places = [(ids, known), *self._places[: _MOST_SEGMENTS - 1]]
        return known


def unsealed(vectors: Iterable[Vector], opened: Opened) -> dict[bytes, bytes | None]:
    """The packed vector of each line; None where it does not open."""
    return {vector.id.encode(): opened(vector.id, vector.sealed) for vector in vectors}


class SeenLines:
    """How near a compartment's lines lie to one question, as the store says."""

    def __init__(self, found: Sequence[tuple[str, float]]) -> None:
        near = np.array([one for _, one in found], dtype=np.float64)
        self._found = dict(zip((line_id.encode() for line_id, _ in found), rounded(near), strict=True))

    def near(self, ids: NDArray[np.bytes_], question: NDArray[np.float32]) -> NDArray[np.float64]:
        """0 for a line that the store did not tell of."""
        return np.fromiter((self._found.get(one, 0.0) for one in ids.tolist()), np.float64, len(ids))


class FreshVectors:
    """Vectors of a few lines that the store had none of, made for a question."""

    def __init__(self, packed: Mapping[bytes, bytes]) -> None:
        self.packed = packed
        self._rows = {line_id: row for row, line_id in enumerate(packed)}
        each = -1 if packed else SCALE_BYTES
        vectors = np.frombuffer(b"".join(packed.values()), dtype=np.int8).reshape(len(packed), each)
        scales = np.ascontiguousarray(vectors[:, :SCALE_BYTES]).view("<f4")
        self._matrix: NDArray[np.float32] = vectors[:, SCALE_BYTES:] * scales

    @property
    def size(self) -> int:
        """In bytes."""
        return int(self._matrix.nbytes)

    def near(self, question: NDArray[np.float32]) -> dict[bytes, float]:
        """How near each of the lines lies to the question."""
        if not self._rows:
            return {}
        return dict(zip(self._rows, rounded((self._matrix @ question).astype(np.float64)), strict=True))

    def place(self, line_id: str) -> NDArray[np.float32] | None:
        """Where a line lies; None if it has no vector here."""
        row = self._rows.get(line_id.encode())
        return None if row is None else self._matrix[row].copy()

    def without(self, line_id: bytes) -> FreshVectors:
        if line_id not in self.packed:
            return self
        return FreshVectors({one: packed for one, packed in self.packed.items() if one != line_id})


def rounded(near: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.maximum(near, 0.0).round(ROUNDED)


class CompartmentIndex:
    """Segments are replaced, never changed."""

    def __init__(self, mark: int) -> None:
        self.mark = mark
        self.seq = 0
        self.segments: tuple[Segment, ...] = ()
        self.meanings: Meanings | None = None
        self.fresh = FreshVectors({})
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

    def meanings_in(self, space: str) -> Meanings:
        """Its vectors in that space, as far as they were read; those in another are dropped."""
        if self.meanings is None or self.meanings.space != space:
            self.meanings = Meanings(space)
        return self.meanings

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
                    self.fresh = self.fresh.without(line_id)
            kept = np.zeros(len(feed), dtype=bool)
            kept[list(last.values())] = True
        if kept is None or kept.any():
            segments.append(loaded(feed, code, kept))
            self._changed.update(dict.fromkeys(segments[-1].lines.sessions.tolist(), feed.last))
        while len(segments) > 1 and segments[-1].size * 2 > segments[-2].size:
            newer, older = segments.pop(), segments.pop()
            segments.append(merged(older, newer))
        self.seq = feed.last
        self.segments = tuple(segments)
        self._bytes = sum(segment.nbytes for segment in segments)
