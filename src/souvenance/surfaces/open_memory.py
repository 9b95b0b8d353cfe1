"""What the composition root gives to doors and commands: an open data folder, archives, other memories' files
and backups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from souvenance.agents.archives import ReadsArchive, WritesArchive
from souvenance.domain.archive_records import KeptStore, Watch
from souvenance.domain.imports import ImportReader, Upload, Wanted
from souvenance.errors import SouvenanceError

if TYPE_CHECKING:
    from souvenance.gate.gate import Gate
    from souvenance.gate.oauth_state import OAuthState
    from souvenance.gate.replication import Repairer
    from souvenance.gate.worker import Worker


class OpenMemory(Protocol):
    @property
    def gate(self) -> Gate: ...

    @property
    def owner_cap(self) -> str: ...

    @property
    def made(self) -> bool: ...

    @property
    def sign_ins(self) -> OAuthState: ...

    @property
    def worker(self) -> Worker: ...

    @property
    def repairer(self) -> Repairer:
        """Raises: Misconfigured without a bucket."""

    def served_at(self) -> str | None: ...

    def key(self, given: str) -> str:
        """A key as settings give it: itself, or what its file says."""

    def working(self) -> AbstractContextManager[None]:
        """Do the work behind the requests meanwhile."""

    def announced(self, url: str) -> AbstractContextManager[None]:
        """Let programs on this machine find the server at that URL meanwhile."""

    def catch_up(self, seconds: float) -> None: ...

    def settle(self, seconds: float) -> None: ...

    def carry(self, seconds: float) -> None: ...

    def close(self) -> None: ...


OpenInstallation = Callable[..., OpenMemory]


ARCHIVE = "souvenance"
FILES = (
    "chatgpt",
    "claude",
    "mem0",
    "letta",
    "episodes",
    "vault",
    "mempalace",
    "jsonl",
    "markdown",
    ARCHIVE,
)
KINDS = ("honcho", *FILES)
"""What can be imported; Honcho's memory from a server, the others from a file."""


class ArchiveFiles(Protocol):
    """Where archives are written to and read from; what is read was verified from beginning to end."""

    def writing(
        self, path: Path, recipients: Sequence[str] = (), form: str = ...
    ) -> AbstractContextManager[WritesArchive]: ...

    def packing(self, sink: IO[bytes], form: str = ...) -> AbstractContextManager[WritesArchive]:
        """Write one into a sink."""

    def reading(self, path: Path | Upload, identity: Path | None = None) -> ReadsArchive: ...

    def is_archive(self, path: Path | Upload) -> bool: ...


class Transfers(Protocol):
    """It loads what a command or a page needs when that is used."""

    @property
    def archives(self) -> ArchiveFiles: ...

    def open_source(self, source: str | Upload, kind: str | None, wanted: Wanted) -> ImportReader:
        """Open a file or a URL of the given kind; without one, the kind is recognised."""

    def complaints(self, settings: Any) -> Iterable[SouvenanceError]:
        """What would keep these settings from working, as far as it shows without opening the store."""

    def back_up(
        self, settings: Any, target: Path, *, recipients: Sequence[str], with_keys: bool, allow_empty: bool
    ) -> KeptStore: ...

    def restore(self, source: Path, home: Path, *, identity: Path | None) -> KeptStore: ...

    def move(self, source: str, target: str, *, vectors: str, watch: Watch) -> dict[str, int]:
        """Copy a store, and say how many rows each table has."""
