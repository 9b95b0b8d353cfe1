"""Requests to an authorization server, and the upkeep of a sign-in: its token is renewed before it expires.

A refresh token works once. A server that sees it twice ends the sign-in. So processes that share a sign-in
take a lock, and read what is stored before they renew.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.decoders import decodable, settled
from souvenance.errors import (
    Misconfigured,
    ServerUnreachable,
    SignInEnded,
    SignInFailed,
    SouvenanceError,
    StorageBusy,
    Unsupported,
)
from souvenance.files import locked
from souvenance.hermes.configuration import CLOUD, Configuration

if TYPE_CHECKING:
    import httpx


CLIENT = "hermes-agent"
"""One client id for every surface, so that there is one grant to renew."""
SCOPE = "write"

_TIMEOUT = 15.0
_MOST_CHARS = 200
_MOST_BYTES = 256 * 1024
"""Of an answer. Real ones have a few kilobytes."""
_HEADERS = {"accept": "application/json"}
_WELL_KNOWN = "/.well-known/oauth-authorization-server"


class SignInRefused(Exception):
    """The server refused, with an error code of OAuth."""

    def __init__(self, error: str, description: str = "") -> None:
        super().__init__(f"{error}: {description}" if description else error)
        self.error = error


class Issued(Struct, frozen=True):
    access_token: str
    refresh_token: str = ""
    expires_in: float = 3600
    scope: str = ""
    token_type: str = "Bearer"  # noqa: S105 - a kind of tokens
    config: Any = None
    """What the person chose on the consent page, if the server says."""


class _Refusal(Struct, frozen=True):
    error: str
    error_description: str = ""


def issued(endpoint: str, form: Mapping[str, str]) -> Issued:
    """What the token endpoint gives. Raises: SignInRefused; ServerUnreachable."""
    answer = post(endpoint, form)
    tokens = decodable(answer.content, Issued, strict=False)
    if answer.status_code != 200 or not (
        tokens and tokens.access_token and tokens.token_type.lower() == "bearer"
    ):
        raise ServerUnreachable(f"{plain_url(endpoint)} gave no token that can be used")
    return tokens


def post(endpoint: str, form: Mapping[str, str]) -> httpx.Response:
    """Send a form. Raises: SignInRefused; ServerUnreachable."""
    return _send("POST", endpoint, form)


def get_json(url: str) -> Any:
    """The JSON object at that URL; None if there is none. Raises: ServerUnreachable."""
    try:
        answer = _send("GET", url)
    except SignInRefused:
        return None
    return decodable(answer.content, dict[str, Any]) if answer.status_code == 200 else None


def plain_url(url: str) -> str:
    """The URL without user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _send(method: str, url: str, form: Mapping[str, str] | None = None) -> httpx.Response:
    """Raises: SignInRefused; ServerUnreachable."""
    import httpx

    from souvenance.http_client import bounded, client

    end = time.monotonic() + _TIMEOUT
    try:
        with (
            client(url, None, timeout=_TIMEOUT) as sender,
            sender.stream(method, url, data=form, headers=_HEADERS) as answer,
        ):
            content = b"".join(bounded(answer, _MOST_BYTES, end, httpx.HTTPError))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, Misconfigured) as error:
        why = str(error) or type(error).__name__
        raise ServerUnreachable(f"no answer from {plain_url(url)}: {why}") from error
    answer = httpx.Response(answer.status_code, content=content)
    if answer.status_code >= 500:
        raise ServerUnreachable(f"{plain_url(url)} answered {answer.status_code}", hint="")
    if answer.status_code >= 400:
        raise _refusal(answer)
    return answer


def _refusal(answer: httpx.Response) -> SignInRefused:
    if (refusal := decodable(answer.content, _Refusal)) is None:
        return SignInRefused(f"http_{answer.status_code}")
    return SignInRefused(printable(refusal.error), printable(refusal.error_description))


def printable(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in text[:_MOST_CHARS])


_METADATA = {
    "authorize": "authorization_endpoint",
    "token": "token_endpoint",
    "device": "device_authorization_endpoint",
    "revoke": "revocation_endpoint",
    "challenges": "code_challenge_methods_supported",
    "names_itself": "authorization_response_iss_parameter_supported",
}
"""What a server's metadata calls the fields (RFC 8414)."""


class SignInEndpoints(Struct, frozen=True, kw_only=True, rename=_METADATA):
    authorize: str = ""
    token: str = ""
    device: str = ""
    """Empty if the server has no sign-in by a code."""
    revoke: str = ""
    issuer: str = ""
    names_itself: bool = False
    """Whether every answer in a browser carries `iss`."""
    challenges: tuple[str, ...] = ("S256",)


_KNOWN = {
    CLOUD: SignInEndpoints(
        authorize="https://app.honcho.dev/authorize",
        token="https://api.honcho.dev/oauth/token",  # noqa: S106 - where tokens are given, and none
    )
}
"""Honcho's cloud has no metadata."""


def endpoints_of(url: str, found: Callable[[str], Any] = get_json) -> SignInEndpoints:
    """The endpoints of the server with that URL; `found` gets a JSON object from the web.

    Raises: Unsupported if the server has no sign-in; SignInFailed if its metadata can't be trusted;
    ServerUnreachable.
    """
    url = url.rstrip("/")
    if url in _KNOWN:
        return _KNOWN[url]
    parts = urlsplit(url)
    metadata = found(urlunsplit((parts.scheme, parts.netloc, f"{_WELL_KNOWN}{parts.path}", "", "")))
    if metadata is None:
        raise Unsupported(f"{plain_url(url)} does not say where to sign in", hint="Use a key.")
    return _checked(url, metadata)


