"""Objects in a bucket of S3, or of anything that speaks as S3 does.

Credentials come from the standard environment (AWS_ACCESS_KEY_ID and its kind, a web identity, the
instance's own). The client's own retries are off: ours know what each answer means here. 412 says that
the object is there; 409, that someone is writing it just now, which is no answer, so it is tried again.
The client tells both as one error, so we look which it was.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    UnauthenticatedError,
)
from obstore.store import S3Store

from souvenance.errors import StorageUnavailable
from souvenance.patterns import pattern
from souvenance.ports.object_store import MOST_LISTED, checked

TRIES = 4
_FIRST_WAIT_SECONDS = 0.1
_STATUS = pattern(r"status code: (\d{3})")
_NO_BUCKET = "NoSuchBucket"
_HINT = "Nothing is lost: what the bucket lacks waits in the store, and goes there when it answers."
_REFUSED = "Check the credentials, and what their policy allows in this bucket and prefix."

_Found = TypeVar("_Found")


class S3Objects:
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
        config: dict[str, str] = {}
        if endpoint is not None:
            config["endpoint"] = endpoint
        if region is not None or endpoint is not None:
            config["region"] = region or "us-east-1"
        if credentials is not None:
            config["access_key_id"], config["secret_access_key"] = credentials
        self._store = S3Store(
            bucket,
            prefix=prefix or None,
            config=config,  # type: ignore[arg-type]
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
                    raise _translation(error) from error
            wait = _FIRST_WAIT_SECONDS * 3 ** (tries - 1)
            time.sleep(wait * random.uniform(0.5, 1.0))  # noqa: S311 - spreads retries, hides nothing


def _may_pass(error: Exception) -> bool:
    if isinstance(error, (PermissionDeniedError, UnauthenticatedError, FileNotFoundError)):
        return False
    status = _STATUS.search(str(error))
    return status is None or int(status[1]) >= 500 or status[1] in ("408", "409", "412", "429")


def _translation(error: Exception) -> StorageUnavailable:
    told = str(error)
    if _NO_BUCKET in told:
        return StorageUnavailable("there is no such bucket", hint="Make it, or correct SOUVENANCE_OBJECTS.")
    status = _STATUS.search(told)
    if isinstance(error, (PermissionDeniedError, UnauthenticatedError)) or (
        status is not None and status[1] in ("401", "403")
    ):
        return StorageUnavailable("the bucket refuses us", hint=_REFUSED)
    if "AccessDenied" in told:
        return StorageUnavailable("the bucket refuses us", hint=_REFUSED)
    answer = f"answers {status[1]}" if status else "does not answer"
    return StorageUnavailable(f"the bucket {answer}", hint=_HINT)
