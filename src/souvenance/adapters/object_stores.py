"""Which store of objects a URL names, and objects in a folder: one private file each, whole or not there."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from souvenance.adapters.private_files import written
from souvenance.errors import Misconfigured, StorageFull, StorageReadOnly, StorageUnavailable
from souvenance.extras import install
from souvenance.files import sync_folder
from souvenance.ports.object_store import MOST_LISTED, Objects, checked

_UNFINISHED = ".unfinished"
"""Where files are written before they get their names: no key begins with '.'."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
_LOCKED = (errno.EROFS, errno.EACCES, errno.EPERM)
_HINT = "Check the folder of SOUVENANCE_OBJECTS and its disk; nothing acknowledged was lost."


class FolderObjects:
    def __init__(self, root: Path) -> None:
        """Raises: StorageUnavailable if the folder can't be made."""
        self._root = root
        with _translated():
            (root / _UNFINISHED).mkdir(mode=0o700, parents=True, exist_ok=True)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        path = self._root / checked(key)
        with _translated(), written(self._fresh(), data) as fresh:
            try:
                _in_folder(path, lambda: os.link(fresh, path))
            except FileExistsError:
                return False
            return True

    def replace(self, key: str, data: bytes) -> None:
        path = self._root / checked(key)
        with _translated(), written(self._fresh(), data) as fresh:
            _in_folder(path, lambda: os.replace(fresh, path))

    def get(self, key: str) -> bytes | None:
        with _translated():
            try:
                return (self._root / checked(key)).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def keys(self, prefix: str = "", after: str = "") -> list[str]:
        folder = self._root / checked(prefix.removesuffix("/")) if prefix else self._root
        with _translated():
            return list(islice(_walk(folder, prefix, after), MOST_LISTED))

    def delete(self, keys: Sequence[str]) -> None:
        with _translated():
            for key in keys:
                path = self._root / checked(key)
                with suppress(FileNotFoundError, NotADirectoryError):
                    path.unlink()
                    sync_folder(path.parent)
                self._prune(path.parent)

    def _prune(self, folder: Path) -> None:
        """Remove folders that are empty now: their names are those of what was deleted."""
        while folder != self._root:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def _fresh(self) -> Path:
        """Where a file lies that has no name of its own yet."""
        return self._root / _UNFINISHED / secrets.token_hex(16)


def _in_folder(path: Path, name: Callable[[], None]) -> None:
    """Give a file its name in a folder that another process may be removing, being empty."""
    while True:
        if not _made(path.parent):
            continue
        try:
            name()
        except FileNotFoundError:
            continue
        with suppress(FileNotFoundError):
            sync_folder(path.parent)
        return


def _made(folder: Path) -> bool:
    """Whether the folder was there, or was made, before somebody removed it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileNotFoundError:
        return False
    except FileExistsError:
        return _seen_again(folder)
    return True


def _seen_again(folder: Path) -> bool:
    """Whether what stood in the way is a folder after all, asked once: two looks may see two things."""
    try:
        mode = folder.stat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    return True


def _walk(folder: Path, prefix: str, after: str) -> Iterator[str]:
    """The keys of a folder in byte order: a folder sorts by its name with the '/' behind it."""
    try:
        with os.scandir(folder) as found:
            names = sorted(f"{one.name}/" if one.is_dir(follow_symlinks=False) else one.name for one in found)
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        key = prefix + name
        if name.startswith("."):
            continue
        if not name.endswith("/"):
            if key > after:
                yield key
        elif after < key or after.startswith(key):
            yield from _walk(folder / name, key, after)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        kind = StorageUnavailable
        if error.errno in (*_FULL, *_LOCKED):
            kind = StorageFull if error.errno in _FULL else StorageReadOnly
        raise kind(f"the folder of objects failed: {error.strerror}", hint=_HINT) from error


_URL_HINT = "E.g. s3://bucket/prefix, s3://bucket/prefix?endpoint=https://s3.example, file:///path."
_OPTIONS = ("endpoint", "region")


def open_objects(url: str) -> Objects:
    """The store that the URL names. Raises: Misconfigured, StorageUnavailable."""
    try:
        parts = urlsplit(url)
        options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise Misconfigured("SOUVENANCE_OBJECTS is no URL", hint=_URL_HINT) from None
    if parts.scheme == "file" and not parts.netloc and len(parts.path) > 1 and not options:
        return FolderObjects(Path(unquote(parts.path)))
    if parts.scheme != "s3" or not parts.netloc or parts.username or parts.fragment:
        raise Misconfigured("SOUVENANCE_OBJECTS names neither a bucket nor a folder", hint=_URL_HINT)
    if unknown := sorted(name for name, values in options.items() if name not in _OPTIONS or len(values) > 1):
        raise Misconfigured(f"SOUVENANCE_OBJECTS does not know {unknown[0]!r}, or not twice", hint=_URL_HINT)
    prefix = parts.path.strip("/")
    try:
        _ = prefix and checked(prefix)
    except ValueError:
        raise Misconfigured(
            "the prefix in SOUVENANCE_OBJECTS may hold letters, digits, '=', '_', '-', '.' and '/'",
            hint=_URL_HINT,
        ) from None
    try:
        from souvenance.adapters.s3 import S3Objects
    except ImportError:
        raise Misconfigured(
            "SOUVENANCE_OBJECTS names a bucket, and obstore is not installed",
            hint=f"Run: {install('s3')}",
        ) from None
    endpoint, region = (options.get(name, [None])[0] for name in _OPTIONS)
    return S3Objects(parts.netloc, prefix, endpoint=endpoint, region=region)
