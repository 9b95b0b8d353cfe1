"""The two ways to sign in: with a browser on this machine, or by a code that is typed on another."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from souvenance.decoders import settled
from souvenance.errors import (
    ServerUnreachable,
    SignInDenied,
    SignInExpired,
    SignInFailed,
    SouvenanceError,
    Unsupported,
)
from souvenance.hermes.oauth_tokens import OAuthGrant
from souvenance.hermes.sign_in.authorization_server import (
    Issued,
    SignInEndpoints,
    SignInRefused,
    issued,
    post,
)

if TYPE_CHECKING:
    from souvenance.hermes.sign_in.listener import Listener


LIFE_SECONDS = 600
"""For how long an answer is waited for."""


class Attempt(Struct, frozen=True, kw_only=True):
    """Its state is told by nobody but whoever was sent by this attempt; its verifier never leaves us."""

    endpoints: SignInEndpoints
    redirect: str
    ends_at: float
    """On the clock of this machine's uptime."""
    state: str
    verifier: str

    @classmethod
    def begun(
        cls, endpoints: SignInEndpoints, redirect: str, now: Callable[[], float] = time.monotonic
    ) -> Attempt:
        return cls(
            endpoints=endpoints,
            redirect=redirect,
            ends_at=now() + LIFE_SECONDS,
            state=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(64),
        )

    def url(self, **shown: str) -> str:
        """Where to send the browser; `shown` is what the page may say of who asks."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": self.endpoints.client,
            "redirect_uri": self.redirect,
            "scope": self.endpoints.scope,
            "state": self.state,
            "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **{name: value for name, value in shown.items() if value},
        }
        joint = "&" if "?" in self.endpoints.authorize else "?"
        return f"{self.endpoints.authorize}{joint}{urlencode(asked)}"

    def is_answered_by(self, answer: Mapping[str, str]) -> bool:
        """Whether somebody answers who was sent by this attempt."""
        return hmac.compare_digest(answer.get("state", "").encode(), self.state.encode())

    def code(self, answer: Mapping[str, str], now: Callable[[], float] = time.monotonic) -> str:
        """The code that the answer brings. Raises: SignInFailed, SignInDenied and SignInExpired among it."""
        if not self.is_answered_by(answer):
            raise SignInFailed("the answer is not to this sign-in")
        if now() >= self.ends_at:
            raise SignInExpired("the answer came too late")
        issuer = answer.get("iss", "")
        expected = self.endpoints.issuer
        if expected and issuer != expected and (issuer or self.endpoints.names_itself):
            raise SignInFailed("the answer is of another server than was asked")
        if error := answer.get("error"):
            told = "".join(one if one.isprintable() else "?" for one in error[:100])
            if error == "access_denied":
                raise SignInDenied("the sign-in was not allowed")
            raise SignInFailed(f"the server refused the sign-in: {told}")
        if not answer.get("code"):
            raise SignInFailed("the answer brings no code")
        return answer["code"]


_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_SLOWER_SECONDS = 5.0
_LONGEST_PAUSE = 60.0
_LONGEST_CODE_SECONDS = 3600.0


class Signed(Struct, frozen=True):
    """Who signed in has this."""

    grant: OAuthGrant
    config: Mapping[str, Any]
    """What was chosen where the sign-in was allowed, as the server says; nothing of it is checked yet."""


class Code(Struct, frozen=True):
    """What is shown to somebody who signs in on another device."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str = ""
    expires_in: float = 600
    interval: float = _SLOWER_SECONDS


def by_browser(
    endpoints: SignInEndpoints, listener: Listener, show: Callable[[str], object], **shown: str
) -> Signed:
    """Send somebody to the server's own page, and wait for the answer that the browser brings back.

    `show` gets the URL to go to; `shown` is what the page may say of who asks.
    Raises: SignInFailed, SignInDenied and SignInExpired among it; ServerUnreachable.
    """
    attempt = Attempt.begun(endpoints, listener.redirect)
    listener.expect(attempt.is_answered_by)
    show(attempt.url(**shown))
    visit = listener.wait(LIFE_SECONDS)
    if visit is None:
        raise SignInExpired(f"no answer came within {LIFE_SECONDS // 60} minutes")
    try:
        signed = _redeemed(attempt, visit.answer)
    except SouvenanceError as error:
        visit.tell(False, f"{error.detail[:1].upper()}{error.detail[1:]}. {error.hint}".strip())
        raise
    visit.tell(True, "You can close this tab.")
    return signed


