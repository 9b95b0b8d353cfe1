"""Requests to the sign-in door, read once, and its answers: JSON, redirects and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote

from authlib.oauth2 import OAuth2Error
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from souvenance import errors as e
from souvenance.surfaces.http.oauth.metadata import REGISTER
from souvenance.surfaces.http.oauth.pages import notice, redirect
from souvenance.surfaces.http.request_bodies import body_of_anybody
from souvenance.surfaces.http.request_threads import json_answer, refusal_headers
from souvenance.surfaces.http.routes import status_of

MOST_BYTES = 32 * 1024
_MOST_FIELDS = 200
_FORM = "application/x-www-form-urlencoded"
_REPEATABLE = frozenset({"resource", "namespace"})

Fields = tuple[tuple[str, str], ...]


class OAuthRequest(Struct, frozen=True, kw_only=True):
    method: str
    path: str
    query: str
    fields: Fields
    """Of the query, or for a POST of the form in its body."""
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    issuer: str
    """The URL that this server is known by."""
    trusted: str | None
    """The cap for programs on this machine, on a server that trusts it."""
    body: bytes = b""

    def get(self, name: str, otherwise: str = "") -> str:
        return dict(self.fields).get(name, otherwise)

    def every(self, name: str) -> list[str]:
        return [value for key, value in self.fields if key == name]

    @property
    def here(self) -> str:
        """The path and query that it was sent to."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def secure(self) -> bool:
        return self.issuer.startswith("https://")


async def read(request: Request, public_url: str | None) -> OAuthRequest:
    """Raises: SouvenanceError for a body that is too large or too slow, is no form or says a thing twice."""
    if len(request.url.query) > MOST_BYTES:
        raise e.BodyTooLarge(f"the query is larger than {MOST_BYTES} bytes")
    body = (await body_of_anybody(request, MOST_BYTES)).read() if request.method == "POST" else b""
    posted = request.method == "POST" and request.url.path != REGISTER  # Which takes JSON.
    if posted and request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise e.InvalidInput("the body is not a form", hint=f"Send {_FORM}.")
    return OAuthRequest(
        method=request.method,
        path=request.url.path,
        query=request.url.query,
        fields=fields_of(body.decode("utf-8", "replace") if posted else request.url.query),
        headers=request.headers,
        cookies=request.cookies,
        issuer=public_url or f"{request.url.scheme}://{request.headers.get('host', '')}",
        trusted=request.scope.get("souvenance.trusted"),
        body=body,
    )


def fields_of(encoded: str) -> Fields:
    """Raises: InvalidInput."""
    try:
        found = tuple(parse_qsl(encoded, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise e.InvalidInput(f"there are more than {_MOST_FIELDS} fields") from None
    counted = Counter(name for name, _ in found if name not in _REPEATABLE)
    if twice := [name for name, count in counted.items() if count > 1]:
        raise e.InvalidInput(f"{twice[0]!r} is given twice")
    return found


Answered = tuple[int, Any, list[tuple[str, str]]]
"""Status, body and headers."""


def to_client(answered: Answered, issuer: str) -> Response | None:
    """The redirect to a client, which says who answers (RFC 9207); None if the answer is for no client."""
    location = dict(answered[2]).get("Location")
    if location is None:
        return None
    return redirect(f"{location}{'&' if '?' in location else '?'}iss={quote(issuer, safe='')}")


def as_page(error: e.SouvenanceError | OAuth2Error) -> Response:
    """A failure, told to the person before the page."""
    if isinstance(error, OAuth2Error):
        text = f"{error.description or 'The request is not well formed.'} ({error.error})"
        return notice("This can't go on", text, error.status_code)
    return notice("This can't go on", sentence_of(error), status_of(type(error)))


def as_json(error: e.SouvenanceError | OAuth2Error) -> Response:
    """A failure, told to a client in OAuth's words."""
    if isinstance(error, OAuth2Error):
        return answer(error())
    status = status_of(type(error))
    if isinstance(error, e.RateLimited | e.Unavailable):
        code = "temporarily_unavailable"
    elif status < 500 or isinstance(error, e.LimitExceeded):
        code = "invalid_request"
    else:
        code = "server_error"
    return json_answer(
        status, {"error": code, "error_description": sentence_of(error)}, refusal_headers(error)
    )


def answer(answered: Answered) -> Response:
    status, body, headers = answered
    return json_answer(status, body, {name.lower(): value for name, value in headers})


def sentence_of(error: e.SouvenanceError) -> str:
    """A failure in a sentence or two."""
    text = f"{error.detail[:1].upper()}{error.detail[1:]}."
    return f"{text} {error.hint}".strip()
