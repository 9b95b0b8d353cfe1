"""A sign-in that is kept up: its access token is renewed before it ends, by one process for all.

A refresh token is good once, and a server that sees it twice ends the sign-in. So before it is spent, the
configuration says that it is being spent: if the answer never arrives, because a process was killed or a
connection broke, whoever comes next knows that the token may be spent already. There is no way to find out
but to try it, and nothing to lose by that; it is said before, and if it was spent, that one has to sign in
again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.errors import ServerUnreachable, SignInEnded, SouvenanceError, StorageBusy
from souvenance.hermes.config_reader import KEPT_IN
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.files import locked
from souvenance.hermes.sign_in.authorization_server import Issued, SignInRefused, Unheard, issued, plain_url

_RENEW_BEFORE_SECONDS = 120
_PAUSE_MS = 60_000
"""After a renewal that failed; meanwhile the old token is shown."""
_PATIENCE_SECONDS = 20.0
"""For another process that renews, if the token is over and there is nothing else to show."""
_SHORTEST_LIFE = 1
_LONGEST_LIFE = 10 * 365 * 24 * 3600
_LOCK = ".souvenance-sign-in.lock"
_NAMES = {
    "refresh": "refreshToken",
    "expires_at": "expiresAt",
    "client": "clientId",
    "endpoint": "tokenEndpoint",
    "scope": "scope",
    "revoke": "revocationEndpoint",
    "since": "signedInAt",
    "spending": "spending",
    "ended": "ended",
}
"""What the configuration calls the parts of a grant."""
_ALWAYS = ("expiresAt", "clientId", "tokenEndpoint", "scope")

_log = logging.getLogger("souvenance.hermes")


class OAuthGrant(Struct, frozen=True, kw_only=True):
    """What a sign-in gave, as the configuration keeps it."""

    access: str
    refresh: str
    expires_at: int
    """In seconds."""
    client: str
    endpoint: str
    revoke: str = ""
    scope: str = "write"
    since: int = 0
    """When somebody signed in, in milliseconds: the same as long as it is the same sign-in."""
    spending: int = 0
    """When the refresh token was sent, if it is not known what came of it."""
    ended: str = ""
    """Why it can't be renewed any more; empty while it can."""
    more: Mapping[str, Any] = {}
    """What others keep beside it."""

    @classmethod
    def of(cls, configuration: Configuration) -> OAuthGrant | None:
        """None if the configuration holds none."""
        kept = configuration.oauth or {}
        ended = str(kept.get("ended") or "")
        try:
            return cls(
                access=configuration.api_key or "",
                refresh="" if ended else str(kept["refreshToken"]),
                expires_at=_seconds(kept.get("expiresAt")),
                client=str(kept["clientId"]),
                endpoint=str(kept["tokenEndpoint"]),
                revoke=str(kept.get("revocationEndpoint") or ""),
                scope=str(kept.get("scope") or "write"),
                since=_seconds(kept.get("signedInAt")),
                spending=_seconds(kept.get("spending")),
                ended=ended,
                more={name: value for name, value in kept.items() if name not in (*_NAMES.values(), KEPT_IN)},
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            return None

    @classmethod
    def given(
        cls, told: Issued, *, client: str, endpoint: str, revoke: str, scope: str, now: int
    ) -> OAuthGrant:
        """What a new sign-in gave; `now` is in milliseconds."""
        return cls(
            access=told.access_token,
            refresh=told.refresh_token,
            expires_at=_end(told, now // 1000),
            client=client,
            endpoint=endpoint,
            revoke=revoke,
            scope=told.scope or scope,
            since=now,
        )

    def settings(self) -> dict[str, Any]:
        """As the configuration is to keep it."""
        kept = {name: getattr(self, part) for part, name in _NAMES.items()}
        told = {name: value for name, value in kept.items() if value or name in _ALWAYS}
        return {"apiKey": self.access, "oauth": {**told, **self.more}}

    def over(self, now: int) -> bool:
        """Whether the access token is of no use any more."""
        return self.expires_at <= now

    def standing(self, now: int) -> str:
        """In words: which client it belongs to, and for how long its token is valid."""
        if self.ended:
            return f"{self.client}, ended: {self.ended}; sign in again: souvenance login"
        left = self.expires_at - now
        held = (
            f"valid for {max(1, round(left / 60))} min"
            if left > 0
            else "ran out; it is renewed with the next request"
        )
        return f"{self.client}, {held}{'; a renewal was cut off' if self.spending else ''}"


def _seconds(value: Any) -> int:
    """Raises: TypeError, ValueError, OverflowError."""
    return int(float(value or 0))


def _end(told: Issued, now: int) -> int:
    return now + int(min(max(told.expires_in, _SHORTEST_LIFE), _LONGEST_LIFE))


Exchange = Callable[[OAuthGrant, int], OAuthGrant]
"""Trades the refresh token of a grant for a new grant.

Raises: SignInEnded; Unheard if the token may be spent nevertheless; ServerUnreachable if it is not.
"""


class Upkeep:
    """Gives an access token that holds. A refresh token is spent once, whoever shares the configuration.

    `now` is in milliseconds; `lock` says by which file processes that share the configuration keep off each
    other; None if there are none.
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
        self._unsaved = False
        self._doubted = ""
        """The refresh token of which it was said that it may be spent."""
        self.trouble = ""
        """Why the last renewal failed; empty if it did not."""

    def token(self) -> str:
        """The access token: where it could not be renewed, the one that was, and one warning.

        Raises: SignInEnded if there is none that could be shown.
        """
        grant = self._grant
        if grant is None:
            return self._key
        if not self._ends(grant) and not self._unsaved:
            return grant.access
        # While the old token holds, nobody waits for whoever renews it.
        if self._lock.acquire(blocking=grant.over(self._seconds)):
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
        if self._now() < self._not_before and not self._unsaved and not self._renewed_elsewhere():
            return
        try:
            with alone(self._held_by(), _PATIENCE_SECONDS if grant.over(self._seconds) else 0.0):
                self._unsaved = self._unsaved and self._save()
                if self._ends(self._grant or grant):
                    self._grant = self._renewed(grant)
        except (SouvenanceError, OSError) as error:
            if isinstance(error, StorageBusy) and not grant.over(self._seconds):
                return  # Another process is at it.
            self._not_before = self._now() + _PAUSE_MS
            self._tell(error)
        else:
            self.trouble = ""

    def _renewed_elsewhere(self) -> bool:
        """Whether the configuration holds a token that is to be looked at before the pause is over."""
        kept = OAuthGrant.of(self._read())
        return kept is not None and not kept.ended and not self._ends(kept)

    def _save(self) -> bool:
        """Write what could not be written, unless there is another grant by now. False once that is done."""
        kept = OAuthGrant.of(self._read())
        if self._grant is not None and kept is not None and kept.spending and kept.since == self._grant.since:
            self._write(self._grant.settings())
        return False

    def _renewed(self, known: OAuthGrant) -> OAuthGrant:
        """The grant that another process has renewed meanwhile, or else a new one."""
        gone = replace(known, ended="it is not in the configuration any more")
        kept = OAuthGrant.of(self._read()) or gone
        if kept.ended:
            self._grant = kept
            raise _ended(kept.ended)
        if not self._ends(kept):
            return kept
        if kept.spending and self._doubted != kept.refresh:
            self._doubted = kept.refresh
            _log.warning(
                "souvenance: a renewal of the sign-in was cut off, and its token may be spent already. It is "
                "tried once more; if the server then ends the sign-in, sign in again: souvenance login"
            )
        self._write(replace(kept, spending=self._seconds).settings())
        fresh = self._spent(kept)
        self._grant, self._unsaved = fresh, True
        self._write(fresh.settings())
        self._unsaved = False
        return fresh

    def _spent(self, kept: OAuthGrant) -> OAuthGrant:
        """A new grant for the old one, or what came of it in the configuration."""
        try:
            return self._exchange(kept, self._seconds)
        except SignInEnded as error:
            why = "a renewal was cut off, and its token was spent" if kept.spending else error.detail
            self._grant = replace(kept, refresh="", spending=0, ended=why)
            self._write(self._grant.settings())
            raise _ended(why) from error
        except Unheard:
            raise
        except ServerUnreachable:
            self._write(kept.settings())
            raise

    def _tell(self, error: Exception) -> None:
        told = error.detail if isinstance(error, SouvenanceError) else str(error)
        again = ". Sign in again: souvenance login" if isinstance(error, SignInEnded) else ""
        if self.trouble != told:
            self.trouble = told
            _log.warning("souvenance: the sign-in could not be renewed: %s%s", told, again)


def _ended(why: str) -> SignInEnded:
    return SignInEnded(f"the sign-in has ended: {why}")


def lock_of(folder: Path, theirs: Path | None = None) -> Path:
    """The lock of all sign-ins of the installation whose default home that is; or, of one that is kept in a
    file of Honcho's, the lock by which Honcho's own plugin holds others off when it renews that.
    """
    return folder / _LOCK if theirs is None else theirs.with_name(f"{theirs.name}.lock")


def alone(file: Path | None, patience: float = _PATIENCE_SECONDS) -> AbstractContextManager[None]:
    """Hold off every other process that changes a sign-in of this installation.

    Raises: StorageBusy if another one does not come to an end.
    """
    return nullcontext() if file is None else locked(file, patience)


def exchange(grant: OAuthGrant, now: int) -> OAuthGrant:
    """Trade the refresh token at its endpoint. Raises: as Exchange says."""
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
        spending=0,
    )
