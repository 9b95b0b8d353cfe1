"""Requests to the sign-in door, read once, and its answers: JSON, redirects, pages and failures."""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from importlib import resources
from typing import Any, Literal
from urllib.parse import parse_qsl, quote, urlsplit

from authlib.oauth2 import OAuth2Error
from markupsafe import Markup
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from souvenance import errors as e
from souvenance.http_client import is_loopback
from souvenance.language.characters import BLANK_LETTERS
from souvenance.patterns import pattern
from souvenance.surfaces.http.browser_pages import PageTemplates
from souvenance.surfaces.http.oauth.metadata import REGISTER
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
    text = f"{error.detail[:1].upper()}{error.detail[1:]}."
    return f"{text} {error.hint}".strip()


ANOTHER_DEVICE = "another device"
"""Where the answer goes if it is fetched with a device code."""

_TOKENS = resources.files("souvenance.surfaces.http.inspector").joinpath("static", "tokens.css")
_OWN = resources.files(__package__).joinpath("templates/pages.css")
_STYLE = _TOKENS.read_text("utf-8") + _OWN.read_text("utf-8")

STYLE_SOURCE = f"'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
"""What `style-src` has to name for the stylesheet of these pages; they need nothing else.

A browser holds `form-action` against redirects too: where the consent form leads to has to be named there.
"""

_SCHEME = pattern(r"[a-z][a-z0-9+.-]*:\Z")
_MOST_SHOWN = 80
_MOST_MARKS = 3
_NOT_SEEN = "\ufffd"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Consent(Struct, frozen=True, kw_only=True):
    """What a person decides on.

    `where` is the host and port that the answer goes to, a program's own scheme with its colon, or another
    device. `source` and `config_path` are the client's own words. Nobody vouches for the name of a client
    that `registered` itself. `everyone` asks for all peers of the workspace. `ends` are labels and seconds.
    `leads_to` is where the form may lead besides here.
    """

    client: str
    client_id: str
    source: str | None = None
    where: str
    config_path: str | None = None
    signed_in_as: str
    workspace: str
    workspace_fixed: bool
    peer: str
    peer_fixed: bool
    namespaces: tuple[str, ...]
    chosen: tuple[str, ...]
    access: Literal["read", "write"]
    write_offered: bool
    ends: tuple[tuple[str, int], ...]
    end: int
    csrf: str
    request: str
    action: str
    registered: bool = True
    everyone_offered: bool = False
    everyone: bool = False
    sign_out: str | None = None
    leads_to: str = ""

    @property
    def place(self) -> Literal["device", "scheme", "here", "elsewhere"]:
        """Where the answer goes: to this machine only if it is a host and port of it, and nothing besides."""
        if self.where == ANOTHER_DEVICE:
            return "device"
        if _SCHEME.match(self.where):
            return "scheme"
        try:
            parts = urlsplit(f"//{self.where}")
        except ValueError:
            return "elsewhere"
        near = "@" not in self.where and parts.netloc == self.where and is_loopback(parts.hostname or "")
        return "here" if near else "elsewhere"


def page(template: str, status: int = 200, leads_to: str = "", **values: Any) -> Response:
    """`leads_to` is where a form of the page may lead besides here, since browsers look at redirects too."""
    answer = _PAGES.shown(template, status, **{"trouble": "", **values})
    policy = f"default-src 'none'; style-src {STYLE_SOURCE}; form-action 'self' {leads_to}".rstrip()
    answer.headers["content-security-policy"] = f"{policy}; frame-ancestors 'none'; base-uri 'none'"
    return answer


def notice(title: str, text: str, status: int = 200) -> Response:
    """A page that only says something."""
    return page("page.html", status, title=title, text=text)


def _shown(text: str, most: int = _MOST_SHOWN) -> Markup:
    """Text that people read, from wherever it came."""
    return Markup("<bdi>{}</bdi>").format(_plain(text, most))


def _plain(text: str, most: int = _MOST_SHOWN) -> str:
    """On one line, with a mark in place of what can't be seen, and no towers of accents."""
    seen: list[str] = []
    marks = 0
    for character in " ".join(text.split()) or _NOT_SEEN:
        kind = unicodedata.category(character)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if marks <= _MOST_MARKS:
            seen.append(_NOT_SEEN if kind in _UNSEEN or character in BLANK_LETTERS else character)
        if len(seen) > most:
            return "".join(seen[: most - 1]) + "…"
    return "".join(seen)


_PAGES = PageTemplates("souvenance.surfaces.http.oauth", {})
_PAGES.environment.globals |= {"style": Markup(_STYLE)}  # noqa: S704 - it is our own
_PAGES.environment.filters |= {"plain": _plain, "shown": _shown}
redirect = _PAGES.redirect
