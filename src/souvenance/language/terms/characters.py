"""Tables for `str.translate` that are worked out character by character, when one is first met."""

from __future__ import annotations

from collections.abc import Callable

_MOST = 1 << 14
"""How many characters are kept in mind; more than most texts have."""


class ByCharacter(dict[int, str]):
    """What a function makes of each character."""

    def __init__(self, made_of: Callable[[str], str]) -> None:
        super().__init__()
        self._made_of = made_of

    def __missing__(self, point: int) -> str:
        found = self._made_of(chr(point))
        if len(self) < _MOST:
            self[point] = found
        return found
