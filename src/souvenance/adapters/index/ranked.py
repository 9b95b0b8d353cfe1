"""The default index: ranks lines in memory by the signals of `souvenance.domain.relevance`.

It follows the store's feeds of blinded tokens and sealed vectors; a store that compares vectors itself is
asked how near lines lie instead. Compartments are loaded when first asked about, and kept as far as they
fit into the cache.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from weakref import ref

from souvenance.adapters.index.cache import IndexCache, Seen, Sight
from souvenance.adapters.index.compartments import (
    ByCompartment,
    CompartmentIndex,
    IndexView,
    Meanings,
    SeenLines,
    ViewBounds,
    nearness,
)
from souvenance.adapters.index.lazy_numpy import NDArray, np
from souvenance.domain import relevance as r
from souvenance.domain.names import Compartment
from souvenance.language import signs
from souvenance.language.times import TimeSpan
from souvenance.pauses import pause
from souvenance.ports.index import Hit, IndexQuery, Inquiry, Place
from souvenance.ports.store import Transaction

DEFAULT_CACHE_BYTES = 256 * 1024 * 1024
_READ_AT_ONCE = 1024
"""How many sealed vectors are read from the store at a time."""
MOST_COMPARED = 20_000
NEAREST = 2_000

_TOLD_APART = 12
"""To how many digits scores are: sums of the same numbers may differ beyond."""
_SLACK = 10.0 ** (1 - _TOLD_APART)

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
_NOTHING: Numbers = np.zeros(0, dtype=np.int64)


class RankedIndex:
    """Thread-safe; one per process."""

    def __init__(
        self,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        *,
        most_compared: int = MOST_COMPARED,
        nearest: int = NEAREST,
    ) -> None:
        """Of a compartment with more lines than `most_compared`, a store that compares vectors tells the
        nearest."""
        self._cache = IndexCache(cache_bytes)
        self._most_compared = most_compared
        self._nearest = nearest
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """What it keeps between questions takes, in bytes."""
        with self._lock:
            return self._cache.nbytes

    def search(
        self, tx: Transaction, inquiry: Inquiry, k: int, within: Collection[str] | None = None
    ) -> list[Hit]:
        bounds = _bounds(inquiry)
        with self._lock:
            compartments, view = self._looked_at(tx, inquiry)
            if view is None or not view.size:
                return []
        scoring = _Scoring(view, inquiry, bounds, within)
        pause()
        vector = inquiry.vector()
        if vector is not None:
            question = np.frombuffer(vector, dtype="<f4")
            for asked, compartment in zip(inquiry.compartments, compartments, strict=True):
                self._freshen(asked, compartment)
            with self._lock:
                lying = self._lying(tx, inquiry, compartments, view, question, scoring.open, within)
            scoring.nearness = lying
        return scoring.best(k)

    def _freshen(self, asked: IndexQuery, compartment: CompartmentIndex) -> None:
        """Make the vectors of new lines, unless that was done already. Other searches don't wait for it."""
        upto = compartment.seq
        if compartment.freshened == upto:
            return
        lacking, made = asked.freshen([line_id.decode() for line_id in compartment.fresh.ids])
        with self._lock:
            compartment.fresh = compartment.fresh.of({line_id.encode() for line_id in lacking})
            compartment.fresh.follow(0, {one.encode(): made[one] for one in lacking if one in made})
            if len(compartment.fresh.ids) == len(lacking):
                compartment.freshened = upto
            self._cache.count(asked.compartment, compartment)

    def alike(
        self,
        tx: Transaction,
        inquiry: Inquiry,
        one: Place,
        others: Collection[Place],
        within: Collection[str] | None = None,
    ) -> dict[Place, float]:
        if inquiry.vector() is None:
            return {}
        with self._lock:
            compartments, view = self._looked_at(tx, inquiry)
            place = self._place(tx, inquiry, compartments, one)
            if view is None or place is None:
                return {}
            opened = _open(view, _bounds(inquiry), within)
            lying = self._lying(tx, inquiry, compartments, view, place, opened, within)
        theirs = np.array([compartment.owner == one[0].owner for compartment in view.compartments])[
            view.compartment
        ]
        usual = r.usual(np.sort(lying[theirs & (lying > 0)]).tolist())
        found = ((other, float(lying[view.at(*other)].sum())) for other in others)
        return {other: (near - usual) / (1 - usual) for other, near in found if near}

    def _lying(
        self,
        tx: Transaction,
        inquiry: Inquiry,
        compartments: Sequence[CompartmentIndex],
        view: IndexView,
        question: NDArray[np.float32],
        opened: NDArray[np.bool_],
        within: Collection[str] | None,
    ) -> Array:
        """How similar each open line of the view is to the question."""
        near = self._near(tx, inquiry, compartments, question, bounded=within is not None)
        fresh = [compartment.fresh for compartment in compartments]
        found = nearness(view, near, fresh, question, opened)
        for asked, compartment in zip(inquiry.compartments, compartments, strict=True):
            self._cache.count(asked.compartment, compartment)
        return found

    def _looked_at(
        self, tx: Transaction, inquiry: Inquiry
    ) -> tuple[list[CompartmentIndex], IndexView | None]:
        """The inquiry's compartments as they are now, and the view of them that is searched."""
        self._cache.tidy()
        places = tuple(asked.compartment for asked in inquiry.compartments)
        compartments = [self._followed(tx, place) for place in places]
        sessions = None
        if inquiry.sessions is not None:
            sessions = self._cache.numbers({place.workspace for place in places}, inquiry.sessions)
        return compartments, self._view(Sight(places, sessions), compartments)

    def _place(
        self, tx: Transaction, inquiry: Inquiry, compartments: Sequence[CompartmentIndex], one: Place
    ) -> NDArray[np.float32] | None:
        """A line's vector; None if it has none."""
        compartment, line_id = one
        pairs = zip(inquiry.compartments, compartments, strict=True)
        asked, index = next((asked, index) for asked, index in pairs if asked.compartment == compartment)
        if tx.terms.comparing is not None:
            vector = tx.terms.comparing.place(compartment, inquiry.space, line_id)
            found = None if vector is None else np.frombuffer(vector, dtype="<f4")
        else:
            found = self._meanings(tx, asked, index, inquiry.space).place(line_id)
        return index.fresh.place(line_id) if found is None else found

    def forget(self) -> None:
        with self._lock:
            self._cache.clear()

    def _followed(self, tx: Transaction, compartment: Compartment) -> CompartmentIndex:
        index = self._cache.compartment(compartment, tx.marks(compartment.workspace).compartments)
        feed = tx.terms.since(compartment, index.seq)
        if feed.ids:
            index.follow(feed, partial(self._cache.number, compartment.workspace))
            self._cache.outdate(compartment)
            self._cache.count(compartment, index)
        return index

    def _meanings(self, tx: Transaction, asked: IndexQuery, index: CompartmentIndex, space: str) -> Meanings:
        """The compartment's vectors of that embedder as they are now. They replace those of another one."""
        meanings = index.meanings
        if meanings is None or meanings.space != space:
            meanings = Meanings(space)
        known = meanings.seq
        while vectors := tx.terms.vectors(asked.compartment, space, meanings.seq, _READ_AT_ONCE):
            opened = {one.id.encode(): asked.open(one.id, one.sealed) for one in vectors}
            meanings.follow(vectors[-1].seq, opened)
            if len(vectors) < _READ_AT_ONCE:
                break
        if self._cache.keeps(asked.compartment, index):
            index.meanings = meanings
            if meanings.seq > known:
                self._cache.count(asked.compartment, index)
        return meanings

    def _near(
        self,
        tx: Transaction,
        inquiry: Inquiry,
        compartments: Sequence[CompartmentIndex],
        question: NDArray[np.float32],
        *,
        bounded: bool,
    ) -> Callable[[int], Meanings | SeenLines]:
        """Gives for the number of a compartment what compares its lines with the question."""
        bounded = bounded or inquiry.said or inquiry.sessions is not None
        comparing = tx.terms.comparing

        def near(number: int) -> Meanings | SeenLines:
            asked, index = inquiry.compartments[number], compartments[number]
            if comparing is None:
                return self._meanings(tx, asked, index, inquiry.space)
            # Of every line, where the nearest may lie beyond the bounds.
            whole = bounded or asked.marks or index.lines <= self._most_compared
            most = None if whole else self._nearest
            return SeenLines(comparing.near(asked.compartment, inquiry.space, question.tobytes(), most))

        return near

    def _view(self, sight: Sight, compartments: Sequence[CompartmentIndex]) -> IndexView | None:
        segments = [
            (number, segment) for number, index in enumerate(compartments) for segment in index.segments
        ]
        if not segments:
            return None
        seen = self._cache.view(sight)
        if seen is None or not seen.shows(compartments, sight.sessions):
            looked_into = None
            if sight.sessions is not None:
                looked_into = np.zeros(self._cache.numbered + 1, dtype=bool)
                looked_into[list(sight.sessions)] = True
            view = IndexView(sight.compartments, segments, looked_into, None if seen is None else seen.view)
            made_of = tuple((ref(index), index.changed(sight.sessions)) for index in compartments)
            seen = Seen(view, made_of)
            self._cache.show(sight, seen)
        return seen.view


