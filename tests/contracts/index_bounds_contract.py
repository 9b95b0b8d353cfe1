"""What an index promises of bounds: beyond marks, sessions and `within` there is nothing for a question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest

from contracts.index_scenes import (
    BOB,
    CITY,
    IDS,
    MILK,
    SPACE,
    TEA,
    TO_EAST,
    WORK,
    about,
    add,
    hits,
    index_lines,
    packed,
    search,
)
from souvenance.domain.change_feed import Saying
from souvenance.ports.index import Index, IndexQuery, Inquiry
from souvenance.ports.store import Store

_MARK = 100
_SAID = (
    Saying("s", 1),
    Saying("s", 2),
    Saying("t", 1),
    Saying("t", 2),
    Saying("s", 3),
    Saying("s"),
    Saying(),
    Saying(None, 3),
)
_MARKED = (1, 2, 3, 6)
"""Which of the lines bear the mark."""


def _fill(store: Store, chosen: Collection[int], workspace: str) -> None:
    """Leave some of a few lines of two speakers in a workspace."""
    with store.write() as tx:
        for n in chosen:
            compartment = (WORK, BOB)[n % 2]._replace(workspace=workspace)
            tokens = {(TEA, MILK, CITY)[n % 3]: 1, 5: n, **({_MARK: 0} if n in _MARKED else {})}
            add(tx, compartment, IDS[n], tokens, _SAID[n])
            tx.terms.lie(compartment, SPACE, [(IDS[n], packed(40 - 8 * n, n))])


class BoundsContract:
    def test_nothing_outside_of_within_is_found(self, store: Store, index: Index) -> None:
        index_lines(store, WORK, *[{TEA: 1}] * 5)
        within = {IDS[1], IDS[3], "01ARZ3NDEKTSV4RRFFQ69G5FAV"}
        assert search(store, index, about(TEA), within=within) == [IDS[3], IDS[1]]
        assert search(store, index, about(TEA), k=1, within={IDS[0]}) == [IDS[0]]
        assert search(store, index, about(TEA), within=()) == []

    def test_only_lines_of_the_sessions_that_are_looked_into_are_found(
        self, store: Store, index: Index
    ) -> None:
        with store.write() as tx:
            for line_id, said in zip(IDS, _SAID, strict=True):
                add(tx, WORK, line_id, {TEA: 1}, said)

        def found(sessions: Collection[str] | None, said: bool = False) -> set[str]:
            return set(search(store, index, about(TEA, sessions=sessions, said=said)))

        assert found(None) == set(IDS)
        assert found({"s"}) == {IDS[0], IDS[1], IDS[4], IDS[5]}
        assert found(["t", "never", "s"]) == set(IDS[:6])
        assert found({"never"}) == found(()) == set()
        assert found(None, said=True) == {*IDS[:5], IDS[7]}
        assert found({"s"}, said=True) == {IDS[0], IDS[1], IDS[4]}

    def test_sessions_are_looked_into_in_the_workspace_of_their_compartment(
        self, store: Store, index: Index
    ) -> None:
        other = WORK._replace(workspace="other")
        with store.write() as tx:
            add(tx, WORK, IDS[0], {TEA: 1}, Saying("s", 1))
            add(tx, other, IDS[1], {TEA: 1}, Saying("t", 1))
        inquiry = about(TEA, compartments=(WORK, other), sessions=("t",))
        assert [hit.compartment for hit in hits(store, index, inquiry)] == [other]

    @pytest.mark.parametrize(
        ("bounds", "inside"),
        [
            ({"sessions": {"s"}}, (0, 1, 4, 5)),
            ({"sessions": {"t"}}, (2, 3)),
            ({"said": True}, (0, 1, 2, 3, 4, 7)),
            ({"said": True, "sessions": {"s", "t"}}, (0, 1, 2, 3, 4)),
            ({"within": {IDS[0], IDS[2], IDS[4], IDS[7]}}, (0, 2, 4, 7)),
            ({"within": {IDS[0], IDS[2], IDS[6]}, "sessions": {"s", "t"}}, (0, 2)),
            ({"marks": [_MARK]}, _MARKED),
            ({"marks": [_MARK], "said": True}, (1, 2, 3)),
        ],
    )
    def test_what_lies_beyond_the_bounds_is_as_if_it_were_not_there(
        self, store: Store, index: Index, bounds: dict[str, Any], inside: Sequence[int]
    ) -> None:
        _fill(store, range(len(IDS)), "whole")
        _fill(store, inside, "part")

        def found(
            workspace: str, marks: Sequence[int], within: Collection[str] | None, **more: Any
        ) -> list[Any]:
            compartments = [compartment._replace(workspace=workspace) for compartment in (WORK, BOB)]
            asked = [IndexQuery(compartment, [TEA, MILK], marks, days=[5]) for compartment in compartments]
            inquiry = Inquiry(asked, [0, 1], [1.0, 1.0], TO_EAST, SPACE, **more)
            return [(hit.compartment.owner, *hit[1:]) for hit in hits(store, index, inquiry, 20, within)]

        bounded = {"marks": (), "within": None, **bounds}
        whole = found("whole", (), None)
        assert len(whole) == len(IDS)
        assert found("whole", **bounded) == found("part", (), None) != whole
        assert found("whole", (), None) == whole

    def test_only_lines_with_every_mark_are_found_and_the_marks_alone_find_none(
        self, store: Store, index: Index
    ) -> None:
        index_lines(store, WORK, {TEA: 1}, {TEA: 1, 5: 0}, {TEA: 1, 5: 0, 6: 0}, {5: 0, 6: 0})

        def marked(tokens: Sequence[int], marks: Sequence[int]) -> set[str]:
            return set(
                search(
                    store,
                    index,
                    Inquiry([IndexQuery(WORK, tokens, marks)], range(len(tokens)), [1.0] * len(tokens)),
                )
            )

        assert marked([TEA], [5]) == {IDS[1], IDS[2]}
        assert marked([TEA], [5, 6]) == {IDS[2]}
        assert marked([TEA], [7]) == set()
        assert marked([], [5]) == set()
