"""Time and chance, which the inside never takes for itself."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since 1970 UTC."""
        ...


class Entropy(Protocol):
    def take(self, size: int) -> bytes:
        """Unpredictable bytes, never the same twice."""
        ...
