"""Late audit rows: verdicts given while the store was out of reach, kept until it is back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from souvenance.domain.audit import Event


class LateRow(Struct, frozen=True):
    """A row that the audit log of a workspace lacks yet. The id tells it from every other."""

    id: str
    workspace: str
    event: Event


class LateRows(Protocol):
    @property
    def waiting(self) -> bool:
        """Whether there may be any."""
        ...

    def add(self, row: LateRow) -> None:
        """Keep the row: it outlives the process, and a loss of power. Raises: StorageUnavailable."""
        ...

    def drain(self, append: Callable[[Sequence[LateRow]], None]) -> None:
        """Hand over all rows, and drop them once that has returned. What is handed over may come again.

        Raises: StorageUnavailable, and what `append` raises.
        """
        ...
