"""Files that are replaced whole or not at all, and locks between processes."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from souvenance.errors import StorageBusy, StorageFull, StorageReadOnly, StorageUnavailable

UNFINISHED = ".tmp"
"""How the name of a file ends that is being written."""
_LOOK_SECONDS = 0.02


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Make or replace the file, through a link too. Without `mode` it keeps the rights that it had, if any.

    Raises: StorageUnavailable.
    """
    target = Path(os.path.realpath(path))
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(8)}{UNFINISHED}")
    try:
        if mode is None:
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
        with open(fresh, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
        _sync(target.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        fresh.unlink(missing_ok=True)


def unwritable(what: Path | str, error: OSError) -> StorageUnavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(f"{what} can't be written: {error.strerror}")
    return StorageReadOnly(
        f"{what} can't be written: {error.strerror}", hint="Make it writable for this user."
    )


@contextmanager
def locked(path: Path, patience: float | None = None) -> Iterator[None]:
    """Hold off every other process that locks the same folder or file; a file is made if it is missing.

    Raises: OSError; StorageBusy if another one holds it longer than `patience`, in seconds.
    """
    how = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT
    descriptor = os.open(path, how | os.O_CLOEXEC, 0o600)
    try:
        if patience is None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        else:
            _wait(descriptor, path, time.monotonic() + patience)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: Path, end: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                raise StorageBusy(f"another process holds {path}", hint="") from None
            time.sleep(_LOOK_SECONDS)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
