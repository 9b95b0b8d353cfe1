"""A sign-in that is kept up: its access token is renewed before it ends, by one process for all."""

from __future__ import annotations

import fcntl
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from mnemon.errors import MnemonError, ServerUnreachable
from mnemon.hermes.configuration import Configuration

_RENEW_BEFORE_SECONDS = 120
_TIMEOUT_SECONDS = 15.0
_PAUSE_MS = 60_000
"""After a renewal that failed; meanwhile the old token is shown."""

_log = logging.getLogger("mnemon.hermes")


class Grant(Struct, frozen=True):
    """What a sign-in gave, as the configuration keeps it."""

    access: str
    refresh: str
    expires_at: int
    """In seconds."""
    client: str
    endpoint: str
    scope: str = "write"

    @classmethod
    def of(cls, configuration: Configuration) -> Grant | None:
        """None if the configuration holds none that can be renewed."""
        kept = configuration.oauth or {}
        try:
            return cls(
                access=configuration.api_key or "",
                refresh=str(kept["refreshToken"]),
                expires_at=int(float(kept.get("expiresAt") or 0)),
                client=str(kept["clientId"]),
                endpoint=str(kept["tokenEndpoint"]),
                scope=str(kept.get("scope") or "write"),
            )
        except (KeyError, TypeError, ValueError):
            return None

    def settings(self) -> dict[str, Any]:
        """As the configuration is to keep it."""
        return {
            "apiKey": self.access,
            "oauth": {
                "refreshToken": self.refresh,
                "expiresAt": self.expires_at,
                "clientId": self.client,
                "tokenEndpoint": self.endpoint,
                "scope": self.scope,
            },
        }


class _Renewed(Struct, frozen=True):
    """What the token endpoint answers."""

    access_token: str
    refresh_token: str = ""
    expires_in: int = 3600
    scope: str = ""


Exchange = Callable[[Grant, int], Grant]
"""Trades the refresh token of a grant for a new grant. Raises: ServerUnreachable."""


class Upkeep:
    """Gives an access token that holds. A refresh token is spent once, whoever shares the configuration."""

    def __init__(
        self,
        configuration: Configuration,
        *,
        now: Callable[[], int],
        read: Callable[[], Configuration],
        write: Callable[[Mapping[str, Any]], object],
        exchange: Exchange,
    ) -> None:
        self._grant = Grant.of(configuration)
        self._token = configuration.api_key or ""
        self._file = configuration.file
        self._now = now
        self._read = read
        self._write = write
        self._exchange = exchange
        self._lock = threading.Lock()
        self._not_before = 0

    def token(self) -> str:
        """The access token: where it could not be renewed, the one that was, and a warning."""
        with self._lock:
            if self._grant is not None and self._ends(self._grant) and self._now() >= self._not_before:
                try:
                    with _alone(self._file):
                        self._grant = self._renewed(self._grant)
                except (MnemonError, OSError) as error:
                    self._not_before = self._now() + _PAUSE_MS
                    _log.warning("mnemon: the sign-in could not be renewed: %s", error)
                self._token = self._grant.access
            return self._token

    def _ends(self, grant: Grant) -> bool:
        return grant.expires_at - _RENEW_BEFORE_SECONDS <= self._now() // 1000

    def _renewed(self, known: Grant) -> Grant:
        """The grant that another process has renewed meanwhile, or else a new one."""
        kept = Grant.of(self._read()) or known
        if not self._ends(kept):
            return kept
        fresh = self._exchange(kept, self._now() // 1000)
        self._write(fresh.settings())
        return fresh


@contextmanager
def _alone(file: Path | None) -> Iterator[None]:
    """Hold off every other process that keeps its sign-in in that file."""
    if file is None:
        yield
        return
    with open(file.with_name(f".{file.name}.lock"), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def exchange(grant: Grant, now: int) -> Grant:
    """Raises: ServerUnreachable."""
    import httpx

    form = {"grant_type": "refresh_token", "refresh_token": grant.refresh, "client_id": grant.client}
    try:
        answer = httpx.post(grant.endpoint, data=form, timeout=_TIMEOUT_SECONDS)
        answer.raise_for_status()
        told = msgspec.json.decode(answer.content, type=_Renewed)
    except (httpx.HTTPError, httpx.InvalidURL, msgspec.MsgspecError) as error:
        raise ServerUnreachable(f"no new token from {grant.endpoint}: {error}") from error
    return Grant(
        access=told.access_token,
        refresh=told.refresh_token or grant.refresh,
        expires_at=now + told.expires_in,
        client=grant.client,
        endpoint=grant.endpoint,
        scope=told.scope or grant.scope,
    )
