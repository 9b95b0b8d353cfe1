"""A visit: one browser before the pages, known by a cookie that says nothing, and the tokens of its forms.

Before somebody signs in the cookie is chance alone. A sign-in gives a new one, so that nobody can bring a
browser to a session that they know. A form's token is made from the cookie, which no other page can read.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from msgspec import Struct
from starlette.responses import Response

from souvenance.domain.base64url import b64
from souvenance.domain.encoding import frame
from souvenance.domain.sign_ins import SESSION_MS
from souvenance.errors import Denied
from souvenance.gate.oauth_state import OAuthState
from souvenance.patterns import pattern
from souvenance.surfaces.http.oauth.request import OAuthRequest

_COOKIE = "souvenance-visit"
_GUARDED_COOKIE = "__Host-souvenance-visit"
"""Over TLS: a browser takes it from this very host alone."""
_SECRET = pattern(r"[A-Za-z0-9_-]{43}\Z")
_OWN_PAGES = ("same-origin", "none")


class BrowserSession(Struct, frozen=True):
    secret: str
    known: bool
    """Whether the browser brought the cookie."""
    token: str | None
    """The cap of whoever is signed in, or of this machine where that is trusted."""

    def form_token(self, *form: str) -> str:
        return b64(sha256(frame("souvenance.signin.form", self.secret, *form)).digest())

    def check_form(self, asked: OAuthRequest, *form: str) -> None:
        """Raises: Denied for a form that this browser was not given."""
        if asked.headers.get("sec-fetch-site", "same-origin") not in _OWN_PAGES:
            raise Denied("the form was sent from a page of another site")
        given = asked.get("csrf").encode("utf-8", "surrogatepass")
        if not self.known or not hmac.compare_digest(given, self.form_token(*form).encode()):
            raise Denied(
                "the form is not one of this browser's, or too old",
                hint="Go back, load the page again, and allow cookies for it.",
            )


def visit(asked: OAuthRequest, reception: OAuthState) -> BrowserSession:
    brought = asked.cookies.get(_name(asked), "")
    if not _SECRET.match(brought):
        return BrowserSession(reception.secret(), False, asked.trusted)
    return BrowserSession(brought, True, asked.trusted or reception.signed_in(brought))


def remember(answer: Response, asked: OAuthRequest, secret: str) -> None:
    answer.set_cookie(
        _name(asked),
        secret,
        max_age=SESSION_MS // 1000,
        path="/",
        secure=asked.secure,
        httponly=True,
        samesite="lax",
    )


def forget(answer: Response, asked: OAuthRequest) -> None:
    answer.delete_cookie(_name(asked), path="/", secure=asked.secure, httponly=True, samesite="lax")


def _name(asked: OAuthRequest) -> str:
    return _GUARDED_COOKIE if asked.secure else _COOKIE
