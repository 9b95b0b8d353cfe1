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

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from souvenance.http_client import is_loopback
from souvenance.language.characters import BLANK_LETTERS
from souvenance.patterns import pattern

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


def sign_in(*, action: str, csrf: str, asked_by: str | None, trouble: str = "") -> str:
    """The page that asks for a cap, as `cap`."""
    return _page("sign_in", "Sign in", trouble, action=action, csrf=csrf, asked_by=asked_by)


def device(*, action: str, csrf: str, code: str = "", trouble: str = "") -> str:
    """The page that asks for the code that another device shows, as `user_code`."""
    return _page("device", "Connect a device", trouble, action=action, csrf=csrf, code=code)


def sign_out(*, action: str, csrf: str, who: str) -> str:
    """The page that asks whether to sign out."""
    return _page("sign_out", "Sign out", action=action, csrf=csrf, who=who)


def notice(title: str, text: str) -> str:
    """A page that only says something."""
    return _page("page", title, text=text)


def consent(view: Consent, *, trouble: str = "") -> str:
    """The page that asks whether a client may come in, and how far. A form's first button is what Enter
    presses: here one that sends nothing, so nobody decides by it."""
    return _page("consent", "Allow access?", trouble, view=view, place=_place(view.where))


def _page(template: str, title: str, trouble: str = "", **values: Any) -> str:
    """The page. Lone surrogates, which no encoding has, become question marks."""
    page = _PAGES.get_template(f"{template}.html")
    style = Markup(_STYLE)  # noqa: S704 - it is our own
    return (
        page.render(title=title, trouble=trouble, style=style, **values).encode("utf-8", "replace").decode()
    )


def _place(where: str) -> Literal["device", "scheme", "here", "elsewhere"]:
    """Where the answer goes: to this machine only if it is a host and port of it, and nothing besides."""
    if where == ANOTHER_DEVICE:
        return "device"
    if _SCHEME.match(where):
        return "scheme"
    try:
        place = urlsplit(f"//{where}")
    except ValueError:
        return "elsewhere"
    near = "@" not in where and place.netloc == where and is_loopback(place.hostname or "")
    return "here" if near else "elsewhere"


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


_PAGES = Environment(
    loader=PackageLoader("souvenance.surfaces.http.oauth"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)
_PAGES.filters.update(plain=_plain, shown=_shown)
