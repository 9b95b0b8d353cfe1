"""Signing in, in a browser: a person lets a program in or not, and no other page can do it for them."""

from __future__ import annotations

from contextlib import closing
from html import escape
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from oauth.browser import asking, fetching
from processes import PATIENCE_SECONDS
from running import running
from surfaces.door import serving

REFUSED = "chrome-error://chromewebdata/"


class Program:
    """A program that waits for an answer on a port of its own, as one on this machine does."""

    def __init__(self):
        self.told = []
        self.page = ""
        self.app = Starlette(routes=[Route("/callback", self._take), Route("/lure", self._lure)])

    async def _take(self, request):
        self.told.append(dict(request.query_params))
        return HTMLResponse("<h1>Back in the program</h1>")

    async def _lure(self, request):
        return HTMLResponse(self.page)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("signing-in") / "home") as server:
        yield server


@pytest.fixture(scope="module")
def waiting():
    program = Program()
    with running(program.app) as program.url:
        yield program


@pytest.fixture
def program(waiting):
    waiting.told.clear()
    return waiting


@pytest.fixture
def asked(server, program):
    """Where the program sends a person."""
    return f"{server.url}/authorize?{urlencode(asking(redirect_uri=f'{program.url}/callback', source='cli'))}"


@pytest.fixture(scope="module")
def known(browser, server):
    """What a browser remembers in which a person signed in."""
    with closing(browser.new_context()) as context:
        page = context.new_page()
        page.goto(f"{server.url}/signin")
        sign_in(page, server.owner_cap)
        expect(page.get_by_role("heading", name="Signed in")).to_be_visible()
        return context.storage_state()


@pytest.fixture
def consent(known, asked, window):
    """The page that asks somebody who is signed in."""
    page = window(storage_state=known)
    page.goto(asked)
    asks(page)
    return page


def asks(page):
    expect(page.get_by_role("heading", name="Hermes Agent asks to use your memory")).to_be_visible()


def sign_in(page, cap):
    page.get_by_label("Cap", exact=True).fill(cap)
    page.get_by_role("button", name="Sign in").click()


def press(page, button):
    page.get_by_role("button", name=button).click()


def back_in_the_program(page):
    expect(page.get_by_role("heading", name="Back in the program")).to_be_visible()


def post(url, path, **fields):
    return httpx.post(f"{url}{path}", data=fields, trust_env=False, timeout=PATIENCE_SECONDS)


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_a_person_signs_in_and_lets_a_program_in_as_far_as_they_chose(server, program, asked, window, script):
    page = window(java_script_enabled=script)
    page.goto(asked)
    sign_in(page, server.owner_cap)
    asks(page)
    page.get_by_label("Peer", exact=True).fill("alice")
    page.get_by_label("Workspace", exact=True).fill("lab")
    page.get_by_label("Namespaces", exact=True).fill("travel, work")
    page.get_by_role("radio", name="Only that of this peer").check()
    page.get_by_role("radio", name="Read See").check()
    page.get_by_label("For how long").select_option("One day")
    press(page, "Allow")
    back_in_the_program(page)
    [told] = program.told
    assert (told["state"], told["iss"]) == ("the state", server.url)
    fetched = post(
        server.url, "/oauth/token", **fetching(told["code"], redirect_uri=f"{program.url}/callback")
    )
    cap = fetched.json()["access_token"]
    who = server.client(cap).get("/v1/caps/whoami").json()
    assert (who["sub"], who["peers"], who["wid"]) == ("alice", [], "lab")
    assert who["namespaces_allowed"] == ["travel", "work"]
    assert set(who["ops"]) == {"get", "list", "snapshot"}


def test_no_is_told_to_the_program(program, consent):
    consent.get_by_label("Peer", exact=True).fill("")
    press(consent, "Deny")
    back_in_the_program(consent)
    [told] = program.told
    assert (told["error"], told["state"]) == ("access_denied", "the state")
    assert "code" not in told


