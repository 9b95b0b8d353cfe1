"""axe-core finds nothing against WCAG 2.2 AA on any page of the door: light and dark, narrow and wide."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.axe import troubles_of
from browser.chromium import PATIENCE_MS
from inspector.conftest import chatgpt_export, choose, link_of
from inspector.door_pages import UNDER_WAY, filled, page_at, routes, samples_of
from inspector.scenes import SURE, put, signed_in_program
from inspector.test_empty_pages import NEXT
from souvenance.domain.names import COMMON_NAMESPACE
from souvenance.surfaces import http
from souvenance.surfaces.http import inspector
from surfaces.door import serving

TEMPLATES = Path(inspector.__file__).parent / "templates"
SURFACES = Path(http.__file__).parent
DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}\s*\}", re.S)
COLOURS = re.compile(r"(\s*--[\w-]+: (#[0-9a-f]{6}|rgb\([^()]+\));)+\s*")
TITLE = re.compile(r"{% block title %}(.*?){% endblock %}")
PAGES = {
    "/": "home.html",
    "/inspect/": "home.html",
    "/inspect/sign-in": "sign_in.html",
    "/inspect/{workspace}/people/{peer}": "person.html",
    "/inspect/{workspace}/sessions/{session}": "session.html",
    "/inspect/{workspace}/lines/{owner}/{id}": "line.html",
    "/inspect/lines/{id}": "line.html",
    "/inspect/notes": "notes.html",
    "/inspect/recall": "recall.html",
    "/inspect/audit": "audit.html",
    "/inspect/access": "access.html",
    "/inspect/data": "data.html",
    "/inspect/data/stored": "data.html",
    "/inspect/data/kinds": "data.html",
    "/inspect/data/retention": "retention.html",
    "/inspect/work": "work.html",
    "/inspect/passkeys": "passkeys.html",
    UNDER_WAY: "error.html",
}
"""The template of each page that has an address."""
BUTTONS = [
    ("forget.html", "/inspect/lines/{id}", "Forget …"),
    ("forget.html", "/inspect/{workspace}/sessions/{session}", "Forget this session"),
    ("forget.html", "/inspect/{workspace}/sessions/{session}", "Forget …"),
    ("forget.html", "/inspect/{workspace}/sessions/{session}", "Forget from here on …"),
    ("forget.html", "/inspect/{workspace}/people/{peer}", "Forget what was said …"),
    ("forget.html", "/inspect/{workspace}/people/{peer}", "Forget …"),
    ("verified.html", "/inspect/audit", "Verify the log"),
    ("at_localhost.html", "/inspect/passkeys", "Continue at localhost"),
]
"""The template of a page, the page with the button that leads to it, and what the button says."""


@pytest.fixture(scope="module")
def samples(server):
    return samples_of(server.url, server.owner_cap, "home", "ann", "ann-talk")


@pytest.fixture(scope="module")
def signed_in(browser, server):
    """A browser that is signed in as the owner, for all pages."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    context.new_page().goto(link_of(server))
    yield context
    context.close()


def troubles(page, template) -> list[str]:
    """What axe finds on a page of the template, and whether it has to be scrolled sideways, in each look."""
    title = TITLE.search((TEMPLATES / template).read_text("utf-8"))[1]
    if "{{" not in title:
        expect(page).to_have_title(f"{title} · Souvenance")
    return troubles_of(page)


@pytest.mark.parametrize("path", routes("GET"))
def test_a_page_can_be_used_by_everyone(server, signed_in, samples, path):
    url = server.url + filled(path, samples)
    status = page_at(url, {cookie["name"]: cookie["value"] for cookie in signed_in.cookies()})
    assert status not in (401, 404) or path == UNDER_WAY, (
        f"{path}: say in `samples` what stands for its parameters"
    )
    if status is not None:
        template = PAGES[path]
        page = signed_in.new_page()
        page.goto(url)
        assert troubles(page, template) == []
        page.close()


@pytest.mark.parametrize(("template", "path", "button"), BUTTONS)
def test_a_page_that_a_button_leads_to_can_be_used_by_everyone(
    server, signed_in, samples, template, path, button
):
    page = signed_in.new_page()
    page.goto(server.url + filled(path, samples))
    page.get_by_role("button", name=button).first.click()
    assert troubles(page, template) == []
    page.close()


def test_what_a_search_found_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/?w=home&q=allergic")
    expect(page.locator(".lines > li").first).to_be_visible()
    assert troubles(page, "found.html") == []
    page.close()


def test_every_page_is_looked_at():
    by_stories = re.findall(r'troubles\(page, "(\S+?)"\)', Path(__file__).read_text("utf-8"))
    buttons = [template for template, _, _ in BUTTONS]
    whole = {one.name for one in TEMPLATES.glob("*.html") if "{% extends" in one.read_text("utf-8")}
    assert whole - {"confirm.html"} == {*PAGES.values(), *buttons, *by_stories}


