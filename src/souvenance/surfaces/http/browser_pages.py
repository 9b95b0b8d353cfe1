"""What the pages of all doors have in common: templates, security headers, session cookies and forms."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from starlette.responses import Response

from souvenance.domain.encoding import b64, frame
from souvenance.errors import Denied

_HEADERS = {
    "cache-control": "no-store",
    "referrer-policy": "same-origin",  # With no-referrer a browser would hide the form's own origin, too.
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class PageTemplates:
    """The templates of a package, and the headers that its pages are sent with."""

    def __init__(self, package: str, headers: Mapping[str, str]) -> None:
        self.environment = Environment(
            loader=PackageLoader(package),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.headers = {**_HEADERS, **headers}

    def rendered(self, template: str, /, **values: Any) -> str:
        """The page. Lone surrogates, which no encoding has, become question marks."""
        return self.environment.get_template(template).render(values).encode("utf-8", "replace").decode()

    def shown(self, template: str, code: int = 200, /, **values: Any) -> Response:
        return Response(self.rendered(template, **values), code, self.headers, "text/html")

    def redirect(self, to: str) -> Response:
        return Response(b"", 303, {**self.headers, "location": to})


class SessionCookie(Struct, frozen=True):
    """The cookie that holds the secret of a browser's session."""

    name: str
    same_site: Literal["lax", "strict"]
    seconds: int | None = None
    """How long a browser keeps it; None until it is closed."""

    def read(self, cookies: Mapping[str, str], secure: bool) -> str:
        return cookies.get(self._named(secure), "")

    def give(self, answer: Response, secret: str, secure: bool) -> None:
        name, same_site = self._named(secure), self.same_site
        answer.set_cookie(name, secret, self.seconds, secure=secure, httponly=True, samesite=same_site)

    def take_back(self, answer: Response, secure: bool) -> None:
        answer.delete_cookie(self._named(secure), secure=secure, httponly=True, samesite=self.same_site)

    def _named(self, secure: bool) -> str:
        """Over TLS a browser takes a cookie of the first name from this very host alone."""
        return f"__Host-{self.name}" if secure else self.name


def is_same_site(headers: Mapping[str, str], unsaid: str = "same-origin") -> bool:
    """Whether no page of another site sent the browser here; `unsaid` is for browsers that don't say."""
    return headers.get("sec-fetch-site", unsaid) in ("same-origin", "none")


def check_same_site(headers: Mapping[str, str]) -> None:
    """Raises: Denied for a form of another site. Where browsers don't say, the Origin header was checked."""
    if not is_same_site(headers):
        raise Denied("the form was sent from a page of another site")


def names_in(text: str) -> tuple[str, ...]:
    """The names that a field holds with commas between, each once."""
    return tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def form_token(*form: str) -> str:
    """What a form must bring: nobody makes it without the session's secret, which is among these parts."""
    return b64(sha256(frame(*form)).digest())


def is_form_token(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())
