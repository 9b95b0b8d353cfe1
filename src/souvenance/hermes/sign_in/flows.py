"""Two ways to sign in: with a browser on this machine, or with a code that is typed on another device."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from msgspec import Struct

from souvenance.decoders import decodable
from souvenance.errors import ServerUnreachable, SignInDenied, SignInExpired, SignInFailed, Unsupported
from souvenance.hermes.oauth_tokens import (
    CLIENT,
    SCOPE,
    Issued,
    OAuthGrant,
    SignInEndpoints,
    SignInRefused,
    issued,
    post,
    printable,
)

if TYPE_CHECKING:
    from souvenance.hermes.sign_in.listener import Listener


LIFE_SECONDS = 600
"""How long to wait for the browser's answer."""

_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_SLOWER_SECONDS = 5.0
_LONGEST_PAUSE = 60.0
_LONGEST_CODE_SECONDS = 3600.0


class Signed(Struct, frozen=True):
    grant: OAuthGrant
    config: Mapping[str, Any]
    """What the person chose on the consent page, as the server says, not checked yet."""


class Code(Struct, frozen=True):
    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str = ""
    expires_in: float = 600
    interval: float = _SLOWER_SECONDS


class Attempt:
    def __init__(self, endpoints: SignInEndpoints, redirect: str) -> None:
        self._endpoints = endpoints
        self._redirect = redirect
        self.state = secrets.token_urlsafe(32)
        self.verifier = secrets.token_urlsafe(64)

    def url(self, **shown: str) -> str:
        """The page to open; `shown` is what it may say about the program that asks."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        asked = {
            "response_type": "code",
            "client_id": CLIENT,
            "redirect_uri": self._redirect,
            "scope": SCOPE,
            "state": self.state,
            "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            **{name: value for name, value in shown.items() if value},
        }
        joint = "&" if "?" in self._endpoints.authorize else "?"
        return f"{self._endpoints.authorize}{joint}{urlencode(asked)}"

    def is_answered_by(self, answer: Mapping[str, str]) -> bool:
        return hmac.compare_digest(answer.get("state", "").encode(), self.state.encode())

    def code(self, answer: Mapping[str, str]) -> str:
        """The code in the answer. Raises: SignInFailed, SignInDenied."""
        if not self.is_answered_by(answer):
            raise SignInFailed("the answer is not to this sign-in")
        issuer, expected = answer.get("iss", ""), self._endpoints.issuer
        if expected and issuer != expected and (issuer or self._endpoints.names_itself):
            raise SignInFailed("the answer is from another server")
        if error := answer.get("error"):
            if error == "access_denied":
                raise SignInDenied("the sign-in was not allowed")
            raise SignInFailed(f"the server refused the sign-in: {printable(error)}")
        if not answer.get("code"):
            raise SignInFailed("the answer has no code")
        return answer["code"]

    def redeemed(self, answer: Mapping[str, str]) -> Signed:
        """The grant for the code in the answer. Raises: SignInFailed, SignInDenied; ServerUnreachable."""
        form = {
            "grant_type": "authorization_code",
            "client_id": CLIENT,
            "code": self.code(answer),
            "redirect_uri": self._redirect,
            "code_verifier": self.verifier,
        }
        try:
            return _signed(self._endpoints, issued(self._endpoints.token, form))
        except SignInRefused as refused:
            raise SignInFailed(f"the server does not take the answer: {refused}") from refused


def by_browser(
    endpoints: SignInEndpoints, listener: Listener, show: Callable[[str], object], **shown: str
) -> Signed:
    """Show the server's page, and wait for the answer that the browser brings.

    `show` gets the URL of the page; `shown` is what the page may say about the program that asks.
    Raises: SignInFailed, SignInDenied, SignInExpired; ServerUnreachable.
    """
    attempt = Attempt(endpoints, listener.redirect)
    listener.expect(attempt.is_answered_by)
    show(attempt.url(**shown))
    answer = listener.wait(LIFE_SECONDS)
    if answer is None:
        raise SignInExpired(f"no answer came within {LIFE_SECONDS // 60} minutes")
    return attempt.redeemed(answer)


def by_code(
    endpoints: SignInEndpoints,
    show: Callable[[Code], object],
    *,
    wait: Callable[[float], object] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Signed:
    """Show a code, and ask until it was typed on another device.

    Raises: Unsupported if the server gives no codes; SignInFailed, SignInDenied, SignInExpired;
    ServerUnreachable.
    """
    code = _code(endpoints)
    end = now() + min(code.expires_in, _LONGEST_CODE_SECONDS)
    show(code)
    form = {"grant_type": _DEVICE_GRANT, "device_code": code.device_code, "client_id": CLIENT}
    pause = max(1.0, code.interval)
    while True:
        wait(pause)
        if now() >= end:
            raise SignInExpired("nobody typed the code in time")
        try:
            return _signed(endpoints, issued(endpoints.token, form))
        except SignInRefused as refused:
            pause += _longer_pause(refused)
        except ServerUnreachable:
            pause = min(pause * 2, _LONGEST_PAUSE)


def _longer_pause(refused: SignInRefused) -> float:
    """By how many seconds to lengthen the pause; raises if there is nothing more to wait for."""
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
        answer = post(endpoints.device, {"client_id": CLIENT, "scope": SCOPE})
    except SignInRefused as refused:
        raise SignInFailed(f"the server gives no code: {refused}") from refused
    if (code := decodable(answer.content, Code, strict=False)) is None:
        raise SignInFailed("the server gives no code that can be read")
    pages = [code.verification_uri, code.verification_uri_complete or code.verification_uri]
    plain = all(page.startswith(("https://", "http://")) and page.isprintable() for page in pages)
    if not plain or not code.user_code.isprintable():
        raise SignInFailed("the server gives a code that can't be shown")
    return code


def revoke(grant: OAuthGrant) -> None:
    """Revoke the grant at the server. Raises: Unsupported if it can't; ServerUnreachable."""
    if not grant.revoke:
        raise Unsupported("the server can't revoke a sign-in", hint="")
    form = {"token": grant.refresh, "token_type_hint": "refresh_token", "client_id": grant.client}
    try:
        post(grant.revoke, form)
    except SignInRefused as refused:
        raise ServerUnreachable(f"the server did not revoke the sign-in: {refused}", hint="") from refused


def _signed(endpoints: SignInEndpoints, tokens: Issued) -> Signed:
    if not tokens.refresh_token:
        raise SignInFailed("the server gave no refresh token")
    grant = OAuthGrant.given(tokens, endpoints, time.time_ns() // 1_000_000)
    return Signed(grant, tokens.config if isinstance(tokens.config, dict) else {})
