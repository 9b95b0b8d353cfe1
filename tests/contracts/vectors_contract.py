"""What a book promises of the vectors of its lines: a part of `BookContract`."""

from __future__ import annotations

import pytest

from contracts.store_scenes import (
    ELSEWHERE,
    IDS,
    ROOM,
    SPACE,
    TRAVEL,
    changes_since,
    numbered,
    vectors_since,
)
from souvenance.domain.names import Compartment
from souvenance.ports.store import EVERYTHING, Store


def index(book: Store, *line_ids: str, room: Compartment = ROOM) -> None:
    with book.write() as tx:
        for line_id in line_ids:
            tx.terms.add(room, line_id, b"tokens", b"\x01")


def lie(
    book: Store, *line_ids: str, sealed: bytes = b"vector", room: Compartment = ROOM, space: str = SPACE
) -> None:
    with book.write() as tx:
        tx.terms.lie(room, space, [(line_id, sealed) for line_id in line_ids])


def lying(book: Store, room: Compartment = ROOM, space: str = SPACE) -> dict[str, bytes]:
    """The vectors of a room, by line."""
    return {vector.id: vector.sealed for vector in vectors_since(book, 0, room, space)}


def lacking(book: Store, most: int = EVERYTHING, room: Compartment = ROOM, space: str = SPACE) -> list[str]:
    with book.read() as tx:
        return tx.terms.lacking(room, space, most)


def spaces(book: Store) -> dict[str, int]:
    with book.read() as tx:
        return tx.terms.spaces()