def _bounds(inquiry: Inquiry) -> ViewBounds:
    return ViewBounds(
        _by_compartment(asked.marks for asked in inquiry.compartments),
        _by_compartment(asked.signs for asked in inquiry.compartments),
        inquiry.said,
    )


def _by_compartment(tokens: Iterable[Sequence[int]]) -> ByCompartment:
    return tuple(map(tuple, tokens))


def _score(signals: Mapping[str, Array], lines: int) -> Array:
    found = np.zeros(lines)
    for name, values in signals.items():
        found += r.WEIGHTS[name] * values
    return found


def _open(view: IndexView, bounds: ViewBounds, within: Collection[str] | None) -> NDArray[np.bool_]:
    """The lines that are there for a question."""
    found = view.within(bounds)
    if within is not None:
        allowed = {one.encode() for one in within}
        found &= np.fromiter((one in allowed for one in view.lines.ids.tolist()), bool, view.size)
    return found


class _Scoring:
    """One question before one view."""

    def __init__(
        self,
        view: IndexView,
        inquiry: Inquiry,
        bounds: ViewBounds,
        within: Collection[str] | None,
    ) -> None:
        self._view = view
        self._inquiry = inquiry
        self.open = _open(view, bounds, within)
        """The lines that are there for this question."""
        self.nearness = np.zeros(view.size)
        """How similar each open line is to the question."""
        self._terms = max(inquiry.groups, default=-1) + 1
        self._near = np.zeros((self._terms, view.size + 1))
        """How near each line comes to each term; behind the last line there is one that holds nothing."""
        self._near_session = np.zeros((self._terms, view.sessions))
        self._holds = np.zeros(view.size, dtype=bool)
        self._then = np.zeros(view.size)
        for worth, days in (
            (r.NEAR_DAY, _by_compartment(asked.near_days for asked in inquiry.compartments)),
            (1.0, _by_compartment(asked.days for asked in inquiry.compartments)),
        ):
            for bears in view.bearing(days):
                self._then[bears] = worth
        signed = view.bearing(bounds.signs)
        self._signs = dict(zip(signs.EVERY, signed, strict=True)) if signed else {}
        held, terms = self._read()
        living, holding = int(self.open.sum()), np.bincount(terms, minlength=self._terms)
        telling = np.array([r.idf(living, lines) for lines in holding.tolist()])
        self._worth = telling / telling.sum() if self._terms else telling
        self._words = np.zeros(view.size)
        np.add.at(self._words, held, self._worth[terms])

    def _read(self) -> tuple[Numbers, Numbers]:
        """Enter for each term the lines and sessions that hold it or a similar one.

        Each line with each term that it holds itself.
        """
        inquiry, view = self._inquiry, self._view
        every = [
            (places, offset + lines)
            for (number, segment), offset in zip(view.segments, view.offsets, strict=False)
            for places, lines in (segment.holding(inquiry.compartments[number].tokens),)
        ]
        places, lines = (np.concatenate(some) for some in zip((_NOTHING, _NOTHING), *every, strict=True))
        there = self.open[lines]
        places, lines = places[there], lines[there]
        term, closeness = np.array(inquiry.groups, int)[places], np.array(inquiry.closeness)[places]
        for near, at in ((self._near, lines), (self._near_session, view.session[lines])):
            np.maximum.at(near.reshape(-1), term * near.shape[1] + at, closeness)
        self._holds[lines] = True
        itself = closeness == 1.0
        return lines[itself], term[itself]

    def best(self, k: int) -> list[Hit]:
        view = self._view
        lines = self._candidates()
        if not len(lines):
            return []
        signals = self._signals(lines)
        pause()
        promising = self._promising(signals, _score(signals, len(lines)), lines, k)
        lines = lines[promising]
        signals = {name: values[promising] for name, values in signals.items()}
        signals[r.WORDS_AROUND] = self._around(lines)
        scores = _score(signals, len(lines)).round(_TOLD_APART)
        kept = np.arange(len(lines))
        if len(lines) > k:
            kept = np.nonzero(scores >= np.partition(scores, -k)[-k])[0]
        places = lines[kept]
        telling = np.array([values[kept] for values in signals.values()]).T.tolist()
        hits = [
            Hit(
                view.compartments[compartment],
                line_id.decode(),
                score,
                {name: value for name, value in zip(signals, values, strict=True) if value},
            )
            for compartment, line_id, score, values in zip(
                view.compartment[places].tolist(),
                view.lines.ids[places].tolist(),
                scores[kept].tolist(),
                telling,
                strict=True,
            )
        ]
        said = dict(zip((hit[:2] for hit in hits), view.lines.times[places].tolist(), strict=True))
        hits.sort(key=lambda hit: (hit.score, said[hit[:2]], hit.id, hit.compartment), reverse=True)
        return hits[:k]

    def _candidates(self) -> Numbers:
        """The lines that any signal speaks for."""
        view = self._view
        found = self._holds.copy()
        if signs.ASKS in self._signs:
            found |= np.append(self._holds & self._signs[signs.ASKS], False)[view.before]
        found |= (self.nearness >= r.LEAST_MEANING) | (self._then > 0)
        if self._inquiry.by_time:
            found |= self._during > 0
        return np.nonzero(found & self.open)[0]

    def _promising(self, signals: Mapping[str, Array], scores: Array, lines: Numbers, k: int) -> Numbers:
        """Which of the lines may be among the k best, whatever the lines beside them hold.

        With those a line holds at least what it holds itself, and at most what its session does.
        """
        if len(scores) <= k:
            return np.arange(len(scores))
        weight = r.WEIGHTS[r.WORDS_AROUND]
        least, most = (
            scores + weight * self._words[lines],
            scores + weight * signals.get(r.WORDS_IN_SESSION, 0.0),
        )
        return np.nonzero(most >= np.partition(least, -k)[-k] - _SLACK)[0]

    def _around(self, lines: Numbers) -> Array:
        """How much of the question each line and its neighbours have, documents apart."""
        view = self._view
        said = np.append(view.long <= r.DOCUMENT, True)
        found = self._near[:, lines] == 1.0
        for beside in (view.before[lines], view.after[lines], view.before_that[lines]):
            found |= (self._near[:, beside] == 1.0) & said[beside]
        around: Array = self._worth @ found
        return around

    def _signals(self, lines: Numbers) -> dict[str, Array]:
        """All but `WORDS_AROUND`."""
        return {
            name: value if isinstance(value, np.ndarray) else np.full(len(lines), value)
            for name, value in r.signals_of(self._measures(lines)).items()
            if isinstance(value, np.ndarray) or value
        }

    def _measures(self, lines: Numbers) -> r.LineMeasures:
        view, worth, held, living = self._view, self._worth, self._near_session, int(self.open.sum())
        words, similar, near = self._words[lines], (worth @ self._near)[lines], np.append(self.nearness, 0.0)
        meaning = view.in_session(self.nearness, lines)
        signed = {name: bears[lines].astype(np.float64) for name, bears in self._signs.items()}
        speaks = np.array([one.owner in self._inquiry.speakers for one in view.compartments], np.float64)
        in_time: Array | float = 0.0
        few_in_time = 0.0
        if self._inquiry.spans:
            every = self._in_time(r.slack)
            in_time, few_in_time = every[lines], r.seldom(living, float(every[self.open].sum()))
        return r.LineMeasures(
            lines=living,
            wants=self._inquiry.wants,
            length=view.lines.lengths[lines],
            words_in_session=view.of_session(worth @ (held == 1.0), words, lines),
            similar_words=similar,
            similar_words_in_session=view.of_session(worth @ held, similar, lines),
            meaning=self.nearness[lines],
            meaning_in_session=meaning,
            meaning_nearby=np.maximum(near[view.before[lines]], near[view.after[lines]]),
            speaker=speaks[view.compartment[lines]],
            is_question=signed.get(signs.ASKS, 0.0),
            first_person=signed.get(signs.SELF, 0.0),
            has_number=signed.get(signs.NUMBER, 0.0),
            has_time=signed.get(signs.TIME, 0.0),
            mentions_date=self._then[lines],
            matches_time=self._during[lines] if self._inquiry.by_time else 0.0,
            in_time=in_time,
            few_in_time=few_in_time,
        )

    @cached_property
    def _during(self) -> Array:
        """How well each line fits the time, where the question names nothing else."""
        said = self._in_time(r.close)
        of_it, close = np.maximum(self._then, said) == 1.0, (self._then > 0) | (said >= r.TIMELY)
        return np.where(of_it, 1.0, r.CLOSE_BY * close)

    def _in_time(self, slack: Callable[[TimeSpan], tuple[float, float]]) -> Array:
        """How well each line fits the times: 1 within one, less the farther it is away."""
        best, times = np.zeros(self._view.size), self._view.lines.times.astype(np.float64)
        for span in self._inquiry.spans:
            early, late = slack(span)
            away = np.maximum((span.start_ms - times) / early, (times - span.end_ms) / late)
            best = np.maximum(best, np.exp(-np.maximum(away, 0.0)))
        return best
