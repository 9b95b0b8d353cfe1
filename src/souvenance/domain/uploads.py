"""A file that was sent to be read, in memory."""

from __future__ import annotations

from msgspec import Struct


class Upload(Struct, frozen=True):
    """A file that somebody sent. It is in memory, and nowhere else."""

    name: str
    content: bytes

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def suffix(self) -> str:
        before, dot, ending = self.name.rpartition(".")
        return dot + ending if before else ""