def test_every_step_of_giving_and_ending_a_token_can_be_used_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/access?w=home")
    page.get_by_label("Whose memory").fill("ann")
    page.get_by_role("button", name="Preview it").click()
    assert troubles(page, "preview.html") == []
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("heading", name="The new token")).to_be_visible()
    assert troubles(page, "access.html") == []
    page.get_by_role("button", name="Make a link that signs in").click()
    expect(page.get_by_role("textbox", name="A link that signs in")).to_be_visible()
    assert troubles(page, "access.html") == []
    page.get_by_role("button", name="View as this token").click()
    expect(page.get_by_role("form", name="Viewing as another token")).to_be_visible()
    assert troubles(page, "home.html") == []
    page.get_by_role("button", name="Back to your own sign-in").click()
    page.get_by_role("button", name="Revoke … the token of ann").first.click()
    assert troubles(page, "revoke.html") == []
    page.close()


def test_what_a_retention_rule_would_do_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/data/retention?w=home")
    page.get_by_label("Name", exact=True).fill("chats")
    page.get_by_role("button", name="See what it would do").click()
    assert troubles(page, "retention_rule.html") == []
    page.get_by_role("button", name="Set it").click()
    assert troubles(page, "retention.html") == []
    page.get_by_role("button", name="Remove … the rule chats").click()
    page.get_by_role("button", name="Remove it").click()
    expect(page.locator("main")).to_contain_text("No rule holds")
    page.close()


def test_what_moving_a_session_would_do_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/home/sessions/ann-talk")
    page.get_by_label("Namespace").fill("elsewhere")
    page.get_by_role("button", name="Move …").click()
    assert troubles(page, "move.html") == []
    page.close()


def test_what_moving_a_note_would_do_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/lines/{put(server, 'the ladder is in the shed')}")
    page.get_by_label("Namespace").fill("elsewhere")
    page.get_by_role("button", name="Move …").click()
    assert troubles(page, "move.html") == []
    page.close()


def test_what_an_empty_text_would_do_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/lines/{put(server, 'the hose is in the garage')}")
    page.get_by_label("What is true").fill("")
    page.get_by_role("button", name="Save").click()
    assert troubles(page, "take_back.html") == []
    page.close()


def test_what_correcting_a_fact_would_do_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/home/people/ann")
    page.get_by_text("Correct or remove").first.click()
    page.get_by_label("What is true").first.fill("Home: Faro")
    page.get_by_role("button", name="Save …").first.click()
    assert troubles(page, "correct_fact.html") == []
    page.close()


def test_the_receipt_of_what_was_forgotten_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/lines/{put(server, 'the plumber comes on Monday')}")
    page.get_by_role("button", name="Forget …").click()
    page.get_by_role("button", name=SURE).click()
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    assert troubles(page, "forgotten.html") == []
    with page.expect_download() as began:
        page.get_by_role("button", name="Download the receipt").click()
    page.goto(f"{server.url}/inspect/audit")
    page.get_by_label("A receipt of something forgotten").set_input_files(began.value.path())
    page.get_by_role("button", name="Verify the receipt").click()
    expect(page.get_by_role("heading", name="The receipt holds")).to_be_visible()
    assert troubles(page, "receipt.html") == []
    page.close()


def test_two_settings_of_recall_side_by_side_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/recall?w=home&peer=ann&q=where+do+I+live%3F")
    page.get_by_text("Change floor, budget or layers").click()
    page.get_by_label("compare A with B").check()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".exact")).to_have_count(2)
    assert troubles(page, "recall.html") == []
    page.close()


def test_that_the_log_does_not_hold_can_be_read_by_everyone(server, signed_in, tmp_path):
    page, saved = signed_in.new_page(), tmp_path / "checkpoint.json"
    page.goto(f"{server.url}/inspect/audit?w=home")
    with page.expect_download() as began:
        page.get_by_role("button", name="Download a checkpoint").click()
    told = json.loads(began.value.path().read_text())
    saved.write_text(json.dumps({**told, "root": "00" * 32}))
    page.get_by_label("checkpoint").set_input_files(saved)
    page.get_by_role("button", name="Verify the log").click()
    expect(page.get_by_role("heading", name="The log does not hold")).to_be_visible()
    assert troubles(page, "verified.html") == []
    page.close()


def test_pages_can_be_used_by_everyone_with_a_narrow_token_too(server, window, samples):
    page = window(server.mint("ann", ["get", "list", "audit"], [COMMON_NAMESPACE], wid="home"))
    shown = set(PAGES) - {"/inspect/", "/inspect/lines/{id}", "/inspect/sign-in", UNDER_WAY}
    for path in sorted(shown):
        page.goto(server.url + filled(path, samples))
        expect(page.locator("header")).to_contain_text("Signed in as ann")
        assert troubles_of(page) == [], path


