"""Files that hold secrets: readable by their owner alone, replaced whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from souvenance.domain.uploads import Upload
from souvenance.errors import Misconfigured, StorageBusy, StorageFull, StorageReadOnly, StorageUnavailable

_UNFINISHED = ".tmp"
_LOOK_SECONDS = 0.01
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


def make_private_folder(path: Path) -> None:
    """Raises: StorageReadOnly."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise translation(f"the data folder {path} can't be made", error) from error


def check_folder(path: Path) -> None:
    """See that nobody else can replace what is in the folder, or the folder itself.

    Raises: Misconfigured; StorageUnavailable if it can't be looked at.
    """
    try:
        found = path.stat()
        above = {one: one.stat().st_mode for one in path.resolve().parents}
    except OSError as error:
        raise translation(f"{path} can't be looked at", error) from error
    if found.st_uid != os.geteuid():
        raise Misconfigured(
            f"the data folder {path} belongs to another user", hint="Run this as that user, or use --home."
        )
    if found.st_mode & _WRITABLE:
        raise Misconfigured(f"other users can write to {path}", hint=f"Run: chmod 700 {path}")
    for parent, mode in above.items():
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise Misconfigured(
                f"other users can replace {path}, because all may write to {parent}",
                hint=f"Run: chmod o-w {parent}",
            )


def exists(path: Path) -> bool:
    """Raises: StorageUnavailable if the folder does not let us look."""
    try:
        return path.exists()
    except OSError as error:
        raise translation(f"{path} can't be looked at", error) from error


def read_private(path: Path) -> str:
    """Raises: Misconfigured if the file is missing, a link, or open to others."""
    try:
        with open_regular(path, os.O_NOFOLLOW) as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise Misconfigured(f"{path} is open to other users", hint=f"Run: chmod 600 {path}")
            return file.read().decode()
    except UnicodeDecodeError:
        raise Misconfigured(f"{path} is not text") from None
    except FileNotFoundError:
        raise Misconfigured(f"{path} is missing", hint="Run 'souvenance init', or restore it.") from None
    except OSError as error:
        raise Misconfigured(f"{path} can't be read: {error.strerror}") from None


SourceFile = Path | Upload
"""A file of a source: on the disk, or as it was sent."""


def open_regular(path: SourceFile, flags: int = 0) -> IO[bytes]:
    """A regular file, to be read: a pipe would wait for ever, a device might never end. Raises: OSError."""
    if isinstance(path, Upload):
        return BytesIO(path.content)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def secret_of(given: str) -> str:
    """What was given, or what the file says that '@' names. Raises: Misconfigured."""
    return read_private(Path(given[1:]).expanduser()).strip() if given.startswith("@") else given


def names_in(folder: Path) -> list[str]:
    """The names of what is in the folder; none if it is missing, or does not let us look."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def sweep(folder: Path) -> None:
    """Remove what processes that were killed left behind. To be called, as writing is, in `locked`."""
    for name in names_in(folder):
        if name.startswith(".") and name.endswith(_UNFINISHED):
            (folder / name).unlink(missing_ok=True)


def write_private(path: Path, text: str) -> None:
    """Make or replace the file. To be called in `locked`. Raises: StorageUnavailable."""
    try:
        _write(path, text.encode(), os.replace)
    except OSError as error:
        raise translation(f"{path} can't be written", error) from error


def add_private(path: Path, content: bytes) -> bool:
    """Make the file if there is none; whether there was none. Others may hold the folder meanwhile, and
    sweep away what is not finished: then it is written again.

    Raises: StorageUnavailable.
    """
    for last in (False, False, False, True):
        try:
            _write(path, content, place)
        except FileExistsError:
            return False
        except OSError as error:
            if last or not isinstance(error, FileNotFoundError):
                raise translation(f"{path} can't be written", error) from error
        else:
            break
    return True


def place(fresh: Path, path: Path) -> None:
    """Give the finished file its name, if nothing has it. Raises: OSError."""
    try:
        os.link(fresh, path)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:
        if os.path.lexists(path):  # Not every file system has links.
            raise FileExistsError(path) from None
        fresh.rename(path)


def _write(path: Path, content: bytes, finish: Callable[[Path, Path], None]) -> None:
    fresh = path.with_name(f".{path.name}.{os.urandom(8).hex()}{_UNFINISHED}")
    with written(fresh, content):
        finish(fresh, path)
    sync_folder(path.parent)


@contextmanager
def written(fresh: Path, content: bytes) -> Iterator[Path]:
    """A new file with that content, for as long as it takes to give it another name. Raises: OSError."""
    try:
        with new_private(fresh) as file:
            file.write(content)
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def new_private(path: Path) -> Iterator[IO[bytes]]:
    """A file that was not there, to be written: at the end it is on the disk. Raises: OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(descriptor)


@contextmanager
def locked(folder: Path, patience: float | None = None) -> Iterator[None]:
    """Hold off every other process that asks for the same folder.

    Raises: StorageUnavailable, StorageBusy if another one has it for as long as `patience`.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise translation(f"{folder} can't be opened", error) from error
    try:
        _take(descriptor, folder, patience)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, folder: Path, patience: float | None) -> None:
    if patience is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise StorageBusy(f"another process holds {folder}") from None
            time.sleep(_LOOK_SECONDS)


def translation(what: str, error: OSError) -> StorageUnavailable:
    """The system's error as ours."""
    kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageReadOnly
    return kind(f"{what}: {error.strerror}")


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
