"""The pages of sign-in: plain HTML forms with one stylesheet inside, no script and nothing fetched.

Whatever comes from outside is escaped. Where it is shown it is also put on one line, cut, kept apart from
the text around it, and every character that can't be seen becomes one that can.
"""

from __future__ import annotations

import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib import resources
from string import Template
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from souvenance.domain.names import ALL
from souvenance.language.characters import BLANK_LETTERS
from souvenance.patterns import pattern
from souvenance.surfaces.http.host_check import is_loopback

ANOTHER_DEVICE = "another device"
"""Where the answer goes if it is fetched with a device code."""

_FOLDER = resources.files(__package__).joinpath("templates")
_TOKENS = resources.files("souvenance.surfaces.http.inspector").joinpath("static", "tokens.css")
_STYLE = _TOKENS.read_text("utf-8") + _FOLDER.joinpath("pages.css").read_text("utf-8")

STYLE_SOURCE = f"'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
"""What `style-src` has to name for the stylesheet of these pages; they need nothing else.

A browser holds `form-action` against redirects too: where the consent form leads to has to be named there.
"""

_SCHEME = pattern(r"[a-z][a-z0-9+.-]*:\Z")
_MOST_SHOWN = 80
_MOST_TOLD = 300
"""Longer than any host with its port, of which the end says whose it is."""
_MOST_NAME = 512
_MOST_MARKS = 3
_NOT_SEEN = "\ufffd"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Consent(Struct, frozen=True, kw_only=True):
    """What a person decides on.

    `where` is the host and port that the answer goes to, a program's own scheme with its colon, or another
    device. `source` and `config_path` are the client's own words for where it runs and where it keeps its
    tokens; `registered` says that it registered itself, so that nobody vouches for its name. Any workspace
    may be typed unless it is fixed, and with '*' among `namespaces` any of those. `everyone` says that it
    asks for all peers of the workspace. `ends` are labels and seconds. `sign_out` is where the form may be
    sent to by somebody else than is signed in, if anybody is.
    """

    client: str
    client_id: str
    source: str | None
    where: str
    config_path: str | None
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


def sign_in(*, action: str, csrf: str, asked_by: str | None, trouble: str = "") -> str:
    """The page that asks for a cap, as `cap`."""
    return _page(
        "Sign in",
        "sign_in",
        trouble,
        action=_value(action),
        csrf=_hidden("csrf", csrf),
        asks=f"{_shown(asked_by)} asks to use your memory. " if asked_by else "",
        described=_described("cap", trouble),
    )


def device(*, action: str, csrf: str, code: str = "", trouble: str = "") -> str:
    """The page that asks for the code that another device shows, as `user_code`."""
    return _page(
        "Connect a device",
        "device",
        trouble,
        action=_value(action),
        csrf=_hidden("csrf", csrf),
        code=_value(code),
        described=_described("user_code", trouble),
    )


def sign_out(*, action: str, csrf: str, who: str) -> str:
    """The page that asks whether to sign out."""
    return _page("Sign out", "sign_out", action=_value(action), csrf=_hidden("csrf", csrf), who=_shown(who))


def notice(title: str, text: str) -> str:
    """A page that only says something."""
    return _framed(_plain(title), f"<h1>{_shown(title)}</h1>\n<p>{_shown(text, most=2000)}</p>")


def consent(view: Consent, *, trouble: str = "") -> str:
    """The page that asks whether a client may come in, and how far.

    It posts csrf, request, decision (allow or deny), workspace, peer, namespace (each, or all of them with
    commas between), access, end, and where it is offered everyone (yes or no). A form's first button is what
    Enter in a field presses. Here it is one that sends nothing, so nobody decides by it: to send to a dialog
    is to close it, and there is none.
    """
    return _page(
        "Allow access?",
        "consent",
        trouble,
        client=_shown(view.client),
        who=_shown(view.signed_in_as),
        other_person=_other_person(view),
        warnings=_warnings(view),
        facts=_facts(view),
        action=_value(view.action),
        csrf=_hidden("csrf", view.csrf),
        request=_hidden("request", view.request),
        place=_place(view),
        whose=_whose(view),
        namespaces=_namespaces(view),
        access=_access(view),
        end=_end(view),
    )