def test_an_import_that_goes_on_can_be_followed_by_everyone(server, signed_in, tmp_path):
    path, _ = chatgpt_export(tmp_path, talks=11, messages=100)
    page = signed_in.new_page()
    choose(page, server, path)
    still = lambda one: one.abort() if "hx-request" in one.request.headers else one.continue_()  # noqa: E731
    page.get_by_role("button", name="Import it").wait_for()
    assert troubles(page, "import.html") == []
    page.route("**/inspect/data/imports/*", still)
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_role("heading", name="Importing conversations.json")).to_be_visible()
    progress = page.get_by_role("progressbar", name="Importing")
    expect(progress).to_have_attribute("max", re.compile(r"^[1-9]\d{3}$"))
    expect(page.get_by_role("status")).to_contain_text("You can leave this page")
    assert troubles(page, "import.html") == []
    page.unroute_all()
    page.reload()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    assert troubles(page, "import.html") == []
    page.close()


def test_a_program_that_is_signed_in_is_ended_on_a_page_for_everyone(server, signed_in):
    with signed_in_program(server, "quinn"):
        page = signed_in.new_page()
        page.goto(f"{server.url}/inspect/access?w=home")
        page.get_by_role("button", name="End Hermes Agent").first.click()
        assert troubles(page, "end_sign_in.html") == []
        page.get_by_role("button", name="End it").click()
        assert troubles(page, "access.html") == []
        page.close()


def test_a_link_that_another_site_shows_can_be_followed_by_everyone(server, browser):
    context = browser.new_context()
    page = context.new_page()
    body = f'<a href="{link_of(server)}">go</a>'
    page.route("https://elsewhere.test/", lambda one: one.fulfill(body=body, content_type="text/html"))
    page.goto("https://elsewhere.test/")
    page.get_by_role("link", name="go").click()
    assert troubles(page, "follow_link.html") == []
    context.close()


def test_the_checker_finds_what_nobody_can_read_or_name(window):
    page = window()
    page.evaluate("document.querySelector('main').innerHTML = '<p>pale</p><input>'")
    page.evaluate("document.querySelector('main p').style.color = 'rgb(225, 225, 225)'")
    found = " ".join(troubles_of(page))
    assert "color-contrast" in found
    assert "label" in found
    page.evaluate("document.querySelector('main p').style.color = 'rgb(40, 40, 40)'")
    assert "320 px, dark: color-contrast" in " ".join(troubles_of(page))


def test_dark_pages_differ_from_light_ones_in_their_colours_alone():
    """So what is asked of them is asked of their colours."""
    styles = [one.read_text("utf-8") for one in SURFACES.rglob("*.css")]
    dark = [one for text in styles for one in DARK.findall(text)]
    assert len(dark) == sum("color-scheme: dark" in text for text in styles) >= 3
    assert [one for one in dark if not COLOURS.fullmatch(one)] == []


def test_the_checker_looks_into_what_is_closed(window):
    page = window()
    page.evaluate(
        "document.querySelector('main').innerHTML = '<details><summary>more</summary><input></details>'"
    )
    assert "label" in " ".join(troubles_of(page))
    assert page.evaluate("document.querySelector('details').open") is False


@pytest.fixture(scope="module")
def nothing_yet(browser, tmp_path_factory):
    """A browser that is signed in to a server that has nothing, and the server's address."""
    with serving(tmp_path_factory.mktemp("empty") / "home", SOUVENANCE_EMBEDDER="none") as server:
        context = browser.new_context()
        context.set_default_timeout(PATIENCE_MS)
        context.new_page().goto(link_of(server))
        yield context, server.url
        context.close()


@pytest.mark.parametrize("path", NEXT)
def test_an_empty_page_can_be_used_by_everyone(nothing_yet, path):
    context, url = nothing_yet
    page = context.new_page()
    page.goto(url + path)
    assert troubles_of(page) == []
    page.close()


@pytest.mark.parametrize(
    "path",
    [
        "/inspect/home/people/nobody-here",
        "/inspect/home/sessions/none-there",
        "/inspect/home/lines/ann/01JD7Y8Q2W0000000000000000",
        "/inspect/audit?since=someday",
        "/inspect/data/imports/none",
        "/inspect/sign-in?link=too-old",
    ],
)
def test_a_page_that_says_what_went_wrong_can_be_used_by_everyone(server, signed_in, path):
    page = signed_in.new_page()
    answer = page.goto(server.url + path)
    assert answer.status >= 400
    assert troubles_of(page) == []
    page.close()


def test_the_page_of_signing_in_can_be_used_by_everyone(server, window):
    page = window()
    page.context.clear_cookies()
    for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
        page.goto(url)
        page.locator("summary").click()
        assert troubles(page, "sign_in.html") == []


def test_a_refusal_can_be_read_by_everyone(server, window):
    page = window(server.mint("ben", ["get", "list"], [COMMON_NAMESPACE], wid="home"))
    page.goto(f"{server.url}/inspect/home/people/ann")
    assert troubles(page, "error.html") == []
