"""Reindexing: which compartments' tokens are to be made anew, and how far that has come.

Tokens that were made by two analyses can't be compared, so a store remembers by which one its tokens are
made. Contract, which `contracts.reindexing_contract` checks on every store.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from souvenance.domain.names import Compartment


class Debt(NamedTuple):
    """A compartment whose tokens are to be made anew, behind the change of that number."""

    compartment: Compartment
    seq: int


class Renewed(NamedTuple):
    """What a line is found by, made anew, in the place of the change of that number."""

    seq: int
    id: str
    tokens: bytes
    counts: bytes


class Renewal(Protocol):
    """Where there is `within`, it narrows: a workspace, then an owner of it, then a namespace of that."""

    def analysis(self) -> str:
        """By which analysis tokens are made; empty in a store that never said."""
        ...

    def analyse_by(self, analysis: str) -> None: ...

    def owe(self, compartments: Collection[Compartment]) -> None:
        """Note that these compartments are to be made anew; one that is noted already stays as far as it
        is."""
        ...

    def next(self, *within: str) -> Debt | None:
        """The first of the compartments that are to be made anew."""
        ...

    def lines(self, debt: Debt, most: int) -> list[tuple[int, str]]:
        """The next of its lines: the numbers of their changes, and their ids."""
        ...

    def renew(self, compartment: Compartment, lines: Sequence[Renewed]) -> None:
        """Replace what these are found by, as far as they are still indexed; their vectors stay.

        An index that knew the compartment sees it only once the workspace's compartments were touched.
        """
        ...

    def reach(self, debt: Debt) -> None:
        """The compartment is made anew up to that change; nothing if it was already, or is not owed."""
        ...

    def settle(self, compartment: Compartment) -> None:
        """The compartment is made anew, or is gone."""
        ...

    def owed(self, *within: str) -> int:
        """How many lines are still to be made anew."""
        ...

    def lacking(self, space: str, *within: str) -> int:
        """How many indexed lines have no vector in that space."""
        ...
