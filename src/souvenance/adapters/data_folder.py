"""What a data folder keeps beside its keys and its store: which store it belongs to, and the audit rows that
the store lacks yet, one line of JSON each, on the disk before it counts.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.adapters.key_files import ROOT_FILE
from souvenance.adapters.private_files import check_folder, exists, secret_of, write_private
from souvenance.config import Settings, without_secrets
from souvenance.decoders import settled
from souvenance.errors import Misconfigured, NotSetUp, StorageFull, StoreMismatch
from souvenance.files import NO_LINK, locked, sync_folder, translated
from souvenance.ports.store import LateRow

if TYPE_CHECKING:
    from souvenance.adapters.sql.store import SqlStore

BINDING_FILE = "store.json"


class Binding(Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses without user names and passwords."""

    store: str | None = None
    """The database; None for the file in the data folder."""
    objects: str | None = None
    """The bucket or folder where lines are kept a second time; None for none."""
    ready: bool = False
    """Whether the store was opened: else the set-up was only begun."""


def read_binding(home: Path) -> Binding | None:
    """What the folder remembers; None if nobody began to set it up. Raises: Misconfigured."""
    path = home / BINDING_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=settled(Binding))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Misconfigured(f"{path} can't be read: {error.strerror}") from None
    except msgspec.DecodeError:
        raise Misconfigured(
            f"{path} is damaged", hint="Delete it and run 'souvenance init' with the settings of this store."
        ) from None


def write_binding(home: Path, binding: Binding) -> None:
    """Raises: StorageUnavailable."""
    with locked(home):
        write_private(
            home / BINDING_FILE, msgspec.json.format(msgspec.json.encode(binding), indent=1).decode() + "\n"
        )


_LOST = (
    "Restore a backup, or make it anew from a bucket with 'souvenance rebuild'. "
    "'souvenance init --rebind' begins an empty store."
)


def place_of(settings: Settings) -> str:
    """Where the store is: a data folder, or the address of a database. Raises: Misconfigured."""
    return str(settings.home) if settings.store is None else secret_of(settings.store)


def foreign() -> Misconfigured:
    """The error for a store of another installation."""
    return Misconfigured(
        "the store's lines are sealed with keys that are not in this data folder",
        hint="Copy root.key and signing.key from the folder that it was made with, or name another store.",
    )


class DataFolder:
    def __init__(self, settings: Settings, *, rebuilding: bool = False, rebind: bool = False) -> None:
        """`rebuilding` expects an empty store, `rebind` another one than before. Raises: Misconfigured."""
        self._settings = settings
        self._home = settings.home
        self._rebind = rebind
        self._may_be_empty = rebuilding or rebind
        self._named = Binding(
            None if settings.store is None else without_secrets(place_of(settings)), settings.objects
        )
        # Set-up writes the binding first and the keys second: looked at the other way round, keys without a
        # binding were copied here, and are not those of a set-up that another process has just begun.
        self._has_keys = exists(self._home / ROOT_FILE)
        begun = read_binding(self._home)
        self._begun = begun is not None
        self._known = begun if begun is not None and begun.ready else None

    def check(self, *, make: bool) -> None:
        """Look before anything is made or opened; without `make`, the folder must be set up already.

        Raises: NotSetUp, StoreMismatch, Misconfigured.
        """
        if exists(self._home):
            check_folder(self._home)
        if self._known is None:
            self._check_new(make=make)
        elif not self._rebind:
            self._check_places(self._known)
            if self._named.store is None and not exists(self._settings.database) and not self._may_be_empty:
                raise Misconfigured(f"{self._settings.database} is missing", hint=_LOST)

    def claim(self, store: SqlStore, instance: str) -> None:
        """See that the open store is this folder's, and remember it. Raises: StoreMismatch, Misconfigured."""
        found = store.instance()
        if found is None and self._known is not None and not self._may_be_empty:
            raise Misconfigured(f"{self._named.store or self._settings.database} is empty", hint=_LOST)
        if (store.settle(instance) if found is None else found) != instance:
            raise foreign()
        ready = replace(self._named, ready=True)
        if self._known != ready:
            write_binding(self._home, ready)

    def _check_new(self, *, make: bool) -> None:
        has_file = exists(self._settings.database)
        has_store = has_file or self._named.store is not None
        if self._has_keys and not has_store and not self._begun and not self._may_be_empty:
            raise NotSetUp(
                f"{self._home} has keys and no store",
                hint=f"If the store is a database, set SOUVENANCE_STORE. {_LOST}",
            )
        if not make and not has_file and not (self._has_keys and has_store):
            raise NotSetUp(f"there is no memory in {self._home} yet")
        if make and not self._has_keys and not has_file:
            write_binding(self._home, self._named)

    def _check_places(self, known: Binding) -> None:
        for what, setting, kept, named, nothing in (
            ("store", "SOUVENANCE_STORE", known.store, self._named.store, self._settings.database),
            ("bucket", "SOUVENANCE_OBJECTS", known.objects, self._named.objects, "none"),
        ):
            if kept != named:
                right = f"Set {setting} to {kept}" if kept else f"Leave {setting} out"
                detail = f"is {kept or nothing}, and the settings name {named or nothing}"
                raise StoreMismatch(
                    f"the {what} of {self._home} {detail}",
                    hint=f"{right}. To use what the settings name from now on: 'souvenance init --rebind'.",
                )


LATE_FILE = "late.audit"
_MOST_BYTES = 64 * 1024 * 1024
_PATIENCE_SECONDS = 2.0
_decode = msgspec.json.Decoder(settled(LateRow)).decode


class LateFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / LATE_FILE
        self._lock = threading.Lock()

    @property
    def waiting(self) -> bool:
        return os.access(self._path, os.F_OK)

    def add(self, row: LateRow) -> bool:
        with self._held(), self._opened() as file:
            if os.fstat(file.fileno()).st_size > _MOST_BYTES:
                raise StorageFull(f"{self._path} is larger than {_MOST_BYTES} bytes")
            file.seek(0)
            if row.proof and msgspec.json.encode(row.proof) in file.readall():
                return False
            # A line that a killed process began stands alone: the next one begins with a line break.
            line = b"\n" + msgspec.json.encode(row) + b"\n"
            if file.write(line) < len(line):
                raise StorageFull(f"{self._path} can't be written whole")
            os.fsync(file.fileno())
            sync_folder(self._path.parent)
            return True

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

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Nobody else has the file meanwhile."""
        cant = translated(f"{self._path} can't be written")
        with cant, self._lock, locked(self._path.parent, _PATIENCE_SECONDS):
            yield

    def _opened(self) -> FileIO:
        return FileIO(self._path, "a+", opener=lambda path, flags: os.open(path, flags | NO_LINK, 0o600))


def _rows(content: bytes) -> Iterator[LateRow]:
    """Those that were finished: what a killed process left unfinished was never counted on."""
    for line in content.splitlines():
        try:
            yield _decode(line)
        except msgspec.DecodeError:
            continue
