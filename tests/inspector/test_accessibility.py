"""axe-core finds nothing against WCAG 2.2 AA on any page of the door: light and dark, narrow and wide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.chromium import PATIENCE_MS
from inspector.conftest import chatgpt_export, choose, link_of
from inspector.door_pages import UNDER_WAY, filled, page_at, routes, samples_of
from inspector.scenes import put
from souvenance.domain.names import COMMON_NAMESPACE

AXE = Path(__file__).resolve().parents[2] / ".environments/axe-core/node_modules/axe-core/axe.min.js"
CHECK = """async () => {
  const found = await axe.run(document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], resultTypes: ["violations"]});
  return found.violations.map(one => `${one.id}: ${one.nodes.map(node => node.html.slice(0, 200))}`);
}"""
WIDTHS = (320, 1280)
SCHEMES = ("light", "dark")


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


def troubles(page) -> list[str]:
    """What axe finds, and whether anything has to be scrolled sideways, in each look of the page."""
    found: list[str] = []
    page.evaluate(AXE.read_text("utf-8"))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found += [f"{width} px, {scheme}: {one}" for one in page.evaluate(CHECK)]
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"{width} px: wider than the screen")
    return found


@pytest.mark.parametrize("path", routes("GET"))
def test_a_page_can_be_used_by_everyone(server, signed_in, samples, path):
    url = server.url + filled(path, samples)
    status = page_at(url, {cookie["name"]: cookie["value"] for cookie in signed_in.cookies()})
    assert status not in (401, 404) or path == UNDER_WAY, (
        f"{path}: say in `samples` what stands for its parameters"
    )
    if status is not None:
        page = signed_in.new_page()
        page.goto(url)
        assert troubles(page) == []
        page.close()


@pytest.mark.parametrize(
    ("path", "button"),
    [
        ("/inspect/lines/{id}", "Forget …"),
        ("/inspect/{workspace}/sessions/{session}", "Forget this session"),
        ("/inspect/{workspace}/sessions/{session}", "Forget …"),
        ("/inspect/{workspace}/sessions/{session}", "Forget from here on …"),
        ("/inspect/{workspace}/people/{peer}", "Forget …"),
        ("/inspect/audit", "Verify the log"),
    ],
)
def test_a_page_that_a_button_leads_to_can_be_used_by_everyone(server, signed_in, samples, path, button):
    page = signed_in.new_page()
    page.goto(server.url + filled(path, samples))
    page.get_by_role("button", name=button).first.click()
    assert troubles(page) == []
    page.close()


def test_every_step_of_giving_and_ending_a_token_can_be_used_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/access?w=home")
    page.get_by_label("Whose memory").fill("ann")
    steps = {
        "Preview it": "What this token would see",
        "Make it": "The new token",
        "Revoke … the token of ann": "Revoke token",
    }
    for button, heading in steps.items():
        page.get_by_role("button", name=button).first.click()
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        assert troubles(page) == []
    page.close()


def test_the_receipt_of_what_was_forgotten_can_be_read_by_everyone(server, signed_in):
    page = signed_in.new_page()
    page.goto(f"{server.url}/inspect/lines/{put(server, 'the plumber comes on Monday')}")
    page.get_by_role("button", name="Forget …").click()
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    assert troubles(page) == []
    page.close()


def test_an_import_that_goes_on_can_be_followed_by_everyone(server, signed_in, tmp_path):
    path, _ = chatgpt_export(tmp_path, talks=20, messages=100)
    page = signed_in.new_page()
    choose(page, server, path)
    still = lambda one: one.abort() if "hx-request" in one.request.headers else one.continue_()  # noqa: E731
    page.get_by_role("button", name="Import it").wait_for()
    assert troubles(page) == []
    page.route("**/inspect/data/imports/*", still)
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_role("heading", name="Importing conversations.json")).to_be_visible()
    progress = page.get_by_role("progressbar", name="Importing")
    expect(progress).to_have_attribute("max", re.compile(r"^[1-9]\d{3}$"))
    expect(page.get_by_role("status")).to_contain_text("You can leave this page")
    assert troubles(page) == []
    page.unroute_all()
    page.reload()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    assert troubles(page) == []
    page.close()


def test_the_checker_finds_what_nobody_can_read_or_name(window):
    page = window()
    page.evaluate("document.querySelector('main').innerHTML = '<p>pale</p><input>'")
    page.evaluate("document.querySelector('main p').style.color = 'rgb(225, 225, 225)'")
    found = " ".join(troubles(page))
    assert "color-contrast" in found
    assert "label" in found


def test_the_page_of_signing_in_can_be_used_by_everyone(server, window):
    page = window()
    page.context.clear_cookies()
    for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
        page.goto(url)
        page.locator("summary").click()
        assert troubles(page) == []


def test_a_refusal_can_be_read_by_everyone(server, window):
    page = window(server.mint("ben", ["get", "list"], [COMMON_NAMESPACE], wid="home"))
    page.goto(f"{server.url}/inspect/home/people/ann")
    assert troubles(page) == []