def test_a_wrong_cap_is_refused_and_a_right_one_taken_after_it(server, program, asked, window):
    page = window()
    page.goto(asked)
    sign_in(page, "not a cap")
    expect(page.get_by_role("alert")).to_contain_text("cap")
    expect(page.get_by_label("Cap", exact=True)).to_have_value("")
    sign_in(page, server.owner_cap)
    asks(page)
    assert program.told == []


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_somebody_else_signs_in_on_the_page_that_asks(server, program, asked, window, script):
    page = window(java_script_enabled=script)
    page.goto(f"{asked}&login_hint=alice")
    sign_in(page, server.owner_cap)
    expect(page.get_by_text("You are signed in as owner.")).to_be_visible()
    expect(page.get_by_label("Peer", exact=True)).to_have_value("alice")
    page.get_by_label("Peer", exact=True).fill("")
    press(page, "Not you? Sign out")
    sign_in(page, server.mint("bob", wid="lab"))
    asks(page)
    expect(page.get_by_text("You are signed in as bob.")).to_be_visible()
    press(page, "Allow")
    back_in_the_program(page)
    assert program.told[0]["state"] == "the state"


def test_an_answer_is_given_once_though_somebody_has_the_form_still(server, program, consent):
    form = consent.content()
    press(consent, "Allow")
    back_in_the_program(consent)
    consent.goto(f"{server.url}/signin")
    consent.set_content(form)
    press(consent, "Allow")
    expect(consent.get_by_text("answered already")).to_be_visible()
    assert len(program.told) == 1


def test_a_device_is_let_in_by_the_code_that_it_shows(server, window):
    shown = post(server.url, "/oauth/device", client_id="hermes-agent", scope="read").json()
    page = window(java_script_enabled=False)
    page.goto(f"{server.url}/device")
    sign_in(page, server.owner_cap)
    page.get_by_label("Code").fill("BBBB-BBBB")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("No device waits with this code")
    page.get_by_label("Code").fill(shown["user_code"].lower())
    page.keyboard.press("Enter")
    expect(page.get_by_role("note")).to_contain_text("only if you began it yourself")
    press(page, "Allow")
    expect(page.get_by_role("heading", name="Connected")).to_be_visible()
    fetched = post(
        server.url,
        "/oauth/token",
        grant_type="urn:ietf:params:oauth:grant-type:device_code",
        client_id="hermes-agent",
        device_code=shown["device_code"],
    )
    assert fetched.json()["access_token"]


@pytest.mark.parametrize("elsewhere", ["127.0.0.1", "localhost"], ids=["another port", "another site"])
def test_a_page_of_another_origin_cannot_consent_even_if_it_knew_the_form(
    server, program, consent, elsewhere
):
    names = ("csrf", "request", "workspace", "peer", "namespace", "end")
    fields = {name: consent.locator(f"[name={name}]").input_value() for name in names}
    inputs = "".join(
        f'<input name="{name}" value="{escape(value)}">'
        for name, value in {**fields, "access": "write", "decision": "allow"}.items()
    )
    program.page = f'<form method="post" action="{server.url}/authorize">{inputs}<button>Win</button></form>'
    lure = consent.context.new_page()
    lure.goto(f"{program.url.replace('127.0.0.1', elsewhere)}/lure")
    with lure.expect_navigation() as gone:
        press(lure, "Win")
    assert gone.value.status == 403
    assert program.told == []
    press(consent, "Allow")
    back_in_the_program(consent)


def test_the_consent_page_is_not_shown_inside_another(program, asked, consent):
    program.page = f'<iframe src="{escape(asked)}"></iframe>'
    consent.goto(f"{program.url}/lure")
    assert [frame.url for frame in consent.frames[1:]] == [REFUSED]


def test_no_script_sees_the_cookie_and_the_browser_has_nothing_to_complain_of(server, asked, consent):
    complaints = []
    consent.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
    consent.goto(asked)
    assert consent.evaluate("document.cookie") == ""
    [cookie] = consent.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    assert server.owner_cap not in cookie["value"]
    assert complaints == []
