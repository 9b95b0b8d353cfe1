"""What a store promises of its lines and of the feed of their tokens: the larger half of `StoreContract`."""

from __future__ import annotations

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
    append,
    changes_since,
    numbered,
    sealed_line,
    span,
    walked,
)
from souvenance.domain.change_feed import Saying
from souvenance.domain.line import PROFILE, TOMBSTONE
from souvenance.ports.store import ALL_BEFORE, LineQuery, Store


class LinesContract:
    def test_storage_is_counted_by_owner_namespace_and_kind(self, store: Store) -> None:
        append(store, sealed_line(IDS[0], sealed=b"12"), sealed_line(IDS[1], sealed=b"345"))
        append(
            store, sealed_line(IDS[2], TRAVEL, sealed=b"6"), sealed_line(IDS[3], kind=PROFILE, sealed=b"78")
        )
        append(store, sealed_line(IDS[0], COMPARTMENT._replace(workspace="elsewhere"), sealed=b"9"))
        with store.read() as tx:
            here, there = (OWNER, COMPARTMENT.namespace, 3, 7), (OWNER, TRAVEL.namespace, 1, 1)
            assert tx.lines.storage(WORKSPACE, None, None) == sorted((here, there))
            assert tx.lines.storage(WORKSPACE, OWNER, (TRAVEL.namespace,)) == [there]
            assert tx.lines.storage(WORKSPACE, "nobody", None) == []
            usual, profile = (sealed_line(IDS[0]).kind, 3, 6), (PROFILE, 1, 2)
            assert tx.lines.storage_by_kind(WORKSPACE, None, None) == sorted((usual, profile))
            assert tx.lines.storage_by_kind(WORKSPACE, OWNER, (TRAVEL.namespace,)) == [(usual[0], 1, 1)]
            assert tx.lines.storage_by_kind(WORKSPACE, "nobody", None) == []

    def test_a_line_is_read_back_as_it_was_stored(self, store: Store) -> None:
        full = sealed_line(
            IDS[1],
            kind="card",
            session="Gespräch 会议 🗂",
            created_at=(1 << 48) - 1,
            occurred_at=-62_135_596_800_000,
            supersedes=IDS[0],
            cap="01ARZ3NDEKTSV4RRFFQ69G5FAV",
            metadata='{"naïve":"日本"}',
            epoch=(1 << 32) - 1,
            sealed=bytes(range(256)),
            turn=(1 << 53) - 1,
            about="Größe 会",
            tokens=12,
            likeness=bytes(range(255, -1, -1)),
            times=7,
        )
        append(store, sealed_line(IDS[0]), full)
        with store.read() as tx:
            assert tx.lines.get(COMPARTMENT, IDS[1]) == full
            assert tx.lines.walk(span()) == [sealed_line(IDS[0]), full]

    def test_an_id_that_is_taken_is_not_stored_again(self, store: Store) -> None:
        first = sealed_line()
        append(store, first)
        with store.write() as tx:
            assert not tx.lines.append(first)
            assert not tx.lines.append(sealed_line())
            assert not tx.lines.append(sealed_line(sealed=b"another", kind="card", session="s", turn=1))
        with store.read() as tx:
            assert tx.lines.walk(span()) == [first]

    def test_the_same_id_in_another_compartment_is_another_line(self, store: Store) -> None:
        append(store, sealed_line())
        append(
            store,
            *(
                sealed_line(compartment=compartment, sealed=repr(compartment).encode())
                for compartment in ELSEWHERE
            ),
        )
        with store.read() as tx:
            assert tx.lines.get(COMPARTMENT, IDS[0]) == sealed_line()
            for compartment in ELSEWHERE:
                assert tx.lines.get(compartment, IDS[0]) == sealed_line(
                    compartment=compartment, sealed=repr(compartment).encode()
                )

    @pytest.mark.parametrize("twin", TWINS)
    def test_owners_and_workspaces_compare_byte_for_byte(self, store: Store, twin: str) -> None:
        append(store, sealed_line())
        for compartment in (COMPARTMENT._replace(owner=twin), COMPARTMENT._replace(workspace=twin)):
            with store.read() as tx:
                assert tx.lines.count(compartment) == 0
            append(store, sealed_line(compartment=compartment))
        with store.read() as tx:
            assert tx.lines.count(COMPARTMENT) == 1

    def test_ids_compare_byte_for_byte(self, store: Store) -> None:
        written = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        append(store, sealed_line(written))
        with store.read() as tx:
            assert tx.lines.get(COMPARTMENT, written.lower()) is None

    def test_a_walk_is_in_order_of_id_then_namespace(self, store: Store) -> None:
        append(
            store,
            *(sealed_line(IDS[n], compartment) for n in (2, 0, 1) for compartment in (COMPARTMENT, TRAVEL)),
        )
        upward = [(line_id, namespace) for line_id in IDS[:3] for namespace in ("travel", "work")]
        assert walked(store, span("work", "travel")) == upward
        assert walked(store, span("travel", "work", newest_first=True)) == upward[::-1]

    def test_both_bounds_of_a_walk_are_exclusive(self, store: Store) -> None:
        append(store, *(sealed_line(line_id) for line_id in IDS[:5]))
        bounded = span(after=(IDS[0], "work"), before=IDS[4])
        assert walked(store, bounded) == [(line_id, "work") for line_id in IDS[1:4]]
        assert walked(store, replace(bounded, newest_first=True)) == [
            (line_id, "work") for line_id in IDS[3:0:-1]
        ]

    def test_a_walk_goes_on_behind_a_namespace_of_the_same_id(self, store: Store) -> None:
        append(
            store,
            *(
                sealed_line(line_id, compartment)
                for line_id in IDS[:2]
                for compartment in (COMPARTMENT, TRAVEL)
            ),
        )
        both = span("travel", "work")
        assert walked(store, replace(both, after=(IDS[0], "travel"))) == [
            (IDS[0], "work"),
            (IDS[1], "travel"),
            (IDS[1], "work"),
        ]
        assert walked(store, replace(both, after=(IDS[0], "work")))[0] == (IDS[1], "travel")
        assert walked(store, replace(both, after=(IDS[0], ALL_BEFORE)))[0] == (IDS[1], "travel")

    @pytest.mark.parametrize("page", [1, 2, 3, 5, 100])
    def test_pages_of_any_size_give_every_line_once(self, store: Store, page: int) -> None:
        append(
            store,
            *(
                sealed_line(line_id, compartment)
                for line_id in IDS[:4]
                for compartment in (COMPARTMENT, TRAVEL)
            ),
        )
        asked = span("travel", "work", limit=page)
        expected = walked(store, replace(asked, limit=100))
        found: list[tuple[str, str]] = []
        for _ in range(len(expected) + 1):
            following = walked(store, replace(asked, after=found[-1] if found else None))
            assert len(following) <= page
            found.extend(following)
        assert found == expected
        assert len(set(found)) == 8

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_a_limit_holds_over_all_namespaces_together(self, store: Store, newest_first: bool) -> None:
        append(
            store,
            *(
                sealed_line(line_id, compartment)
                for line_id in IDS[:3]
                for compartment in (COMPARTMENT, TRAVEL)
            ),
        )
        asked = span("travel", "work", newest_first=newest_first)
        whole = walked(store, asked)
        for limit in range(8):
            assert walked(store, replace(asked, limit=limit)) == whole[:limit]

    def test_lines_that_are_passed_over_do_not_count_towards_the_limit(self, store: Store) -> None:
        append(store, *(sealed_line(line_id, session="s") for line_id in IDS[:4]), sealed_line(IDS[4]))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[4])
        assert walked(store, span(limit=2)) == [(IDS[1], "work"), (IDS[2], "work")]
        assert walked(store, span(limit=2, sessions={"s"}, newest_first=True))[0] == (IDS[3], "work")

    def test_a_walk_of_some_sessions_gives_only_their_lines(self, store: Store) -> None:
        append(
            store,
            sealed_line(IDS[0], session="one"),
            sealed_line(IDS[1], session="two"),
            sealed_line(IDS[2], session="three"),
            sealed_line(IDS[3]),
        )
        assert walked(store, span(sessions={"one", "three"})) == [(IDS[0], "work"), (IDS[2], "work")]
        assert walked(store, span(sessions={"ONE"})) == []

    def test_no_sessions_and_no_namespaces_are_not_all_of_them(self, store: Store) -> None:
        append(store, sealed_line(session="one"))
        assert walked(store, span(sessions=())) == []
        assert walked(store, LineQuery(WORKSPACE, OWNER, ())) == []

    def test_a_walk_passes_over_invalidated_lines_and_tombstones(self, store: Store) -> None:
        append(store, *(sealed_line(line_id) for line_id in IDS[:3]), sealed_line(IDS[3], kind=TOMBSTONE))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[3])
        assert walked(store, span()) == [(IDS[1], "work"), (IDS[2], "work")]

    def test_history_shows_what_was_replaced_and_by_what(self, store: Store) -> None:
        append(store, sealed_line(IDS[0]), sealed_line(IDS[1], kind=TOMBSTONE, supersedes=IDS[0]))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
        with store.read() as tx:
            old, tombstone = tx.lines.walk(span(history=True))
            assert old == tx.lines.get(COMPARTMENT, IDS[0]) == sealed_line(IDS[0], invalidated_by=IDS[1])
            assert tombstone.kind == TOMBSTONE

    def test_a_walk_of_the_profile_gives_only_its_lines(self, store: Store) -> None:
        kinds = (PROFILE, "memory", PROFILE, TOMBSTONE, PROFILE)
        append(store, *(sealed_line(IDS[n], kind=kind) for n, kind in enumerate(kinds)))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[2], IDS[3])
        assert walked(store, span(profile=True)) == [(IDS[0], "work"), (IDS[4], "work")]
        assert walked(store, span(profile=True, limit=1, newest_first=True)) == [(IDS[4], "work")]
        assert walked(store, span(profile=True, history=True)) == [(IDS[n], "work") for n in (0, 2, 4)]

    def test_ids_are_those_that_a_walk_gives(self, store: Store) -> None:
        append(
            store,
            *(
                sealed_line(IDS[n], compartment, session="ab"[n % 2])
                for n in range(4)
                for compartment in (COMPARTMENT, TRAVEL)
            ),
            sealed_line(IDS[5], kind=PROFILE, session="a"),
            sealed_line(IDS[4], kind=TOMBSTONE),
        )
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[1], IDS[4])
        choices = product(
            [("work",), ("travel", "work")],
            [None, (IDS[0], "travel"), (IDS[1], ALL_BEFORE)],
            [None, IDS[3]],
            [None, ("a",)],
            [False, True],
            [False, True],
            [1, 3, 100],
            [False, True],
        )
        with store.read() as tx:
            for choice in choices:
                asked = LineQuery(WORKSPACE, OWNER, *choice)
                assert tx.lines.ids(asked) == [line.id for line in tx.lines.walk(asked)], asked

    def test_a_line_is_replaced_once(self, store: Store) -> None:
        append(store, *(sealed_line(line_id) for line_id in IDS[:3]), sealed_line(IDS[0], TRAVEL))
        with store.write() as tx:
            assert tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
            assert not tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[2])
        with store.read() as tx:
            assert tx.lines.get(COMPARTMENT, IDS[0]) == sealed_line(IDS[0], invalidated_by=IDS[1])
            assert tx.lines.get(TRAVEL, IDS[0]) == sealed_line(IDS[0], TRAVEL)

    def test_a_line_that_is_not_there_can_not_be_replaced(self, store: Store) -> None:
        with store.write() as tx:
            assert not tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
        append(store, sealed_line())
        assert walked(store, span()) == [(IDS[0], "work")]

    def test_a_deleted_line_is_gone(self, store: Store) -> None:
        append(store, sealed_line(IDS[0]), sealed_line(IDS[1]))
        with store.write() as tx:
            assert tx.lines.delete(COMPARTMENT, (IDS[0],)) == 1
            assert tx.lines.delete(COMPARTMENT, (IDS[0],)) == 0
        with store.read() as tx:
            assert tx.lines.get(COMPARTMENT, IDS[0]) is None
            assert tx.lines.walk(span(history=True)) == [sealed_line(IDS[1])]
            assert tx.lines.count(COMPARTMENT) == 1

    def test_many_lines_are_read_at_once_in_order_of_id(self, store: Store) -> None:
        ids = [numbered(0, n) for n in range(1200)]
        append(store, *(sealed_line(line_id) for line_id in ids), sealed_line(ids[0], TRAVEL))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, ids[0], ids[1])
        with store.read() as tx:
            found = tx.lines.get_all(COMPARTMENT, [*reversed(ids), ids[0], numbered(1, 0)])
            assert [line.id for line in found] == ids
            assert found[0] == sealed_line(ids[0], invalidated_by=ids[1])
            assert tx.lines.get_all(TRAVEL, ids) == [sealed_line(ids[0], TRAVEL)]
            assert tx.lines.get_all(COMPARTMENT, ()) == []

    def test_many_lines_are_deleted_at_once_and_counted(self, store: Store) -> None:
        ids = [numbered(0, n) for n in range(1200)]
        append(store, *(sealed_line(line_id) for line_id in ids), sealed_line(ids[0], TRAVEL))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, ids[0], ids[1])
            assert tx.lines.delete(COMPARTMENT, ()) == 0
            assert tx.lines.delete(COMPARTMENT, [*ids[:-1], ids[0], IDS[7], numbered(1, 0)]) == len(ids) - 1
            assert tx.lines.count(COMPARTMENT) == 1
            assert tx.lines.append(sealed_line(ids[0]))
        assert walked(store, span("travel", "work")) == [
            (ids[0], "travel"),
            (ids[0], "work"),
            (ids[-1], "work"),
        ]

    def test_a_walk_of_very_many_sessions_gives_their_lines_in_order(self, store: Store) -> None:
        ids = [numbered(0, n) for n in range(1200)]
        append(store, *(sealed_line(line_id, session=f"s{n % 700}") for n, line_id in enumerate(ids)))
        asked = span(sessions={f"s{n}" for n in range(650)}, limit=1000)
        expected = [line_id for n, line_id in enumerate(ids) if n % 700 < 650]
        assert walked(store, asked) == [(line_id, "work") for line_id in expected[:1000]]
        newest = walked(store, replace(asked, newest_first=True, limit=10))
        assert newest == [(line_id, "work") for line_id in expected[: -len(newest) - 1 : -1]]

    def test_with_a_deleted_line_the_note_of_what_replaced_it_goes(self, store: Store) -> None:
        append(store, sealed_line(IDS[0]), sealed_line(IDS[1]))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
            tx.lines.delete(COMPARTMENT, (IDS[0],))
        append(store, sealed_line(IDS[0]))
        assert walked(store, span()) == [(IDS[0], "work"), (IDS[1], "work")]

    def test_what_a_deleted_line_replaced_stays_invalidated(self, store: Store) -> None:
        append(store, sealed_line(IDS[0]), sealed_line(IDS[1], supersedes=IDS[0]))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
            tx.lines.delete(COMPARTMENT, (IDS[1],))
        assert walked(store, span()) == []
        with store.read() as tx:
            assert tx.lines.walk(span(history=True)) == [sealed_line(IDS[0], invalidated_by=IDS[1])]

    def test_a_deleted_compartment_is_empty_and_says_how_many_lines_it_had(self, store: Store) -> None:
        append(store, *(sealed_line(line_id) for line_id in IDS[:3]), sealed_line(IDS[0], TRAVEL))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
            tx.lines.invalidate(TRAVEL, IDS[0], IDS[1])
            assert tx.lines.delete_compartment(COMPARTMENT) == 3
            assert tx.lines.delete_compartment(COMPARTMENT) == 0
        append(store, sealed_line(IDS[0]))
        assert walked(store, span("travel", "work")) == [(IDS[0], "work")]
        with store.read() as tx:
            assert tx.lines.get(TRAVEL, IDS[0]) == sealed_line(IDS[0], TRAVEL, invalidated_by=IDS[1])

    def test_a_count_is_of_every_line_of_the_compartment(self, store: Store) -> None:
        append(store, sealed_line(IDS[0]), sealed_line(IDS[1], kind=TOMBSTONE), sealed_line(IDS[0], TRAVEL))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
        with store.read() as tx:
            assert tx.lines.count(COMPARTMENT) == 2

    def test_compartments_and_namespaces_are_told_in_order_while_they_hold_a_line(self, store: Store) -> None:
        names = ("work", "a", "travel", "a.b", "a-b")
        compartments = [COMPARTMENT._replace(namespace=name) for name in names]
        compartments += [*ELSEWHERE[:2], COMPARTMENT._replace(owner="bob", namespace="a")]
        append(store, *(sealed_line(compartment=compartment) for compartment in compartments))
        with store.write() as tx:
            assert tx.lines.namespaces(WORKSPACE, OWNER) == sorted(names)
            assert tx.lines.compartments() == sorted(compartments)
            assert tx.lines.namespaces("other", "bob") == []
            tx.lines.invalidate(COMPARTMENT, IDS[0], IDS[1])
            tx.lines.delete(TRAVEL, (IDS[0],))
            tx.lines.delete_compartment(compartments[1])
        with store.read() as tx:
            assert tx.lines.namespaces(WORKSPACE, OWNER) == ["a-b", "a.b", "work"]
            assert tx.lines.compartments() == sorted(
                compartment for compartment in compartments if compartment not in (TRAVEL, compartments[1])
            )


