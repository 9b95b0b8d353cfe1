"""Keeps the access token of a sign-in valid: renews it before it expires, in one process for all.

A refresh token works once. A server that sees it twice ends the sign-in. So processes that share a sign-in
take a lock, and read what is stored before they renew.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.decoders import settled
from souvenance.errors import ServerUnreachable, SignInEnded, SouvenanceError, StorageBusy
from souvenance.files import locked
from souvenance.hermes.config_reader import KEPT_IN
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.sign_in.authorization_server import (
    CLIENT,
    SCOPE,
    Issued,
    SignInEndpoints,
    SignInRefused,
    issued,
    plain_url,
)

_RENEW_BEFORE_SECONDS = 120
_PAUSE_MS = 60_000
"""After a renewal that failed. Meanwhile the old token is used."""
_PATIENCE_SECONDS = 20.0
"""How long to wait for another process that renews an expired token."""
_SHORTEST_LIFE = 1
_LONGEST_LIFE = 10 * 365 * 24 * 3600
_LOCK = ".souvenance-sign-in.lock"
_NAMES = {
    "refresh": "refreshToken",
    "expires_at": "expiresAt",
    "client": "clientId",
    "endpoint": "tokenEndpoint",
    "revoke": "revocationEndpoint",
    "since": "signedInAt",
}
"""What the configuration calls the fields of a grant."""
_ALWAYS = ("expiresAt", "clientId", "tokenEndpoint", "scope")

_log = logging.getLogger("souvenance.hermes")


class OAuthGrant(Struct, frozen=True, kw_only=True, rename=_NAMES):
    """The tokens of a sign-in, as the configuration stores them."""

    access: str
    refresh: str = ""
    expires_at: int = 0
    """In seconds."""
    client: str
    endpoint: str
    revoke: str = ""
    scope: str = SCOPE
    since: int = 0
    """When somebody signed in, in milliseconds. It identifies the sign-in."""
    ended: str = ""
    """Why it can't be renewed any more; empty while it can."""
    more: Mapping[str, Any] = {}
    """Fields of other programs."""

    @classmethod
    def of(cls, configuration: Configuration) -> OAuthGrant | None:
        """None if the configuration holds none."""
        kept = {name: value for name, value in (configuration.oauth or {}).items() if value is not None}
        known = cls.__struct_encode_fields__[1:-1]
        more = {name: value for name, value in kept.items() if name not in (*known, KEPT_IN)}
        ours = {name: value for name, value in kept.items() if name in known}
        try:
            told = {**ours, "access": configuration.api_key or "", "more": more}
            return msgspec.convert(told, type=settled(cls), strict=False)
        except msgspec.ValidationError:
            return None

    @classmethod
    def given(cls, told: Issued, endpoints: SignInEndpoints, now: int) -> OAuthGrant:
        """The grant of a new sign-in; `now` is in milliseconds."""
        return cls(
            access=told.access_token,
            refresh=told.refresh_token,
            expires_at=_end(told, now // 1000),
            client=CLIENT,
            endpoint=endpoints.token,
            revoke=endpoints.revoke,
            scope=told.scope or SCOPE,
            since=now,
        )

    def settings(self) -> dict[str, Any]:
        """As the configuration stores it."""
        kept = msgspec.to_builtins(self)
        access, more = kept.pop("access"), kept.pop("more")
        shown = {name: value for name, value in kept.items() if value or name in _ALWAYS}
        return {"apiKey": access, "oauth": {**shown, **more}}

    def over(self, now: int) -> bool:
        """Whether the access token has expired."""
        return self.expires_at <= now

    def standing(self, now: int) -> str:
        """In words: which client it belongs to, and for how long its token is valid."""
        if self.ended:
            return f"{self.client}, ended: {self.ended}; sign in again: souvenance login"
        left = self.expires_at - now
        if left > 0:
            return f"{self.client}, valid for {max(1, round(left / 60))} min"
        return f"{self.client}, expired; it is renewed with the next request"


def _end(told: Issued, now: int) -> int:
    return now + int(min(max(told.expires_in, _SHORTEST_LIFE), _LONGEST_LIFE))


Exchange = Callable[[OAuthGrant, int], OAuthGrant]
"""Exchanges the refresh token of a grant for a new grant. Raises: SignInEnded; ServerUnreachable."""


class Upkeep:
    """Gives a valid access token. Threads may share it.

    `now` is in milliseconds. `lock` names the lock file of the processes that share the configuration.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        now: Callable[[], int],
        read: Callable[[], Configuration],
        write: Callable[[Mapping[str, Any]], object],
        exchange: Exchange,
        lock: Callable[[], Path | None] = lambda: None,
    ) -> None:
        self._grant = OAuthGrant.of(configuration)
        self._key = configuration.api_key or ""
        self._held_by = lock
        self._now = now
        self._read = read
        self._write = write
        self._exchange = exchange
        self._lock = threading.Lock()
        self._not_before = 0
        self.trouble = ""
        """Why the last renewal failed; empty if it did not."""

    def token(self) -> str:
        """The access token. If it can't be renewed, the old one, with one warning in the log.

        Raises: SignInEnded if the sign-in is over.
        """
        grant = self._grant
        if grant is None:
            return self._key
        # While the old token is valid, no thread waits for another one that renews it.
        if self._ends(grant) and self._lock.acquire(blocking=grant.over(self._seconds)):
            try:
                self._renew(grant)
            finally:
                self._lock.release()
        shown = self._grant or grant
        if shown.ended and shown.over(self._seconds):
            raise _ended(shown.ended)
        return shown.access

    @property
    def _seconds(self) -> int:
        return self._now() // 1000

    def _ends(self, grant: OAuthGrant) -> bool:
        return grant.expires_at - _RENEW_BEFORE_SECONDS <= self._seconds

    def _renew(self, grant: OAuthGrant) -> None:
        if self._now() < self._not_before and not self._renewed_elsewhere():
            return
        over = grant.over(self._seconds)
        try:
            with alone(self._held_by(), _PATIENCE_SECONDS if over else 0.0):
                self._grant = self._renewed(grant)
        except (SouvenanceError, OSError) as error:
            if isinstance(error, StorageBusy) and not over:
                return  # Another process renews it.
            self._not_before = self._now() + _PAUSE_MS
            self._warn(error)
        else:
            self.trouble = ""

    def _renewed_elsewhere(self) -> bool:
        kept = OAuthGrant.of(self._read())
        return kept is not None and not kept.ended and not self._ends(kept)

    def _renewed(self, known: OAuthGrant) -> OAuthGrant:
        """The grant that another process has renewed meanwhile, or else a new one."""
        gone = replace(known, ended="it is not in the configuration any more")
        kept = OAuthGrant.of(self._read()) or gone
        if kept.ended:
            self._grant = kept
            raise _ended(kept.ended)
        if not self._ends(kept):
            return kept
        self._write(kept.settings())  # If the file can't be written, the refresh token is not used up.
        try:
            self._grant = self._exchange(kept, self._seconds)
        except SignInEnded as error:
            self._grant = replace(kept, refresh="", ended=error.detail)
            self._write(self._grant.settings())
            raise _ended(error.detail) from error
        self._write(self._grant.settings())
        return self._grant

    def _warn(self, error: Exception) -> None:
        detail = error.detail if isinstance(error, SouvenanceError) else str(error)
        again = ". Sign in again: souvenance login" if isinstance(error, SignInEnded) else ""
        if self.trouble != detail:
            self.trouble = detail
            _log.warning("souvenance: the sign-in could not be renewed: %s%s", detail, again)


def _ended(why: str) -> SignInEnded:
    return SignInEnded(f"the sign-in has ended: {why}")


def lock_of(folder: Path, theirs: Path | None = None) -> Path:
    """The lock of all sign-ins of the installation with that default home; for a sign-in in a file of
    Honcho's, the lock that Honcho's own plugin uses.
    """
    return folder / _LOCK if theirs is None else theirs.with_name(f"{theirs.name}.lock")


def alone(file: Path | None, patience: float = _PATIENCE_SECONDS) -> AbstractContextManager[None]:
    """Keep other processes from changing a sign-in of this installation.

    Raises: StorageBusy if another one holds the lock for longer.
    """
    return nullcontext() if file is None else locked(file.parent, patience, file.name)


def exchange(grant: OAuthGrant, now: int) -> OAuthGrant:
    """Exchange the refresh token at its endpoint. Raises: as Exchange says."""
    form = {"grant_type": "refresh_token", "refresh_token": grant.refresh, "client_id": grant.client}
    try:
        told = issued(grant.endpoint, form)
    except SignInRefused as refused:
        if refused.error == "invalid_grant":
            raise SignInEnded("the server does not renew it any more") from refused
        where = plain_url(grant.endpoint)
        raise ServerUnreachable(f"no new token from {where}: {refused}", hint="") from refused
    return replace(
        grant,
        access=told.access_token,
        refresh=told.refresh_token or grant.refresh,
        expires_at=_end(told, now),
        scope=told.scope or grant.scope,
    )
