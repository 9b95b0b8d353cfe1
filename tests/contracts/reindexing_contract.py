"""What a store promises of the renewal of what lines are found by: a part of `StoreContract`."""

from __future__ import annotations

from collections.abc import Sequence

from contracts.store_scenes import COMPARTMENT, ELSEWHERE, IDS, TRAVEL, WORKSPACE, changes_since, numbered
from souvenance.domain.change_feed import Saying
from souvenance.domain.names import Compartment
from souvenance.ports.index import Debt, Renewed
from souvenance.ports.store import Store, WrappedKey

SPACE = "here"
MANY = 1000


def index(store: Store, ids: Sequence[str] = IDS[:4], compartment: Compartment = COMPARTMENT) -> None:
    with store.write() as tx:
        for line_id in ids:
            tx.terms.add(compartment, line_id, b"old", b"\x01", Saying("talk", 3, 7))


def owe(store: Store, *compartments: Compartment) -> None:
    with store.write() as tx:
        tx.renewal.owe(compartments)


class RenewalContract:
    def test_a_store_remembers_by_which_analysis_its_tokens_are_made(self, store: Store) -> None:
        with store.read() as tx:
            assert tx.renewal.analysis() == ""
        for version in ("1.1", "2"):
            with store.write() as tx:
                tx.renewal.analyse_by(version)
            with store.read() as tx:
                assert tx.renewal.analysis() == version

    def test_of_a_line_far_back_in_a_long_compartment_its_new_tokens_are_told(self, store: Store) -> None:
        index(store, [numbered(0, n) for n in range(700)])
        before = changes_since(store, 0)
        renewed = [Renewed(before[at].seq, before[at].id, b"new", b"\x02") for at in (0, 300, 301, 699)]
        with store.write() as tx:
            tx.renewal.renew(COMPARTMENT, renewed)
        after = changes_since(store, 0)
        assert [change[:4] for change, was in zip(after, before, strict=True) if change != was] == renewed
        assert changes_since(store, after[0].seq) == after[1:]

    def test_compartments_are_owed_one_after_the_other_until_they_are_settled(self, store: Store) -> None:
        with store.read() as tx:
            assert tx.renewal.next() is None
        owe(store, COMPARTMENT, TRAVEL, *ELSEWHERE)
        settled = []
        with store.write() as tx:
            while (debt := tx.renewal.next()) is not None:
                assert debt.seq == 0
                settled.append(debt.compartment)
                tx.renewal.settle(debt.compartment)
        assert settled == sorted({COMPARTMENT, TRAVEL, *ELSEWHERE})

    def test_what_is_owed_can_be_asked_for_one_workspace(self, store: Store) -> None:
        owe(store, COMPARTMENT)
        with store.read() as tx:
            assert tx.renewal.next(WORKSPACE) == tx.renewal.next(*COMPARTMENT) == Debt(COMPARTMENT, 0)
            assert tx.renewal.next("nowhere") is None

    def test_a_compartment_that_is_owed_again_stays_as_far_as_it_is(self, store: Store) -> None:
        owe(store, COMPARTMENT)
        with store.write() as tx:
            tx.renewal.reach(Debt(COMPARTMENT, 2))
        owe(store, COMPARTMENT)
        with store.read() as tx:
            assert tx.renewal.next() == Debt(COMPARTMENT, 2)

    def test_what_was_reached_is_not_gone_back_from_and_what_is_not_owed_is_not_reached(
        self, store: Store
    ) -> None:
        owe(store, COMPARTMENT)
        with store.write() as tx:
            tx.renewal.reach(Debt(COMPARTMENT, 3))
            tx.renewal.reach(Debt(COMPARTMENT, 2))
            tx.renewal.reach(Debt(TRAVEL, 2))
            assert tx.renewal.next() == Debt(COMPARTMENT, 3)
            tx.renewal.settle(COMPARTMENT)
            assert tx.renewal.next() is None

    def test_the_lines_of_a_debt_come_in_order_behind_what_was_reached(self, store: Store) -> None:
        index(store)
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[1],))
        with store.read() as tx:
            first = tx.renewal.lines(Debt(COMPARTMENT, 0), 2)
            assert [line_id for _, line_id in first] == [IDS[0], IDS[2]]
            rest = tx.renewal.lines(Debt(COMPARTMENT, first[-1][0]), 2)
            assert [line_id for _, line_id in rest] == [IDS[3]]
            assert tx.renewal.lines(Debt(TRAVEL, 0), 2) == []

    def test_a_renewed_line_has_its_new_tokens_in_its_old_place_and_keeps_its_vector(
        self, store: Store
    ) -> None:
        index(store)
        with store.write() as tx:
            tx.terms.lie(COMPARTMENT, SPACE, [(IDS[1], b"vector")])
            (_, (seq, line_id), *_) = tx.renewal.lines(Debt(COMPARTMENT, 0), MANY)
            tx.renewal.renew(COMPARTMENT, [Renewed(seq, line_id, b"new", b"\x02")])
        found = changes_since(store, 0)
        assert [(change.id, change.tokens, change.counts) for change in found] == [
            (one, b"new", b"\x02") if one == IDS[1] else (one, b"old", b"\x01") for one in IDS[:4]
        ]
        assert all(change.said == Saying("talk", 3, 7) for change in found)
        with store.read() as tx:
            assert [vector.id for vector in tx.terms.vectors(COMPARTMENT, SPACE, 0)] == [IDS[1]]

    def test_a_line_that_left_meanwhile_is_not_brought_back(self, store: Store) -> None:
        index(store)
        with store.read() as tx:
            found = tx.renewal.lines(Debt(COMPARTMENT, 0), MANY)
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[2],))
            tx.renewal.renew(COMPARTMENT, [Renewed(seq, line_id, b"new", b"\x02") for seq, line_id in found])
        indexed = {change.id for change in changes_since(store, 0) if change.tokens is not None}
        assert indexed == {IDS[0], IDS[1], IDS[3]}

    def test_a_compartment_that_is_deleted_is_owed_no_longer(self, store: Store) -> None:
        owe(store, COMPARTMENT, TRAVEL)
        with store.write() as tx:
            tx.terms.delete_compartment(COMPARTMENT)
            assert tx.renewal.next() == Debt(TRAVEL, 0)

    def test_what_is_left_is_counted_where_it_is_asked_for(self, store: Store) -> None:
        for compartment in (COMPARTMENT, TRAVEL, ELSEWHERE[0]):
            index(store, compartment=compartment)
            with store.write() as tx:
                tx.keys.add(WrappedKey(compartment, "seal", 1, b"wrapped"))
                tx.keys.add(WrappedKey(compartment, "blind", 1, b"wrapped"))
        owe(store, COMPARTMENT, ELSEWHERE[0])
        with store.write() as tx:
            tx.renewal.reach(Debt(COMPARTMENT, tx.renewal.lines(Debt(COMPARTMENT, 0), MANY)[0][0]))
            tx.terms.remove(ELSEWHERE[0], IDS[:1])
            tx.terms.lie(TRAVEL, SPACE, [(IDS[0], b"vector"), (IDS[1], b"vector")])
            tx.terms.lie(TRAVEL, "elsewhere", [(IDS[2], b"vector")])
        with store.read() as tx:
            assert tx.renewal.owed() == 6
            assert tx.renewal.owed(*COMPARTMENT) == tx.renewal.owed(*ELSEWHERE[0]) == 3
            assert tx.renewal.owed(*TRAVEL) == 0
            assert tx.renewal.lacking(SPACE) == 4 + 2 + 3
            assert tx.renewal.lacking(SPACE, *TRAVEL) == 2
            assert tx.renewal.lacking(SPACE, COMPARTMENT.workspace, COMPARTMENT.owner) == tx.renewal.lacking(
                SPACE, *COMPARTMENT
            ) + tx.renewal.lacking(SPACE, *TRAVEL)