class TermsContract:
    def test_a_long_feed_is_told_alike_from_its_beginning_and_from_anywhere_in_it(self, store: Store) -> None:
        ids = [numbered(0, n) for n in range(700)]
        for first in range(0, len(ids), 70):
            with store.write() as tx:
                for n in range(first, first + 70):
                    tx.terms.add(COMPARTMENT, ids[n], n.to_bytes(8, "little"), b"\x01", Saying("s", n, n))
        for gone in ({ids[5]}, {ids[255], ids[256], ids[300]}, {*ids[310:590]}, {ids[-1]}):
            with store.write() as tx:
                tx.terms.remove(COMPARTMENT, gone)
            found = changes_since(store, 0)
            ids = [line_id for line_id in ids if line_id not in gone]
            assert [change.id for change in found if change.tokens is not None] == ids
            assert {change.id for change in found[-len(gone) :]} == gone
            for at in range(0, len(found), 50):
                assert changes_since(store, found[at].seq) == found[at + 1 :]

    def test_changes_come_in_the_order_they_were_made(self, store: Store) -> None:
        with store.write() as tx:
            for n in range(3):
                tx.terms.add(COMPARTMENT, IDS[2 - n], bytes(8 * n), bytes(n))
        changes = changes_since(store, 0)
        assert [(change.id, change.tokens, change.counts) for change in changes] == [
            (IDS[2 - n], bytes(8 * n), bytes(n)) for n in range(3)
        ]
        assert changes[0].seq < changes[1].seq < changes[2].seq

    @pytest.mark.parametrize(
        "said",
        [
            Saying(),
            Saying("s", 1, 9),
            Saying("Gespräch 会议 🗂", (1 << 53) - 1, (1 << 48) - 1),
            Saying("s", None, -62_135_596_800_000),
            Saying("", 0, 0),
        ],
    )
    def test_where_and_when_a_line_was_said_is_read_back(self, store: Store, said: Saying) -> None:
        with store.write() as tx:
            tx.terms.add(COMPARTMENT, IDS[0], b"tokens", b"\x01", said)
        (change,) = changes_since(store, 0)
        assert change[1:] == (IDS[0], b"tokens", b"\x01", said)

    def test_a_removed_line_no_longer_says_where_it_was_said(self, store: Store) -> None:
        with store.write() as tx:
            tx.terms.add(COMPARTMENT, IDS[0], b"tokens", b"\x01", Saying("s", 1, 9))
            tx.terms.remove(COMPARTMENT, (IDS[0],))
        (change,) = changes_since(store, 0)
        assert change[1:] == (IDS[0], None, b"", Saying())

    def test_only_what_came_after_is_told(self, store: Store) -> None:
        with store.write() as tx:
            for line_id in IDS[:4]:
                tx.terms.add(COMPARTMENT, line_id, b"", b"")
        changes = changes_since(store, 0)
        for n, change in enumerate(changes):
            assert changes_since(store, change.seq) == changes[n + 1 :]

    def test_a_removed_line_has_no_tokens_left(self, store: Store) -> None:
        with store.write() as tx:
            tx.terms.add(COMPARTMENT, IDS[0], b"tokens 0", b"\x01")
            tx.terms.add(COMPARTMENT, IDS[1], b"tokens 1", b"\x01")
            tx.terms.remove(COMPARTMENT, (IDS[0],))
        assert [(change.id, change.tokens) for change in changes_since(store, 0)] == [
            (IDS[1], b"tokens 1"),
            (IDS[0], None),
        ]

    @pytest.mark.parametrize("removed", IDS[:3])
    def test_whoever_followed_to_the_end_is_told_of_a_removal(self, store: Store, removed: str) -> None:
        with store.write() as tx:
            for line_id in IDS[:3]:
                tx.terms.add(COMPARTMENT, line_id, b"tokens", b"\x01")
        followed = changes_since(store, 0)[-1].seq
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (removed,))
        assert [(change.id, change.tokens) for change in changes_since(store, followed)] == [(removed, None)]

    def test_whoever_followed_to_the_end_is_told_of_everything_after_it(self, store: Store) -> None:
        known: set[str] = set()
        followed = 0
        steps = [("add", 0), ("remove", 0), ("add", 0), ("add", 1), ("remove", 1), ("remove", 0), ("add", 2)]
        present: set[str] = set()
        for step, n in steps:
            with store.write() as tx:
                if step == "add":
                    tx.terms.add(COMPARTMENT, IDS[n], b"tokens", b"\x01")
                    present.add(IDS[n])
                else:
                    tx.terms.remove(COMPARTMENT, (IDS[n],))
                    present.discard(IDS[n])
            for change in changes_since(store, followed):
                followed = change.seq
                known = known - {change.id} if change.tokens is None else known | {change.id}
            assert known == present, (step, n)

    def test_many_lines_are_removed_at_once_and_each_is_told_once(self, store: Store) -> None:
        ids = [numbered(0, n) for n in range(1200)]
        with store.write() as tx:
            for line_id in (*ids, ids[0]):
                tx.terms.add(COMPARTMENT, line_id, b"tokens", b"\x01")
            tx.terms.add(TRAVEL, ids[0], b"tokens", b"\x01")
        followed = changes_since(store, 0)[-1].seq
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, ())
            tx.terms.remove(COMPARTMENT, [*ids[:-1], ids[0], numbered(1, 0)])
        told = changes_since(store, followed)
        assert sorted(change.id for change in told) == ids[:-1]
        assert {change.tokens for change in told} == {None}
        assert [change.id for change in changes_since(store, 0) if change.tokens is not None] == ids[-1:]
        assert [change.id for change in changes_since(store, 0, TRAVEL)] == ids[:1]

    def test_removing_what_is_not_there_changes_nothing(self, store: Store) -> None:
        with store.write() as tx:
            tx.terms.add(COMPARTMENT, IDS[0], b"tokens", b"\x01")
        before = changes_since(store, 0)
        with store.write() as tx:
            tx.terms.remove(COMPARTMENT, (IDS[1],))
            tx.terms.remove(TRAVEL, (IDS[0],))
        assert changes_since(store, 0) == before
        assert changes_since(store, 0, TRAVEL) == []

    def test_a_line_without_tokens_is_not_a_removed_line(self, store: Store) -> None:
        with store.write() as tx:
            tx.terms.add(COMPARTMENT, IDS[0], b"", b"")
        assert [change.tokens for change in changes_since(store, 0)] == [b""]

    def test_a_deleted_compartment_has_no_changes(self, store: Store) -> None:
        with store.write() as tx:
            for compartment in (COMPARTMENT, TRAVEL):
                tx.terms.add(compartment, IDS[0], b"tokens", b"\x01")
            tx.terms.delete_compartment(COMPARTMENT)
        assert changes_since(store, 0) == []
        assert [change.id for change in changes_since(store, 0, TRAVEL)] == [IDS[0]]
