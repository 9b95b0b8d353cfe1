from __future__ import annotations

from random import Random

import pytest

import stores
from contracts.index_contract import IndexContract
from contracts.index_scenes import (
    BOB,
    EAST,
    EVERYTHING,
    IDS,
    TEA,
    TO_EAST,
    TRAVEL,
    WORK,
    about,
    add,
    hits,
    index_lines,
    lie,
    meaning,
    search,
)
from reference.index import ReferenceIndex
from reference.store import MemoryStore
from souvenance.adapters.index.compartments import CompartmentIndex
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.domain import relevance
from souvenance.domain.change_feed import Saying
from souvenance.ports.index import IndexQuery, Inquiry


class Contract(IndexContract):
    @pytest.fixture
    def reference(self):
        return ReferenceIndex()

    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestReferenceIndex(Contract):
    test_generated_compartments_are_searched_as_the_reference_searches_them = None
    """It is the reference: held against itself it could not fail."""

    @pytest.fixture
    def index(self):
        return ReferenceIndex()


class TestRankedIndex(Contract):
    @pytest.fixture
    def index(self):
        return RankedIndex()


class TestRankedIndexOverSqlite(Contract):
    @pytest.fixture
    def index(self):
        return RankedIndex()

    @pytest.fixture
    def store(self, tmp_path):
        store = stores.in_a_file(tmp_path / "book.db")
        yield store
        store.close()


class TestRankedIndexThatCanCacheNothing(Contract):
    @pytest.fixture
    def index(self):
        return RankedIndex(cache_bytes=0)


class Followed:
    """A transaction that notes which rooms are read from their beginning, and how much of them."""

    def __init__(self, tx):
        self._tx = tx
        self.marks = tx.marks
        self.terms = self
        self.comparing = None
        self.loaded = []
        self.followed = 0
        self.opened = 0

    def since(self, compartment, seq):
        if seq <= 0:
            self.loaded.append(compartment)
        feed = self._tx.terms.since(compartment, seq)
        self.followed += len(feed)
        return feed

    def vectors(self, compartment, space, seq, most=None):
        found = self._tx.terms.vectors(compartment, space, seq, most)
        self.opened += len(found)
        return found


def test_the_compartment_asked_about_longest_ago_is_the_first_to_be_dropped():
    store = MemoryStore()
    compartments = [WORK, TRAVEL, BOB]
    for compartment in compartments:
        index_lines(store, compartment, *[{TEA: 1}] * 8)
        lie(store, dict.fromkeys(IDS, EAST), compartment)

    def loaded(cache_bytes, *order):
        index = RankedIndex(cache_bytes=cache_bytes)
        with store.read() as tx:
            following = Followed(tx)
            for asked in order:
                index.search(following, meaning(TO_EAST, TEA, compartments=(compartments[asked],)), 20)
        return following.loaded

    compartment_for_two = next(
        size for size in range(0, 1 << 16, 64) if loaded(size, 0, 1, 0, 1) == compartments[:2]
    )
    assert loaded(compartment_for_two, 0, 1, 0, 2, 0, 2) == compartments


def test_compartments_that_were_too_large_together_take_no_place_from_those_that_are_not():
    store, index = MemoryStore(), RankedIndex(cache_bytes=20_000)
    large, small = (WORK, TRAVEL), (BOB, BOB._replace(owner="eve"))
    for compartment, lines in (
        *((compartment, 200) for compartment in large),
        *((compartment, 2) for compartment in small),
    ):
        with store.write() as tx:
            for number in range(lines):
                add(tx, compartment, f"{number:026}", {TEA: 1})
        lie(store, {f"{number:026}": EAST for number in range(lines)}, compartment)

    def loaded(*compartments):
        with store.read() as tx:
            following = Followed(tx)
            index.search(following, meaning(TO_EAST, TEA, compartments=compartments), 20)
        return following.loaded

    for _ in range(20):
        assert loaded(*large)
    loaded(*small)
    assert loaded(*small) == []


def test_while_a_question_s_vector_is_awaited_its_compartments_are_read_and_others_may_ask():
    store, index = MemoryStore(), RankedIndex()
    index_lines(store, WORK, {TEA: 1})
    lie(store, {IDS[0]: EAST})
    meanwhile = []
    with store.read() as tx:
        following = Followed(tx)

        def awaited():
            meanwhile.append(list(following.loaded))
            meanwhile.append(search(store, index, about(TEA)))
            return TO_EAST()

        [hit] = index.search(following, meaning(awaited, TEA), 20)
    assert meanwhile == [[WORK], [IDS[0]]]
    assert hit.signals[relevance.MEANING] == 1


