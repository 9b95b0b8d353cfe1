"""Which store of objects a URL names: a folder, with a private file for each, or a bucket."""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from souvenance.adapters.private_files import secret_of, written
from souvenance.errors import Misconfigured, StorageUnavailable
from souvenance.extras import install
from souvenance.files import locked, sync_folder, translated
from souvenance.patterns import pattern
from souvenance.ports.object_store import MOST_LISTED, Objects, checked

try:
    import obstore
    from obstore.exceptions import (
        AlreadyExistsError,
        BaseError,
        PermissionDeniedError,
        UnauthenticatedError,
    )
    from obstore.store import S3Store
except ImportError:
    obstore = None  # type: ignore[assignment]

_UNFINISHED = ".unfinished"
"""Where files are written before they get their names: no key begins with '.'."""
_FAILED = "the folder of SOUVENANCE_OBJECTS can't be used"


class FolderObjects:
    """A folder that is emptied is removed with its last object: its name is that of what was deleted. So who
    adds and who deletes wait for each other."""

    def __init__(self, root: Path) -> None:
        """Raises: StorageUnavailable if the folder can't be made."""
        self._root = root
        self._unfinished = root / _UNFINISHED
        self._lock = threading.Lock()
        with translated(_FAILED):
            self._unfinished.mkdir(mode=0o700, parents=True, exist_ok=True)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        with self._placing(key, data) as (fresh, path):
            try:
                os.link(fresh, path)
            except FileExistsError:
                return False
            return True

    def replace(self, key: str, data: bytes) -> None:
        with self._placing(key, data) as (fresh, path):
            os.replace(fresh, path)

    def get(self, key: str) -> bytes | None:
        with translated(_FAILED):
            try:
                return (self._root / checked(key)).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def keys(self, prefix: str = "", after: str = "") -> list[str]:
        folder = self._root / checked(prefix.removesuffix("/")) if prefix else self._root
        with translated(_FAILED):
            return list(islice(_walk(folder, prefix, after), MOST_LISTED))

    def delete(self, keys: Sequence[str]) -> None:
        paths = [self._root / checked(key) for key in keys]
        with translated(_FAILED), self._alone():
            for path in paths:
                with suppress(FileNotFoundError, NotADirectoryError):
                    path.unlink()
                    sync_folder(path.parent)
                with suppress(OSError):
                    os.removedirs(path.parent)  # The root itself is never empty.

    @contextmanager
    def _placing(self, key: str, data: bytes) -> Iterator[tuple[Path, Path]]:
        """The data in a file that has no name of its own yet, and where the object is to lie. The folder is
        there, and the name is on the disk at the end."""
        path, unnamed = self._root / checked(key), self._unfinished / secrets.token_hex(16)
        with translated(_FAILED), written(unnamed, data) as fresh, self._alone():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            yield fresh, path
            sync_folder(path.parent)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread or process adds or deletes meanwhile."""
        with self._lock, locked(self._unfinished):
            yield


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


TRIES = 4
_FIRST_WAIT_SECONDS = 0.1
_STATUS = pattern(r"status code: (\d{3})")
_NO_BUCKET = "NoSuchBucket"
_S3_HINT = "Nothing is lost: what the bucket lacks waits in the store, and goes there when it answers."
_REFUSED = "Check the credentials, and what their policy allows in this bucket and prefix."

_Found = TypeVar("_Found")


class S3Objects:
    """A bucket of S3, or of anything that speaks as S3 does.

    Without credentials the standard environment's count (AWS_ACCESS_KEY_ID and its kind, a web identity, the
    instance's own). The client's own retries are off: ours know what each answer means here. 412 says that
    the object is there; 409, that someone is writing it just now, which is no answer, so it is tried again.
    The client raises one error for both, so we look which it was.
    """

    def __init__(
        self,
        bucket: str,
        prefix: str = "",
        *,
        endpoint: str | None = None,
        region: str | None = None,
        timeout: float = 10.0,
        tries: int = TRIES,
        credentials: tuple[str, str] | None = None,
    ) -> None:
        config = {"endpoint": endpoint, "region": region or (endpoint and "us-east-1")}
        if credentials is not None:
            config["access_key_id"], config["secret_access_key"] = credentials
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            config={name: value for name, value in config.items() if value},  # type: ignore[arg-type]
            client_options={
                "allow_http": endpoint is not None and endpoint.startswith("http://"),
                "timeout": timedelta(seconds=timeout),
                "connect_timeout": timedelta(seconds=min(timeout, 5.0)),
            },
            retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=timeout)},
        )
        self._tries = tries

    def put_if_absent(self, key: str, data: bytes) -> bool:
        def put() -> bool:
            try:
                obstore.put(self._store, checked(key), data, mode="create", use_multipart=False)
            except AlreadyExistsError:
                if self._is_there(key):
                    return False
                raise
            return True

        return self._tried(put)

    def replace(self, key: str, data: bytes) -> None:
        self._tried(lambda: obstore.put(self._store, checked(key), data, use_multipart=False))

    def get(self, key: str) -> bytes | None:
        def get() -> bytes | None:
            try:
                return bytes(obstore.get(self._store, checked(key)).bytes())
            except FileNotFoundError as error:
                if _NO_BUCKET in str(error):
                    raise
                return None

        return self._tried(get)

    def keys(self, prefix: str = "", after: str = "") -> list[str]:
        if prefix:
            checked(prefix.removesuffix("/"))

        def page() -> list[str]:
            pages = obstore.list(
                self._store, prefix.removesuffix("/") or None, offset=after or None, chunk_size=MOST_LISTED
            )
            return [found["path"] for found in next(iter(pages), [])]

        return self._tried(page)

    def delete(self, keys: Sequence[str]) -> None:
        if keys:
            self._tried(lambda: obstore.delete(self._store, [checked(key) for key in keys]))

    def _is_there(self, key: str) -> bool:
        try:
            obstore.head(self._store, key)
        except FileNotFoundError:
            return False
        return True

    def _tried(self, step: Callable[[], _Found]) -> _Found:
        """What came of the step, taken again while that may help. Raises: StorageUnavailable."""
        tries = 0
        while True:
            tries += 1
            try:
                return step()
            except (BaseError, OSError) as error:
                if tries == self._tries or not _may_pass(error):
                    raise _s3_error(error) from error
            wait = _FIRST_WAIT_SECONDS * 3 ** (tries - 1)
            time.sleep(wait * random.uniform(0.5, 1.0))  # noqa: S311 - spreads retries, hides nothing


def _may_pass(error: Exception) -> bool:
    if isinstance(error, (PermissionDeniedError, UnauthenticatedError, FileNotFoundError)):
        return False
    status = _STATUS.search(str(error))
    return status is None or int(status[1]) >= 500 or status[1] in ("408", "409", "412", "429")


def _s3_error(error: Exception) -> StorageUnavailable:
    message = str(error)
    if _NO_BUCKET in message:
        return StorageUnavailable("there is no such bucket", hint="Make it, or correct SOUVENANCE_OBJECTS.")
    status = _STATUS.search(message)
    denied = "AccessDenied" in message or (status is not None and status[1] in ("401", "403"))
    if denied or isinstance(error, (PermissionDeniedError, UnauthenticatedError)):
        return StorageUnavailable("the bucket refuses us", hint=_REFUSED)
    answer = f"answers {status[1]}" if status else "does not answer"
    return StorageUnavailable(f"the bucket {answer}", hint=_S3_HINT)


_URL_HINT = "E.g. s3://bucket/prefix, s3://bucket/prefix?endpoint=https://s3.example, file:///path."
_OPTIONS = ("endpoint", "region")


def open_objects(url: str, key: tuple[str, str] | None = None) -> Objects:
    """The store that the URL names. A bucket's key is given as settings give secrets.
    Raises: Misconfigured, StorageUnavailable."""
    try:
        parts = urlsplit(url)
        options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise Misconfigured("SOUVENANCE_OBJECTS is not a URL", hint=_URL_HINT) from None
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
    if obstore is None:
        raise Misconfigured(
            "SOUVENANCE_OBJECTS names a bucket, and obstore is not installed",
            hint=f"Run: {install('s3')}",
        )
    endpoint, region = (options.get(name, [None])[0] for name in _OPTIONS)
    credentials = None if key is None else (secret_of(key[0]), secret_of(key[1]))
    return S3Objects(parts.netloc, prefix, endpoint=endpoint, region=region, credentials=credentials)
