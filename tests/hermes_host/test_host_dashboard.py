"""The tab in the dashboard of the real host, in a real browser, and the desktop's pane in the same page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.chromium import PATIENCE_MS
from demo_host import Host
from hermes_host.dashboard import API, TAB, Dashboard, dashboard_of
from hermes_host.host import a_host, stored

ROOT = Path(__file__).resolve().parents[2]
SAID = "I moved to Lisbon, near the river."
TRAP = "<img src=x onerror=document.title='run'> is what I tried in the form."
_PANE = """
async (source) => {
  const shim = `const { createElement, Fragment, useEffect, useState } = window.__HERMES_PLUGIN_SDK__.React;
    export { createElement, Fragment, useEffect, useState };`;
  const blob = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const { default: plugin } = await import(blob(source.replace('from "react"', `from "${blob(shim)}"`)));
  const registered = [];
  const rest = (path, options = {}) =>
    window.__HERMES_PLUGIN_SDK__.fetchJSON(`/api/plugins/${plugin.id}${path}`, options.body && {
      ...options, headers: { "Content-Type": "application/json" }, body: JSON.stringify(options.body),
    });
  plugin.register({ rest, register: (one) => registered.push(one) });
  window.__HERMES_PLUGINS__.register(plugin.id, () => registered[0].render());
  return registered.map(({ area, title }) => [area, title]);
}
"""
"""Loads the pane as the desktop does: react is brought by a shim, and `ctx.rest` reaches the same API."""


@pytest.fixture(scope="module")
def host(tmp_path_factory, model) -> Host:
    made = a_host(tmp_path_factory.mktemp("host"), model, plugins={"enabled": ["souvenance"]})
    for said in (SAID, TRAP):
        made.once(said)
    return made


@pytest.fixture(scope="module")
def dashboard(host) -> Iterator[Dashboard]:
    with dashboard_of(host) as dashboard:
        yield dashboard


@pytest.fixture
def page(browser, dashboard) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(f"{dashboard.url}{TAB}")
    yield page
    context.close()


def test_the_host_answers_nobody_who_has_not_signed_in(dashboard):
    for method, path in (("GET", "person"), ("POST", "recall"), ("POST", "card"), ("POST", "forget")):
        assert dashboard.ask(method, f"{API}/{path}", {} if method == "POST" else None).status_code == 401
    wrong = dashboard.ask("GET", f"{API}/person", **{"X-Hermes-Session-Token": "wrong"})
    assert (wrong.status_code, "Lisbon" in wrong.text) == (401, False)


def test_whoever_signed_in_is_answered_in_json_that_nobody_keeps(dashboard):
    answer = dashboard.signed_in("GET", f"{API}/person")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert (answer.json()["person"], answer.json()["profile"]) == ("ann", "default")


def test_what_can_t_be_done_is_refused_with_a_code_and_not_by_signing_out(dashboard):
    assert dashboard.signed_in("POST", f"{API}/recall", {"message": ""}).json()["code"] == "invalid_input"
    refused = dashboard.signed_in("POST", f"{API}/card", {"observer": "bob", "after": "Home: Oslo"})
    assert (refused.status_code, refused.json()["code"]) == (403, "cap_scope_mismatch")
    form = {"X-Hermes-Session-Token": dashboard.token, "Content-Type": "text/plain"}
    assert dashboard.ask("POST", f"{API}/forget", {"id": "a"}, **form).status_code == 422


def test_the_tab_shows_the_person_and_stored_text_stays_text(page):
    expect(page.get_by_text("Memory of ann")).to_be_visible()
    expect(page.get_by_role("region", name="What hermes knows of ann")).to_contain_text("Lisbon")
    expect(page.locator(".souvenance").get_by_text("<img src=x").first).to_be_visible()
    assert page.locator(".souvenance img").count() == 0
    assert page.title() != "run"


def test_the_tab_shows_what_a_message_would_be_told_and_why(page):
    page.get_by_role("button", name="Recall", exact=True).click()
    page.get_by_label("What you would say").fill("Is it far to the river?")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("region", name="The text")).to_contain_text("Lisbon")
    expect(page.get_by_role("region", name="The messages").get_by_text("Given").first).to_be_visible()


def test_a_fact_is_added_and_a_refusal_is_told_in_its_own_words(page, dashboard):
    page.get_by_label("A new fact").first.fill("Boat: Argo")
    page.get_by_role("button", name="Add").first.click()
    expect(page.get_by_text("Boat: Argo")).to_be_visible()
    dashboard.signed_in("POST", f"{API}/card", {"observer": "hermes", "before": "Boat: Argo"})
    fact = page.get_by_role("listitem").filter(has_text="Boat: Argo")
    fact.get_by_role("button", name="Remove").click()
    fact.get_by_role("button", name="Remove it from the card").click()
    expect(page.get_by_role("alert")).to_have_text(
        "the card has changed meanwhile. Look at the person again."
    )


def test_the_desktop_s_pane_shows_the_same(page):
    pane = (ROOT / "plugin/desktop/plugin.js").read_text("utf-8")
    expect(page.get_by_text("Memory of ann")).to_be_visible()
    assert page.evaluate(_PANE, pane) == [["panes", "Memory"]]
    expect(page.get_by_text("Memory of ann")).to_be_visible()
    page.get_by_role("button", name="Recall", exact=True).click()
    page.get_by_label("What you would say").fill("Is it far to the river?")
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_role("region", name="The text")).to_contain_text("Lisbon")


def test_every_request_has_its_row_and_a_plugin_that_is_off_is_not_there(host, dashboard):
    with stored(host.store) as store:
        rows = [row for row in store.log() if row.operation in ("inspect.facts", "inspect.amend")]
    assert rows and {row.actor for row in rows} == {"ann"}
    assert host.run("plugins", "disable", "souvenance").exit_code == 0
    assert dashboard.signed_in("GET", f"{API}/person").status_code == 404


def test_the_host_s_own_form_shows_what_is_set_and_saving_it_changes_nothing_else(dashboard, host):
    form = "/api/memory/providers/souvenance/config"

    def shown():
        return {one["key"]: one["value"] for one in dashboard.signed_in("GET", form).json()["fields"]}

    for mode in ("context", "hybrid"):
        assert dashboard.signed_in("PUT", form, {"values": {"recallMode": mode}}).status_code == 200
        before = shown()
        assert (before["peerName"], before["recallMode"], before["baseUrl"]) == ("ann", mode, "")
        assert dashboard.signed_in("PUT", form, {"values": before}).status_code == 200
        assert shown() == before
    typed = {"values": {"apiKey": "typed-there"}}
    for surface in (form, f"{form}?surface=declared"):
        assert dashboard.signed_in("PUT", surface, typed).status_code == 200
    assert (host.home / ".env").read_text().count("HERMES_SOUVENANCE_API_KEY=typed-there") == 1
    assert "HONCHO" not in (host.home / ".env").read_text()
