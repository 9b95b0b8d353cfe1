"""The pages of sign-in as samples: each kind, with what makes it look different.

`python tests/browser/samples.py FOLDER` takes a picture of each, for people to look at.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

from msgspec.structs import replace

from souvenance.surfaces.http.oauth import messages
from souvenance.surfaces.http.oauth.messages import ANOTHER_DEVICE, Consent

POSTED = "/posted"


SHOWN = set()
"""The templates of the samples."""


def html(template, **values):
    SHOWN.add(template)
    return messages.page(template, **values).body.decode()


def sign_in(**values):
    return html("sign_in.html", **values)


def sign_out(**values):
    return html("sign_out.html", **values)


def device(code="", **values):
    return html("device.html", code=code, **values)


def consent(view, trouble=""):
    return html("consent.html", view=view, trouble=trouble)


def notice(title, text):
    SHOWN.add("page.html")
    return messages.notice(title, text).body.decode()


KNOWN = Consent(
    client="Hermes Agent",
    client_id="hermes-agent",
    source="hermes-desktop",
    where="127.0.0.1:8765",
    config_path="~/.hermes/honcho.json",
    signed_in_as="alice",
    workspace="default",
    workspace_fixed=True,
    peer="alice",
    peer_fixed=True,
    namespaces=("personal", "default", "travel", "work"),
    chosen=("personal", "default"),
    access="write",
    write_offered=True,
    ends=(("1 hour", 3600), ("30 days", 2592000), ("1 year", 31536000)),
    end=2592000,
    csrf="a-token",
    request="a-request",
    action=POSTED,
    registered=False,
    sign_out=POSTED,
)
STRANGER = replace(
    KNOWN,
    client="Notes \u202eedoC <b>",
    client_id="01JD7Y8Q2W3E4R5T6Y7V8J9K0M",
    source=None,
    config_path=None,
    where="agents.example.com:8443",
    registered=True,
    workspace_fixed=False,
    peer_fixed=False,
    namespaces=("*",),
    access="read",
)
SAMPLES = {
    "sign-in": sign_in(action=POSTED, csrf="a-token", asked_by="Hermes Agent"),
    "sign-in-trouble": sign_in(
        action=POSTED, csrf="a-token", asked_by=None, trouble="This cap has expired. Ask for a new one."
    ),
    "consent": consent(KNOWN),
    "consent-stranger": consent(STRANGER, trouble="Name at least one namespace."),
    "consent-many": consent(replace(KNOWN, everyone_offered=True, everyone=True)),
    "consent-device": consent(replace(KNOWN, where=ANOTHER_DEVICE, write_offered=False)),
    "consent-long": consent(
        replace(
            STRANGER,
            client="m" * 300,
            client_id="c" * 300,
            signed_in_as="a" * 300,
            where="w" * 300,
            peer="p" * 300,
            peer_fixed=True,
            workspace="w" * 300,
            workspace_fixed=True,
            namespaces=("n" * 64, "o" * 64),
        ),
        trouble="t" * 300,
    ),
    "consent-trusted": consent(replace(KNOWN, sign_out=None)),
    "sign-out": sign_out(action=POSTED, csrf="a-token", who="alice"),
    "device": device(action=POSTED, csrf="a-token", code="WDJB-MJHT"),
    "notice": notice("You are connected", "Hermes Agent may now use your memory. Close this page."),
}


def take_pictures(folder: Path) -> None:
    from browser.chromium import chromium

    with chromium() as browser:
        for scheme, width in product(("light", "dark"), (1100, 320)):
            page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 700})
            for name, sample in SAMPLES.items():
                page.set_content(sample)
                page.screenshot(path=folder / f"{name}-{scheme}-{width}.png", full_page=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    take_pictures(Path(sys.argv[1]))
