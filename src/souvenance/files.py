"""Files on Linux, macOS and Windows: locks between processes, whole replacement, and who else may read."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from souvenance.errors import InvalidInput, StorageBusy, StorageFull, StorageReadOnly, StorageUnavailable

LOCK_FILE = ".lock"
"""The file by which a folder is locked. It stays there."""
UNFINISHED = ".tmp"
"""How the name of a file ends that is being written."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_HAS_MODES = hasattr(os, "geteuid")
"""Windows keeps others from a user's folder by lists of its own. The modes that it shows say nothing."""
_LOOK_SECONDS = 0.01
_REPLACE_SECONDS = 1.0


@contextmanager
def locked(folder: Path, patience: float | None = None, name: str = LOCK_FILE) -> Iterator[None]:
    """Hold off every other process and thread that locks the same folder by the same name.

    The lock ends with its process. Its file is made if it is missing, and stays. `patience` is in seconds.
    Raises: StorageUnavailable; StorageBusy if another one holds it for longer.
    """
    from filelock import FileLock, Timeout  # It takes a while to load, and much is read without a lock.

    lock = FileLock(folder / name, -1 if patience is None else patience, mode=0o600)
    try:
        folder.stat()  # The library would make a folder that is missing.
        lock.acquire(poll_interval=_LOOK_SECONDS)
    except Timeout:
        raise StorageBusy(f"another process holds {folder}") from None
    except OSError as error:
        raise translation(f"{folder} can't be locked", error) from error
    try:
        yield
    finally:
        lock.release()


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Make or replace the file, whole or not at all. Without `mode` it keeps the one that it had, and a link
    stays a link.

    Raises: StorageUnavailable.
    """
    target = Path(os.path.realpath(path)) if mode is None else path
    fresh = target.with_name(f".{target.name}.{os.urandom(8).hex()}{UNFINISHED}")
    try:
        if mode is None:
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
        with new_file(fresh) as file:
            file.write(content)
        if _HAS_MODES:
            fresh.chmod(mode)
        move(fresh, target)
        sync_folder(target.parent)
    except OSError as error:
        raise translation(f"{path} can't be written", error) from error
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that was not there, its owner's alone, to be written: at the end it is on the disk.

    Raises: OSError.
    """
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def move(fresh: Path, path: Path) -> None:
    """Give the file that name, whatever had it. Windows refuses while somebody reads what is replaced: then
    it is tried again for a moment.

    Raises: OSError.
    """
    end = time.monotonic() + _REPLACE_SECONDS
    while True:
        try:
            os.replace(fresh, path)
            return
        except PermissionError:
            if _HAS_MODES or time.monotonic() >= end:
                raise
            time.sleep(_LOOK_SECONDS)


def open_regular(path: Path, flags: int = 0) -> IO[bytes]:
    """A regular file, to be read: a pipe would wait for ever, a device might never end. Raises: OSError."""
    descriptor = os.open(path, os.O_RDONLY | _NO_WAIT | flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path) -> bytes:
    """All of it. Raises: OSError."""
    with open_regular(path) as file:
        return file.read()


def file_text(path: str | Path) -> str:
    """What a file says that somebody named. Raises: InvalidInput."""
    try:
        return read_regular(Path(path).expanduser()).decode().strip()
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not text") from None


def is_mine(status: os.stat_result) -> bool:
    return not _HAS_MODES or status.st_uid == os.geteuid()


def others_may(status: os.stat_result, rights: int = OTHERS) -> bool:
    """Whether the mode gives other users any of these rights."""
    return _HAS_MODES and bool(status.st_mode & rights)


def translation(what: str, error: OSError) -> StorageUnavailable:
    """The system's error as ours."""
    detail = f"{what}: {error.strerror}"
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return StorageFull(detail)
    if error.errno in (errno.EIO, errno.ENOTCONN, errno.ETIMEDOUT):
        return StorageUnavailable(detail)
    return StorageReadOnly(detail, hint="Make it writable for this user.")


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Errors of the system as ours: what it is that can't be done. Raises: StorageUnavailable."""
    try:
        yield
    except OSError as error:
        raise translation(what, error) from error


def sync_folder(folder: Path) -> None:
    """Have the names in the folder on the disk. Windows does that by itself, and opens no folder."""
    if not _HAS_MODES:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
