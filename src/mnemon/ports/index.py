"""The index: which lines of some rooms answer a question best.

Contract. `search` reads the rooms' blinded tokens through the reading transaction it is given and
sees all that this sees, and perhaps what was committed since; it may cache, and drops what `marks`
declares stale. Each
question names a room and, in the same order for every room, the blinded tokens of the question's
terms under that room's key. Hits come best first; equal scores, newest id first; never more than
`k`, never a line that matches no token or lacks a mark, never one outside `within` when that is given.
How telling a token is depends on all lines, marked or not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from mnemon.domain.names import Room
from mnemon.ports.book import Transaction


class Question(NamedTuple):
    room: Room
    tokens: Sequence[int]
    marks: Sequence[int] = ()
    """Blinded tokens that a line must hold, all of them, to be found by the others."""


class Hit(NamedTuple):
    room: Room
    id: str
    score: float


class Index(Protocol):
    def search(
        self,
        tx: Transaction,
        questions: Sequence[Question],
        k: int,
        within: Collection[str] | None = None,
    ) -> list[Hit]: ...

    def forget(self) -> None:
        """Drop everything cached."""
        ...
