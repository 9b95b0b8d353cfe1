"""The index's contract as tests, for any implementation of `souvenance.ports.index` over any store.

    class TestMyIndex(IndexContract):
        @pytest.fixture
        def index(self) -> Index:
            return MyIndex()

        @pytest.fixture
        def reference(self) -> Index:
            return ReferenceIndex()  # of reference.index

        @pytest.fixture
        def store(self) -> Store:
            return MemoryStore()

Beside the promises one by one, generated compartments are searched in the index and in the reference, and
both must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from contracts.index_agreement import BATCHES, Agreement, IndexBatch
from contracts.index_bounds_contract import BoundsContract
from contracts.index_kin_contract import KinContract
from contracts.index_kinds_contract import KindsContract
from contracts.index_meaning_contract import MeaningContract, SealedMeaningContract
from contracts.index_scenes import (
    BOB,
    CITY,
    IDS,
    MILK,
    TEA,
    TRAVEL,
    WORK,
    about,
    add,
    expect_same,
    expect_told,
    hits,
    index_lines,
    search,
    signal,
)
from contracts.index_talk_contract import TalkContract
from contracts.threads import in_many_threads
from souvenance.domain import relevance as r
from souvenance.domain import ulid
from souvenance.domain.change_feed import Saying
from souvenance.domain.names import Compartment
from souvenance.ports.index import Index, IndexQuery, Inquiry
from souvenance.ports.store import Store

_EXAMPLES = min(60, settings().max_examples)


class _FindingContract:
    def test_only_lines_that_hold_a_term_are_found(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {MILK: 1}, {TEA: 1, MILK: 1}, {CITY: 1})
        assert set(search(store, index, about(TEA))) == {IDS[0], IDS[2]}
        assert set(search(store, index, about(MILK, CITY))) == {IDS[1], IDS[2], IDS[3]}
        assert search(store, index, about(7)) == []

    def test_a_line_that_holds_more_of_the_question_comes_first(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1, MILK: 1}, {TEA: 1, 5: 1}, {MILK: 1, 5: 1})
        assert search(store, index, about(TEA, MILK))[0] == IDS[0]

    def test_a_rare_term_tells_more_than_a_common_one(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {CITY: 1}, {TEA: 1}, {TEA: 1}, {TEA: 1})
        assert search(store, index, about(TEA, CITY))[0] == IDS[0]
        told = signal(store, index, about(TEA, CITY), r.SIMILAR_WORDS)
        tea, city = r.idf(4, 3), r.idf(4, 1)
        assert told[IDS[0]] == pytest.approx(city / (tea + city))
        assert told[IDS[1]] == pytest.approx(tea / (tea + city))

    def test_a_term_that_nobody_holds_is_missed(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1})
        assert signal(store, index, about(TEA), r.SIMILAR_WORDS) == {IDS[0]: 1.0}
        assert signal(store, index, about(TEA, CITY), r.SIMILAR_WORDS)[IDS[0]] < 0.5

    def test_a_term_counts_once_however_often_a_line_holds_it(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 255}, {TEA: 0})
        assert set(signal(store, index, about(TEA), r.SIMILAR_WORDS).values()) == {1.0}

    def test_the_score_is_what_the_signals_add_up_to(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1, MILK: 2}, {TEA: 1}, {MILK: 3, 5: 1})
        found = hits(store, index, about(TEA, MILK))
        assert len(found) == 3
        for hit in found:
            expect_told(hit)
            assert hit.signals[r.SIMILAR_WORDS] > 0

    def test_of_equal_scores_what_was_said_last_comes_first(self, store: Store, index: Index) -> None:
        with store.write() as tx:
            for line_id, at in ((IDS[0], 5), (IDS[1], 7), (IDS[2], 6)):
                add(tx, WORK, line_id, {TEA: 1}, Saying(at=at))
        assert search(store, index, about(TEA)) == [IDS[1], IDS[2], IDS[0]]

    def test_of_equal_scores_and_times_the_newest_id_comes_first(self, store: Store, index: Index) -> None:
        with store.write() as tx:
            for line_id in (IDS[2], IDS[0], IDS[3], IDS[1]):
                add(tx, WORK, line_id, {TEA: 1})
        assert search(store, index, about(TEA)) == IDS[3::-1]
        assert search(store, index, about(TEA), k=2) == [IDS[3], IDS[2]]

    @pytest.mark.parametrize("terms", [2, 5, 9])
    def test_many_lines_that_say_the_same_are_equal(self, store: Store, index: Index, terms: int) -> None:
        ids = [ulid.compose(n, bytes(ulid.ENTROPY_BYTES)) for n in range(67)]
        with store.write() as tx:
            for n, line_id in enumerate(ids):
                add(tx, WORK, line_id, {100 + n: 1} if n % 3 else dict.fromkeys(range(1, terms), 1))
        found = search(store, index, about(*range(terms), *range(100, 109)), k=100)
        assert [line_id for line_id in found if line_id in ids[::3]] == ids[::3][::-1]

    def test_there_are_never_more_than_k(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, *[{TEA: 1}] * 5)
        index_lines(store, TRAVEL, *[{TEA: 1}] * 5)
        for k in range(12):
            assert len(search(store, index, about(TEA, compartments=(WORK, TRAVEL)), k=k)) == min(k, 10)

    def test_lines_without_tokens_are_never_found(self, store: Store, index: Index) -> None:
        index_lines(store, TRAVEL, {}, {})
        assert search(store, index, about(TEA, MILK, compartments=(TRAVEL,))) == []
        index_lines(store, WORK, {}, {TEA: 1})
        assert search(store, index, about(TEA, compartments=(WORK, TRAVEL))) == [IDS[1]]

    def test_nothing_asked_is_nothing_found(self, store: Store, index: Index) -> None:
        assert search(store, index, about(TEA)) == []
        assert search(store, index, about(TEA, compartments=(WORK, TRAVEL))) == []
        index_lines(store, WORK, {TEA: 1})
        assert search(store, index, about(TEA, compartments=())) == []
        assert search(store, index, about()) == []


class _RoomsContract:
    def test_each_compartment_is_asked_for_its_own_tokens(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {MILK: 1})
        index_lines(store, TRAVEL, {TEA: 1}, {MILK: 1})
        inquiry = Inquiry([IndexQuery(WORK, [TEA]), IndexQuery(TRAVEL, [MILK])], [0], [1.0])
        found = hits(store, index, inquiry)
        assert [(hit.compartment, hit.id) for hit in found] == [(TRAVEL, IDS[1]), (WORK, IDS[0])]
        assert [hit.signals[r.SIMILAR_WORDS] for hit in found] == [1.0, 1.0]

    def test_compartments_are_ranked_together(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1, MILK: 1, CITY: 1})
        index_lines(store, TRAVEL, {TEA: 1, MILK: 1})
        found = hits(store, index, about(TEA, MILK, CITY, compartments=(WORK, TRAVEL)))
        assert [hit[:2] for hit in found] == [(WORK, IDS[1]), (TRAVEL, IDS[0]), (WORK, IDS[0])]

    def test_how_telling_a_term_is_depends_on_all_the_compartments_together(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {CITY: 1})
        index_lines(store, TRAVEL, *[{TEA: 1}] * 6)
        found = hits(store, index, about(TEA, CITY, compartments=(WORK, TRAVEL)))
        tea, city = r.idf(8, 7), r.idf(8, 1)
        assert found[0][:2] == (WORK, IDS[1])
        assert found[0].signals[r.SIMILAR_WORDS] == pytest.approx(city / (tea + city))

    def test_a_compartment_that_was_not_asked_about_is_not_found(self, store: Store, index: Index) -> None:
        for compartment in (TRAVEL, BOB, WORK._replace(workspace="other")):
            index_lines(store, compartment, {TEA: 1})
        assert search(store, index, about(TEA)) == []

    def test_compartments_may_be_asked_in_any_order_and_selection(
        self, store: Store, index: Index, reference: Index
    ) -> None:
        empty = WORK._replace(namespace="empty")
        index_lines(store, WORK, {TEA: 1}, {MILK: 1})
        index_lines(store, TRAVEL, {MILK: 1}, {TEA: 2, MILK: 1})
        orders: list[list[Compartment]] = [
            [empty, WORK],
            [WORK],
            [WORK, empty],
            [TRAVEL, empty, WORK],
            [empty, TRAVEL],
            [WORK, TRAVEL],
            [TRAVEL, WORK],
            [TRAVEL],
        ]
        tokens = {WORK: TEA, TRAVEL: MILK, empty: CITY}
        with store.read() as tx:
            for order in (*orders, *orders[::-1]):
                inquiry = Inquiry(
                    [IndexQuery(compartment, [tokens[compartment]]) for compartment in order], [0], [1.0]
                )
                expect_same(index, reference, tx, inquiry)


class _FollowingContract:
    def test_a_line_is_found_as_soon_as_it_is_added(self, store: Store, index: Index) -> None:
        for n, line_id in enumerate(IDS):
            with store.write() as tx:
                add(tx, WORK, line_id, {TEA: 1})
            assert search(store, index, about(TEA)) == IDS[n::-1]

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
    def test_a_line_is_not_found_once_it_was_removed(
        self, store: Store, index: Index, order: Sequence[int]
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1}, {TEA: 1})
        left = set(IDS[:3])
        for n in order:
            assert set(search(store, index, about(TEA))) == left
            with store.write() as tx:
                tx.terms.remove(WORK, (IDS[n],))
            left.discard(IDS[n])
            assert set(search(store, index, about(TEA))) == left

    def test_a_removed_line_no_longer_weighs_on_the_scores_of_others(
        self, store: Store, index: Index, reference: Index
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 9, 5: 30}, {TEA: 1, MILK: 1}, {MILK: 2}, {MILK: 1, 5: 7})
        for n in (1, 4, 3):
            with store.read() as tx:
                expect_same(index, reference, tx, about(TEA, MILK))
            with store.write() as tx:
                tx.terms.remove(WORK, (IDS[n],))
            with store.read() as tx:
                expect_same(index, reference, tx, about(TEA, MILK))

    def test_a_line_added_again_is_found_by_what_it_says_now(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {CITY: 1})
        assert search(store, index, about(TEA)) == [IDS[0]]
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[0],))
            add(tx, WORK, IDS[0], {MILK: 1})
        assert search(store, index, about(TEA)) == []
        assert search(store, index, about(MILK)) == [IDS[0]]

    def test_a_deleted_compartment_is_searched_as_it_is_filled_again(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1})
        assert search(store, index, about(TEA)) == [IDS[1], IDS[0]]
        with store.write() as tx:
            tx.terms.delete_compartment(WORK)
            tx.touch(WORK.workspace, compartments=True)
        assert search(store, index, about(TEA)) == []
        index_lines(store, WORK, {MILK: 1}, {MILK: 1})
        assert search(store, index, about(TEA)) == []
        assert search(store, index, about(MILK)) == [IDS[1], IDS[0]]

    def test_forgetting_what_is_cached_changes_no_answer(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 2}, {MILK: 1})
        before = hits(store, index, about(TEA, MILK))
        index.forget()
        assert hits(store, index, about(TEA, MILK)) == before
        assert len(before) == 3

    def test_many_threads_search_what_they_see(self, store: Store, index: Index, reference: Index) -> None:
        def put_and_search(store: Store, thread: int) -> None:
            for n in range(6):
                line_id = ulid.compose(n, thread.to_bytes(ulid.ENTROPY_BYTES, "big"))
                with store.write() as tx:
                    add(tx, WORK, line_id, {TEA: 1, n: 1})
                assert line_id in search(store, index, about(TEA), k=1000)

        in_many_threads([store] * 4, put_and_search)
        with store.read() as tx:
            expect_same(index, reference, tx, about(TEA, 3))


class IndexContract(
    _FindingContract,
    _RoomsContract,
    _FollowingContract,
    BoundsContract,
    TalkContract,
    KinContract,
    MeaningContract,
    SealedMeaningContract,
    KindsContract,
):
    """What every index promises. Override `index`, `reference` and `store`."""

    @pytest.fixture
    def index(self) -> Iterator[Index]:
        """The index under test, with nothing cached."""
        raise NotImplementedError("override the fixture 'index'")

    @pytest.fixture
    def reference(self) -> Iterator[Index]:
        """The index to agree with."""
        raise NotImplementedError("override the fixture 'reference': it gives a ReferenceIndex")

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """An empty store."""
        raise NotImplementedError("override the fixture 'store'")

    @settings(
        max_examples=_EXAMPLES,
        deadline=None,
        derandomize=True,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(batches=BATCHES)
    def test_generated_compartments_are_searched_as_the_reference_searches_them(
        self, store: Store, index: Index, reference: Index, batches: Sequence[IndexBatch]
    ) -> None:
        run = Agreement(store, index, reference)
        for batch in batches:
            run.play(batch)
