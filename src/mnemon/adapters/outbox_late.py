"""Letters that wait beside the outbox's file, because another process held that when they were put.

Each is in a file of its own, sealed as in the other, until whoever has the file next takes it in:

    01J….late       the letter of that id
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from mnemon.adapters.files import names_in, sync_folder
from mnemon.adapters.outbox_folder import failure
from mnemon.domain.shapes import settled

_LATE = ".late"
_UNFINISHED = ".late-part"
_UNREADABLE = ".late-broken"


class Late(Struct, frozen=True):
    id: str
    lane: bytes
    """Blinded."""
    sealed: bytes
    holder: str | None = None


def leave(folder: Path, letter: Late) -> None:
    """On the disk when this returns. Raises: StorageUnavailable."""
    path = folder / f"{letter.id}{_LATE}"
    part = path.with_name(f".{letter.id}{_UNFINISHED}")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(letter))
                file.flush()
                os.fsync(descriptor)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        sync_folder(folder)
    except OSError as error:
        raise failure(f"{path} can't be written", error) from error


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
