"""The pages of sign-in: plain HTML forms with one stylesheet inside, no script and nothing fetched.

All text from outside is escaped. Where it is shown it is also put on one line, cut, kept apart from
the text around it, and every character that can't be seen becomes one that can.
"""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from hashlib import sha256
from importlib import resources
from typing import Any, Literal
from urllib.parse import urlsplit

from markupsafe import Markup
from msgspec import Struct
from starlette.responses import Response

from souvenance.http_client import is_loopback
from souvenance.language.characters import BLANK_LETTERS
from souvenance.patterns import pattern
from souvenance.surfaces.http.browser_pages import PageTemplates

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
