"""What a store promises of lines that are over, and of those that have come to an age."""

from __future__ import annotations

import pytest

from contracts.store_scenes import COMPARTMENT, IDS, OWNER, TRAVEL, WORKSPACE, append, sealed_line, span
from souvenance.domain.line import PROFILE
from souvenance.domain.retention import Aged, Hidden
from souvenance.ports.store import EVERYTHING, Store, Transaction, TurnQuery, ViewQuery, WrappedKey

NOW = 10
ELSEWHERE = COMPARTMENT._replace(workspace="elsewhere")


def _ids(tx: Transaction) -> set[str]:
    """The ids of all lines that any way of reading shows."""
    places = (COMPARTMENT, TRAVEL)
    found = set(tx.lines.ids(span("work", "travel")))
    assert found == {line.id for line in tx.lines.walk(span("work", "travel", history=True))}
    assert found == {line.id for place in places for line in tx.lines.get_all(place, IDS)}
    assert found == {one for place in places for one in IDS if tx.lines.get(place, one) is not None}
    assert len(found) == sum(map(tx.lines.count, places))
    assert len(found) == sum(count for *_, count, _ in tx.lines.storage(WORKSPACE, None, None))
    assert len(found) == sum(count for _, count, _ in tx.lines.storage_by_kind(WORKSPACE, None, None))
    return found


