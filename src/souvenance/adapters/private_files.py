"""Files that hold secrets: readable by their owner alone, replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from souvenance import files
from souvenance.domain.imports import Upload
from souvenance.errors import Misconfigured

_WRITABLE = stat.S_IWGRP | stat.S_IWOTH
_NOT_OF_A_GROUP = stat.S_IRWXO | stat.S_IWGRP | stat.S_IXGRP


def make_private_folder(path: Path) -> None:
    """Raises: StorageReadOnly."""
    with files.translated(f"the data folder {path} can't be made"):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


def check_folder(path: Path) -> None:
    """See that nobody else can replace what is in the folder, or the folder itself.

    Raises: Misconfigured; StorageUnavailable if it can't be looked at.
    """
    with files.translated(f"{path} can't be looked at"):
        found = path.stat()
        above = {one: one.stat() for one in path.resolve().parents}
    if not files.is_mine(found):
        raise Misconfigured(
            f"the data folder {path} belongs to another user", hint="Run this as that user, or use --home."
        )
    if files.others_may(found, _WRITABLE):
        raise Misconfigured(f"other users can write to {path}", hint=f"Run: chmod 700 {path}")
    for parent, status in above.items():
        if files.others_may(status, stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
            raise Misconfigured(
                f"other users can replace {path}, because all may write to {parent}",
                hint=f"Run: chmod o-w {parent}",
            )


def exists(path: Path) -> bool:
    """Raises: StorageUnavailable if the folder does not let us look."""
    with files.translated(f"{path} can't be looked at"):
        return path.exists()


def read_private(path: Path, *, mounted: bool = False) -> str:
    """`mounted` also takes what Kubernetes, Docker and systemd mount: root's file, or link to one, that our
    group may read. Raises: Misconfigured if the file is missing, a link, or open to others."""
    try:
        named = path.lstat()
        linked = mounted and named.st_uid == 0 and not files.is_mine(named)
        with files.open_regular(path, 0 if linked else files.NO_LINK) as file:
            status = os.fstat(file.fileno())
            given = linked and status.st_uid == 0
            if files.others_may(status, _NOT_OF_A_GROUP if given else files.OTHERS):
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


def open_regular(path: SourceFile) -> IO[bytes]:
    """As `files.open_regular`, or what was sent. Raises: OSError."""
    return BytesIO(path.content) if isinstance(path, Upload) else files.open_regular(path)


def secret_of(given: str) -> str:
    """What was given, or what the file says that '@' names. Raises: Misconfigured."""
    if not given.startswith("@"):
        return given
    return read_private(Path(given[1:]).expanduser(), mounted=True).strip()


def names_in(folder: Path) -> list[str]:
    """The names of what is in the folder; none if it is missing, or does not let us look."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def is_unfinished(name: str) -> bool:
    """Whether a file of that name is being written, or was when its process was killed."""
    return name.startswith(".") and name.endswith(files.UNFINISHED)


def sweep(folder: Path) -> None:
    """Remove what processes that were killed left behind. To be called, as writing is, in `locked`."""
    for name in filter(is_unfinished, names_in(folder)):
        (folder / name).unlink(missing_ok=True)


def write_private(path: Path, text: str) -> None:
    """Make or replace the file. To be called in `locked`. Raises: StorageUnavailable."""
    files.replace_file(path, text.encode(), 0o600)


def add_private(path: Path, content: bytes) -> bool:
    """Make the file if there is none; whether there was none. Others may hold the folder meanwhile, and
    sweep away what is not finished: then it is written again.

    Raises: StorageUnavailable.
    """
    for last in (False, False, False, True):
        unnamed = path.with_name(f".{path.name}.{os.urandom(8).hex()}{files.UNFINISHED}")
        try:
            with written(unnamed, content) as fresh:
                place(fresh, path)
            files.sync_folder(path.parent)
        except FileExistsError:
            return False
        except OSError as error:
            if last or not isinstance(error, FileNotFoundError):
                raise files.translation(f"{path} can't be written", error) from error
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


@contextmanager
def written(fresh: Path, content: bytes) -> Iterator[Path]:
    """A new file with that content, for as long as it takes to give it another name. Raises: OSError."""
    try:
        with files.new_file(fresh) as file:
            file.write(content)
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)
