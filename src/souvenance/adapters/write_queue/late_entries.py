"""Letters that wait beside the write queue's file, because another process held that when they were put.

Each is in a file of its own, sealed as in the other, until whoever has the file next takes it in:

    01J….late       the letter of that id
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from souvenance.adapters.private_files import add_private, names_in
from souvenance.decoders import settled

_LATE = ".late"
_UNREADABLE = ".late-broken"


class Late(Struct, frozen=True):
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
