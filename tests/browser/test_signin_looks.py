"""The pages of sign-in in a browser: they fit, a keyboard is enough, and they post only what was meant."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from browser.axe import troubles_of
from browser.samples import KNOWN, POSTED, SAMPLES, SHOWN, STRANGER, consent, notice
from running import running
from souvenance.surfaces.http.oauth import messages

POLICY = (
    f"default-src 'none'; style-src {messages.STYLE_SOURCE}; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {"content-security-policy": POLICY}
MAKES_SCRIPT = (
    "<script>alert(1)</script>\"><img src=x onerror=alert(1)>' onfocus=alert(1) autofocus x='</title>"
)


class Site:
    """Shows pages, and remembers what was posted."""

    def __init__(self):
        self.pages = {**SAMPLES}
        self.posted = []
        self.app = Starlette(
            routes=[Route(POSTED, self._take, methods=["POST"]), Route("/{name}", self._show)]
        )

    async def _show(self, request):
        return HTMLResponse(self.pages[request.path_params["name"]], headers=HEADERS)

    async def _take(self, request):
        self.posted.append(parse_qsl((await request.body()).decode(), keep_blank_values=True))
        return HTMLResponse(notice("Taken", "Thank you."), headers=HEADERS)


@pytest.fixture(scope="module")
def served():
    site = Site()
    with running(site.app) as site.url:
        yield site


@pytest.fixture
def site(served):
    served.posted.clear()
    return served


def focused(page):
    """What has the focus, by the name and value that it would post."""
    return page.evaluate("(({name, value, type}) => [name, type, value])(document.activeElement)")


def pressed(page, button):
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("heading", name="Taken")).to_be_visible()


@pytest.mark.parametrize("width, text", [(320, 100), (1100, 100), (640, 200)])
def test_every_page_fits_narrow_wide_and_with_large_text(site, window, width, text):
    page = window(width=width)
    for name in SAMPLES:
        page.goto(f"{site.url}/{name}")
        page.evaluate(f"document.documentElement.style.fontSize = '{text}%'")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.parametrize("name", SAMPLES)
def test_axe_finds_nothing_against_a_page(site, window, name):
    page = window()
    page.goto(f"{site.url}/{name}")
    assert troubles_of(page) == []


def test_there_is_a_sample_of_every_page():
    """And so axe has seen each: a page that only says something is a notice, whatever it says."""
    found = {one.name for one in Path(messages.__file__).parent.glob("templates/*.html")}
    assert found - {"trouble.html"} == SHOWN


@pytest.mark.parametrize("scheme, paper", [("light", "rgb(244, 243, 239)"), ("dark", "rgb(20, 20, 18)")])
def test_a_page_is_as_light_or_dark_as_its_reader_likes(site, window, scheme, paper):
    page = window(color_scheme=scheme)
    page.goto(f"{site.url}/consent")
    expect(page.locator("html")).to_have_css("background-color", paper)


def test_whoever_wants_no_motion_sees_none(site, window):
    for wish, seconds in (("no-preference", "0.12s, 0.12s"), ("reduce", "0s")):
        page = window(reduced_motion=wish)
        page.goto(f"{site.url}/consent")
        expect(page.get_by_role("button", name="Allow")).to_have_css("transition-duration", seconds)


def test_the_policy_lets_everything_in_that_a_page_has(site, window):
    page = window()
    complaints, fetched = [], []
    page.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
    page.on("request", lambda request: fetched.append(request.url))
    for name in SAMPLES:
        page.goto(f"{site.url}/{name}")
    assert complaints == []
    assert fetched == [f"{site.url}/{name}" for name in SAMPLES]


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_what_the_person_chose_is_posted(site, window, script):
    page = window(java_script_enabled=script)
    page.goto(f"{site.url}/consent-many")
    page.get_by_label("personal").uncheck()
    page.get_by_label("travel").check()
    page.get_by_role("radio", name="Only that of alice").check()
    page.get_by_role("radio", name="Read See").check()
    page.get_by_label("For how long").select_option("1 hour")
    pressed(page, "Allow")
    assert site.posted == [
        [
            ("csrf", "a-token"),
            ("request", "a-request"),
            ("peer", "alice"),
            ("workspace", "default"),
            ("everyone", "no"),
            ("namespace", "default"),
            ("namespace", "travel"),
            ("access", "read"),
            ("end", "3600"),
            ("decision", "allow"),
        ]
    ]


def test_enter_in_a_field_neither_allows_nor_denies(site, window):
    page = window()
    page.goto(f"{site.url}/consent-stranger")
    for label in ("Peer", "Workspace", "Namespaces"):
        page.get_by_label(label, exact=True).press("Enter")
    page.get_by_role("radio", name="Read See").press("Enter")
    page.get_by_label("For how long").focus()
    expect(page).to_have_url(f"{site.url}/consent-stranger")
    pressed(page, "Deny")
    assert [dict(one)["decision"] for one in site.posted] == ["deny"]


def test_the_keyboard_reaches_everything_in_the_order_it_is_read(site, window):
    page = window()
    page.goto(f"{site.url}/consent-stranger")
    reached = []
    while not reached or reached[-1] != ["decision", "submit", "allow"]:
        page.keyboard.press("Tab")
        reached.append(focused(page))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert reached == [
        ["", "submit", ""],
        ["peer", "text", "alice"],
        ["workspace", "text", "default"],
        ["namespace", "text", "personal, default"],
        ["access", "radio", "read"],
        ["end", "select-one", "2592000"],
        ["decision", "submit", "deny"],
        ["decision", "submit", "allow"],
    ]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Taken")).to_be_visible()
    assert [dict(one)["decision"] for one in site.posted] == ["allow"]


def test_an_empty_field_holds_back_a_yes_but_never_a_no(site, window):
    page = window()
    page.goto(f"{site.url}/consent-stranger")
    page.get_by_label("Peer", exact=True).fill("")
    page.get_by_role("button", name="Allow").click()
    assert page.evaluate("document.activeElement.validity.valueMissing")
    pressed(page, "Deny")
    assert [dict(one)["decision"] for one in site.posted] == ["deny"]


@pytest.mark.parametrize(
    "name, label, field, button",
    [("sign-in", "Cap", "cap", "Sign in"), ("device", "Code", "user_code", "Continue")],
)
def test_a_page_with_one_field_has_it_at_hand_and_enter_sends_it(site, window, name, label, field, button):
    page = window(java_script_enabled=False)
    page.goto(f"{site.url}/{name}")
    expect(page.get_by_label(label, exact=True)).to_be_focused()
    expect(page.get_by_role("button", name=button)).to_be_visible()
    page.keyboard.press("Control+A")
    page.keyboard.type("what I typed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Taken")).to_be_visible()
    assert site.posted == [[("csrf", "a-token"), (field, "what I typed")]]


def test_a_reader_that_speaks_is_told_what_belongs_together(site, window):
    page = window()
    page.goto(f"{site.url}/consent-stranger")
    expect(page.get_by_role("alert")).to_have_text("Name at least one namespace.")
    expect(page.get_by_label("Namespaces")).to_have_accessible_description(
        "It sees nothing outside of these. Several with commas between; * stands for all."
    )
    page.goto(f"{site.url}/consent")
    expect(page.get_by_role("group", name="Namespaces").get_by_role("checkbox")).to_have_count(4)
    expect(page.get_by_role("group", name="Hermes Agent may").get_by_role("radio")).to_have_count(2)
    page.goto(f"{site.url}/sign-in-trouble")
    expect(page.get_by_label("Cap", exact=True)).to_have_attribute("aria-invalid", "true")


def test_no_name_can_put_anything_on_the_page(site, window):
    """The browser's own parser finds the same elements, whatever a client calls itself."""
    text = {name: MAKES_SCRIPT for name in ("client", "client_id", "signed_in_as", "peer", "csrf", "request")}
    lists = {"namespaces": (MAKES_SCRIPT,), "chosen": (MAKES_SCRIPT,)}
    harmless = {"namespaces": ("x",), "chosen": ("x",), "workspace": "x"}
    site.pages["hostile"] = consent(
        replace(STRANGER, **text, **lists, workspace=MAKES_SCRIPT), trouble=MAKES_SCRIPT
    )
    site.pages["harmless"] = consent(replace(STRANGER, **harmless), trouble="x")
    page = window(bypass_csp=True)
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    skeleton = "[...document.querySelectorAll('*')].map(e => [e.tagName, ...e.getAttributeNames()])"
    found = []
    for name in ("hostile", "harmless"):
        page.goto(f"{site.url}/{name}")
        found.append(page.evaluate(skeleton))
    assert found[0] == found[1]
    assert dialogs == []


def test_a_direction_mark_in_a_name_turns_nothing_around(site, window):
    page = window()
    site.pages["turned"] = consent(replace(KNOWN, client="a\u202eb"))
    page.goto(f"{site.url}/turned")
    expect(page.get_by_role("heading", level=1)).to_have_text("a\ufffdb asks to use your memory")