def _other_person(view: Consent) -> str:
    """What lets somebody else sign in; as the page's own form sends it, it has that form's token."""
    if view.sign_out is None:
        return ""
    where = f'form="decision" formaction="{view.sign_out}" formnovalidate'
    return f' <button class="other" {where}>Not you? Sign out</button>'


def _warnings(view: Consent) -> str:
    told: list[str] = []
    if view.registered:
        told.append(f"Nobody has checked who this is: {_shown(view.client)} is what it calls itself.")
    if view.where == ANOTHER_DEVICE:
        told.append("Allow this only if you began it yourself, on a device that shows the code you typed.")
    elif _SCHEME.match(view.where):
        told.append(
            "The way into your memory will be given to whatever program opens "
            f"{_shown(view.where)} links here. Allow this only if you began it yourself."
        )
    elif not _here(view.where):
        told.append(
            f"The way into your memory will be sent to {_shown(view.where, most=_MOST_TOLD)}, "
            "which is not this machine. Allow this only if you know that place."
        )
    return f'<div class="told" role="note">{"".join(f"<p>{one}</p>" for one in told)}</div>\n' if told else ""


def _here(where: str) -> bool:
    """Whether it is a host and port of this machine, and nothing besides."""
    try:
        place = urlsplit(f"//{where}")
    except ValueError:
        return False
    return "@" not in where and place.netloc == where and is_loopback(place.hostname or "")


def _facts(view: Consent) -> str:
    facts = (
        ("Client id", view.client_id),
        ("Began in", view.source),
        ("Answer goes to", view.where),
        ("Keeps its key in", view.config_path),
    )
    rows = "\n".join(
        f"<div><dt>{name}</dt><dd>{_shown(fact, most=_MOST_TOLD)}</dd></div>" for name, fact in facts if fact
    )
    return f"<dl>\n{rows}\n</dl>"


def _place(view: Consent) -> str:
    """Whose memory it is, and in which workspace."""
    peer = (_fixed if view.peer_fixed else _field)("peer", "Peer", view.peer)
    workspace = (_fixed if view.workspace_fixed else _field)("workspace", "Workspace", view.workspace)
    others = "workspaces" if view.everyone_offered else "peers and workspaces"
    hint = f'<p class="hint">It sees nothing of other {others}.</p>'
    return f'<div class="pair">\n{peer}\n{workspace}\n{hint}\n</div>'


def _whose(view: Consent) -> str:
    if not view.everyone_offered:
        return ""
    many = "For an agent that many people talk to: it acts for each of them."
    choices = (
        ("no", f"Only that of {_whom(view)}", "It sees nothing of anyone else."),
        ("yes", "That of everyone in this workspace", many),
    )
    return _choice("everyone", "Whose memory", choices, "yes" if view.everyone else "no")


def _whom(view: Consent) -> str:
    return _shown(view.peer) if view.peer_fixed else "this peer"


def _namespaces(view: Consent) -> str:
    if ALL in view.namespaces:
        hint = "It sees nothing outside of these. Several with commas between; * stands for all."
        return _field("namespace", "Namespaces", ", ".join(view.chosen), hint)
    boxes = "\n".join(
        f'<label class="choice"><input type="checkbox" name="namespace" value="{_value(one)}"'
        f"{_if(one in view.chosen, 'checked')}><span>{_shown(one)}</span></label>"
        for one in view.namespaces
    )
    return f"""<fieldset aria-describedby="namespace-hint">
<legend>Namespaces</legend>
<div class="side">
{boxes}
</div>
{_hint("namespace", "It sees nothing outside of these.")}
</fieldset>"""


