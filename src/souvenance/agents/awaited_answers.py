"""What somebody else owes an answer to: so that their silence is told from this process's own lateness."""

from __future__ import annotations

from collections.abc import Callable


def _nothing() -> bool:
    return False


class Awaited:
    """One call to a server. Who makes it tells how far it is; others may look meanwhile."""

    def __init__(self) -> None:
        self._owed: tuple[float, Callable[[], bool]] | None = None

    def begins(self, now: float, arrived: Callable[[], bool] = _nothing) -> None:
        """It is the other side's turn. `arrived`: whether something of its answer lies here, not yet read."""
        self._owed = now, arrived

    def ends(self) -> None:
        """It is this process's turn again."""
        self._owed = None

    def silence(self, now: float) -> float:
        """For how many seconds the other side has owed an answer by then, of which nothing is here."""
        owed = self._owed
        if owed is None:
            return 0.0
        since, arrived = owed
        return 0.0 if arrived() else now - since
