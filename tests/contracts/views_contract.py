"""What a store promises of the lines about peers and of what they follow from: a part of `StoreContract`."""

from __future__ import annotations

from itertools import product
from typing import Any

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
    numbered,
    sealed_line,
    span,
)
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.ports.store import Store, ViewQuery

BOB = COMPARTMENT._replace(owner="bob")
OTHER = ELSEWHERE[0]
ALL_KINDS = ("conclusion", "deduction", "card")
WHOLE = ViewQuery(WORKSPACE, ALL_KINDS)


def view(
    n: int, compartment: Compartment = COMPARTMENT, about: str | None = "eve", **changes: Any
) -> SealedLine:
    return sealed_line(IDS[n], compartment, **{"kind": "conclusion", "about": about, **changes})


def seen(store: Store, asked: ViewQuery) -> list[str]:
    with store.read() as tx:
        return [line.id for line in tx.lines.views(asked)]


class ViewsContract:
    def test_lines_about_peers_come_newest_first_whoever_holds_them(self, store: Store) -> None:
        views = [view(3), view(0, TRAVEL), view(2, BOB, "ann"), view(1, kind="card")]
        append(store, *views, view(4, about=None), view(5, OTHER))
        with store.read() as tx:
            assert tx.lines.views(WHOLE) == sorted(views, key=lambda line: line.id, reverse=True)

    def test_observers_are_counted_with_their_newest_line_about_a_peer(self, store: Store) -> None:
        append(store, view(0), view(3, kind="card"), view(1, TRAVEL), view(2, BOB), view(4, about="ann"))
        append(store, view(5, OTHER), view(6))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[6], IDS[3])
        with store.read() as tx:
            assert tx.lines.observers(WORKSPACE, "eve", None) == [(OWNER, 3, IDS[3]), ("bob", 1, IDS[2])]
            assert tx.lines.observers(WORKSPACE, "eve", (TRAVEL.namespace,)) == [(OWNER, 1, IDS[1])]
            assert tx.lines.observers(WORKSPACE, "eve", ()) == []
            assert tx.lines.observers(WORKSPACE, "nobody", None) == []

    def test_views_are_of_the_kinds_holder_subject_and_sessions_asked_for(self, store: Store) -> None:
        made = [
            view(n, compartment, about, kind=kind, session=session)
            for n, (compartment, about, kind, session) in enumerate(
                [
                    (COMPARTMENT, "eve", "conclusion", "s"),
                    (COMPARTMENT, "eve", "card", None),
                    (TRAVEL, "bob", "deduction", "t"),
                    (COMPARTMENT, "bob", "conclusion", "u"),
                    (BOB, "eve", "conclusion", "s"),
                    (BOB, "ann", "card", "t"),
                    (BOB, "bob", "deduction", None),
                    (BOB, "eve", "card", "u"),
                ]
            )
        ]
        append(store, *made)
        choices = product(
            [("conclusion",), ("card", "deduction", "card"), ALL_KINDS, ("memory",), ()],
            [None, OWNER, "bob", "nobody"],
            [None, "eve", "bob", "nobody"],
            [None, ("s",), ("s", "t"), ()],
            [None, 0, 1, 2, 9],
            [
                None,
                (COMPARTMENT.namespace,),
                (TRAVEL.namespace,),
                (TRAVEL.namespace, COMPARTMENT.namespace),
                (),
            ],
        )
        with store.read() as tx:
            for kinds, owner, about, sessions, limit, namespaces in choices:
                expected = [
                    line.id
                    for line in made[::-1]
                    if line.kind in kinds
                    and owner in (None, line.compartment.owner)
                    and about in (None, line.about)
                    and (sessions is None or line.session in sessions)
                    and (namespaces is None or line.compartment.namespace in namespaces)
                ]
                asked = ViewQuery(WORKSPACE, kinds, owner, about, sessions, limit, namespaces)
                assert [line.id for line in tx.lines.views(asked)] == expected[:limit], asked

    def test_views_of_very_many_sessions_come_in_order(self, store: Store) -> None:
        made = [view(0, session=f"s{n}") for n in range(1200)]
        append(store, *(replace(line, id=numbered(0, n)) for n, line in enumerate(made)))
        asked = replace(WHOLE, sessions={f"s{n}" for n in range(0, 1200, 2)})
        expected = [numbered(0, n) for n in range(1198, -1, -2)]
        for limit in (None, 10):
            assert seen(store, replace(asked, limit=limit)) == expected[:limit]
            assert seen(store, replace(asked, limit=limit, owner=OWNER, about="eve")) == expected[:limit]

    def test_what_was_invalidated_is_no_view_and_does_not_count_towards_the_limit(self, store: Store) -> None:
        append(store, view(0), view(1), view(2))
        with store.write() as tx:
            tx.lines.invalidate(COMPARTMENT, IDS[2], IDS[1])
        for asked in (WHOLE, replace(WHOLE, owner=OWNER), replace(WHOLE, owner=OWNER, about="eve")):
            assert seen(store, replace(asked, limit=1)) == [IDS[1]]
            assert seen(store, asked) == [IDS[1], IDS[0]]

    @pytest.mark.parametrize("twin", TWINS)
    def test_holders_and_subjects_compare_byte_for_byte(self, store: Store, twin: str) -> None:
        append(store, view(0, about="ann", likeness=b"one"))
        assert seen(store, replace(WHOLE, about=twin)) == []
        assert seen(store, replace(WHOLE, owner=twin)) == []
        with store.read() as tx:
            assert tx.lines.alike(COMPARTMENT, twin, b"one") is None
        append(store, view(1, about=twin, likeness=b"one"), view(2, COMPARTMENT._replace(owner=twin), "ann"))
        assert seen(store, replace(WHOLE, about=twin)) == [IDS[1]]
        assert seen(store, replace(WHOLE, owner=twin)) == [IDS[2]]
        with store.read() as tx:
            found = tx.lines.alike(COMPARTMENT, twin, b"one")
            assert found is not None
            assert found.id == IDS[1]

    def test_a_view_is_found_by_its_id_alone(self, store: Store) -> None:
        append(store, view(0, BOB), view(1, about=None), view(2, OTHER))
        with store.write() as tx:
            tx.lines.invalidate(BOB, IDS[0], IDS[1])
            assert tx.lines.view(WORKSPACE, IDS[0]) == view(0, BOB, invalidated_by=IDS[1])
            assert tx.lines.view(WORKSPACE, IDS[1]) is None
            assert tx.lines.view(WORKSPACE, IDS[2]) is None
            assert tx.lines.view("other", IDS[2]) == view(2, OTHER)

    def test_a_view_is_found_only_in_the_namespaces_that_are_named(self, store: Store) -> None:
        twins = [view(0, TRAVEL), view(0, BOB._replace(namespace=TRAVEL.namespace)), view(0)]
        append(store, *twins)
        with store.read() as tx:
            assert tx.lines.view(WORKSPACE, IDS[0]) == min(twins, key=lambda line: line.compartment)
            assert tx.lines.view(WORKSPACE, IDS[0], (TRAVEL.namespace,)) == twins[0]
            assert tx.lines.view(WORKSPACE, IDS[0], (COMPARTMENT.namespace, "nowhere")) == twins[2]
            assert tx.lines.view(WORKSPACE, IDS[0], ("nowhere",)) is None
            assert tx.lines.view(WORKSPACE, IDS[0], ()) is None

    def test_the_oldest_line_alike_is_found_in_its_compartment(self, store: Store) -> None:
        append(
            store,
            view(3, likeness=b"one"),
            view(1, likeness=b"one"),
            view(0, likeness=b"two"),
            view(2, likeness=None),
        )
        with store.write() as tx:
            assert tx.lines.alike(COMPARTMENT, "eve", b"one") == view(1, likeness=b"one")
            for compartment, about, likeness in (
                (TRAVEL, "eve", b"one"),
                (BOB, "eve", b"one"),
                (OTHER, "eve", b"one"),
                (COMPARTMENT, "bob", b"one"),
                (COMPARTMENT, "eve", b"ONE"),
                (COMPARTMENT, "eve", b""),
            ):
                assert tx.lines.alike(compartment, about, likeness) is None
            tx.lines.invalidate(COMPARTMENT, IDS[1], IDS[0])
            assert tx.lines.alike(COMPARTMENT, "eve", b"one") == view(3, likeness=b"one")
            tx.lines.delete(COMPARTMENT, (IDS[3],))
            assert tx.lines.alike(COMPARTMENT, "eve", b"one") is None

    def test_what_is_concluded_again_is_counted(self, store: Store) -> None:
        append(store, view(0, times=2), view(1), view(0, TRAVEL))
        with store.write() as tx:
            tx.lines.reinforce(COMPARTMENT, IDS[0], 1)
            tx.lines.reinforce(COMPARTMENT, IDS[0], 3)
            tx.lines.reinforce(COMPARTMENT, IDS[5], 1)
        with store.read() as tx:
            assert tx.lines.walk(span("travel", "work")) == [
                view(0, TRAVEL),
                view(0, times=6),
                view(1),
            ]


