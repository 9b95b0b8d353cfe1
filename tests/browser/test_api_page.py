"""The API page in a browser: it shows all of /openapi.json, needs no token, and fetches nothing elsewhere."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from surfaces.door import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(
        tmp_path_factory.mktemp("docs") / "home", SOUVENANCE_CHAT_BASE_URL="http://127.0.0.1:9/v1"
    ) as server:
        yield server


@pytest.fixture
def page(window, server):
    return shown(window(), server)


def shown(page, server):
    page.complaints, page.fetched = [], []
    page.on("console", lambda said: page.complaints.append(said.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.fetched.append(request.url))
    page.goto(f"{server.url}/docs")
    expect(page.locator("#count")).not_to_be_empty()
    return page


def operations(server):
    return [(method, path) for path, methods in server.openapi["paths"].items() for method in methods]


def test_every_operation_is_shown_and_the_browser_complains_of_nothing(page, server):
    every = operations(server)
    expect(page.locator("#count")).to_have_text(f"{len(every)} operations")
    told = page.locator("details.operation").evaluate_all(
        "all => all.map(one => ['.method', '.path'].map(part => one.querySelector(part).textContent))"
    )
    assert sorted(map(tuple, told)) == sorted(every)
    assert page.complaints == []


def test_nothing_is_fetched_from_elsewhere_and_no_token_is_needed(page, server):
    assert page.fetched
    assert all(url.startswith(f"{server.url}/") for url in page.fetched)


def test_the_policy_lets_nothing_but_the_page_s_own_files_in(server):
    answer = httpx.get(f"{server.url}/docs", trust_env=False)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_an_operation_tells_its_parameters_fields_refusals_and_an_example(page, server):
    page.locator("#filter").fill("post /v1/memory/put")
    expect(page.locator("#count")).to_have_text("1 operation")
    page.locator("details.operation:not([hidden]) > summary").click()
    inside = page.locator("details.operation:not([hidden]) .inside")
    expect(inside).to_contain_text("text")
    expect(inside).to_contain_text("namespace_denied")
    expect(inside).to_contain_text(f"curl -X POST '{server.url}/v1/memory/put'")
    expect(inside).to_contain_text("Authorization: Bearer $TOKEN")
    assert page.complaints == []


def test_every_operation_opens_without_a_fault(page, server):
    page.evaluate("document.querySelectorAll('details.operation').forEach(one => { one.open = true })")
    expect(page.locator(".inside")).to_have_count(len(operations(server)))
    assert page.complaints == []


def test_a_keyboard_is_enough(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("whoami")
    expect(page.locator("#count")).to_have_text("1 operation")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".inside")).to_contain_text("Example")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_small_window_shows_it_without_scrolling_sideways(window, server, scheme):
    page = shown(window(width=320, height=600, color_scheme=scheme), server)
    page.evaluate("document.querySelectorAll('details.operation').forEach(one => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
