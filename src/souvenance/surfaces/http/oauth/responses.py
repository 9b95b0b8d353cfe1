"""How the sign-in door answers: pages that nobody can frame or script, redirects, and OAuth's errors."""

from __future__ import annotations

from urllib.parse import quote

from authlib.oauth2 import OAuth2Error
from starlette.responses import Response

from souvenance.errors import LimitExceeded, RateLimited, SouvenanceError, Unavailable
from souvenance.surfaces.http.oauth import pages
from souvenance.surfaces.http.oauth.authorization_server import Answered
from souvenance.surfaces.http.request_threads import json_answer, refusal_headers
from souvenance.surfaces.http.routes import status_of

_PAGE = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # With no-referrer a browser would hide the form's own origin, too.
}


def page(html: str, status: int = 200, leads_to: str = "") -> Response:
    """`leads_to` is where a form of the page may lead besides here, since browsers look at redirects too."""
    policy = (
        f"default-src 'none'; style-src {pages.STYLE_SOURCE}; form-action 'self' {leads_to}".rstrip()
        + "; frame-ancestors 'none'; base-uri 'none'"
    )
    return Response(html, status, {**_PAGE, "content-security-policy": policy}, "text/html")


def redirect(to: str) -> Response:
    """To there, by GET, whatever this was."""
    return Response(b"", 303, {**_PAGE, "location": to})


def to_client(answered: Answered, issuer: str) -> Response | None:
    """The redirect to a client, which says who answers (RFC 9207); None if the answer is for no client."""
    location = dict(answered[2]).get("Location")
    if location is None:
        return None
    return redirect(f"{location}{'&' if '?' in location else '?'}iss={quote(issuer, safe='')}")


def as_page(error: Exception) -> Response:
    """A failure, told to the person before the page."""
    if isinstance(error, OAuth2Error):
        text = f"{error.description or 'The request is not well formed.'} ({error.error})"
        return page(pages.notice("This can't go on", text), error.status_code)
    assert isinstance(error, SouvenanceError)  # noqa: S101 - nothing else is caught
    return page(pages.notice("This can't go on", told(error)), status_of(type(error)))


def as_json(error: Exception) -> Response:
    """A failure, told to a client in OAuth's words."""
    if isinstance(error, OAuth2Error):
        return answer(error())
    assert isinstance(error, SouvenanceError)  # noqa: S101 - nothing else is caught
    status = status_of(type(error))
    if isinstance(error, RateLimited | Unavailable):
        code = "temporarily_unavailable"
    elif status < 500 or isinstance(error, LimitExceeded):
        code = "invalid_request"
    else:
        code = "server_error"
    return json_answer(status, {"error": code, "error_description": told(error)}, refusal_headers(error))


def answer(answered: Answered) -> Response:
    status, body, headers = answered
    return json_answer(status, body, {name.lower(): value for name, value in headers})


def told(error: SouvenanceError) -> str:
    """A failure in a sentence or two."""
    text = f"{error.detail[:1].upper()}{error.detail[1:]}."
    return f"{text} {error.hint}".strip()
