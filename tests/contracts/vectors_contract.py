"""What a store promises of the vectors of its lines: a part of `StoreContract`."""

from __future__ import annotations

import pytest

from contracts.store_scenes import (
    COMPARTMENT,
    ELSEWHERE,
    IDS,
    SPACE,
    TRAVEL,
    changes_since,
    numbered,
    vectors_since,
)
from souvenance.domain.names import Compartment
from souvenance.ports.store import EVERYTHING, Store


def index(store: Store, *line_ids: str, compartment: Compartment = COMPARTMENT) -> None:
    with store.write() as tx:
        for line_id in line_ids:
            tx.terms.add(compartment, line_id, b"tokens", b"\x01")


def lie(
    store: Store,
    *line_ids: str,
    sealed: bytes = b"vector",
    compartment: Compartment = COMPARTMENT,
    space: str = SPACE,
) -> None:
    with store.write() as tx:
        tx.terms.lie(compartment, space, [(line_id, sealed) for line_id in line_ids])


def lying(store: Store, compartment: Compartment = COMPARTMENT, space: str = SPACE) -> dict[str, bytes]:
    """The vectors of a compartment, by line."""
    return {vector.id: vector.sealed for vector in vectors_since(store, 0, compartment, space)}


def lacking(
    store: Store, most: int = EVERYTHING, compartment: Compartment = COMPARTMENT, space: str = SPACE
) -> list[str]:
    with store.read() as tx:
        return tx.terms.lacking(compartment, space, most)


def spaces(store: Store) -> dict[str, int]:
    with store.read() as tx:
        return tx.terms.spaces()