class VectorsContract:
    def test_a_vector_is_read_back_as_it_was_given(self, book: Store) -> None:
        index(book, IDS[0], IDS[1])
        lie(book, IDS[0], sealed=bytes(range(256)))
        lie(book, IDS[1], sealed=b"\0")
        found = vectors_since(book, 0)
        assert [(vector.id, vector.sealed) for vector in found] == [
            (IDS[0], bytes(range(256))),
            (IDS[1], b"\0"),
        ]

    def test_only_what_was_given_after_is_told_in_order(self, book: Store) -> None:
        index(book, *IDS)
        lie(book, IDS[5], IDS[3])
        lie(book, IDS[4])
        lie(book, *IDS[:2])
        found = vectors_since(book, 0)
        assert {vector.id for vector in found[:2]} == {IDS[5], IDS[3]}
        assert found[2].id == IDS[4]
        assert [vector.seq for vector in found] == sorted({vector.seq for vector in found})
        for n, vector in enumerate(found):
            assert vectors_since(book, vector.seq) == found[n + 1 :]

    def test_a_vector_takes_the_place_of_an_older_one_and_is_told_again(self, book: Store) -> None:
        index(book, IDS[0], IDS[1])
        lie(book, IDS[0], IDS[1], sealed=b"old")
        followed = vectors_since(book, 0)[-1].seq
        for sealed in (b"new", b"newer", b"newer"):
            lie(book, IDS[0], sealed=sealed)
            (told,) = vectors_since(book, followed)
            assert told[1:] == (IDS[0], sealed)
            followed = told.seq
        assert lying(book) == {IDS[0]: b"newer", IDS[1]: b"old"}

    def test_of_two_vectors_given_to_a_line_at_once_the_last_stays(self, book: Store) -> None:
        index(book, IDS[0])
        with book.write() as tx:
            tx.terms.lie(ROOM, SPACE, [(IDS[0], b"first"), (IDS[0], b"last")])
        assert [vector.sealed for vector in vectors_since(book, 0)] == [b"last"]

    def test_what_is_given_to_a_line_that_is_not_indexed_is_dropped(self, book: Store) -> None:
        index(book, IDS[0], IDS[1])
        with book.write() as tx:
            tx.terms.remove(ROOM, (IDS[1],))
        index(book, IDS[2], room=TRAVEL)
        lie(book, *IDS[:4])
        lie(book)
        assert lying(book) == {IDS[0]: b"vector"}
        assert lying(book, TRAVEL) == {}
        index(book, IDS[1])
        assert lying(book) == {IDS[0]: b"vector"}

    def test_a_line_without_tokens_may_have_a_vector(self, book: Store) -> None:
        with book.write() as tx:
            tx.terms.add(ROOM, IDS[0], b"", b"")
            tx.terms.lie(ROOM, SPACE, [(IDS[0], b"vector")])
        assert lying(book) == {IDS[0]: b"vector"}

    def test_a_line_has_a_vector_in_each_space(self, book: Store) -> None:
        index(book, IDS[0], IDS[1])
        lie(book, IDS[0], sealed=b"there", space="other")
        lie(book, IDS[0], IDS[1], sealed=b"here")
        lie(book, IDS[1], sealed=b"there", space="other")
        lie(book, IDS[0], sealed=b"new here")
        assert lying(book) == {IDS[0]: b"new here", IDS[1]: b"here"}
        assert lying(book, space="other") == {IDS[0]: b"there", IDS[1]: b"there"}
        assert lying(book, space="third") == {}

    def test_vectors_of_one_room_are_not_seen_in_another(self, book: Store) -> None:
        for room in (ROOM, *ELSEWHERE):
            index(book, IDS[0], room=room)
        lie(book, IDS[0])
        for room in ELSEWHERE:
            assert lying(book, room) == {}
            assert lacking(book, room=room) == [IDS[0]]
            lie(book, IDS[0], sealed=b"elsewhere", room=room)
        assert lying(book) == {IDS[0]: b"vector"}

    def test_vectors_go_with_their_lines_in_every_space(self, book: Store) -> None:
        for room in (ROOM, TRAVEL):
            index(book, *IDS[:3], room=room)
            for space in (SPACE, "other"):
                lie(book, *IDS[:3], room=room, space=space)
        with book.write() as tx:
            tx.terms.remove(ROOM, (IDS[0], IDS[2], IDS[5]))
        for space in (SPACE, "other"):
            assert lying(book, space=space).keys() == {IDS[1]}
            assert lying(book, TRAVEL, space).keys() == set(IDS[:3])
        index(book, IDS[0])
        assert lying(book).keys() == {IDS[1]}
        assert lacking(book) == [IDS[0]]

    def test_vectors_go_with_their_room(self, book: Store) -> None:
        for room in (ROOM, *ELSEWHERE):
            index(book, *IDS[:2], room=room)
            lie(book, *IDS[:2], room=room)
        with book.write() as tx:
            tx.terms.delete_room(ROOM)
        assert lying(book) == {}
        assert lacking(book) == []
        for room in ELSEWHERE:
            assert len(lying(book, room)) == 2
        assert spaces(book) == {SPACE: 6}

    @pytest.mark.parametrize("at_once", [True, False])
    def test_whoever_followed_to_the_end_is_told_of_a_vector_that_follows_a_removed_one(
        self, book: Store, at_once: bool
    ) -> None:
        index(book, *IDS[:4])
        lie(book, IDS[0])
        lie(book, IDS[1], space="other")
        for n in range(1, 4):
            followed = vectors_since(book, 0)[-1].seq
            with book.write() as tx:
                tx.terms.remove(ROOM, (IDS[n - 1],))
                if at_once:
                    tx.terms.lie(ROOM, SPACE, [(IDS[n], b"vector")])
            if not at_once:
                lie(book, IDS[n])
            assert [vector.id for vector in vectors_since(book, followed)] == [IDS[n]]

    def test_vectors_are_no_changes_of_the_tokens(self, book: Store) -> None:
        index(book, IDS[0])
        changes = changes_since(book, 0)
        lie(book, IDS[0])
        lie(book, IDS[0], space="other")
        assert changes_since(book, 0) == changes
        index(book, IDS[1])
        assert [change.id for change in changes_since(book, changes[-1].seq)] == [IDS[1]]

    def test_lines_that_lack_a_vector_are_told_in_the_order_in_which_they_came(self, book: Store) -> None:
        index(book, IDS[2], IDS[0], IDS[3], IDS[1], IDS[4])
        assert lacking(book) == [IDS[2], IDS[0], IDS[3], IDS[1], IDS[4]]
        lie(book, IDS[0])
        lie(book, IDS[1], space="other")
        with book.write() as tx:
            tx.terms.remove(ROOM, (IDS[3],))
        left = [IDS[2], IDS[1], IDS[4]]
        for most in range(5):
            assert lacking(book, most) == left[:most]
            with book.read() as tx:
                assert tx.terms.lacking(ROOM, SPACE, 2, most) == left[most : most + 2]
        assert lacking(book, space="other") == [IDS[2], IDS[0], IDS[4]]
        lie(book, *left)
        assert lacking(book) == []
        index(book, IDS[3])
        assert lacking(book) == [IDS[3]]

    def test_those_of_the_newest_changes_that_lack_a_vector_are_told_newest_first(self, book: Store) -> None:
        def newest_lacking(most: int, space: str = SPACE) -> list[str]:
            with book.read() as tx:
                return tx.terms.newest_lacking(ROOM, space, most)

        index(book, IDS[2], IDS[0], IDS[3], IDS[1])
        index(book, IDS[4], room=TRAVEL)
        assert newest_lacking(9) == [IDS[1], IDS[3], IDS[0], IDS[2]]
        assert newest_lacking(2) == [IDS[1], IDS[3]]
        lie(book, IDS[1], IDS[0])
        assert (newest_lacking(2), newest_lacking(9)) == ([IDS[3]], [IDS[3], IDS[2]])
        assert newest_lacking(1, "other") == [IDS[1]]
        with book.write() as tx:
            tx.terms.remove(ROOM, (IDS[3],))
        assert (newest_lacking(1), newest_lacking(9)) == ([], [IDS[2]])

    def test_a_line_that_never_gets_a_vector_is_told_before_those_behind_it(self, book: Store) -> None:
        index(book, *IDS[:4])
        lie(book, *IDS[1:3])
        assert lacking(book) == [IDS[0], IDS[3]]
        lie(book, IDS[3])
        index(book, IDS[4])
        assert lacking(book) == [IDS[0], IDS[4]]
        lie(book, IDS[0], IDS[4])
        assert lacking(book) == []

    def test_a_room_that_had_all_its_vectors_lacks_them_when_it_begins_anew(self, book: Store) -> None:
        for room in (ROOM, TRAVEL):
            index(book, *IDS[:3], room=room)
            lie(book, *IDS[:3], room=room)
        with book.write() as tx:
            tx.terms.delete_room(ROOM)
        index(book, *IDS[1:3])
        assert lacking(book) == IDS[1:3]
        index(book, IDS[3], room=TRAVEL)
        assert lacking(book, room=TRAVEL) == [IDS[3]]

    def test_each_space_lacks_what_it_lacks(self, book: Store) -> None:
        index(book, *IDS[:2])
        lie(book, *IDS[:2])
        assert lacking(book, space="other") == IDS[:2]
        index(book, IDS[2])
        lie(book, *IDS[:3], space="other")
        assert (lacking(book), lacking(book, space="other")) == ([IDS[2]], [])
        with book.write() as tx:
            tx.terms.leave("other", EVERYTHING)
        assert (lacking(book), lacking(book, space="other")) == ([IDS[2]], IDS[:3])

    def test_many_vectors_are_given_and_taken_at_once(self, book: Store) -> None:
        ids = [numbered(0, n) for n in range(1200)]
        index(book, *ids[:-1])
        lie(book, *reversed(ids))
        found = vectors_since(book, 0)
        assert sorted(vector.id for vector in found) == ids[:-1]
        assert len({vector.seq for vector in found}) == len(found)
        assert lacking(book) == []
        with book.write() as tx:
            tx.terms.remove(ROOM, ids[:-2])
        assert lying(book).keys() == {ids[-2]}

    def test_each_space_tells_how_many_vectors_it_has(self, book: Store) -> None:
        assert spaces(book) == {}
        for room in (ROOM, *ELSEWHERE):
            index(book, *IDS[:2], room=room)
            lie(book, *IDS[:2], room=room)
        lie(book, IDS[0], space="Space")
        lie(book, IDS[0])
        assert spaces(book) == {SPACE: 8, "Space": 1}
        with book.write() as tx:
            tx.terms.remove(ROOM, (IDS[0],))
            assert tx.terms.spaces() == {SPACE: 7}

    def test_a_space_is_left_in_steps(self, book: Store) -> None:
        for room in (ROOM, *ELSEWHERE):
            index(book, *IDS[:3], room=room)
            lie(book, *IDS[:3], room=room, space="old")
        lie(book, *IDS[:3])
        with book.write() as tx:
            assert tx.terms.leave("older", 9) == 0
            assert tx.terms.leave("old", 0) == 0
            for gone in (5, 5, 2, 0):
                assert tx.terms.leave("old", 5) == gone
        for room in (ROOM, *ELSEWHERE):
            assert lying(book, room, "old") == {}
            assert lacking(book, room=room, space="old") == IDS[:3]
        assert lying(book).keys() == set(IDS[:3])
        assert spaces(book) == {SPACE: 3}

    def test_a_space_that_was_left_can_be_filled_again(self, book: Store) -> None:
        index(book, IDS[0], IDS[1])
        lie(book, IDS[0], IDS[1])
        with book.write() as tx:
            tx.terms.leave(SPACE, EVERYTHING)
        lie(book, IDS[1], sealed=b"again")
        assert lying(book) == {IDS[1]: b"again"}
        assert lacking(book) == [IDS[0]]
