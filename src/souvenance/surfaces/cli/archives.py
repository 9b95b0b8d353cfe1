"""What the commands on data use: archives, readers of other memories, backups and copies of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from souvenance.domain.archive_records import Manifest
from souvenance.domain.imports import ImportReader, Wanted

REGISTER, LINES, OWED = "register", "lines", "owed"
"""How the names of an archive's members begin, by what is in them."""


class WritesArchive(Protocol):
    def add(self, name: str, content: bytes) -> None: ...

    def close(self, manifest: Manifest) -> Manifest: ...


class ReadsArchive(Protocol):
    @property
    def manifest(self) -> Manifest: ...

    @property
    def digest(self) -> str: ...

    def lines(self, prefix: str) -> Iterator[bytes]: ...


class ArchiveFiles(Protocol):
    """Where archives are written to and read from; what is read was verified from beginning to end."""

    def writing(
        self, path: Path, recipients: Sequence[str] = ()
    ) -> AbstractContextManager[WritesArchive]: ...

    def reading(self, path: Path, identity: Path | None = None) -> ReadsArchive: ...

    def is_archive(self, path: Path) -> bool: ...


class Backup(Protocol):
    """What a backup holds."""

    @property
    def rows(self) -> int: ...

    @property
    def lines(self) -> int: ...

    @property
    def files(self) -> tuple[str, ...]: ...

    @property
    def bytes(self) -> int: ...


class Transfers(Protocol):
    """The composition root gives it; it loads what a command needs when the command runs."""

    @property
    def archives(self) -> ArchiveFiles: ...

    def open_source(self, source: str, kind: str | None, wanted: Wanted) -> ImportReader:
        """Open a file or a URL of the given kind; without one, the kind is recognised."""
        ...

    def back_up(
        self, settings: Any, target: Path, *, recipients: Sequence[str], with_keys: bool, allow_empty: bool
    ) -> Backup: ...

    def restore(self, source: Path, home: Path, *, identity: Path | None) -> Backup: ...

    def move(
        self, source: str, target: str, *, vectors: str, report: Callable[[Any], None]
    ) -> dict[str, int]:
        """Copy a store, and say how many rows each table has."""
        ...
