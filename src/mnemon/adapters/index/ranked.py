"""The default index: ranks lines in memory by the signals of `mnemon.domain.relevance`.

It follows the book's feeds of blinded tokens and sealed vectors; a store that compares vectors itself is
asked how near lines lie instead. Rooms are loaded when first asked about and dropped, least recently used
first, when together they grow beyond the given size.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence

from mnemon.adapters.index.arrays import NDArray, np
from mnemon.adapters.index.room import Meanings, RoomIndex, Told
from mnemon.adapters.index.view import View
from mnemon.domain import relevance as r
from mnemon.domain import signs
from mnemon.domain.names import Room
from mnemon.ports.book import Comparing, Transaction
from mnemon.ports.index import Asked, Hit, Inquiry

DEFAULT_CACHE_BYTES = 256 * 1024 * 1024
_MOST_VIEWED = 250_000
"""How many lines the views may have that are kept, all together."""
MOST_COMPARED = 20_000
NEAREST = 2_000

_TOLD_APART = 12
"""To how many digits scores are: sums of the same numbers may differ beyond."""

Array = NDArray[np.float64]


class RankedIndex:
    """Thread-safe; one per process."""

    def __init__(
        self,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        *,
        most_compared: int = MOST_COMPARED,
        nearest: int = NEAREST,
    ) -> None:
        """Of a room with more lines than `most_compared`, a store that compares vectors tells the nearest."""
        self._cache_bytes = cache_bytes
        self._most_compared = most_compared
        self._nearest = nearest
        self._rooms: OrderedDict[Room, RoomIndex] = OrderedDict()
        self._size = 0
        """Of all rooms, in bytes."""
        self._views: OrderedDict[tuple[Room, ...], View] = OrderedDict()
        self._sessions: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def search(
        self, tx: Transaction, inquiry: Inquiry, k: int, within: Collection[str] | None = None
    ) -> list[Hit]:
        question = None if inquiry.vector is None else np.frombuffer(inquiry.vector, dtype="<f4")
        with self._lock:
            marks = {
                workspace: tx.marks(workspace).rooms
                for workspace in {asked.room.workspace for asked in inquiry.rooms}
            }
            rooms = [
                self._followed(tx, asked, marks[asked.room.workspace], inquiry.space, question)
                for asked in inquiry.rooms
            ]
            view = self._view(inquiry.rooms, rooms)
            if view is None:
                return []
            nearness = None
            if question is not None:
                near: Sequence[Meanings | Told | None] = [index.meanings for index in rooms]
                if tx.terms.comparing is not None:
                    near = self._told(tx.terms.comparing, inquiry, rooms, bounded=within is not None)
                nearness = _nearness(view, near, question)
            sessions = None if inquiry.sessions is None else self._codes(inquiry)
        return _Scoring(view, inquiry, nearness, sessions, within).best(k)

    def forget(self) -> None:
        with self._lock:
            self._rooms.clear()
            self._size = 0
            self._views.clear()
            self._sessions.clear()

    def _followed(
        self, tx: Transaction, asked: Asked, mark: int, space: str, question: NDArray[np.float32] | None
    ) -> RoomIndex:
        room = asked.room
        index = self._rooms.get(room)
        if index is None or index.mark != mark:
            self._size -= 0 if index is None else index.size
            index = self._rooms[room] = RoomIndex(mark)
        self._rooms.move_to_end(room)
        before = index.size
        feed = tx.terms.since(room, index.seq)
        if feed.ids:
            index.follow(feed, lambda name: self._code(room.workspace, name))
        if question is not None and tx.terms.comparing is None:
            meanings = index.meanings
            if meanings is None or meanings.space != space:
                meanings = index.meanings = Meanings(space, len(question))
            vectors = tx.terms.vectors(room, space, meanings.seq)
            if vectors:
                meanings.follow(vectors, asked.open)
        self._size += index.size - before
        self._evict()
        return index

    def _told(
        self, comparing: Comparing, inquiry: Inquiry, rooms: Sequence[RoomIndex], *, bounded: bool
    ) -> list[Told]:
        """What the store says of each room: of every line, where the nearest may lie beyond the bounds."""
        bounded = bounded or inquiry.said or inquiry.sessions is not None
        found = []
        for asked, index in zip(inquiry.rooms, rooms, strict=True):
            whole = bounded or asked.marks or index.lines <= self._most_compared
            near = comparing.near(
                asked.room, inquiry.space, inquiry.vector or b"", None if whole else self._nearest
            )
            found.append(Told(near))
        return found

    def _code(self, workspace: str, session: str) -> int:
        return self._sessions.setdefault((workspace, session), len(self._sessions))

    def _codes(self, inquiry: Inquiry) -> list[int]:
        """The numbers of the sessions that are looked into."""
        workspaces = {asked.room.workspace for asked in inquiry.rooms}
        places = ((workspace, session) for workspace in workspaces for session in inquiry.sessions or ())
        return [self._sessions[place] for place in places if place in self._sessions]

    def _view(self, asked: Sequence[Asked], rooms: Sequence[RoomIndex]) -> View | None:
        segments = [(number, segment) for number, index in enumerate(rooms) for segment in index.segments]
        if not segments:
            return None
        key = tuple(one.room for one in asked)
        view = self._views.get(key)
        if view is None or not view.shows(segments):
            view = self._views[key] = View(key, segments)
            viewed = sum(one.size for one in self._views.values())
            while viewed > _MOST_VIEWED and len(self._views) > 1:
                viewed -= self._views.popitem(last=False)[1].size
        self._views.move_to_end(key)
        return view

    def _evict(self) -> None:
        """Drop the rooms asked about longest ago, but never the last one."""
        while self._size > self._cache_bytes and len(self._rooms) > 1:
            self._size -= self._rooms.popitem(last=False)[1].size


def _nearness(view: View, rooms: Sequence[Meanings | Told | None], question: NDArray[np.float32]) -> Array:
    return np.concatenate(
        [
            np.zeros(segment.size) if meanings is None else meanings.near(segment.lines.ids, question)
            for number, segment in view.segments
            for meanings in (rooms[number],)
        ]
    )


class _Scoring:
    """One question before one view."""

    def __init__(
        self,
        view: View,
        inquiry: Inquiry,
        nearness: Array | None,
        sessions: Sequence[int] | None,
        within: Collection[str] | None,
    ) -> None:
        self._view = view
        self._inquiry = inquiry
        self._open = self._opened(sessions, within)
        """The lines that are there for this question."""
        self._nearness = np.zeros(view.size) if nearness is None else nearness * self._open
        self._terms = max(inquiry.groups, default=-1) + 1
        self._near = np.zeros((self._terms, view.size + 1))
        """How near each line comes to each term; behind the last line there is one that holds nothing."""
        self._holding = np.zeros(self._terms)
        self._then = np.zeros(view.size)
        for worth, days in (
            (r.NEAR_DAY, [asked.near_days for asked in inquiry.rooms]),
            (1.0, [asked.days for asked in inquiry.rooms]),
        ):
            for bears in view.bearing(days):
                self._then[bears] = worth
        signed = view.bearing([asked.signs for asked in inquiry.rooms])
        self._signs = dict(zip(signs.EVERY, signed, strict=True)) if signed else {}
        self._read()
        living = int(self._open.sum())
        telling = np.array([r.idf(living, holding) for holding in self._holding])
        self._worth = telling / telling.sum() if self._terms else telling

    def _opened(self, sessions: Sequence[int] | None, within: Collection[str] | None) -> NDArray[np.bool_]:
        lines = self._view.lines
        found = lines.alive.copy()
        for bears in self._view.bearing([asked.marks for asked in self._inquiry.rooms]):
            found &= bears
        if self._inquiry.said:
            found &= lines.turns >= 0
        if sessions is not None:
            looked_into = np.zeros(max(lines.sessions.max(), *sessions, 0) + 2, dtype=bool)
            looked_into[sessions] = True
            found &= looked_into[lines.sessions]
        if within is not None:
            allowed = {one.encode() for one in within}
            found &= np.fromiter((one in allowed for one in lines.ids.tolist()), bool, len(found))
        return found

    def _read(self) -> None:
        """Enter for each term the lines that hold it or its kin, what is nearest last."""
        inquiry, view = self._inquiry, self._view
        order = sorted(range(len(inquiry.groups)), key=lambda at: inquiry.closeness[at])
        for (number, segment), offset in zip(view.segments, view.offsets, strict=False):
            held = segment.holding(inquiry.rooms[number].tokens)
            for at in order:
                lines = held[at]
                if lines is not None:
                    lines = lines[self._open[offset + lines]]
                    self._near[inquiry.groups[at], offset + lines] = inquiry.closeness[at]
                    if inquiry.closeness[at] == 1.0:
                        self._holding[inquiry.groups[at]] += len(lines)

    def best(self, k: int) -> list[Hit]:
        view = self._view
        lines = self._candidates()
        if not len(lines):
            return []
        signals = self._signals(lines)
        scores = np.zeros(len(lines))
        for name, values in signals.items():
            scores += r.WEIGHTS[name] * values
        scores = scores.round(_TOLD_APART)
        kept = np.arange(len(lines))
        if len(lines) > k:
            kept = np.nonzero(scores >= np.partition(scores, -k)[-k])[0]
        places = lines[kept]
        telling = np.array([values[kept] for values in signals.values()]).T.tolist()
        hits = [
            Hit(
                view.rooms[room],
                line_id.decode(),
                score,
                {n: v for n, v in zip(signals, told, strict=True) if v},
            )
            for room, line_id, score, told in zip(
                view.room[places].tolist(),
                view.lines.ids[places].tolist(),
                scores[kept].tolist(),
                telling,
                strict=True,
            )
        ]
        hits.sort(key=lambda hit: (hit.score, hit.id, hit.room), reverse=True)
        return hits[:k]

    def _candidates(self) -> NDArray[np.int64]:
        """The lines that something speaks for."""
        view = self._view
        holding = np.any(self._near, axis=0)
        asking = np.append(self._signs.get(signs.ASKS, np.zeros(view.size, dtype=bool)), False) & holding
        found = holding[:-1] | asking[view.before]
        found |= (self._nearness >= r.LEAST_MEANING) | (self._then > 0)
        return np.nonzero(found & self._open)[0]

    def _signals(self, lines: NDArray[np.int64]) -> dict[str, Array]:
        view, wants, near = self._view, self._inquiry.wants, self._near
        own = near[:, lines]
        both = np.maximum(own, near[:, view.before[lines]])
        beyond = np.maximum(near[:, view.after[lines]], near[:, view.before_that[lines]])
        around = np.maximum(both, beyond)
        held = view.each_in_session(near[:, :-1], lines)
        found = {
            r.WORDS: self._worth @ (own == 1.0),
            r.BEFORE: self._worth @ (both == 1.0),
            r.AROUND: self._worth @ (around == 1.0),
            r.SESSION: self._worth @ (held == 1.0),
            r.KIN: self._worth @ own,
            r.KIN_AROUND: self._worth @ around,
            r.KIN_SESSION: self._worth @ held,
            r.MEANING: self._nearness[lines],
            r.GIST: view.in_session(self._nearness, lines),
            r.RICH: view.rich(self._open)[lines],
            r.LONG: view.long[lines],
            r.WHEN: self._in_time(lines),
            r.THEN: self._then[lines],
        }
        apt = found[r.GIST] + found[r.KIN_SESSION]
        if self._inquiry.spans and apt.any():
            found[r.ASTRAY] = found[r.WHEN] * np.maximum(1 - apt / (r.APT * apt.max()), 0.0)
        names = view.bearing([asked.names for asked in self._inquiry.rooms])
        if names:
            borne = np.logical_or.reduce(names) & self._open
            found[r.NAMED] = view.in_session(borne.astype(np.float64), lines)
        if wants.latest:
            found[r.ORDER] = self._ordered(lines) * found[r.KIN]
        if self._signs:
            sign = {name: bears[lines].astype(np.float64) for name, bears in self._signs.items()}
            found[r.ASKS], found[r.SELF] = sign[signs.ASKS], sign[signs.SELF]
            found[r.NUMBER], found[r.TIME] = sign[signs.NUMBER], sign[signs.TIME]
            found[r.MOMENT] = sign[signs.TIME] * wants.moment
            found[r.COUNT] = sign[signs.NUMBER] * wants.count
            found[r.WHO] = sign[signs.NAME] * wants.name
        speaks = np.array([room.owner in self._inquiry.speakers for room in view.rooms], dtype=np.float64)
        found[r.SPEAKER] = speaks[view.room[lines]]
        return found

    def _ordered(self, lines: NDArray[np.int64]) -> Array:
        """How late each line was said among those that hold about as much, or how early, as is asked for."""
        times, held = self._view.lines.times, self._worth @ self._near[:, :-1]
        rivals = np.sort(times[(held >= r.RIVAL * held.max()) & (held > 0)])
        late = np.minimum(1.0, np.searchsorted(rivals, times[lines]) / max(1, len(rivals) - 1))
        latest = self._inquiry.wants.latest
        return latest * late if latest > 0 else -latest * (1 - late)

    def _in_time(self, lines: NDArray[np.int64]) -> Array:
        times = self._view.lines.times[lines].astype(np.float64)
        best = np.zeros(len(lines))
        for span in self._inquiry.spans:
            early, late = r.slack(span)
            away = np.where(
                times < span.start_ms,
                (span.start_ms - times) / early,
                np.maximum(times - span.end_ms, 0.0) / late,
            )
            best = np.maximum(best, np.exp(-away))
        return best
