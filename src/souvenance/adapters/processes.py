"""The server, if any, that serves a data folder.

A server holds a lock in its folder and says beside it where it is reached. The lock ends with its process,
however that ends, and what is said counts only while the lock is held.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from souvenance.errors import StorageBusy, StorageUnavailable
from souvenance.files import NO_LINK, is_mine, locked, open_regular, others_may, replace_file
from souvenance.patterns import pattern

LOCK_FILE = "serve.lock"
"""A server holds it for as long as it lives."""
URL_FILE = "serve.url"
"""Where that server is reached."""

_MOST_BYTES = 256
_LOOK_SECONDS = 1.0
_URL = pattern(r"(http://(?:127(?:\.\d{1,3}){3}|\[::1\]):\d{1,5})\n")
"""Who reads it will send a cap there: to this machine, and past every proxy."""


@contextmanager
def announce(home: Path, url: str) -> Iterator[None]:
    """Let `served_at` find this server meanwhile, unless another has announced itself already.

    A folder that can't be written to is served all the same, unannounced.
    """
    with ExitStack() as serving:
        with suppress(StorageUnavailable), locked(home):
            serving.enter_context(locked(home, 0, LOCK_FILE))
            replace_file(home / URL_FILE, f"{url}\n".encode(), 0o600)
            serving.callback(_withdraw, home, url)
        yield


def served_at(home: Path) -> str | None:
    """The URL of the server that has announced itself for this folder and is alive; None without one."""
    if not (home / URL_FILE).exists():
        return None
    try:
        # Two who look at the same time would take each other for a server.
        with locked(home, _LOOK_SECONDS):
            try:
                with locked(home, 0, LOCK_FILE):
                    return None
            except StorageBusy:
                return _announced(home)
    except (OSError, StorageUnavailable):
        return None


def _announced(home: Path) -> str | None:
    """What the file says that others could not have written. Raises: OSError."""
    with open_regular(home / URL_FILE, NO_LINK) as file:
        status = os.fstat(file.fileno())
        url = _URL.fullmatch(file.read(_MOST_BYTES).decode("ascii", "replace"))
    believed = is_mine(status) and not others_may(status, stat.S_IWGRP | stat.S_IWOTH)
    return url[1] if url and believed else None


def _withdraw(home: Path, url: str) -> None:
    """Take the announcement away, unless it is another server's by now."""
    with suppress(OSError, StorageUnavailable), locked(home):
        if _announced(home) == url:
            (home / URL_FILE).unlink()
