"""Compartments, conversations, vectors and questions by chance, on which two indexes are to agree.

Names, ids, turns, tokens and times come from tiny sets, so that they collide. Every compartment has tokens of
its own: what stands for one term here stands for another one there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from typing import NamedTuple

from hypothesis import strategies as st
from msgspec import Struct

from contracts.index_scenes import CITY, IDS, MILK, TEA, add, expect_same, packed, pointing
from souvenance.domain.change_feed import Saying
from souvenance.domain.names import ALL, Compartment
from souvenance.language import signs
from souvenance.language.questions import Wants
from souvenance.language.times import TimeSpan
from souvenance.ports.index import Index, IndexQuery, Inquiry
from souvenance.ports.store import Store, Transaction

_TOKENS = (0, TEA, 2, 3, 4, CITY, MILK)
_SPACES = {"flat": 2, "deep": 3}
"""Spaces, and how many dimensions they have."""
_DAY = 86_400_000
_ASKED_AGAIN = 2
"""How many of the questions that were asked last are asked again after the next write."""
_runs = count()

_Place = tuple[int, int]
"""The number of a compartment and that of a line; terms go by number, too."""


class _Put(NamedTuple):
    """A line that appears."""

    place: _Place
    terms: dict[int, int]
    said: Saying


class _Lie(NamedTuple):
    place: _Place
    space: str
    point: Sequence[int]


class _Term(NamedTuple):
    """A term of the question, and its kin with how close that is."""

    exact: int | None
    kin: Sequence[tuple[int, float]]


class _Ask(Struct, frozen=True):
    compartments: Sequence[int]
    terms: Sequence[_Term]
    space: str | None
    point: Sequence[int]
    marks: Sequence[int]
    signed: bool
    days: Sequence[int]
    wants: Wants
    speakers: Collection[str]
    spans: Sequence[TimeSpan]
    by_time: bool
    sessions: Collection[str] | None
    said: bool
    k: int
    within: Collection[int] | None


class IndexBatch(Struct, frozen=True):
    """What one write does to the compartments, and what is asked after it."""

    removed: Sequence[_Place]
    put: Sequence[_Put]
    lie: Sequence[_Lie]
    deleted: int | None
    left: str | None
    asked: Sequence[_Ask]
    forget: bool


_ROOMS = st.integers(0, 3)
_LINES = st.integers(0, len(IDS) - 1)
_PLACES = st.tuples(_ROOMS, _LINES)
_TERMS = st.integers(0, len(_TOKENS) - 1)
_COUNTS = st.sampled_from([1, 1, 1, 0, 2, 255])
_TIMES = st.sampled_from([0, 10 * _DAY, 11 * _DAY, 12 * _DAY, 40 * _DAY])
_COMPONENTS = st.sampled_from([-127, -64, 0, 0, 7, 13, 64, 127])
_POINTS = st.tuples(_COMPONENTS, _COMPONENTS, _COMPONENTS)
_SAID = st.tuples(
    st.sampled_from(["s", "s", "s", "t", None]), st.sampled_from([None, 0, 1, 2, 3, 4, 5, 6]), _TIMES
).map(Saying._make)
_SOME_SPACE = st.sampled_from(sorted(_SPACES))
_SPANS = st.tuples(_TIMES, st.sampled_from([0, 1, 7, 31])).map(
    lambda drawn: TimeSpan(drawn[0], drawn[0] + drawn[1] * _DAY)
)
_FEW: st.SearchStrategy[list[int]] = st.just([]) | st.lists(_TERMS, max_size=2)
_KIN = st.tuples(_TERMS, st.sampled_from([0.25, 0.5, 0.9]))
_ASKED = st.tuples(
    st.lists(_ROOMS, min_size=1, max_size=4, unique=True),
    st.lists(st.tuples(st.none() | _TERMS, st.lists(_KIN, max_size=2)).map(_Term._make), max_size=3),
    st.sampled_from([None, *_SPACES]),
    _POINTS,
    _FEW,
    st.booleans(),
    _FEW,
    st.builds(Wants, st.booleans(), st.booleans()),
    st.sampled_from([(), ("ann",), ("bob", "ann")]),
    st.lists(_SPANS, max_size=2),
    st.booleans(),
    st.sampled_from([None, None, None, (), ("s",), ("t", "never", "s")]),
    st.sampled_from([False, False, True]),
    st.sampled_from([0, 1, 2, 3, 20, 20, 20]),
    st.none() | st.none() | st.frozensets(_LINES),
).map(lambda drawn: _Ask(*drawn))

BATCHES = st.lists(
    st.tuples(
        st.lists(_PLACES, max_size=3),
        st.lists(
            st.tuples(_PLACES, st.dictionaries(_TERMS, _COUNTS, max_size=4), _SAID).map(_Put._make),
            max_size=8,
        ),
        st.lists(st.tuples(_PLACES, _SOME_SPACE, _POINTS).map(_Lie._make), max_size=6),
        st.none() | st.none() | st.none() | _ROOMS,
        st.none() | st.none() | st.none() | _SOME_SPACE,
        st.lists(_ASKED, min_size=1, max_size=2),
        st.sampled_from([False, False, False, True]),
    ).map(lambda drawn: IndexBatch(*drawn)),
    min_size=1,
    max_size=6,
)


class Agreement:
    """One run: compartments of two speakers in two workspaces that nobody used before."""

    def __init__(self, store: Store, index: Index, reference: Index) -> None:
        run = next(_runs)
        places = (("", "ann", "x"), ("", "ann", "y"), ("", "bob", "x"), ("-other", "ann", "x"))
        self._compartments = [
            Compartment(f"run-{run}{end}", owner, namespace) for end, owner, namespace in places
        ]
        self._said: dict[_Place, Saying] = {}
        self._asked: list[_Ask] = []
        self._store = store
        self._index = index
        self._reference = reference

    def play(self, batch: IndexBatch) -> None:
        with self._store.write() as tx:
            self._write(tx, batch)
        if batch.forget:
            self._index.forget()
        self._asked = [*self._asked[-_ASKED_AGAIN:], *batch.asked]
        for ask in self._asked:
            within = None if ask.within is None else {IDS[line] for line in ask.within}
            with self._store.read() as tx:
                expect_same(self._index, self._reference, tx, self._inquiry(ask), ask.k, within)

    def _write(self, tx: Transaction, batch: IndexBatch) -> None:
        for compartment, line in batch.removed:
            tx.terms.remove(self._compartments[compartment], (IDS[line],))
            self._said.pop((compartment, line), None)
        for put in batch.put:
            self._put(tx, put)
        for (compartment, line), space, point in batch.lie:
            tx.terms.lie(
                self._compartments[compartment], space, [(IDS[line], packed(*point[: _SPACES[space]]))]
            )
        if batch.deleted is not None:
            compartment = batch.deleted
            tx.terms.delete_compartment(self._compartments[compartment])
            tx.touch(self._compartments[compartment].workspace, compartments=True)
            self._said = {place: said for place, said in self._said.items() if place[0] != compartment}
        if batch.left is not None:
            tx.terms.leave(batch.left, 1000)
            tx.touch(ALL, compartments=True)

    def _put(self, tx: Transaction, put: _Put) -> None:
        """A line appears only where it is not, and each turn of a session once, as in any store."""
        if put.place in self._said:
            return
        number, line = put.place
        compartment, said = self._compartments[number], put.said
        taken = {
            one[:2]
            for place, one in self._said.items()
            if self._compartments[place[0]].workspace == compartment.workspace
        }
        if said.turn is not None and said[:2] in taken:
            said = said._replace(turn=None)
        tokens = self._blinded(number, put.terms)
        add(tx, compartment, IDS[line], dict(zip(tokens, put.terms.values(), strict=True)), said)
        self._said[put.place] = said

    def _blinded(self, compartment: int, terms: Collection[int]) -> list[int]:
        return [_TOKENS[(term + compartment) % len(_TOKENS)] for term in terms]

    def _inquiry(self, ask: _Ask) -> Inquiry:
        tokens: list[tuple[int, int, float]] = []
        for number, term in enumerate(ask.terms):
            tokens += [(number, kin, closeness) for kin, closeness in term.kin[:1]]
            tokens += [] if term.exact is None else [(number, term.exact, 1.0)]
            tokens += [(number, kin, closeness) for kin, closeness in term.kin[1:]]
        point = [component / 64 for component in ask.point]
        return Inquiry(
            compartments=[
                IndexQuery(
                    self._compartments[compartment],
                    self._blinded(compartment, [term for _, term, _ in tokens]),
                    self._blinded(compartment, ask.marks),
                    self._blinded(compartment, range(len(signs.EVERY))) if ask.signed else (),
                    self._blinded(compartment, ask.days),
                )
                for compartment in ask.compartments
            ],
            groups=[number for number, _, _ in tokens],
            closeness=[closeness for _, _, closeness in tokens],
            vector=(lambda: None) if ask.space is None else pointing(*point[: _SPACES[ask.space]]),
            space=ask.space or "",
            speakers=ask.speakers,
            wants=ask.wants,
            spans=ask.spans,
            by_time=ask.by_time,
            sessions=ask.sessions,
            said=ask.said,
        )
