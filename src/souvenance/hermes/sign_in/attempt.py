"""One attempt to sign in with a browser: what it is begun with, and which answer it takes."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from msgspec import Struct

from souvenance.errors import SignInDenied, SignInExpired, SignInFailed
from souvenance.hermes.sign_in.endpoints import SignInEndpoints

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