class CitationsContract:
    def test_what_a_line_follows_from_is_told_in_order_and_once(self, store: Store) -> None:
        with store.write() as tx:
            tx.lines.cite(COMPARTMENT, IDS[5], (IDS[2], IDS[0]))
            tx.lines.cite(COMPARTMENT, IDS[5], (IDS[1], IDS[0], IDS[1]))
            tx.lines.cite(COMPARTMENT, IDS[6], ())
            tx.lines.cite(BOB, IDS[7], (IDS[3],))
        with store.read() as tx:
            assert tx.lines.cited(WORKSPACE, IDS) == {IDS[5]: IDS[:3], IDS[7]: [IDS[3]]}
            assert tx.lines.cited(WORKSPACE, (IDS[7],)) == {IDS[7]: [IDS[3]]}
            assert tx.lines.cited(WORKSPACE, ()) == {}

    def test_lines_of_one_id_in_two_compartments_follow_each_from_their_own(self, store: Store) -> None:
        with store.write() as tx:
            tx.lines.cite(COMPARTMENT, IDS[5], (IDS[0],))
            tx.lines.cite(BOB, IDS[5], (IDS[1],))
        with store.read() as tx:
            assert tx.lines.cited(WORKSPACE, IDS) == {IDS[5]: IDS[:2]}
            assert tx.lines.cited(WORKSPACE, IDS, compartment=COMPARTMENT) == {IDS[5]: [IDS[0]]}
            assert tx.lines.cited(WORKSPACE, IDS, compartment=BOB) == {IDS[5]: [IDS[1]]}
            assert tx.lines.cited(WORKSPACE, IDS, compartment=TRAVEL) == {}

    def test_the_lines_that_follow_from_any_are_told_in_order_and_once(self, store: Store) -> None:
        with store.write() as tx:
            for compartment, n in ((COMPARTMENT, 6), (TRAVEL, 7), (BOB, 5), (COMPARTMENT, 5)):
                tx.lines.cite(compartment, IDS[n], (IDS[0], IDS[1]))
            tx.lines.cite(COMPARTMENT, IDS[4], (IDS[2],))
        with store.read() as tx:
            assert tx.lines.citing(WORKSPACE, IDS[:2]) == [
                (TRAVEL, IDS[7]),
                (COMPARTMENT, IDS[5]),
                (COMPARTMENT, IDS[6]),
                (BOB, IDS[5]),
            ]
            assert tx.lines.citing(WORKSPACE, (IDS[2],)) == [(COMPARTMENT, IDS[4])]
            assert tx.lines.citing(WORKSPACE, (IDS[3],)) == tx.lines.citing(WORKSPACE, ()) == []

    def test_citations_stay_in_their_workspace(self, store: Store) -> None:
        with store.write() as tx:
            tx.lines.cite(COMPARTMENT, IDS[1], (IDS[0],))
            assert tx.lines.cited("other", IDS) == {}
            assert tx.lines.citing("other", IDS) == []
            tx.lines.cite(OTHER, IDS[1], (IDS[0], IDS[2]))
            tx.lines.uncite("other", (IDS[0],))
            assert tx.lines.cited(WORKSPACE, IDS) == {IDS[1]: [IDS[0]]}
            assert tx.lines.cited("other", IDS) == {IDS[1]: [IDS[2]]}

    def test_what_was_uncited_is_forgotten_for_every_line(self, store: Store) -> None:
        with store.write() as tx:
            for compartment, n in ((COMPARTMENT, 6), (BOB, 7)):
                tx.lines.cite(compartment, IDS[n], IDS[:3])
            tx.lines.uncite(WORKSPACE, ())
            tx.lines.uncite(WORKSPACE, (IDS[0], IDS[2], IDS[5]))
        with store.read() as tx:
            assert tx.lines.cited(WORKSPACE, IDS) == {IDS[6]: [IDS[1]], IDS[7]: [IDS[1]]}

    def test_a_deleted_line_cites_nothing_and_is_cited_until_that_is_taken_back(self, store: Store) -> None:
        append(store, view(0), view(1), view(2), view(1, BOB))
        with store.write() as tx:
            for compartment, n in ((COMPARTMENT, 1), (COMPARTMENT, 2), (BOB, 1)):
                tx.lines.cite(compartment, IDS[n], (IDS[0],))
            tx.lines.cite(COMPARTMENT, IDS[2], (IDS[1],))
            tx.lines.delete(COMPARTMENT, IDS[:2])
            assert tx.lines.citing(WORKSPACE, (IDS[0],)) == [(COMPARTMENT, IDS[2]), (BOB, IDS[1])]
            assert tx.lines.citing(WORKSPACE, (IDS[1],)) == [(COMPARTMENT, IDS[2])]
            tx.lines.uncite(WORKSPACE, IDS[:2])
            assert tx.lines.citing(WORKSPACE, IDS) == []

    def test_the_lines_of_a_deleted_compartment_cite_nothing(self, store: Store) -> None:
        append(store, view(0), view(1), view(1, TRAVEL))
        with store.write() as tx:
            for compartment in (COMPARTMENT, TRAVEL):
                tx.lines.cite(compartment, IDS[1], (IDS[0],))
            assert tx.lines.delete_compartment(COMPARTMENT) == 2
            assert tx.lines.citing(WORKSPACE, IDS) == [(TRAVEL, IDS[1])]

    def test_very_many_citations_are_asked_for_and_taken_back_at_once(self, store: Store) -> None:
        sources = [numbered(0, n) for n in range(1200)]
        lines = [numbered(1, n) for n in range(1200)]
        with store.write() as tx:
            for line_id, source in zip(lines, sources, strict=True):
                tx.lines.cite(COMPARTMENT, line_id, (source,))
            tx.lines.cite(COMPARTMENT, lines[0], sources)
            assert tx.lines.cited(WORKSPACE, lines) == {
                lines[0]: sources,
                **{line_id: [source] for line_id, source in zip(lines[1:], sources[1:], strict=True)},
            }
            assert tx.lines.citing(WORKSPACE, sources) == [
                (COMPARTMENT, line_id) for line_id in sorted(lines)
            ]
            tx.lines.uncite(WORKSPACE, sources[:-1])
            assert tx.lines.citing(WORKSPACE, sources) == sorted(
                [(COMPARTMENT, lines[0]), (COMPARTMENT, lines[-1])]
            )