def _checked(url: str, metadata: Mapping[str, Any]) -> SignInEndpoints:
    """The endpoints in the metadata, if it is the server's own and each is as safe as the server."""
    issuer = metadata.get("issuer")
    if not isinstance(issuer, str) or issuer.rstrip("/") != url:
        named = f"calls itself {plain_url(issuer)}" if isinstance(issuer, str) else "does not say who it is"
        hint = f"If you trust it: --url {plain_url(issuer)}" if isinstance(issuer, str) else ""
        raise SignInFailed(f"{plain_url(url)} {named}", hint=hint)
    try:
        endpoints = msgspec.convert(metadata, type=settled(SignInEndpoints))
    except msgspec.ValidationError as error:
        raise SignInFailed(f"what {plain_url(url)} says of itself can't be used: {error}") from None
    for name in ("authorize", "token", "device", "revoke"):
        address: str = getattr(endpoints, name)
        safe = _is_address(address) and address.startswith("https:" if url.startswith("https:") else "http")
        if address and not safe:
            raise SignInFailed(f"the {_METADATA[name]} of {plain_url(url)} can't be used")
    if "S256" not in endpoints.challenges:
        raise Unsupported(f"{plain_url(url)} does not support PKCE with S256", hint="Use a key.")
    if not endpoints.authorize or not endpoints.token:
        raise SignInFailed(f"{plain_url(url)} does not say where to sign in")
    return endpoints


def _is_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and value.isprintable()
    except ValueError:
        return False


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
    """When the sign-in was, in milliseconds. It identifies the sign-in."""
    ended: str = ""
    """Why it can't be renewed any more; empty while it can."""
    more: Mapping[str, Any] = {}
    """Fields of other programs."""

    @classmethod
    def of(cls, configuration: Configuration) -> OAuthGrant | None:
        """None if the configuration holds none."""
        kept = {name: value for name, value in (configuration.oauth or {}).items() if value is not None}
        known = cls.__struct_encode_fields__[1:-1]
        more = {name: value for name, value in kept.items() if name not in known}
        ours = {name: value for name, value in kept.items() if name in known}
        try:
            fields = {**ours, "access": configuration.api_key or "", "more": more}
            return msgspec.convert(fields, type=settled(cls), strict=False)
        except msgspec.ValidationError:
            return None

    @classmethod
    def given(cls, tokens: Issued, endpoints: SignInEndpoints, now: int) -> OAuthGrant:
        """The grant of a new sign-in; `now` is in milliseconds."""
        return cls(
            access=tokens.access_token,
            refresh=tokens.refresh_token,
            expires_at=_end(tokens, now // 1000),
            client=CLIENT,
            endpoint=endpoints.token,
            revoke=endpoints.revoke,
            scope=tokens.scope or SCOPE,
            since=now,
        )

    def settings(self) -> dict[str, Any]:
        kept = msgspec.to_builtins(self)
        access, more = kept.pop("access"), kept.pop("more")
        shown = {name: value for name, value in kept.items() if value or name in _ALWAYS}
        return {"apiKey": access, "oauth": {**shown, **more}}

    def over(self, now: int) -> bool:
        return self.expires_at <= now

    def standing(self, now: int) -> str:
        """In words: which client it belongs to, and for how long its token is valid."""
        if self.ended:
            return f"{self.client}, ended: {self.ended}; sign in again: souvenance login"
        left = self.expires_at - now
        if left > 0:
            return f"{self.client}, valid for {max(1, round(left / 60))} min"
        return f"{self.client}, expired; it is renewed with the next request"


def _end(tokens: Issued, now: int) -> int:
    return now + int(min(max(tokens.expires_in, _SHORTEST_LIFE), _LONGEST_LIFE))


Exchange = Callable[[OAuthGrant, int], OAuthGrant]
"""Exchanges the refresh token of a grant for a new grant. Raises: SignInEnded; ServerUnreachable."""


class Upkeep:
    """Gives a valid access token. Threads may share it.

    `now` is in milliseconds, `folder` the default home of the processes that share the configuration.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        now: Callable[[], int],
        read: Callable[[], Configuration],
        write: Callable[[Mapping[str, Any]], object],
        exchange: Exchange,
        folder: Path,
    ) -> None:
        self._grant = OAuthGrant.of(configuration)
        self._key = configuration.api_key or ""
        self._folder = folder
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
            with alone(self._folder, _PATIENCE_SECONDS if over else 0.0):
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


def alone(folder: Path, patience: float = _PATIENCE_SECONDS) -> AbstractContextManager[None]:
    """Keep other processes from changing a sign-in of the installation with that default home.

    Raises: StorageBusy if another one holds the lock for longer.
    """
    return locked(folder, patience, _LOCK)


def exchange(grant: OAuthGrant, now: int) -> OAuthGrant:
    """Exchange the refresh token at its endpoint. Raises: as Exchange says."""
    form = {"grant_type": "refresh_token", "refresh_token": grant.refresh, "client_id": grant.client}
    try:
        tokens = issued(grant.endpoint, form)
    except SignInRefused as refused:
        if refused.error == "invalid_grant":
            raise SignInEnded("the server does not renew it any more") from refused
        where = plain_url(grant.endpoint)
        raise ServerUnreachable(f"no new token from {where}: {refused}", hint="") from refused
    return replace(
        grant,
        access=tokens.access_token,
        refresh=tokens.refresh_token or grant.refresh,
        expires_at=_end(tokens, now),
        scope=tokens.scope or grant.scope,
    )