class RetentionContract:
    def test_a_line_is_hidden_from_its_very_millisecond_on(self, store: Store) -> None:
        append(store, sealed_line(IDS[0], expires_at=NOW), sealed_line(IDS[1]))
        with store.read() as tx:
            assert _ids(tx) == {IDS[0], IDS[1]}
            tx.lines.hide(lambda: Hidden(NOW - 1))
            assert _ids(tx) == {IDS[0], IDS[1]}
            tx.lines.hide(lambda: Hidden(NOW))
            assert _ids(tx) == {IDS[1]}
            tx.lines.hide(None)
            assert _ids(tx) == {IDS[0], IDS[1]}

    def test_the_next_transaction_sees_everything_again(self, store: Store) -> None:
        append(store, sealed_line(IDS[0], expires_at=NOW))
        for _ in range(2):
            with store.read() as tx:
                assert _ids(tx) == {IDS[0]}
                tx.lines.hide(lambda: Hidden(NOW))
        for _ in range(2):
            with store.write() as tx:
                assert _ids(tx) == {IDS[0]}
                tx.lines.hide(lambda: Hidden(NOW))

    def test_a_hidden_message_is_not_read_and_its_turn_stays_taken(self, store: Store) -> None:
        append(store, sealed_line(IDS[0], session="s", turn=1), *_said(IDS[1], turn=2, expires_at=NOW))
        with store.write() as tx:
            tx.lines.hide(lambda: Hidden(NOW))
            assert [line.turn for line in tx.lines.turns(TurnQuery(WORKSPACE, "s"))] == [1]
            assert tx.lines.count_turns(WORKSPACE, "s") == 1
            assert [line.id for line in tx.lines.of_session(WORKSPACE, OWNER, "s")] == [IDS[0]]
            assert tx.lines.activity(WORKSPACE, None, 0, 1000) == [(OWNER, 0, 1, 1)]
            assert tx.lines.last_turn(WORKSPACE, "s") == 2
            assert not tx.lines.append(sealed_line(IDS[2], session="s", turn=2))
            assert not tx.lines.append(sealed_line(IDS[1]))

    def test_a_hidden_conclusion_is_not_read(self, store: Store) -> None:
        view = {"kind": "conclusion", "about": "bob", "likeness": b"like"}
        append(store, sealed_line(IDS[0], expires_at=NOW, **view))
        with store.read() as tx:
            query = ViewQuery(WORKSPACE, ("conclusion",))
            assert len(tx.lines.views(query)) == 1
            tx.lines.hide(lambda: Hidden(NOW))
            assert tx.lines.views(query) == []
            assert tx.lines.view(WORKSPACE, IDS[0]) is None
            assert tx.lines.alike(COMPARTMENT, "bob", b"like") is None
            assert tx.lines.observers(WORKSPACE, "bob", None) == []

    def test_a_hidden_line_is_deleted_like_others(self, store: Store) -> None:
        append(store, sealed_line(IDS[0], expires_at=NOW), sealed_line(IDS[0], TRAVEL, expires_at=NOW))
        with store.write() as tx:
            tx.lines.hide(lambda: Hidden(NOW))
            assert tx.lines.delete(COMPARTMENT, (IDS[0],)) == 1
            assert tx.lines.delete_compartment(TRAVEL) == 1
        with store.read() as tx:
            assert _ids(tx) == set()

    def test_what_is_over_is_told_the_longest_first(self, store: Store) -> None:
        append(store, sealed_line(IDS[0], expires_at=NOW), sealed_line(IDS[1], TRAVEL, expires_at=NOW - 1))
        append(store, sealed_line(IDS[2], expires_at=NOW + 1), sealed_line(IDS[3]))
        append(store, sealed_line(IDS[4], ELSEWHERE, expires_at=NOW - 2))
        with store.read() as tx:
            tx.lines.hide(lambda: Hidden(NOW))
            assert [line.id for line in tx.lines.over(WORKSPACE, NOW, 9)] == [IDS[1], IDS[0]]
            assert [line.id for line in tx.lines.over(WORKSPACE, NOW, 1)] == [IDS[1]]
            assert tx.lines.expiring(NOW) == "elsewhere"
            assert tx.lines.expiring(NOW, WORKSPACE) == WORKSPACE
            assert tx.lines.expiring(NOW, "nowhere") is None
            assert tx.lines.expiring(NOW - 3) is None

    @pytest.mark.parametrize(
        ("aged", "found"),
        [
            (Aged(IDS[2]), {0, 1}),
            (Aged(IDS[1], namespace="travel"), set()),
            (Aged(IDS[7], namespace="travel"), {1}),
            (Aged(IDS[7], kinds=(PROFILE,)), {2}),
            (Aged(IDS[7], namespace="work", kinds=("memory", "note")), {0}),
            (Aged(IDS[7], said=True), set()),
            (Aged(""), set()),
        ],
    )
    def test_what_has_come_to_an_age_is_found_and_can_be_hidden(
        self, store: Store, aged: Aged, found: set[int]
    ) -> None:
        lines = (sealed_line(IDS[0]), sealed_line(IDS[1], TRAVEL), sealed_line(IDS[2], kind=PROFILE))
        append(store, *lines, sealed_line(IDS[0], ELSEWHERE))
        wanted = {IDS[at] for at in found}
        with store.write() as tx:
            for compartment in (COMPARTMENT, TRAVEL, ELSEWHERE):
                tx.keys.add(WrappedKey(compartment, "seal", tx.keys.next_epoch(WORKSPACE), b"key"))
            assert {line.id for line in tx.lines.aged(WORKSPACE, aged, EVERYTHING)} == wanted
            assert len(tx.lines.aged(WORKSPACE, aged, 1)) == min(1, len(wanted))
            assert tx.lines.aged_counted(WORKSPACE, aged) == len(wanted)
            tx.lines.hide(lambda: Hidden(NOW, WORKSPACE, [aged]))
            assert _ids(tx) == {line.id for line in lines} - wanted
            assert tx.lines.get(ELSEWHERE, IDS[0]) is not None

    def test_sessions_with_turns_of_an_age_are_told_in_order(self, store: Store) -> None:
        append(store, *_said(IDS[0], "t", 1), *_said(IDS[1], "s", 1), *_said(IDS[2], "s", 2))
        append(store, *_said(IDS[5], "u", 1), sealed_line(IDS[3], session="v"))
        with store.write() as tx:
            tx.keys.add(WrappedKey(COMPARTMENT, "seal", tx.keys.next_epoch(WORKSPACE), b"key"))
            aged = Aged(IDS[4])
            assert tx.lines.aged_sessions(WORKSPACE, aged, "", 9) == ["s", "t"]
            assert tx.lines.aged_sessions(WORKSPACE, aged, "", 1) == ["s"]
            assert tx.lines.aged_sessions(WORKSPACE, aged, "s", 9) == ["t"]
            said = Aged(IDS[4], said=True)
            assert {line.id for line in tx.lines.aged(WORKSPACE, said, 9)} == set(IDS[:3])
            assert (tx.lines.aged_counted(WORKSPACE, aged), tx.lines.aged_counted(WORKSPACE, said)) == (4, 3)


def _said(line_id: str, session: str = "s", turn: int = 1, expires_at: int | None = None):
    return [sealed_line(line_id, session=session, turn=turn, expires_at=expires_at)]