def _redeemed(attempt: Attempt, answer: Mapping[str, str]) -> Signed:
    form = {
        "grant_type": "authorization_code",
        "client_id": attempt.endpoints.client,
        "code": attempt.code(answer),
        "redirect_uri": attempt.redirect,
        "code_verifier": attempt.verifier,
    }
    try:
        return _signed(attempt.endpoints, issued(attempt.endpoints.token, form))
    except SignInRefused as refused:
        raise SignInFailed(f"the server does not take the answer: {refused}") from refused


def by_code(
    endpoints: SignInEndpoints,
    show: Callable[[Code], object],
    *,
    wait: Callable[[float], object] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Signed:
    """Show a code, and ask until somebody allowed it on another device.

    Raises: Unsupported if the server has no such way; SignInFailed, SignInDenied and SignInExpired among it;
    ServerUnreachable.
    """
    code = _code(endpoints)
    end = now() + min(code.expires_in, _LONGEST_CODE_SECONDS)
    show(code)
    form = {"grant_type": _DEVICE_GRANT, "device_code": code.device_code, "client_id": endpoints.client}
    pause = max(1.0, code.interval)
    while True:
        wait(pause)
        if now() >= end:
            raise SignInExpired("nobody typed the code in time")
        try:
            return _signed(endpoints, issued(endpoints.token, form))
        except SignInRefused as refused:
            pause += _more_patience(refused)
        except ServerUnreachable:
            pause = min(pause * 2, _LONGEST_PAUSE)


def _more_patience(refused: SignInRefused) -> float:
    """By how much to ask less often; raises if there is nothing more to wait for."""
    if refused.error == "authorization_pending":
        return 0.0
    if refused.error == "slow_down":
        return _SLOWER_SECONDS
    if refused.error == "access_denied":
        raise SignInDenied("the sign-in was not allowed") from refused
    if refused.error == "expired_token":
        raise SignInExpired("nobody typed the code in time") from refused
    raise SignInFailed(f"the server refused the sign-in: {refused}") from refused


def _code(endpoints: SignInEndpoints) -> Code:
    if not endpoints.device:
        raise Unsupported(
            "this server has no sign-in by a code",
            hint="Sign in with a browser on this machine, or use a key.",
        )
    try:
        _, content = post(endpoints.device, {"client_id": endpoints.client, "scope": endpoints.scope})
        code = msgspec.json.decode(content, type=settled(Code), strict=False)
    except SignInRefused as refused:
        raise SignInFailed(f"the server gives no code: {refused}") from refused
    except (msgspec.MsgspecError, ValueError) as error:
        raise SignInFailed("the server gives no code that can be read") from error
    pages = [code.verification_uri, code.verification_uri_complete or code.verification_uri]
    plain = all(page.startswith(("https://", "http://")) and page.isprintable() for page in pages)
    if not plain or not code.user_code.isprintable():
        raise SignInFailed("the server gives a code that can't be shown")
    return code


def revoke(grant: OAuthGrant) -> None:
    """Take the grant back at the server. Raises: Unsupported if it has no way to; ServerUnreachable."""
    if not grant.revoke:
        raise Unsupported("the server has no way to take a sign-in back", hint="")
    form = {"token": grant.refresh, "token_type_hint": "refresh_token", "client_id": grant.client}
    try:
        post(grant.revoke, form)
    except SignInRefused as refused:
        raise ServerUnreachable(f"the server does not take the sign-in back: {refused}", hint="") from refused


def _signed(endpoints: SignInEndpoints, told: Issued) -> Signed:
    if not told.refresh_token:
        raise SignInFailed("the server gave nothing to renew the sign-in with")
    grant = OAuthGrant.given(
        told,
        client=endpoints.client,
        endpoint=endpoints.token,
        revoke=endpoints.revoke,
        scope=endpoints.scope,
        now=time.time_ns() // 1_000_000,
    )
    return Signed(grant, told.config if isinstance(told.config, dict) else {})
