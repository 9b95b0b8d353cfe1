"""Processes by names that tell them apart, and the server, if any, that serves a data folder.

A server holds a lock in its folder and says where it is reached. The lock dies with its process, however that
ends. The file is locked and whole before it gets its name, so a locked file can be
believed.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from souvenance.adapters.private_files import locked
from souvenance.errors import StorageUnavailable
from souvenance.patterns import pattern


def name_of(pid: int) -> str:
    """The process by its id and, where the system tells, the moment it began; "" if there is none."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if Path("/proc/self/stat").exists() or not _answers(pid) else str(pid)
    state, *rest = line.rpartition(")")[2].split()
    return "" if state in "ZX" else f"{pid} {rest[18]}"


def is_gone(name: str) -> bool:
    """Whether the process of that name runs no more."""
    pid = str(name).partition(" ")[0]
    return not pid.isdecimal() or name_of(int(pid)) != name


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


LOCK_FILE = "serve.lock"

_MOST_BYTES = 256
_URL = pattern(r"(http://(?:127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5})\n")
"""Who reads it will send a cap there: to this machine, and past every proxy."""
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@contextmanager
def announce(home: Path, url: str) -> Iterator[None]:
    """Let `served_at` find this server meanwhile, unless another has announced itself already.

    A folder that can't be written to is served all the same, unannounced.
    """
    descriptor = _announced(home, url)
    try:
        yield
    finally:
        if descriptor is not None:
            _withdraw(home, descriptor)


def served_at(home: Path) -> str | None:
    """The URL of the server that has announced itself for this folder and is alive; None without one."""
    try:
        descriptor = os.open(home / LOCK_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not _is_ours(os.fstat(descriptor)):
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            found = _URL.fullmatch(os.read(descriptor, _MOST_BYTES).decode("ascii", "replace"))
            return None if found is None else found[1]
        return None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_ours(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & _OTHERS


def _announced(home: Path, url: str) -> int | None:
    """The descriptor that holds the lock; None if there is another server, or no way to announce this one."""
    fresh = home / f".{LOCK_FILE}.{os.urandom(8).hex()}.tmp"
    try:
        with locked(home):
            if served_at(home) is not None:
                return None
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, f"{url}\n".encode())
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.replace(fresh, home / LOCK_FILE)
            except OSError:
                os.close(descriptor)
                fresh.unlink(missing_ok=True)
                raise
            return descriptor
    except (OSError, StorageUnavailable):
        return None


def _withdraw(home: Path, descriptor: int) -> None:
    """Take the file away, unless it is another server's by now, and let go of the lock."""
    try:
        with suppress(OSError, StorageUnavailable), locked(home):
            if os.path.samestat(os.fstat(descriptor), os.stat(home / LOCK_FILE)):
                (home / LOCK_FILE).unlink()
    finally:
        os.close(descriptor)
