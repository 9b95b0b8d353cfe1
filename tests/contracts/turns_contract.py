"""What a store promises of the turns of a session: a part of `StoreContract`."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest
from msgspec.structs import replace

from contracts.store_scenes import (
    COMPARTMENT,
    ELSEWHERE,
    IDS,
    OWNER,
    TRAVEL,
    TWINS,
    WORKSPACE,
    GiveUp,
    append,
    sealed_line,
    span,
)
from souvenance.domain.line import TOMBSTONE, LinePlace, SealedLine, shared_fields
from souvenance.domain.names import Compartment
from souvenance.ports.store import Store, TurnQuery, WrappedKey

SESSION = "Tuesday"
BOB = COMPARTMENT._replace(owner="bob")
WHOLE = TurnQuery(WORKSPACE, SESSION)


def message(
    turn: int | None, compartment: Compartment = COMPARTMENT, session: str | None = SESSION
) -> SealedLine:
    """A line whose id runs against its turn, so that one order is not taken for the other."""
    return sealed_line(IDS[7 - (turn or 0)], compartment, kind="message", session=session, turn=turn)


def said(store: Store, asked: TurnQuery) -> list[tuple[int | None, str]]:
    with store.read() as tx:
        return [(line.turn, line.compartment.owner) for line in tx.lines.turns(asked)]


class TurnsContract:
    def test_turns_come_in_order_whoever_owns_them(self, store: Store) -> None:
        append(store, message(3), message(1, BOB), message(2, TRAVEL))
        with store.read() as tx:
            assert tx.lines.turns(WHOLE) == [message(1, BOB), message(2, TRAVEL), message(3)]
            assert tx.lines.turns(replace(WHOLE, newest_first=True)) == [
                message(3),
                message(2, TRAVEL),
                message(1, BOB),
            ]

    def test_activity_counts_the_turns_of_each_owner_in_steps_of_time(self, store: Store) -> None:
        early, late = replace(message(1), created_at=100), replace(message(2), occurred_at=250)
        append(store, early, late, replace(message(3, BOB), created_at=260), message(None))
        append(store, replace(message(4, TRAVEL), created_at=299))
        with store.read() as tx:
            found = tx.lines.activity(WORKSPACE, None, 200, 50)
            at = message(None).created_at
            assert found == [
                (OWNER, None, 1, at),
                (OWNER, -1, 1, 100),
                (OWNER, 1, 2, 299),
                ("bob", 1, 1, 260),
            ]
            assert tx.lines.activity(WORKSPACE, (TRAVEL.namespace,), 0, 1000) == [(OWNER, 0, 1, 299)]
            assert tx.lines.activity(WORKSPACE, None, 200, 50, ("bob", "eve")) == [("bob", 1, 1, 260)]
            assert tx.lines.activity(WORKSPACE, None, 200, 50, ()) == []
            assert tx.lines.activity("elsewhere", None, 0, 50) == []

    def test_the_newest_line_of_each_owner_is_found_where_there_are_keys(self, store: Store) -> None:
        with store.write() as tx:
            for compartment in (message(1).compartment, BOB, TRAVEL):
                tx.keys.add(WrappedKey(compartment, "line", 1, b"key"))
        append(store, message(1), message(2, TRAVEL), message(3, BOB))
        with store.read() as tx:
            mine = max(message(1).id, message(2, TRAVEL).id)
            assert tx.lines.newest_ids(WORKSPACE, None) == {OWNER: mine, "bob": message(3, BOB).id}
            assert tx.lines.newest_ids(WORKSPACE, (TRAVEL.namespace,)) == {OWNER: message(2, TRAVEL).id}
            assert tx.lines.newest_ids(WORKSPACE, ()) == {}
            assert tx.lines.newest_ids("elsewhere", None) == {}

    def test_lines_without_a_turn_are_not_among_them(self, store: Store) -> None:
        append(store, message(1), message(None), sealed_line(IDS[3], session=None, turn=2))
        assert said(store, WHOLE) == [(1, OWNER)]
        with store.read() as tx:
            assert tx.lines.count_turns(WORKSPACE, SESSION) == 1
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 1

    def test_both_bounds_of_the_turns_are_inclusive(self, store: Store) -> None:
        append(store, *(message(turn) for turn in range(1, 6)))
        for first, last in product(range(7), [None, *range(7)]):
            expected = [turn for turn in range(1, 6) if first <= turn and (last is None or turn <= last)]
            assert said(store, replace(WHOLE, first=first, last=last)) == [(turn, OWNER) for turn in expected]

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_pages_of_turns_are_cut_out_of_what_was_asked_for(self, store: Store, newest_first: bool) -> None:
        append(store, *(message(turn, BOB if turn % 3 == 0 else COMPARTMENT) for turn in range(1, 8)))
        for owner in (None, OWNER, "bob"):
            asked = replace(WHOLE, first=2, owner=owner, newest_first=newest_first)
            whole = said(store, asked)
            for offset, limit in product(range(8), [None, *range(8)]):
                end = None if limit is None else offset + limit
                assert said(store, replace(asked, offset=offset, limit=limit)) == whole[offset:end]

    def test_turns_may_be_those_of_one_owner(self, store: Store) -> None:
        append(store, message(1), message(2, BOB), message(3, TRAVEL), message(4, BOB))
        assert said(store, replace(WHOLE, owner="bob")) == [(2, "bob"), (4, "bob")]
        assert said(store, replace(WHOLE, owner=OWNER)) == [(1, OWNER), (3, OWNER)]
        assert said(store, replace(WHOLE, owner="nobody")) == []

    def test_turns_that_were_replaced_are_still_turns(self, store: Store) -> None:
        append(store, message(1), replace(message(2), kind=TOMBSTONE))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[6], IDS[5])
        with store.read() as tx:
            first, _ = tx.lines.turns(WHOLE)
            assert first == replace(message(1), invalidated_by=IDS[5])

    def test_a_turn_that_is_taken_is_not_stored_again(self, store: Store) -> None:
        append(store, message(1))
        with store.write() as tx:
            for compartment in (COMPARTMENT, TRAVEL, BOB):
                assert not tx.lines.append(replace(message(1, compartment), id=IDS[1]))
            assert tx.lines.append(replace(message(1), id=IDS[1], session="Wednesday"))
            assert tx.lines.append(replace(message(1), id=IDS[2], session=None))
            assert tx.lines.append(replace(message(1), id=IDS[3], session=None))
            assert tx.lines.append(message(1, ELSEWHERE[0]))
        assert said(store, WHOLE) == [(1, OWNER)]

    @pytest.mark.parametrize("twin", TWINS)
    def test_sessions_compare_byte_for_byte(self, store: Store, twin: str) -> None:
        append(store, message(1, session="ann"))
        with store.write() as tx:
            assert tx.lines.turns(TurnQuery(WORKSPACE, twin)) == []
            assert tx.lines.last_turn(WORKSPACE, twin) == 0
            assert tx.lines.append(replace(message(1, session=twin), id=IDS[0]))
            assert [line.id for line in tx.lines.turns(TurnQuery(WORKSPACE, twin))] == [IDS[0]]
            assert [place.id for place in tx.lines.of_session(WORKSPACE, OWNER, twin)] == [IDS[0]]
            assert [line.id for line in tx.lines.turns(TurnQuery(WORKSPACE, "ann"))] == [IDS[6]]

    def test_turns_of_another_workspace_are_another_conversation(self, store: Store) -> None:
        append(store, message(1), message(1, ELSEWHERE[0]), message(2, ELSEWHERE[0]))
        with store.read() as tx:
            assert tx.lines.turns(WHOLE) == [message(1)]
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 1
            assert tx.lines.count_turns("other", SESSION) == tx.lines.last_turn("other", SESSION) == 2

    def test_the_last_turn_is_the_highest_and_0_without_any(self, store: Store) -> None:
        with store.write() as tx:
            assert tx.lines.last_turn(WORKSPACE, SESSION) == tx.lines.count_turns(WORKSPACE, SESSION) == 0
            for turn in (2, 5, 3):
                tx.lines.append(message(turn))
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 5
            assert tx.lines.count_turns(WORKSPACE, SESSION) == 3
            tx.lines.append(message(6, BOB))
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 6
        with store.read() as tx:
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 6

    def test_the_last_turn_goes_back_with_what_is_deleted_or_undone(self, store: Store) -> None:
        append(store, message(1), message(2), message(3, BOB))
        with store.write() as tx:
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 3
            tx.lines.delete_compartment(BOB)
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 2
            tx.lines.delete(COMPARTMENT, (IDS[5],))
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 1
        with suppress(GiveUp), store.write() as tx:
            tx.lines.append(message(7))
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 7
            raise GiveUp
        with store.write() as tx:
            assert tx.lines.last_turn(WORKSPACE, SESSION) == 1

    def test_every_line_of_an_owner_in_a_session_is_told_by_its_place(self, store: Store) -> None:
        kept = [
            replace(message(1, TRAVEL), about="bob", occurred_at=3, supersedes=IDS[0]),
            sealed_line(IDS[0], session=SESSION, kind="conclusion"),
            message(2),
        ]
        append(store, *kept[::-1], message(3, BOB), message(4, session="Wednesday"), sealed_line(IDS[1]))
        append(store, message(1, ELSEWHERE[0]))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
        with store.read() as tx:
            assert tx.lines.of_session(WORKSPACE, OWNER, SESSION) == [place_of(line) for line in kept]
            assert tx.lines.of_session(WORKSPACE, "nobody", SESSION) == []

    def test_new_metadata_replaces_the_old_and_nothing_else(self, store: Store) -> None:
        append(store, message(1), message(1, ELSEWHERE[0]))
        with store.write() as tx:
            assert tx.lines.annotate(COMPARTMENT, IDS[6], '{"naïve":"日本"}')
            assert not tx.lines.annotate(COMPARTMENT, IDS[5], "{}")
            assert not tx.lines.annotate(TRAVEL, IDS[6], "{}")
        with store.read() as tx:
            changed = replace(message(1), metadata='{"naïve":"日本"}')
            assert tx.lines.turns(WHOLE) == tx.lines.walk(span()) == [changed]
            assert tx.lines.get(ELSEWHERE[0], IDS[6]) == message(1, ELSEWHERE[0])


def place_of(line: SealedLine) -> LinePlace:
    return LinePlace(**shared_fields(LinePlace, line))
