"""The folder of the sealed write queue: the names in it, its key, what was moved aside, and late letters."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from souvenance.adapters.private_files import add_private, exists, names_in, read_private, translation
from souvenance.adapters.system_clock import SystemClock
from souvenance.decoders import settled
from souvenance.domain import ulid
from souvenance.errors import Misconfigured, StorageBusy, StorageUnavailable

FILE = "outbox.db"
KEY_FILE = "outbox.key"
LOCK_FILE = "outbox.lock"
BUSY_SECONDS = 10.0
"""For so long whoever delivers waits for other processes."""

_BROKEN = ".broken-"
_BESIDE = ("-wal", "-shm", "")
"""What stands beside the file and belongs to it, the file itself last."""
_KEY_BYTES = 32


def key_of(folder: Path) -> bytes:
    """The key of the folder; a new one if there is none, or none that can be read. To be called in `locked`.

    Raises: StorageUnavailable.
    """
    if (key := present_key(folder)) is not None:
        return key
    path = folder / KEY_FILE
    if exists(path):
        _rename(path, path.with_name(f"{path.name}{_BROKEN}{_stamp()}"))
    return first_key(folder)


def first_key(folder: Path) -> bytes:
    """The key of the folder; a new one if there is none. Others may hold the folder meanwhile.

    Raises: StorageUnavailable, StorageBusy if who holds it has to see to the key that is there.
    """
    if (key := present_key(folder)) is None:
        add_private(folder / KEY_FILE, f"{os.urandom(_KEY_BYTES).hex()}\n".encode())
        key = present_key(folder)
    if key is None:
        raise StorageBusy(f"another process holds {folder}")
    return key


def present_key(folder: Path) -> bytes | None:
    """The key of the folder; None if there is none, or none that can be read. Raises: StorageUnavailable."""
    path = folder / KEY_FILE
    if not exists(path):
        return None
    try:
        key = bytes.fromhex(read_private(path))
    except ValueError:
        return None
    except Misconfigured as error:
        raise StorageUnavailable(error.detail, hint=error.hint) from error
    return key if len(key) == _KEY_BYTES else None


def make_file(folder: Path) -> None:
    """Make the file before SQLite does, so that it and those beside it are the owner's alone.

    Raises: StorageUnavailable.
    """
    path = folder / FILE
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise translation(f"{path} can't be made", error) from error


def move_aside(folder: Path) -> None:
    """Whatever there is of the file, its log first: a log that lost its file is still read beside it.

    To be called in `locked`. Raises: StorageUnavailable.
    """
    stamp = _stamp()
    for beside in _BESIDE:
        found = folder / f"{FILE}{beside}"
        if exists(found):
            _rename(found, folder / f"{FILE}{_BROKEN}{stamp}{beside}")


def moved_aside(folder: Path) -> int:
    """How many files were."""
    broken = (name for name in names_in(folder) if name.startswith(f"{FILE}{_BROKEN}"))
    return len({name.removesuffix("-wal").removesuffix("-shm") for name in broken})


def _rename(path: Path, to: Path) -> None:
    try:
        path.rename(to)
    except OSError as error:
        raise translation(f"{path} can't be moved aside", error) from error


def _stamp() -> str:
    """A name that no other file has, and that sorts by time."""
    return ulid.compose(SystemClock().now(), os.urandom(ulid.ENTROPY_BYTES))


_LATE = ".late"
_UNREADABLE = ".late-broken"


class Late(Struct, frozen=True):
    """A letter in a file of its own, `01J….late`: another process held the queue's file when it was put.

    It is sealed as in the other, until whoever has the queue's file next takes it in.
    """

    id: str
    lane: bytes
    """Blinded."""
    sealed: bytes
    holder: str | None = None


def leave(folder: Path, letter: Late) -> None:
    """On the disk when this returns. Raises: StorageUnavailable."""
    add_private(folder / f"{letter.id}{_LATE}", msgspec.json.encode(letter))


def left(folder: Path) -> list[Path]:
    """The files of the letters that wait, the earliest first."""
    return sorted(folder / name for name in names_in(folder) if name.endswith(_LATE))


def read(paths: list[Path]) -> Iterator[Late]:
    """The letters in them. What is gone, another took in; what can't be read stays, by another name."""
    for path in paths:
        try:
            yield msgspec.json.decode(path.read_bytes(), type=settled(Late))
        except FileNotFoundError:
            continue
        except msgspec.MsgspecError:
            path.rename(path.with_suffix(_UNREADABLE))


def take_away(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
