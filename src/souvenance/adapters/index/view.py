"""The lines of some compartments side by side, in the order of their conversations.

How near they lie to a question is told by vectors of the store, and by those that were made for a question.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple
from weakref import ref

from souvenance.adapters.index.compartment import FreshVectors, Meanings, SeenLines, Segment, joined
from souvenance.adapters.index.lazy_numpy import NDArray, np
from souvenance.domain.names import Compartment

_NEWEST = 256
"""Among how many of a segment's newest lines those are looked for that were just written."""


def nearness(
    view: IndexView,
    compartments: Sequence[Meanings | SeenLines],
    fresh: Sequence[FreshVectors],
    question: NDArray[np.float32],
) -> NDArray[np.float64]:
    """How near each line of the view lies to the question; 0 for one that has no vector."""
    found = np.concatenate(
        [compartments[number].near(segment.lines.ids, question) for number, segment in view.segments]
    )
    near = [vectors.near(question) for vectors in fresh]
    for (number, segment), offset in zip(view.segments, view.offsets, strict=False):
        if near[number]:
            begins = max(0, segment.size - _NEWEST)
            for at, line_id in enumerate(segment.lines.ids[begins:].tolist(), offset + begins):
                if line_id in near[number] and not found[at]:
                    found[at] = near[number][line_id]
    return found


_MOST_REMEMBERED = 16
_MOST_MET = 4

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
        self.bounds: OrderedDict[ViewBounds, None] = (
            OrderedDict() if earlier is None else earlier.bounds.copy()
        )
        """How it was asked about of late."""
        self._whole = [(number, ref(segment)) for number, segment in whole]
        segments = whole if looked_into is None else _narrowed(whole, looked_into, earlier)
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

    def meet(self, bounds: ViewBounds) -> None:
        """Remember how it is asked about."""
        self.bounds[bounds] = None
        self.bounds.move_to_end(bounds)
        if len(self.bounds) > _MOST_MET:
            self.bounds.popitem(last=False)

    def prepare(self) -> None:
        """Work out beforehand what is asked again and again."""
        for bounds in list(self.bounds):
            self.bearing(bounds.signs)

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


def _narrowed(
    whole: Sequence[tuple[int, Segment]], looked_into: NDArray[np.bool_], earlier: IndexView | None
) -> list[tuple[int, Segment]]:
    known = ((number, segment, earlier and earlier.of(segment)) for number, segment in whole)
    return [(number, shown or segment.narrowed(looked_into)) for number, segment, shown in known]
