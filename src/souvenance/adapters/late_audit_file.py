"""Late rows in a file of the data folder: one line of JSON each, on the disk before it counts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import msgspec

from souvenance.decoders import settled
from souvenance.errors import StorageFull
from souvenance.files import NO_LINK, locked, sync_folder, translation
from souvenance.ports.store import LateRow

FILE = "late.audit"
_MOST_BYTES = 64 * 1024 * 1024
_PATIENCE_SECONDS = 2.0
_decode = msgspec.json.Decoder(settled(LateRow)).decode


class LateFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._lock = threading.Lock()
        self.waiting = self._path.exists()

    def add(self, row: LateRow) -> None:
        with self._held(), self._opened() as file:
            if os.fstat(file.fileno()).st_size > _MOST_BYTES:
                raise StorageFull(f"{self._path} is larger than {_MOST_BYTES} bytes")
            # A line that a killed process began stands alone: the next one begins with a line break.
            line = b"\n" + msgspec.json.encode(row) + b"\n"
            if file.write(line) < len(line):
                raise StorageFull(f"{self._path} can't be written whole")
            os.fsync(file.fileno())
            sync_folder(self._path.parent)
            self.waiting = True

    def drain(self, append: Callable[[Sequence[LateRow]], None]) -> None:
        with self._held():
            if not self.waiting:
                return
            with self._opened() as file:
                file.seek(0)
                rows = list(_rows(file.readall()))
            if rows:
                append(rows)
            self._path.unlink()
            self.waiting = False

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Nobody else has the file meanwhile."""
        try:
            with self._lock, locked(self._path.parent, _PATIENCE_SECONDS):
                yield
        except OSError as error:
            raise translation(f"{self._path} can't be written", error) from error

    def _opened(self) -> FileIO:
        return FileIO(self._path, "a+", opener=lambda path, flags: os.open(path, flags | NO_LINK, 0o600))


def _rows(content: bytes) -> Iterator[LateRow]:
    """Those that were finished: what a killed process left unfinished was never counted on."""
    for line in content.splitlines():
        try:
            yield _decode(line)
        except msgspec.DecodeError:
            continue
