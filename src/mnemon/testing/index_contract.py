"""The index's contract as tests, for any implementation of `mnemon.ports.index` over any book.

    class TestMyIndex(IndexContract):
        @pytest.fixture
        def index(self) -> Index:
            return MyIndex()

        @pytest.fixture
        def reference(self) -> Index:
            return ReferenceIndex()  # of mnemon.adapters.inmemory.index

        @pytest.fixture
        def book(self) -> Book:
            return MemoryBook()

Beside the promises one by one, generated rooms are searched in the index and in the reference, and
both must agree.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mnemon.domain import ulid
from mnemon.domain.names import Room
from mnemon.ports.book import Book, Transaction
from mnemon.ports.index import Hit, Index, Question
from mnemon.testing.threads import in_many_threads

WORK = Room("acme", "ann", "work")
TRAVEL = Room("acme", "ann", "travel")
IDS = [ulid.compose(ms, bytes(ulid.ENTROPY_BYTES)) for ms in range(8)]
"""Ids in order, the oldest first."""

TEA, MILK, CITY = 1, (1 << 64) - 1, 1 << 63
"""Blinded tokens: any 64-bit numbers."""

_EXAMPLES = 100
_workspaces = count()

Tokens = Mapping[int, int]


def add(tx: Transaction, room: Room, line_id: str, tokens: Tokens) -> None:
    """Index a line that holds each token that many times."""
    tx.terms.add(room, line_id, array("Q", tokens).tobytes(), bytes(tokens.values()))


def index_lines(book: Book, room: Room, *lines: Tokens) -> None:
    with book.write() as tx:
        for line_id, tokens in zip(IDS, lines, strict=False):
            add(tx, room, line_id, tokens)


def search(
    book: Book, index: Index, *questions: Question, k: int = 20, within: Collection[str] | None = None
) -> list[str]:
    with book.read() as tx:
        return [hit.id for hit in index.search(tx, questions, k, within)]


def about(*tokens: int, room: Room = WORK) -> Question:
    return Question(room, tokens)


class _Batch(NamedTuple):
    """What one write does to the rooms, and what is asked after it. Rooms go by number."""

    added: Sequence[tuple[int, int, Tokens]]
    removed: Sequence[tuple[int, int]]
    deleted: int | None
    asked: Sequence[Sequence[int]]
    k: int
    within: Collection[int] | None
    marks: Sequence[int]


_TOKENS = st.sampled_from([0, TEA, 2, 3, CITY, MILK])
_ROOMS = st.integers(0, 2)
_LINES = st.integers(0, len(IDS) - 1)
_COUNTS = st.sampled_from([1, 1, 1, 2, 3, 255])
_ADDED = st.tuples(_ROOMS, _LINES, st.dictionaries(_TOKENS, _COUNTS, max_size=4))
_ASKED = st.integers(0, 3).flatmap(
    lambda terms: st.lists(st.lists(_TOKENS, min_size=terms, max_size=terms), min_size=3, max_size=3)
)
_BATCHES = st.lists(
    st.builds(
        _Batch,
        added=st.lists(_ADDED, max_size=6),
        removed=st.lists(st.tuples(_ROOMS, _LINES), max_size=3),
        deleted=st.none() | st.none() | st.none() | _ROOMS,
        asked=_ASKED,
        k=st.sampled_from([0, 1, 2, 3, 20]),
        within=st.none() | st.frozensets(_LINES),
        marks=st.lists(_TOKENS, max_size=2),
    ),
    min_size=1,
    max_size=6,
)


class IndexContract:
    """What every index promises. Override `index`, `reference` and `book`."""

    @pytest.fixture
    def index(self) -> Iterator[Index]:
        """The index under test, with nothing cached."""
        raise NotImplementedError("override the fixture 'index'")

    @pytest.fixture
    def reference(self) -> Iterator[Index]:
        """The index to agree with."""
        raise NotImplementedError("override the fixture 'reference': it gives a ReferenceIndex")

    @pytest.fixture
    def book(self) -> Iterator[Book]:
        """An empty book."""
        raise NotImplementedError("override the fixture 'book'")

    def test_only_lines_that_hold_a_token_are_found(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1}, {MILK: 1}, {TEA: 1, MILK: 1}, {CITY: 1})
        assert set(search(book, index, about(TEA))) == {IDS[0], IDS[2]}
        assert search(book, index, about(MILK, CITY))[-1] in (IDS[1], IDS[2])
        assert set(search(book, index, about(MILK, CITY))) == {IDS[1], IDS[2], IDS[3]}
        assert search(book, index, about(7)) == []

    def test_a_line_that_holds_more_of_the_question_comes_first(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1, MILK: 1}, {TEA: 1, 5: 1}, {MILK: 1, 5: 1})
        assert search(book, index, about(TEA, MILK))[0] == IDS[0]

    def test_a_rare_token_tells_more_than_a_common_one(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {CITY: 1}, {TEA: 1}, {TEA: 1}, {TEA: 1})
        assert search(book, index, about(TEA, CITY))[0] == IDS[0]

    def test_a_token_tells_more_the_more_often_a_line_holds_it(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 3, 5: 1}, {TEA: 1, 5: 3})
        assert search(book, index, about(TEA)) == [IDS[0], IDS[1]]

    def test_a_token_tells_more_in_a_short_line(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1}, {TEA: 1, 5: 1, 6: 1})
        assert search(book, index, about(TEA)) == [IDS[0], IDS[1]]

    def test_of_equal_scores_the_newest_id_comes_first(self, book: Book, index: Index) -> None:
        with book.write() as tx:
            for line_id in (IDS[2], IDS[0], IDS[3], IDS[1]):
                add(tx, WORK, line_id, {TEA: 1})
        assert search(book, index, about(TEA)) == IDS[3::-1]
        assert search(book, index, about(TEA), k=2) == [IDS[3], IDS[2]]

    def test_there_are_never_more_than_k(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, *[{TEA: 1}] * 5)
        index_lines(book, TRAVEL, *[{TEA: 1}] * 5)
        for k in range(12):
            assert len(search(book, index, about(TEA), about(TEA, room=TRAVEL), k=k)) == min(k, 10)

    def test_nothing_outside_of_within_is_found(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, *[{TEA: 1}] * 5)
        assert search(book, index, about(TEA), within={IDS[1], IDS[3], "01ARZ3NDEKTSV4RRFFQ69G5FAV"}) == [
            IDS[3],
            IDS[1],
        ]
        assert search(book, index, about(TEA), k=1, within={IDS[0]}) == [IDS[0]]
        assert search(book, index, about(TEA), within=()) == []

    def test_only_lines_with_every_mark_are_found_and_the_marks_alone_find_none(
        self, book: Book, index: Index
    ) -> None:
        index_lines(book, WORK, {TEA: 1}, {TEA: 1, 5: 1}, {TEA: 1, 5: 1, 6: 1}, {5: 1, 6: 1})
        assert search(book, index, Question(WORK, [TEA], [5])) == [IDS[1], IDS[2]]
        assert search(book, index, Question(WORK, [TEA], [5, 6])) == [IDS[2]]
        assert search(book, index, Question(WORK, [TEA], [7])) == []
        assert search(book, index, Question(WORK, [], [5])) == []

    def test_each_room_is_asked_for_its_own_tokens(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1}, {MILK: 1})
        index_lines(book, TRAVEL, {TEA: 1}, {MILK: 1})
        with book.read() as tx:
            hits = index.search(tx, [about(TEA), about(MILK, room=TRAVEL)], 20)
        assert [(hit.room, hit.id) for hit in hits] == [(TRAVEL, IDS[1]), (WORK, IDS[0])]

    def test_rooms_are_ranked_together(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1, 5: 9}, {TEA: 1})
        index_lines(book, TRAVEL, {TEA: 1, 5: 2}, {TEA: 1, 5: 1})
        with book.read() as tx:
            hits = index.search(tx, [about(TEA), about(TEA, room=TRAVEL)], 20)
        assert [(hit.room, hit.id) for hit in hits] == [
            (WORK, IDS[1]),
            (TRAVEL, IDS[1]),
            (TRAVEL, IDS[0]),
            (WORK, IDS[0]),
        ]

    def test_a_room_that_was_not_asked_about_is_not_found(self, book: Book, index: Index) -> None:
        for room in (TRAVEL, WORK._replace(owner="bob"), WORK._replace(workspace="other")):
            index_lines(book, room, {TEA: 1})
        assert search(book, index, about(TEA)) == []

    def test_lines_without_tokens_are_never_found(self, book: Book, index: Index) -> None:
        index_lines(book, TRAVEL, {}, {})
        assert search(book, index, about(TEA, MILK, room=TRAVEL)) == []
        index_lines(book, WORK, {}, {TEA: 1})
        assert search(book, index, about(TEA), about(TEA, room=TRAVEL)) == [IDS[1]]

    def test_nothing_asked_is_nothing_found(self, book: Book, index: Index) -> None:
        assert search(book, index, about(TEA)) == []
        index_lines(book, WORK, {TEA: 1})
        assert search(book, index) == []
        assert search(book, index, about()) == []

    def test_a_line_is_found_as_soon_as_it_is_added(self, book: Book, index: Index) -> None:
        for n, line_id in enumerate(IDS):
            with book.write() as tx:
                add(tx, WORK, line_id, {TEA: 1})
            assert search(book, index, about(TEA)) == IDS[n::-1]

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
    def test_a_line_is_not_found_once_it_was_removed(
        self, book: Book, index: Index, order: Sequence[int]
    ) -> None:
        index_lines(book, WORK, {TEA: 1}, {TEA: 1}, {TEA: 1})
        left = set(IDS[:3])
        for n in order:
            assert set(search(book, index, about(TEA))) == left
            with book.write() as tx:
                tx.terms.remove(WORK, (IDS[n],))
            left.discard(IDS[n])
            assert set(search(book, index, about(TEA))) == left

    def test_a_removed_line_no_longer_weighs_on_the_scores_of_others(
        self, book: Book, index: Index, reference: Index
    ) -> None:
        index_lines(book, WORK, {TEA: 1}, {TEA: 9, 5: 30}, {TEA: 1, MILK: 1}, {MILK: 2}, {MILK: 1, 5: 7})
        for n in (1, 4, 3):
            with book.read() as tx:
                expect_same(index, reference, tx, [about(TEA, MILK)], 20, None)
            with book.write() as tx:
                tx.terms.remove(WORK, (IDS[n],))
            with book.read() as tx:
                expect_same(index, reference, tx, [about(TEA, MILK)], 20, None)

    def test_a_line_added_again_is_found_by_what_it_says_now(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1}, {CITY: 1})
        assert search(book, index, about(TEA)) == [IDS[0]]
        with book.write() as tx:
            tx.terms.remove(WORK, (IDS[0],))
            add(tx, WORK, IDS[0], {MILK: 1})
        assert search(book, index, about(TEA)) == []
        assert search(book, index, about(MILK)) == [IDS[0]]

    def test_a_deleted_room_is_searched_as_it_is_filled_again(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1}, {TEA: 1})
        assert search(book, index, about(TEA)) == [IDS[1], IDS[0]]
        with book.write() as tx:
            tx.terms.delete_room(WORK)
            tx.touch(WORK.workspace, rooms=True)
        assert search(book, index, about(TEA)) == []
        index_lines(book, WORK, {MILK: 1}, {MILK: 1})
        assert search(book, index, about(TEA)) == []
        assert search(book, index, about(MILK)) == [IDS[1], IDS[0]]

    def test_forgetting_what_is_cached_changes_no_answer(self, book: Book, index: Index) -> None:
        index_lines(book, WORK, {TEA: 1}, {TEA: 2}, {MILK: 1})
        with book.read() as tx:
            before = index.search(tx, [about(TEA, MILK)], 20)
            index.forget()
            assert index.search(tx, [about(TEA, MILK)], 20) == before
        assert len(before) == 3

    def test_many_threads_search_what_they_see(self, book: Book, index: Index, reference: Index) -> None:
        def put_and_search(book: Book, thread: int) -> None:
            for n in range(6):
                line_id = ulid.compose(n, thread.to_bytes(ulid.ENTROPY_BYTES, "big"))
                with book.write() as tx:
                    add(tx, WORK, line_id, {TEA: 1, n: 1})
                assert line_id in search(book, index, about(TEA), k=1000)

        in_many_threads([book] * 4, put_and_search)
        with book.read() as tx:
            expect_same(index, reference, tx, [about(TEA, 3)], 1000, None)

    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(batches=_BATCHES)
    def test_generated_rooms_are_searched_as_the_reference_searches_them(
        self, book: Book, index: Index, reference: Index, batches: Sequence[_Batch]
    ) -> None:
        workspace = f"generated-{next(_workspaces)}"
        rooms = [Room(workspace, owner, name) for owner, name in (("a", "x"), ("a", "y"), ("b", "x"))]
        present: set[tuple[int, int]] = set()
        for batch in batches:
            with book.write() as tx:
                _write(tx, rooms, batch, present)
            within = None if batch.within is None else {IDS[n] for n in batch.within}
            questions = [
                Question(room, asked, batch.marks) for room, asked in zip(rooms, batch.asked, strict=True)
            ]
            with book.read() as tx:
                expect_same(index, reference, tx, questions, batch.k, within)
                expect_same(index, reference, tx, questions[:1], batch.k, within)


def _write(tx: Transaction, rooms: Sequence[Room], batch: _Batch, present: set[tuple[int, int]]) -> None:
    """A line is added only where it is not, as those do who keep a book."""
    for room, line in batch.removed:
        tx.terms.remove(rooms[room], (IDS[line],))
        present.discard((room, line))
    for room, line, tokens in batch.added:
        if (room, line) not in present:
            add(tx, rooms[room], IDS[line], tokens)
            present.add((room, line))
    if batch.deleted is not None:
        tx.terms.delete_room(rooms[batch.deleted])
        tx.touch(rooms[batch.deleted].workspace, rooms=True)
        present.difference_update({place for place in present if place[0] == batch.deleted})


def expect_same(index: Index, reference: Index, *asked: Any) -> None:
    """Both give the same lines in the same order, with scores that differ by rounding at most."""
    found, expected = index.search(*asked), reference.search(*asked)
    assert [hit[:2] for hit in found] == [hit[:2] for hit in expected], asked
    assert _scores(found) == pytest.approx(_scores(expected), rel=1e-9, abs=1e-9)


def _scores(hits: Sequence[Hit]) -> list[float]:
    return [hit.score for hit in hits]
