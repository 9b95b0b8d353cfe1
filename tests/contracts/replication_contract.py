"""The contract of `souvenance.ports.replication` as tests; a part of the book's.

class TestMyShipments(ShipmentsContract):
    @pytest.fixture
    def book(self) -> Book:
        return MyBook()
"""

from __future__ import annotations

from contracts.store_scenes import ELSEWHERE, IDS, ROOM, sealed_line
from souvenance.ports.replication import KEY, LINE, REPLACED, Shipment
from souvenance.ports.store import Store, WrappedKey

NOTED = [Shipment(ROOM, LINE, line_id, "noted") for line_id in IDS[:3]]


def _note(book: Store, *shipments: Shipment) -> None:
    with book.write() as tx:
        tx.shipments.note(shipments)


def _claimed(book: Store, stamp: str = "mine", now: int = 1000, most: int = 100) -> list[Shipment]:
    with book.write() as tx:
        return list(tx.shipments.claim(stamp, now=now, until=now + 100, most=most))


class ShipmentsContract:
    def test_what_was_noted_is_claimed_by_one_until_its_time_is_over(self, book: Store) -> None:
        _note(book, *reversed(NOTED))
        mine = _claimed(book, most=2)
        assert mine == [one._replace(stamp="mine", tries=1) for one in NOTED[:2]]
        assert _claimed(book, "yours") == [NOTED[2]._replace(stamp="yours", tries=1)]
        assert _claimed(book, "theirs", now=1099) == []
        with book.read() as tx:
            assert [tx.shipments.due(now) for now in (1099, 1100)] == [False, True]
        assert [one.tries for one in _claimed(book, "theirs", now=1100)] == [2, 2, 2]

    def test_what_was_carried_is_not_claimed_again(self, book: Store) -> None:
        _note(book, *NOTED)
        with book.write() as tx:
            for one in tx.shipments.claim("mine", now=1, until=2, most=2):
                tx.shipments.done(one)
        assert [one.name for one in _claimed(book)] == [NOTED[2].name]

    def test_what_was_noted_anew_meanwhile_stays_and_is_due_at_once(self, book: Store) -> None:
        _note(book, NOTED[0])
        [mine] = _claimed(book)
        _note(book, NOTED[0]._replace(stamp="changed again"))
        with book.write() as tx:
            tx.shipments.done(mine)
        assert len(_claimed(book)) == 1

    def test_what_another_took_away_meanwhile_is_looked_at_once_more(self, book: Store) -> None:
        """Whoever was slow may have put something that is outdated by now."""
        _note(book, NOTED[0])
        [mine] = _claimed(book)
        [yours] = _claimed(book, "yours", now=5000)
        with book.write() as tx:
            tx.shipments.done(yours)
        with book.read() as tx:
            assert tx.shipments.waiting() == 0
        with book.write() as tx:
            tx.shipments.done(mine)
        assert len(_claimed(book)) == 1

    def test_what_is_postponed_waits_until_then(self, book: Store) -> None:
        _note(book, NOTED[0])
        [mine] = _claimed(book)
        with book.write() as tx:
            tx.shipments.postpone(mine, 9000)
            tx.shipments.postpone(mine._replace(stamp="not mine"), 1)
        assert _claimed(book, now=8999) == []
        assert len(_claimed(book, now=9000)) == 1

    def test_those_that_wait_are_counted_by_workspace_and_owner(self, book: Store) -> None:
        _note(book, *NOTED, *(Shipment(room, LINE, IDS[0], "x") for room in ELSEWHERE))
        with book.read() as tx:
            assert tx.shipments.waiting() == len(NOTED) + len(ELSEWHERE)
            assert tx.shipments.waiting("other") == 1
            assert tx.shipments.waiting(ROOM.workspace, "bob") == 1
            assert tx.shipments.waiting(ROOM.workspace, ROOM.owner) == len(NOTED) + 1

    def test_everything_in_the_book_can_be_noted(self, book: Store) -> None:
        with book.write() as tx:
            tx.lines.append(sealed_line(IDS[0]))
            tx.lines.append(sealed_line(IDS[1]))
            tx.lines.invalidate(ROOM, IDS[0], IDS[1])
            tx.keys.add(WrappedKey(ROOM, "seal", 12, b"wrapped"))
            tx.shipments.note_everything("all")
        assert [(one.what, one.name) for one in _claimed(book)] == [
            (KEY, "seal-12"),
            (LINE, IDS[0]),
            (LINE, IDS[1]),
            (REPLACED, IDS[0]),
        ]

    def test_a_book_is_mirrored_from_when_it_was_begun(self, book: Store) -> None:
        with book.read() as tx:
            assert not tx.shipments.mirrored()
        with book.write() as tx:
            tx.shipments.begin()
        with book.read() as tx:
            assert tx.shipments.mirrored()