class VectorsContract:
    def test_a_vector_is_read_back_as_it_was_given(self, store: Store) -> None:
        index(store, IDS[0], IDS[1])
        lie(store, IDS[0], sealed=bytes(range(256)))
        lie(store, IDS[1], sealed=b"\0")
        found = vectors_since(store, 0)
        assert [(vector.id, vector.sealed) for vector in found] == [
            (IDS[0], bytes(range(256))),
            (IDS[1], b"\0"),
        ]

    def test_only_what_was_given_after_is_told_in_order(self, store: Store) -> None:
        index(store, *IDS)
        lie(store, IDS[5], IDS[3])
        lie(store, IDS[4])
        lie(store, *IDS[:2])
        found = vectors_since(store, 0)
        assert {vector.id for vector in found[:2]} == {IDS[5], IDS[3]}
        assert found[2].id == IDS[4]
        assert [vector.seq for vector in found] == sorted({vector.seq for vector in found})
        for n, vector in enumerate(found):
            assert vectors_since(store, vector.seq) == found[n + 1 :]
            with store.read() as tx:
                assert tx.terms.vectors(COMPARTMENT, SPACE, vector.seq, 2) == found[n + 1 : n + 3]

    def test_a_vector_takes_the_place_of_an_older_one_and_is_told_again(self, store: Store) -> None:
        index(store, IDS[0], IDS[1])
        lie(store, IDS[0], IDS[1], sealed=b"old")
        followed = vectors_since(store, 0)[-1].seq
        for sealed in (b"new", b"newer", b"newer"):
            lie(store, IDS[0], sealed=sealed)
            (told,) = vectors_since(store, followed)
            assert told[1:] == (IDS[0], sealed)
            followed = told.seq
        assert lying(store) == {IDS[0]: b"newer", IDS[1]: b"old"}

    def test_of_two_vectors_given_to_a_line_at_once_the_last_stays(self, store: Store) -> None:
        index(store, IDS[0])
        with store.write() as tx:
            tx.terms.lie(COMPARTMENT, SPACE, [(IDS[0], b"first"), (IDS[0], b"last")])
        assert [vector.sealed for vector in vectors_since(store, 0)] == [b"last"]

    def test_what_is_given_to_a_line_that_is_not_indexed_is_dropped(self, store: Store) -> None:
        index(store, IDS[0], IDS[1])
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[1],))
        index(store, IDS[2], compartment=TRAVEL)
        lie(store, *IDS[:4])
        lie(store)
        assert lying(store) == {IDS[0]: b"vector"}
        assert lying(store, TRAVEL) == {}
        index(store, IDS[1])
        assert lying(store) == {IDS[0]: b"vector"}

    def test_a_line_without_tokens_may_have_a_vector(self, store: Store) -> None:
        with store.write() as tx:
            tx.terms.add(COMPARTMENT, IDS[0], b"", b"")
            tx.terms.lie(COMPARTMENT, SPACE, [(IDS[0], b"vector")])
        assert lying(store) == {IDS[0]: b"vector"}

    def test_a_line_has_a_vector_in_each_space(self, store: Store) -> None:
        index(store, IDS[0], IDS[1])
        lie(store, IDS[0], sealed=b"there", space="other")
        lie(store, IDS[0], IDS[1], sealed=b"here")
        lie(store, IDS[1], sealed=b"there", space="other")
        lie(store, IDS[0], sealed=b"new here")
        assert lying(store) == {IDS[0]: b"new here", IDS[1]: b"here"}
        assert lying(store, space="other") == {IDS[0]: b"there", IDS[1]: b"there"}
        assert lying(store, space="third") == {}

    def test_vectors_of_one_compartment_are_not_seen_in_another(self, store: Store) -> None:
        for compartment in (COMPARTMENT, *ELSEWHERE):
            index(store, IDS[0], compartment=compartment)
        lie(store, IDS[0])
        for compartment in ELSEWHERE:
            assert lying(store, compartment) == {}
            assert lacking(store, compartment=compartment) == [IDS[0]]
            lie(store, IDS[0], sealed=b"elsewhere", compartment=compartment)
        assert lying(store) == {IDS[0]: b"vector"}

    def test_vectors_go_with_their_lines_in_every_space(self, store: Store) -> None:
        for compartment in (COMPARTMENT, TRAVEL):
            index(store, *IDS[:3], compartment=compartment)
            for space in (SPACE, "other"):
                lie(store, *IDS[:3], compartment=compartment, space=space)
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[0], IDS[2], IDS[5]))
        for space in (SPACE, "other"):
            assert lying(store, space=space).keys() == {IDS[1]}
            assert lying(store, TRAVEL, space).keys() == set(IDS[:3])
        index(store, IDS[0])
        assert lying(store).keys() == {IDS[1]}
        assert lacking(store) == [IDS[0]]

    def test_vectors_go_with_their_compartment(self, store: Store) -> None:
        for compartment in (COMPARTMENT, *ELSEWHERE):
            index(store, *IDS[:2], compartment=compartment)
            lie(store, *IDS[:2], compartment=compartment)
        with store.write() as tx:
            tx.terms.delete_compartment(COMPARTMENT)
        assert lying(store) == {}
        assert lacking(store) == []
        for compartment in ELSEWHERE:
            assert len(lying(store, compartment)) == 2
        assert spaces(store) == {SPACE: 6}

    @pytest.mark.parametrize("at_once", [True, False])
    def test_whoever_followed_to_the_end_is_told_of_a_vector_that_follows_a_removed_one(
        self, store: Store, at_once: bool
    ) -> None:
        index(store, *IDS[:4])
        lie(store, IDS[0])
        lie(store, IDS[1], space="other")
        for n in range(1, 4):
            followed = vectors_since(store, 0)[-1].seq
            with store.write() as tx:
                tx.terms.remove(COMPARTMENT, (IDS[n - 1],))
                if at_once:
                    tx.terms.lie(COMPARTMENT, SPACE, [(IDS[n], b"vector")])
            if not at_once:
                lie(store, IDS[n])
            assert [vector.id for vector in vectors_since(store, followed)] == [IDS[n]]

    def test_vectors_are_no_changes_of_the_tokens(self, store: Store) -> None:
        index(store, IDS[0])
        changes = changes_since(store, 0)
        lie(store, IDS[0])
        lie(store, IDS[0], space="other")
        assert changes_since(store, 0) == changes
        index(store, IDS[1])
        assert [change.id for change in changes_since(store, changes[-1].seq)] == [IDS[1]]

    def test_lines_that_lack_a_vector_are_told_in_the_order_in_which_they_came(self, store: Store) -> None:
        index(store, IDS[2], IDS[0], IDS[3], IDS[1], IDS[4])
        assert lacking(store) == [IDS[2], IDS[0], IDS[3], IDS[1], IDS[4]]
        lie(store, IDS[0])
        lie(store, IDS[1], space="other")
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[3],))
        left = [IDS[2], IDS[1], IDS[4]]
        for most in range(5):
            assert lacking(store, most) == left[:most]
            with store.read() as tx:
                assert tx.terms.lacking(COMPARTMENT, SPACE, 2, most) == left[most : most + 2]
        assert lacking(store, space="other") == [IDS[2], IDS[0], IDS[4]]
        lie(store, *left)
        assert lacking(store) == []
        index(store, IDS[3])
        assert lacking(store) == [IDS[3]]

    def test_those_of_the_newest_changes_that_lack_a_vector_are_told_newest_first(self, store: Store) -> None:
        def newest_lacking(most: int, space: str = SPACE) -> list[str]:
            with store.read() as tx:
                return tx.terms.newest_lacking(COMPARTMENT, space, most)

        index(store, IDS[2], IDS[0], IDS[3], IDS[1])
        index(store, IDS[4], compartment=TRAVEL)
        assert newest_lacking(9) == [IDS[1], IDS[3], IDS[0], IDS[2]]
        assert newest_lacking(2) == [IDS[1], IDS[3]]
        lie(store, IDS[1], IDS[0])
        assert (newest_lacking(2), newest_lacking(9)) == ([IDS[3]], [IDS[3], IDS[2]])
        assert newest_lacking(1, "other") == [IDS[1]]
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[3],))
        assert (newest_lacking(1), newest_lacking(9)) == ([], [IDS[2]])

    def test_a_line_that_never_gets_a_vector_is_told_before_those_behind_it(self, store: Store) -> None:
        index(store, *IDS[:4])
        lie(store, *IDS[1:3])
        assert lacking(store) == [IDS[0], IDS[3]]
        lie(store, IDS[3])
        index(store, IDS[4])
        assert lacking(store) == [IDS[0], IDS[4]]
        lie(store, IDS[0], IDS[4])
        assert lacking(store) == []

    def test_a_compartment_that_had_all_its_vectors_lacks_them_when_it_begins_anew(
        self, store: Store
    ) -> None:
        for compartment in (COMPARTMENT, TRAVEL):
            index(store, *IDS[:3], compartment=compartment)
            lie(store, *IDS[:3], compartment=compartment)
        with store.write() as tx:
            tx.terms.delete_compartment(COMPARTMENT)
        index(store, *IDS[1:3])
        assert lacking(store) == IDS[1:3]
        index(store, IDS[3], compartment=TRAVEL)
        assert lacking(store, compartment=TRAVEL) == [IDS[3]]

    def test_each_space_lacks_what_it_lacks(self, store: Store) -> None:
        index(store, *IDS[:2])
        lie(store, *IDS[:2])
        assert lacking(store, space="other") == IDS[:2]
        index(store, IDS[2])
        lie(store, *IDS[:3], space="other")
        assert (lacking(store), lacking(store, space="other")) == ([IDS[2]], [])
        with store.write() as tx:
            tx.terms.leave("other", EVERYTHING)
        assert (lacking(store), lacking(store, space="other")) == ([IDS[2]], IDS[:3])

    def test_many_vectors_are_given_and_taken_at_once(self, store: Store) -> None:
        ids = [numbered(0, n) for n in range(1200)]
        index(store, *ids[:-1])
        lie(store, *reversed(ids))
        found = vectors_since(store, 0)
        assert sorted(vector.id for vector in found) == ids[:-1]
        assert len({vector.seq for vector in found}) == len(found)
        assert lacking(store) == []
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, ids[:-2])
        assert lying(store).keys() == {ids[-2]}

    def test_each_space_tells_how_many_vectors_it_has(self, store: Store) -> None:
        assert spaces(store) == {}
        for compartment in (COMPARTMENT, *ELSEWHERE):
            index(store, *IDS[:2], compartment=compartment)
            lie(store, *IDS[:2], compartment=compartment)
        lie(store, IDS[0], space="Space")
        lie(store, IDS[0])
        assert spaces(store) == {SPACE: 8, "Space": 1}
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[0],))
            assert tx.terms.spaces() == {SPACE: 7}

    def test_a_space_is_left_in_steps(self, store: Store) -> None:
        for compartment in (COMPARTMENT, *ELSEWHERE):
            index(store, *IDS[:3], compartment=compartment)
            lie(store, *IDS[:3], compartment=compartment, space="old")
        lie(store, *IDS[:3])
        with store.write() as tx:
            assert tx.terms.leave("older", 9) == 0
            assert tx.terms.leave("old", 0) == 0
            for gone in (5, 5, 2, 0):
                assert tx.terms.leave("old", 5) == gone
        for compartment in (COMPARTMENT, *ELSEWHERE):
            assert lying(store, compartment, "old") == {}
            assert lacking(store, compartment=compartment, space="old") == IDS[:3]
        assert lying(store).keys() == set(IDS[:3])
        assert spaces(store) == {SPACE: 3}

    def test_a_space_that_was_left_can_be_filled_again(self, store: Store) -> None:
        index(store, IDS[0], IDS[1])
        lie(store, IDS[0], IDS[1])
        with store.write() as tx:
            tx.terms.leave(SPACE, EVERYTHING)
        lie(store, IDS[1], sealed=b"again")
        assert lying(store) == {IDS[1]: b"again"}
        assert lacking(store) == [IDS[0]]
