"""Archives as commands know them: what is written to one, and what is read of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from souvenance.domain.archive_records import Manifest

REGISTER, LINES, OWED = "register", "lines", "owed"
"""How the names of an archive's members begin, by what is in them."""


class ArchiveWriter(Protocol):
    def add(self, name: str, content: bytes) -> None: ...

    def close(self, manifest: Manifest) -> Manifest: ...


class ArchiveReader(Protocol):
    @property
    def manifest(self) -> Manifest: ...

    @property
    def digest(self) -> str: ...

    def lines(self, prefix: str) -> Iterator[bytes]: ...


class ArchiveFiles(Protocol):
    """Where archives are written to and read from; what is read was verified from beginning to end."""

    def writing(
        self, path: Path, recipients: Sequence[str] = ()
    ) -> AbstractContextManager[ArchiveWriter]: ...

    def reading(self, path: Path, identity: Path | None = None) -> ArchiveReader: ...

    def is_archive(self, path: Path) -> bool: ...