def _access(view: Consent) -> str:
    whom = "" if view.everyone_offered else f" of {_whom(view)}"
    choices = [("read", "Read", f"See what is remembered{whom}, and ask questions about it.")]
    if view.write_offered:
        also = f"Also remember new things{whom}, and correct or forget old ones."
        choices.append(("write", "Read and write", also))
    chosen = view.access if view.write_offered else "read"
    return _choice("access", f"{_shown(view.client)} may", choices, chosen)


def _choice(name: str, legend: str, choices: Iterable[tuple[str, str, str]], chosen: str) -> str:
    """One of several, each with a value, a label and a hint."""
    boxes = "\n".join(
        f'<label class="choice"><input type="radio" name="{name}" value="{value}" required'
        f"{_if(value == chosen, 'checked')}>"
        f'<span>{label}<span class="hint">{hint}</span></span></label>'
        for value, label, hint in choices
    )
    return f"<fieldset>\n<legend>{legend}</legend>\n{boxes}\n</fieldset>"


def _end(view: Consent) -> str:
    options = "".join(_option(str(seconds), label, seconds == view.end) for label, seconds in view.ends)
    return f"""<div>
<label class="name" for="end">For how long</label>
<select id="end" name="end" aria-describedby="end-hint">{options}</select>
{_hint("end", "After that it has to ask again.")}
</div>"""


def _field(name: str, label: str, value: str, hint: str = "") -> str:
    return f"""<div>
<label class="name" for="{name}">{label}</label>
<input id="{name}" name="{name}" value="{_value(value)}" dir="auto" required autocapitalize="none" \
spellcheck="false"{_if(bool(hint), f'aria-describedby="{name}-hint"')}>
{_hint(name, hint)}
</div>"""


def _fixed(name: str, label: str, value: str) -> str:
    return f"""<div>
<p class="name">{label}</p>
<p class="fixed">{_shown(value, most=_MOST_NAME)}</p>
{_hidden(name, value)}
</div>"""


def _hint(name: str, hint: str) -> str:
    return f'<p class="hint" id="{name}-hint">{hint}</p>' if hint else ""


def _option(value: str, label: str, chosen: bool) -> str:
    return f'<option value="{_value(value)}"{_if(chosen, "selected")}>{escape(_plain(label))}</option>'


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{_value(value)}">'


def _described(name: str, trouble: str) -> str:
    """What names the texts that belong to a page's only field."""
    described = f'aria-describedby="trouble {name}-hint" aria-invalid="true"'
    return described if trouble else f'aria-describedby="{name}-hint"'


def _trouble(text: str) -> str:
    return f'<p class="trouble" id="trouble" role="alert">{_shown(text, most=500)}</p>\n' if text else ""


def _page(title: str, template: str, trouble: str = "", **filled: str) -> str:
    body = _filled(template, {**filled, "trouble": _trouble(trouble)})
    return _framed(f"Not yet: {title}" if trouble else title, body)


def _framed(title: str, body: str) -> str:
    frame = {"title": escape(title), "style": _STYLE, "body": body}
    return f"{_filled('page', frame)}\n"


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Raises: KeyError for a blank of the template that stays empty."""
    return _template(template).substitute(values).rstrip("\n")


@cache
def _template(name: str) -> Template:
    return Template(_FOLDER.joinpath(f"{name}.html").read_text("utf-8"))


def _if(so: bool, attribute: str) -> str:
    return f" {attribute}" if so else ""


def _value(text: str) -> str:
    """Text that comes back as it is when its form is sent."""
    return escape(text.encode("utf-8", "replace").decode())


def _shown(text: str, *, most: int = _MOST_SHOWN) -> str:
    """Text that people read, from wherever it came."""
    return f"<bdi>{escape(_plain(text, most=most))}</bdi>"


def _plain(text: str, *, most: int = _MOST_SHOWN) -> str:
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
