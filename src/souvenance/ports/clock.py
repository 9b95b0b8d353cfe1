"""Time and chance, which the inside never takes for itself."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since 1970 UTC."""


class Zone(Protocol):
    def offset(self, at: int) -> int:
        """By how many milliseconds the clocks on people's walls are ahead of UTC at that moment."""


class Entropy(Protocol):
    def take(self, size: int) -> bytes:
        """Unpredictable bytes, never the same twice."""
