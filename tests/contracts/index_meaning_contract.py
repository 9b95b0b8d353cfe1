"""What an index promises of meaning: vectors that come, are replaced and go, each space by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from contracts.index_scenes import (
    BOB,
    EAST,
    EVERYTHING,
    IDS,
    NORTH,
    SPACE,
    TEA,
    TO_EAST,
    TO_NORTH,
    TRAVEL,
    WEST,
    WORK,
    about,
    add,
    expect_same,
    hits,
    index_lines,
    lie,
    meaning,
    packed,
    pointing,
    search,
    signal,
    talk,
)
from contracts.threads import in_many_threads
from souvenance.domain import relevance as r
from souvenance.domain import ulid
from souvenance.domain.change_feed import Saying
from souvenance.domain.names import ALL, Compartment
from souvenance.language.times import TimeSpan
from souvenance.ports.index import Fresh, Index, IndexQuery, Inquiry
from souvenance.ports.store import Store

_MANY = 450
_THEN = 86_400_000


def _opener(compartment: Compartment) -> Callable[[str, bytes], bytes | None]:
    """Opens what `_sealed` closed, and nothing else."""

    def opened(line_id: str, sealed: bytes) -> bytes | None:
        place = f"{compartment} {line_id} ".encode()
        return sealed.removeprefix(place) if sealed.startswith(place) else None

    return opened


def _sealed(compartment: Compartment, line_id: str, vector: bytes) -> bytes:
    return f"{compartment} {line_id} ".encode() + vector


def _many_lines_near_to_the_east(store: Store) -> list[str]:
    """Their ids. The first is marked, was said long before the others, and lies not quite as near."""
    ids = [ulid.compose(n, bytes(ulid.ENTROPY_BYTES)) for n in range(_MANY)]
    with store.write() as tx:
        add(tx, WORK, ids[0], {5: 1, 6: 0}, Saying(at=_THEN))
        for line_id in ids[1:]:
            add(tx, WORK, line_id, {5: 1}, Saying(at=100 * _THEN))
    lie(store, {line_id: EAST if n else packed(48, 0) for n, line_id in enumerate(ids)})
    return ids


def _lie_towards_the_east(store: Store, *steps: int) -> None:
    """Index a line for each step, so many 64ths towards the east."""
    index_lines(store, WORK, *[{TEA: 1}] * len(steps))
    lie(store, {line_id: packed(step, 0) for line_id, step in zip(IDS, steps, strict=False)})


def _alike(
    store: Store,
    index: Index,
    compartments: Sequence[Compartment] = (WORK,),
    within: Collection[str] | None = None,
) -> dict[str, float]:
    """How alike the other lines are to the first, by their ids."""
    others = [(WORK, line_id) for line_id in IDS[1:]]
    with store.read() as tx:
        found = index.alike(tx, meaning(TO_EAST, compartments=compartments), (WORK, IDS[0]), others, within)
    return {line_id: round(alike, 4) for (_, line_id), alike in found.items()}


class MeaningContract:
    def test_a_line_near_in_meaning_is_found_without_a_term(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {5: 1}, {5: 1}, {TEA: 1})
        lie(store, {IDS[0]: EAST, IDS[1]: NORTH})
        for tokens in ((), (7,)):
            assert signal(store, index, meaning(TO_EAST, *tokens), r.MEANING) == {IDS[0]: 1.0}
        assert signal(store, index, meaning(TO_NORTH, TEA), r.MEANING) == {IDS[1]: 1.0, IDS[2]: 0.0}

    def test_a_line_whose_vector_is_made_for_the_question_is_compared_as_if_it_were_stored(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, *[{5: 1}] * 4)
        lie(store, {IDS[0]: packed(32, 0)})
        made = {IDS[1]: EAST, IDS[2]: packed(48, 0)}

        def asked() -> Inquiry:
            fresh = Fresh(IDS[1:4], dict(made))
            return replace(meaning(TO_EAST), compartments=[IndexQuery(WORK, (), freshen=lambda known: fresh)])

        for _ in range(2):
            assert signal(store, index, asked(), r.MEANING) == {IDS[1]: 1.0, IDS[2]: 0.75, IDS[0]: 0.5}
        with store.read() as tx:
            alike = index.alike(tx, asked(), (WORK, IDS[1]), [(WORK, one) for one in IDS])
        assert {line_id for _, line_id in alike} == set(IDS[:3])
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[1],))
        del made[IDS[1]]
        assert signal(store, index, asked(), r.MEANING) == {IDS[2]: 0.75, IDS[0]: 0.5}

    def test_the_nearer_comes_first(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, *[{5: 1}] * 4)
        steps = (32, 64, 16, 48)
        lie(store, {line_id: packed(step, 0) for line_id, step in zip(IDS, steps, strict=False)})
        found = hits(store, index, meaning(TO_EAST))
        assert [hit.id for hit in found] == [IDS[1], IDS[3], IDS[0], IDS[2]]
        assert [hit.signals[r.MEANING] for hit in found] == [1.0, 0.75, 0.5, 0.25]

    def test_of_lines_equally_near_the_newest_comes_first(self, store: Store, index: Index) -> None:
        ids = [ulid.compose(n, bytes(ulid.ENTROPY_BYTES)) for n in range(67)]
        vector = packed(*(37 * n % 255 - 127 for n in range(96)))
        question = pointing(*((53 * n % 199 - 99) / 1000 for n in range(96)))
        with store.write() as tx:
            for line_id in ids:
                add(tx, WORK, line_id, {TEA: 1})
        lie(store, dict.fromkeys(ids, vector))
        assert search(store, index, meaning(question, TEA), k=100) == ids[::-1]

    def test_the_nearer_of_the_lines_beside_it_speaks_for_a_line(self, store: Store, index: Index) -> None:
        talk(store, *[(WORK, {TEA: 1})] * 4)
        with store.write() as tx:
            add(tx, WORK, IDS[4], {TEA: 1}, Saying("elsewhere", 4))
        steps = (64, 16, 32, 0, 0)
        lie(store, {line_id: packed(step, 0) for line_id, step in zip(IDS, steps, strict=False)})
        told = signal(store, index, meaning(TO_EAST, TEA), r.MEANING_NEARBY)
        assert told == {IDS[0]: 0.25, IDS[1]: 1.0, IDS[2]: 0.25, IDS[3]: 0.5, IDS[4]: 0.0}
        without = [line_id for line_id in IDS if line_id != IDS[0]]
        found = hits(store, index, meaning(TO_EAST, TEA), within=without)
        assert {hit.id: hit.signals[r.MEANING_NEARBY] for hit in found if hit.id == IDS[1]} == {IDS[1]: 0.5}

    def test_what_terms_and_meaning_both_tell_is_not_told_twice(self, store: Store, index: Index) -> None:
        with store.write() as tx:
            for day, line_id in enumerate(IDS[:4]):
                add(tx, WORK, line_id, {TEA: 1} if day < 3 else {5: 1}, Saying(f"day {day % 3}", day))
        steps = (32, 16, 0, 64)
        lie(store, {line_id: packed(step, 0) for line_id, step in zip(IDS, steps, strict=False)})
        told = signal(store, index, meaning(TO_EAST, TEA), r.WORDS_AND_MEANING)
        assert told == {IDS[0]: 1.0, IDS[1]: 0.25, IDS[2]: 0.0, IDS[3]: 0.0}
        assert r.WEIGHTS[r.WORDS_AND_MEANING] < 0
        assert set(signal(store, index, about(TEA), r.WORDS_AND_MEANING).values()) == {0.0}

    def test_what_lies_too_far_or_on_the_other_side_finds_nothing(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, *[{5: 1}] * 4)
        lie(store, {IDS[0]: packed(7, 0), IDS[1]: packed(6, 0), IDS[2]: WEST, IDS[3]: NORTH})
        assert 6 / 64 < r.LEAST_MEANING < 7 / 64
        assert search(store, index, meaning(TO_EAST)) == [IDS[0]]
        told = signal(store, index, meaning(TO_EAST, 5), r.MEANING)
        assert told == {IDS[0]: 7 / 64, IDS[1]: 6 / 64, IDS[2]: 0.0, IDS[3]: 0.0}

    def test_meaning_is_left_aside_where_the_question_lies_nowhere(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {5: 1})
        without = hits(store, index, about(TEA))
        lie(store, {IDS[0]: EAST, IDS[1]: EAST})
        assert hits(store, index, about(TEA)) == without
        assert search(store, index, meaning(TO_EAST, TEA)) == [IDS[0], IDS[1]]
        assert hits(store, index, about(TEA)) == without

    def test_the_gist_of_a_session_is_its_nearest_line(self, store: Store, index: Index) -> None:
        talk(store, (WORK, {5: 1}), (BOB, {TEA: 1}), (WORK, {5: 1}), (WORK, {TEA: 1}))
        with store.write() as tx:
            add(tx, WORK, IDS[5], {TEA: 1})
            add(tx, WORK, IDS[6], {TEA: 1}, Saying("another", 1))
        lie(store, {IDS[0]: packed(32, 0), IDS[2]: packed(5, 0), IDS[5]: packed(4, 0)})
        lie(store, {IDS[1]: packed(16, 0)}, BOB)
        inquiry = meaning(TO_EAST, TEA, compartments=(WORK, BOB))
        assert signal(store, index, inquiry, r.MEANING_IN_SESSION) == {
            **dict.fromkeys((IDS[0], IDS[1], IDS[3]), 0.5),
            IDS[5]: 4 / 64,
            IDS[6]: 0.0,
        }
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[0],))
        assert signal(store, index, inquiry, r.MEANING_IN_SESSION)[IDS[3]] == 0.25

    def test_a_vector_counts_as_soon_as_it_is_given_and_until_it_is_replaced(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1})
        inquiry = meaning(TO_EAST, TEA)
        for vector, expected in (
            (None, 0.0),
            (EAST, 1.0),
            (NORTH, 0.0),
            (packed(32, 64), 0.5),
            (EAST, 1.0),
        ):
            if vector is not None:
                lie(store, {IDS[0]: vector})
            assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: expected, IDS[1]: 0.0}
        lie(store, {IDS[1]: EAST})
        assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 1.0, IDS[1]: 1.0}

    def test_a_vector_goes_with_its_line_and_does_not_come_back_with_it(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1})
        lie(store, {IDS[0]: EAST, IDS[1]: EAST})
        inquiry = meaning(TO_EAST, TEA)
        assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 1.0, IDS[1]: 1.0}
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[1],))
        assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 1.0}
        with store.write() as tx:
            add(tx, WORK, IDS[1], {TEA: 1})
        assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 1.0, IDS[1]: 0.0}
        lie(store, {IDS[1]: packed(32, 0)})
        assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 1.0, IDS[1]: 0.5}

    def test_a_vector_that_follows_a_removed_one_is_not_missed(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1})
        lie(store, {IDS[0]: EAST})
        assert search(store, index, meaning(TO_EAST, TEA)) == [IDS[0], IDS[1]]
        with store.write() as tx:
            tx.terms.remove(WORK, (IDS[0],))
            tx.terms.lie(WORK, SPACE, [(IDS[1], EAST)])
        assert signal(store, index, meaning(TO_EAST, TEA), r.MEANING) == {IDS[1]: 1.0}

    def test_spaces_are_never_mixed(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1}, {TEA: 1})
        lie(store, {IDS[0]: EAST, IDS[1]: EAST}, space="old")
        lie(store, {IDS[1]: packed(0, 32, 0), IDS[2]: packed(0, 64, 0)}, space="new")
        old = meaning(TO_EAST, TEA, space="old")
        new = meaning(pointing(0, 1, 0), TEA, space="new")
        for _ in range(2):
            assert signal(store, index, old, r.MEANING) == {IDS[0]: 1.0, IDS[1]: 1.0, IDS[2]: 0.0}
            assert signal(store, index, new, r.MEANING) == {IDS[0]: 0.0, IDS[1]: 0.5, IDS[2]: 1.0}
        assert set(signal(store, index, meaning(TO_EAST, TEA, space="third"), r.MEANING).values()) == {0.0}
        lie(store, {IDS[2]: NORTH}, space="old")
        lie(store, {IDS[0]: packed(0, 32, 0)}, space="new")
        assert signal(store, index, old, r.MEANING)[IDS[2]] == 0.0
        assert signal(store, index, new, r.MEANING)[IDS[0]] == 0.5

    def test_a_space_that_was_left_is_searched_as_it_is_filled_again(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1})
        lie(store, {IDS[0]: EAST, IDS[1]: EAST})
        inquiry = meaning(TO_EAST, TEA)
        assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 1.0, IDS[1]: 1.0}
        with store.write() as tx:
            assert tx.terms.leave(SPACE, EVERYTHING) == 2
            tx.touch(ALL, compartments=True)
        assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 0.0, IDS[1]: 0.0}
        lie(store, {IDS[0]: packed(32, 0)})
        assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 0.5, IDS[1]: 0.0}

    def test_a_deleted_compartment_takes_its_vectors_along(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1})
        lie(store, {IDS[0]: EAST})
        assert search(store, index, meaning(TO_EAST)) == [IDS[0]]
        with store.write() as tx:
            tx.terms.delete_compartment(WORK)
            tx.touch(WORK.workspace, compartments=True)
        assert search(store, index, meaning(TO_EAST)) == []
        index_lines(store, WORK, {TEA: 1})
        assert signal(store, index, meaning(TO_EAST, TEA), r.MEANING) == {IDS[0]: 0.0}

    def test_forgetting_what_is_cached_forgets_no_vector(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {5: 1})
        lie(store, {IDS[1]: EAST})
        before = hits(store, index, meaning(TO_EAST, TEA))
        index.forget()
        assert hits(store, index, meaning(TO_EAST, TEA)) == before
        assert len(before) == 2

    def test_among_many_lines_near_in_meaning_none_that_was_asked_for_is_passed_over(
        self, store: Store, index: Index
    ) -> None:
        ids = _many_lines_near_to_the_east(store)
        assert search(store, index, meaning(TO_EAST, TEA), within=ids[:1]) == ids[:1]
        marked = Inquiry([IndexQuery(WORK, [TEA], [6])], [0], [1.0], TO_EAST, SPACE)
        assert search(store, index, marked) == ids[:1]
        assert search(store, index, meaning(TO_EAST, TEA), k=EVERYTHING) == [*ids[:0:-1], ids[0]]

    def test_among_many_lines_near_in_meaning_one_that_all_else_speaks_for_comes_first(
        self, store: Store, index: Index
    ) -> None:
        ids = _many_lines_near_to_the_east(store)
        inquiry = meaning(TO_EAST, TEA, spans=(TimeSpan(_THEN, _THEN + 1),))
        assert search(store, index, inquiry) == [ids[0], *ids[:-20:-1]]

    def test_threads_that_ask_in_two_spaces_do_not_disturb_each_other(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, *[{TEA: 1}] * 8)
        for n, line_id in enumerate(IDS):
            lie(store, {line_id: packed(8 * n, 0)}, space="old")
            lie(store, {line_id: packed(0, 0, 64 - 8 * n)}, space="new")
        asked = (meaning(TO_EAST, space="old"), meaning(pointing(0, 0, 1), space="new"))
        expected = [hits(store, index, inquiry) for inquiry in asked]

        def ask(store: Store, thread: int) -> None:
            for n in range(12):
                which = (thread + n // 2) % 2
                assert hits(store, index, asked[which]) == expected[which]

        in_many_threads([store] * 4, ask)
        assert expected[0] != expected[1]

    def test_lines_are_alike_by_how_far_they_have_come_from_what_is_usual(
        self, store: Store, index: Index
    ) -> None:
        _lie_towards_the_east(store, 64, 16, 16, 16, 32, 48)
        assert _alike(store, index) == {IDS[1]: 0.0, IDS[2]: 0.0, IDS[3]: 0.0, IDS[4]: 0.3333, IDS[5]: 0.6667}

    def test_what_is_usual_is_told_by_lines_in_the_bounds_and_of_the_same_owner(
        self, store: Store, index: Index
    ) -> None:
        _lie_towards_the_east(store, 64, 32, 32, 32, 48, 16, 16)
        within = set(IDS) - {IDS[5], IDS[6]}
        assert _alike(store, index, within=within) == {**dict.fromkeys(IDS[1:4], 0.0), IDS[4]: 0.5}
        index_lines(store, BOB, *[{TEA: 1}] * 8)
        lie(store, dict.fromkeys(IDS, packed(8, 0)), BOB)
        found = _alike(store, index, compartments=(WORK, BOB), within=within)
        assert found == {**dict.fromkeys(IDS[1:4], 0.0), IDS[4]: 0.5}

    def test_of_few_lines_it_is_known_what_is_usual(self, store: Store, index: Index) -> None:
        _lie_towards_the_east(store, 64, 48)
        assert _alike(store, index) == {IDS[1]: round((0.75 - r.USUAL) / (1 - r.USUAL), 4)}

    def test_what_has_no_vector_is_alike_to_nothing(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1})
        lie(store, {IDS[1]: EAST})
        one, other = (WORK, IDS[0]), (WORK, IDS[1])
        with store.read() as tx:
            assert index.alike(tx, meaning(TO_EAST), one, [other]) == {}
            assert index.alike(tx, meaning(TO_EAST), other, [one]) == {}
            assert index.alike(tx, about(TEA), other, [other]) == {}


class SealedMeaningContract:
    """Of vectors that the index itself opens."""

    def test_each_compartment_opens_its_own_vectors(self, store: Store, index: Index) -> None:
        compartments = (WORK, TRAVEL, BOB)
        for compartment in compartments:
            index_lines(store, compartment, {5: 1}, {5: 1})
            lie(
                store,
                {IDS[0]: _sealed(compartment, IDS[0], EAST), IDS[1]: _sealed(compartment, IDS[1], NORTH)},
                compartment,
            )
        asked = [IndexQuery(compartment, [TEA], open=_opener(compartment)) for compartment in compartments]
        inquiry = Inquiry(asked, [0], [1.0], TO_EAST, SPACE)
        assert {hit[:2] for hit in hits(store, index, inquiry)} == {
            (compartment, IDS[0]) for compartment in compartments
        }

    def test_a_vector_that_does_not_open_is_none_and_spoils_no_later_answer(
        self, store: Store, index: Index, reference: Index
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1}, {5: 1})
        inquiry = Inquiry([IndexQuery(WORK, [TEA], open=_opener(WORK))], [0], [1.0], TO_EAST, SPACE)
        lie(store, {IDS[0]: _sealed(WORK, IDS[0], EAST), IDS[1]: _sealed(WORK, IDS[0], EAST)})
        for _ in range(2):
            assert signal(store, index, inquiry, r.MEANING) == {IDS[0]: 1.0, IDS[1]: 0.0}
        assert search(store, index, about(TEA)) == [IDS[1], IDS[0]]
        lie(store, {line_id: _sealed(WORK, line_id, EAST) for line_id in IDS[1:3]})
        assert signal(store, index, inquiry, r.MEANING) == dict.fromkeys(IDS[:3], 1.0)
        with store.read() as tx:
            expect_same(index, reference, tx, inquiry)
