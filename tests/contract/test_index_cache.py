"""What the ranked index keeps between questions: no more than its cache may hold, and it says how much."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from contracts.index_scenes import BOB, TEA, WORK, about, add, lie, meaning, packed, pointing, search
from reference.store import MemoryStore
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.domain.change_feed import Saying

COMPONENTS = 384
SOMEWHERE = pointing(*[1 / 64] * COMPONENTS)
SESSION = 50


def line_id(number):
    return f"{number:026}"


def fill(store, compartment, lines, first=0, *, vectors=True, session=SESSION):
    numbers = range(first, first + lines)
    with store.write() as tx:
        for number in numbers:
            said = Saying(f"{compartment.owner}-{number // session}", number % session + 1)
            words = {TEA: 1, **{2 + (number + word) % 300: 1 for word in range(20)}}
            add(tx, compartment, line_id(number), words, said)
    if vectors:
        places = {line_id(number): packed(*[50 + number % 50] * COMPONENTS) for number in numbers}
        lie(store, places, compartment)


def owners(count):
    return [WORK._replace(owner=f"owner{number}") for number in range(count)]


def ask(store, index, *compartments, **more):
    return search(store, index, meaning(SOMEWHERE, TEA, compartments=compartments, **more))


@pytest.mark.parametrize(("compartments", "lines"), [(40, 1), (12, 20), (1, 320)])
def test_what_the_index_says_it_takes_is_what_it_takes(compartments, lines):
    store, index, asked = MemoryStore(), RankedIndex(), owners(compartments)
    for compartment in (BOB, *asked):
        fill(store, compartment, lines)
    ask(store, index, BOB)  # What a first question loads for good is no part of it.
    gc.collect()
    before = index.nbytes
    tracemalloc.start()
    try:
        for compartment in asked:
            ask(store, index, compartment)
            ask(store, index, compartment, sessions=(f"{compartment.owner}-0",))
        ask(store, index, *asked)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert index.nbytes - before == pytest.approx(taken, rel=0.15)


def test_a_line_takes_little_more_than_its_vector():
    store, index = MemoryStore(), RankedIndex()
    fill(store, WORK, 800)
    ask(store, index, WORK)
    assert index.nbytes < 800 * 2 * COMPONENTS


def test_compartments_asked_about_one_after_the_other_stay_within_the_cache():
    most = 200_000
    store, index, asked = MemoryStore(), RankedIndex(cache_bytes=most), owners(30)
    taken = []
    for compartment in asked:
        fill(store, compartment, 20)
        assert len(ask(store, index, compartment)) == 20
        taken.append(index.nbytes)
    assert most * 0.8 < max(taken) <= most


def test_a_search_over_more_than_fits_leaves_no_more_than_fits():
    most = 200_000
    store, index, asked = MemoryStore(), RankedIndex(cache_bytes=most), owners(30)
    for compartment in asked:
        fill(store, compartment, 20)
    everything = RankedIndex()
    for _ in range(3):
        assert ask(store, index, *asked) == ask(store, everything, *asked)
        assert index.nbytes <= most < everything.nbytes


def test_a_search_over_more_than_fits_holds_the_vectors_of_few_compartments_at_a_time():
    store, asked = MemoryStore(), owners(20)
    for compartment in asked:
        fill(store, compartment, 50)

    def peak(index):
        tracemalloc.start()
        try:
            ask(store, index, *asked)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(RankedIndex())
    vectors = 20 * 50 * COMPONENTS
    assert peak(RankedIndex(cache_bytes=0)) < peak(RankedIndex()) - vectors / 2


def test_looking_into_one_session_after_the_other_stays_within_the_cache():
    most = 800_000
    store, index = MemoryStore(), RankedIndex(cache_bytes=most)
    fill(store, WORK, 800, session=5)
    taken = []
    for number in range(160):
        assert len(ask(store, index, WORK, sessions=(f"ann-{number}",))) == 5
        taken.append(index.nbytes)
    assert most * 0.8 < max(taken) <= most


def test_a_compartment_larger_than_the_cache_is_read_once_and_takes_no_more_than_it_needs():
    store, index, roomy = MemoryStore(), RankedIndex(cache_bytes=1), RankedIndex()
    for first in range(0, 600, 100):
        fill(store, WORK, 100, first)
        assert ask(store, index, WORK) == ask(store, roomy, WORK)
        assert index.nbytes == pytest.approx(roomy.nbytes, rel=0.01)


def test_a_compartment_that_lines_come_to_and_leave_does_not_grow():
    store, index, taken = MemoryStore(), RankedIndex(), []
    for first in range(0, 1500, 50):
        fill(store, WORK, 50, first)
        assert len(ask(store, index, WORK)) == 20
        with store.write() as tx:
            tx.terms.remove(WORK, [line_id(number) for number in range(first, first + 50)])
        assert ask(store, index, WORK) == []
        taken.append(index.nbytes)
    assert max(taken[20:]) < 1.2 * max(taken[:10])


def test_a_session_is_forgotten_with_the_compartments_that_it_is_of():
    store, index = MemoryStore(), RankedIndex(cache_bytes=0)
    taken = []
    for compartment in owners(60):
        fill(store, compartment, 200, vectors=False, session=1)
        assert search(store, index, about(TEA, compartments=(compartment,)))
        assert ask(store, index, compartment, sessions=(f"{compartment.owner}-0",)) == [line_id(0)]
        taken.append(index.nbytes)
    assert max(taken[30:]) < 1.2 * max(taken[:30])


def test_vectors_are_read_from_the_store_in_parts():
    store, index, parts = MemoryStore(), RankedIndex(), []

    class InParts:
        def __init__(self, tx):
            self.marks, self.terms, self.since, self.comparing = tx.marks, self, tx.terms.since, None
            self._read = tx.terms.vectors

        def vectors(self, *asked):
            found = self._read(*asked)
            parts.append(len(found))
            return found

    fill(store, WORK, 1100)
    with store.read() as tx:
        assert len(index.search(InParts(tx), meaning(SOMEWHERE, compartments=(WORK,)), 2000)) == 1100
    assert parts == [1024, 76]