def test_what_was_read_once_is_not_read_again():
    store, index = MemoryStore(), RankedIndex()
    for compartment in (WORK, TRAVEL):
        index_lines(store, compartment, *[{TEA: 1}] * 4)
        lie(store, dict.fromkeys(IDS[:4], EAST), compartment)
    inquiry = meaning(TO_EAST, TEA, compartments=(WORK, TRAVEL))
    for opened in (8, 0):
        with store.read() as tx:
            following = Followed(tx)
            index.search(following, inquiry, 20)
        assert following.opened == opened
    assert following.loaded == []
    lie(store, {IDS[2]: EAST})
    with store.read() as tx:
        following = Followed(tx)
        index.search(following, inquiry, 20)
    assert following.opened == 1


def test_a_session_changes_with_its_own_lines_and_not_with_those_of_others():
    store, index, codes = MemoryStore(), CompartmentIndex(mark=0), {"mine": 0, "theirs": 1}

    def change(write):
        before = {name: index.changed({code}) for name, code in codes.items()} | {"any": index.changed(None)}
        with store.write() as tx:
            write(tx)
        with store.read() as tx:
            index.follow(tx.terms.since(WORK, index.seq), codes.__getitem__)
        after = {name: index.changed({code}) for name, code in codes.items()} | {"any": index.changed(None)}
        return {name for name in after if after[name] > before[name]}

    assert change(lambda tx: add(tx, WORK, IDS[0], {TEA: 1}, Saying("mine", 1))) == {"mine", "any"}
    assert change(lambda tx: add(tx, WORK, IDS[1], {TEA: 1}, Saying("theirs", 1))) == {"theirs", "any"}
    assert change(lambda tx: add(tx, WORK, IDS[2], {TEA: 1}, Saying("mine", 2))) == {"mine", "any"}
    assert change(lambda tx: tx.terms.remove(WORK, (IDS[0],))) >= {"mine", "any"}


def test_a_compartment_larger_than_the_cache_is_searched_all_the_same():
    store, index = MemoryStore(), RankedIndex(cache_bytes=1)
    for compartment in (WORK, TRAVEL):
        index_lines(store, compartment, *[{TEA: 1}] * 8)
    for _ in range(2):
        assert len(search(store, index, about(TEA, compartments=(WORK, TRAVEL)))) == 16


@pytest.mark.parametrize("seed", range(8))
def test_the_few_best_are_the_first_of_all_that_are_found(seed):
    chance, store, index = Random(seed), MemoryStore(), RankedIndex()
    with store.write() as tx:
        for number in range(400):
            session, turn = divmod(number, 50)
            said = Saying(f"talk-{session}", turn + 1) if session else Saying(None, None)
            add(tx, WORK, f"{number:026}", dict.fromkeys(chance.sample(range(1, 40), 3), 1), said)
    tokens, groups = range(1, 13), [0, 1, 2, 3] * 3
    inquiry = Inquiry([IndexQuery(WORK, tokens)], groups, [1.0] * 4 + [0.5] * 4 + [0.8] * 4)
    every = [(hit.id, pytest.approx(hit.score)) for hit in hits(store, index, inquiry, EVERYTHING)]
    assert len(every) > 200
    for few in (1, 5, 30):
        assert [(hit.id, hit.score) for hit in hits(store, index, inquiry, few)] == every[:few]


def test_some_sessions_are_searched_as_they_are_now_whatever_was_looked_at_before():
    chance, store, index = Random(7), MemoryStore(), RankedIndex()
    for number in range(60):
        with store.write() as tx:
            said = Saying(f"talk-{number % 5}", number // 5 + 1)
            add(tx, WORK, f"{number:026}", dict.fromkeys(chance.sample(range(1, 12), 3), 1), said)
            if number % 7 == 6:
                tx.terms.remove(WORK, [f"{number - 5:026}"])
        for sessions in ({"talk-1"}, {"talk-1", "talk-3"}, {"nowhere"}, None):
            inquiry = about(1, 2, 3, sessions=sessions)
            assert hits(store, index, inquiry) == hits(store, RankedIndex(), inquiry)


def test_a_session_that_grows_is_found_where_nothing_may_be_cached():
    store, index = MemoryStore(), RankedIndex(cache_bytes=0)
    with store.write() as tx:
        add(tx, WORK, IDS[0], {TEA: 1}, Saying("s", 1, 0))
        add(tx, TRAVEL, IDS[1], {TEA: 1}, Saying("t", 1, 0))
    for compartment in (WORK, TRAVEL):
        search(store, index, about(TEA, compartments=(compartment,)))
    of_t = about(TEA, sessions=("t",))
    assert search(store, index, of_t) == []
    assert search(store, index, about(TEA, compartments=(TRAVEL,), sessions=("s",))) == []
    with store.write() as tx:
        add(tx, WORK, IDS[2], {TEA: 1}, Saying("t", 2, 0))
    assert search(store, index, of_t) == [IDS[2]]
