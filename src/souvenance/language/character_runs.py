"""The runs of characters of one sort in a text: as a regular expression finds them, but sooner in ASCII."""

from __future__ import annotations

from functools import cached_property

from souvenance.patterns import pattern

_SPACE = ord(" ")


class Runs:
    def __init__(self, character: str) -> None:
        """Of what `character` matches, a regular expression of one character that is no white space."""
        self._run = pattern(f"(?:{character})+")

    def of(self, text: str) -> list[str]:
        """The runs of the text, in its order, each as long as can be."""
        if text.isascii():
            return text.encode().translate(self._spaced).decode().split()
        return self._run.findall(text)

    @cached_property
    def _spaced(self) -> bytes:
        """Each byte, or a space for one that is in no run."""
        within = "".join(self._run.findall(bytes(range(128)).decode())).encode()
        return bytes(byte if byte in within else _SPACE for byte in range(256))
