"""The default index: ranks lines in memory by the signals of `mnemon.domain.relevance`.

It follows the book's feeds of blinded tokens and sealed vectors; a store that compares vectors itself is
asked how near lines lie instead. Rooms are loaded when first asked about and dropped, least recently used
first, when together they grow beyond the given size.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence

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
_MOST_VIEWS = 256
MOST_COMPARED = 20_000
NEAREST = 2_000

_TOLD_APART = 12
"""To how many digits scores are: sums of the same numbers may differ beyond."""
_SLACK = 10.0 ** (1 - _TOLD_APART)

_BESIDE = {
    r.BEFORE: (r.WORDS, r.SESSION),
    r.AROUND: (r.WORDS, r.SESSION),
    r.KIN_AROUND: (r.KIN, r.KIN_SESSION),
}
"""What a line holds with those beside it: at least what it holds itself, at most what its session does."""

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
        self._views: OrderedDict[tuple[tuple[Room, ...], frozenset[int] | None], View] = OrderedDict()
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
            sessions = None if inquiry.sessions is None else self._codes(inquiry)
            view = self._view(inquiry.rooms, rooms, sessions)
            if view is None or not view.size:
                return []
            nearness = None
            if question is not None:
                near: Sequence[Meanings | Told | None] = [index.meanings for index in rooms]
                if tx.terms.comparing is not None:
                    near = self._told(tx.terms.comparing, inquiry, rooms, bounded=within is not None)
                nearness = _nearness(view, near, question)
        return _Scoring(view, inquiry, nearness, within).best(k)

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

    def _codes(self, inquiry: Inquiry) -> frozenset[int]:
        """The numbers of the sessions that are looked into."""
        workspaces = {asked.room.workspace for asked in inquiry.rooms}
        places = ((workspace, session) for workspace in workspaces for session in inquiry.sessions or ())
        return frozenset(self._sessions[place] for place in places if place in self._sessions)

    def _view(
        self, asked: Sequence[Asked], rooms: Sequence[RoomIndex], sessions: frozenset[int] | None
    ) -> View | None:
        segments = [(number, segment) for number, index in enumerate(rooms) for segment in index.segments]
        if not segments:
            return None
        places = tuple(one.room for one in asked)
        key = places, sessions
        view = self._views.get(key)
        if view is None or not view.shows(segments):
            looked_into = None
            if sessions is not None:
                looked_into = np.zeros(len(self._sessions) + 1, dtype=bool)
                looked_into[list(sessions)] = True
            view = self._views[key] = View(places, segments, looked_into, view)
            viewed = sum(one.size for one in self._views.values())
            while (viewed > _MOST_VIEWED or len(self._views) > _MOST_VIEWS) and len(self._views) > 1:
                viewed -= self._views.popitem(last=False)[1].size
        self._views.move_to_end(key)
        return view

    def _evict(self) -> None:
        """Drop the rooms asked about longest ago, but never the last one."""
        while self._size > self._cache_bytes and len(self._rooms) > 1:
            self._size -= self._rooms.popitem(last=False)[1].size


def _score(signals: Mapping[str, Array]) -> Array:
    scores = np.zeros(len(signals[r.WORDS]))
    for name, values in signals.items():
        scores += r.WEIGHTS[name] * values
    return scores


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
        within: Collection[str] | None,
    ) -> None:
        self._view = view
        self._inquiry = inquiry
        self._open = self._opened(within)
        """The lines that are there for this question."""
        self._nearness = np.zeros(view.size) if nearness is None else nearness * self._open
        self._terms = max(inquiry.groups, default=-1) + 1
        self._near = np.zeros((self._terms, view.size + 1))
        """How near each line comes to each term; behind the last line there is one that holds nothing."""
        self._near_session = np.zeros((self._terms, view.sessions))
        self._holding = np.zeros(self._terms)
        self._holds = np.zeros(view.size, dtype=bool)
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

    def _opened(self, within: Collection[str] | None) -> NDArray[np.bool_]:
        lines = self._view.lines
        found = lines.alive.copy()
        for bears in self._view.bearing([asked.marks for asked in self._inquiry.rooms]):
            found &= bears
        if self._inquiry.said:
            found &= lines.turns >= 0
        if within is not None:
            allowed = {one.encode() for one in within}
            found &= np.fromiter((one in allowed for one in lines.ids.tolist()), bool, len(found))
        return found

    def _read(self) -> None:
        """Enter for each term the lines and sessions that hold it or its kin, what is nearest last."""
        inquiry, view = self._inquiry, self._view
        found = [
            (at, offset + lines)
            for (number, segment), offset in zip(view.segments, view.offsets, strict=False)
            for at, lines in enumerate(segment.holding(inquiry.rooms[number].tokens))
            if lines is not None
        ]
        for at, every in sorted(found, key=lambda one: inquiry.closeness[one[0]]):
            lines = every[self._open[every]]
            group, closeness = inquiry.groups[at], inquiry.closeness[at]
            self._near[group, lines] = closeness
            self._near_session[group, view.session[lines]] = closeness
            self._holds[lines] = True
            if closeness == 1.0:
                self._holding[group] += len(lines)

    def best(self, k: int) -> list[Hit]:
        view = self._view
        lines = self._candidates()
        if not len(lines):
            return []
        signals = self._signals(lines)
        promising = self._promising(signals, k)
        lines = lines[promising]
        signals = {name: values[promising] for name, values in signals.items()} | self._beside(lines)
        scores = _score(signals).round(_TOLD_APART)
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
        found = self._holds.copy()
        if signs.ASKS in self._signs:
            found |= np.append(self._holds & self._signs[signs.ASKS], False)[view.before]
        found |= (self._nearness >= r.LEAST_MEANING) | (self._then > 0)
        return np.nonzero(found & self._open)[0]

    def _promising(self, signals: Mapping[str, Array], k: int) -> NDArray[np.int64]:
        """Which of the lines may be among the k best, whatever the lines beside them hold."""
        least = most = _score(signals)
        if len(least) <= k:
            return np.arange(len(least))
        for name, (low, high) in _BESIDE.items():
            ends = r.WEIGHTS[name] * signals[low], r.WEIGHTS[name] * signals[high]
            least, most = least + np.minimum(*ends), most + np.maximum(*ends)
        return np.nonzero(most >= np.partition(least, -k)[-k] - _SLACK)[0]

    def _beside(self, lines: NDArray[np.int64]) -> dict[str, Array]:
        """The signals of what each line and those beside it hold."""
        view, near = self._view, self._near
        both = np.maximum(near[:, lines], near[:, view.before[lines]])
        beyond = np.maximum(near[:, view.after[lines]], near[:, view.before_that[lines]])
        around = np.maximum(both, beyond)
        return {
            r.BEFORE: self._worth @ (both == 1.0),
            r.AROUND: self._worth @ (around == 1.0),
            r.KIN_AROUND: self._worth @ around,
        }

    def _signals(self, lines: NDArray[np.int64]) -> dict[str, Array]:
        """All but those of `_BESIDE`."""
        view, wants, worth = self._view, self._inquiry.wants, self._worth
        words, kin = (worth @ (self._near == 1.0))[lines], (worth @ self._near)[lines]
        held = self._near_session
        found = {
            r.WORDS: words,
            r.SESSION: view.of_session(worth @ (held == 1.0), words, lines),
            r.KIN: kin,
            r.KIN_SESSION: view.of_session(worth @ held, kin, lines),
            r.MEANING: self._nearness[lines],
            r.GIST: view.in_session(self._nearness, lines),
            r.RICH: view.rich(self._open)[lines],
            r.LONG: view.long[lines],
            r.SPRAWL: np.maximum(view.long[lines] - r.TALK, 0.0),
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
