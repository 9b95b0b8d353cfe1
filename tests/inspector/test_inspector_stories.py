"""The inspector as people use it, in a real browser, with JavaScript switched off."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from processes import run_souvenance
from souvenance.domain.names import COMMON_NAMESPACE

OFF = {"java_script_enabled": False}


def test_home_lists_people_with_what_they_said_last(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/?w=home")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("ben")
    expect(rows.nth(1)).to_contain_text("11 Jun 2026")


def test_a_person_shows_the_card_with_the_value_that_was_replaced(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/ann")
    home = page.locator(".card > li", has_text="Home: Porto")
    expect(home).to_contain_text("Said on 4 Mar 2026 in ann-talk")
    expect(home).to_contain_text("before: Lisbon")
    home.get_by_role("link", name="ann-talk").click()
    expect(page.locator("li:target")).to_contain_text("I live in Porto now.")


def test_a_wrong_fact_is_corrected_and_stays_so(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/ben")
    fact = page.locator(".card > li", has_text="Name: Ben")
    fact.locator("summary").click()
    fact.get_by_label("What is true").fill("Name: Benjamin Holt")
    fact.get_by_role("button", name="Save").click()
    expect(page.locator(".card")).to_contain_text("Name: Benjamin Holt")
    card = server.owner.get("/v3/workspaces/home/peers/ben/card").json()["peer_card"]
    assert "Name: Benjamin Holt" in card
    assert "Name: Ben" not in card


def test_a_note_is_forgotten_after_a_look_and_its_receipt_is_verified(server, window, tmp_path):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/notes?namespace=travel")
    page.locator(".lines a").first.click()
    page.get_by_role("button", name="Forget …").click()
    expect(page.locator("main")).to_contain_text("window seats on long flights")
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    with page.expect_download() as began:
        page.get_by_role("button", name="Download the receipt").click()
    receipt = Path(tmp_path / "receipt.jws")
    began.value.save_as(receipt)
    told = run_souvenance("audit", "verify", "--receipt", str(receipt), home=server.home)
    assert "the log confirms the receipt" in told.stdout
    page.goto(f"{server.url}/inspect/notes?namespace=travel")
    expect(page.locator("main")).not_to_contain_text("window seats")


def test_a_narrow_token_is_made_viewed_as_and_revoked(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/access")
    page.get_by_label("Whose memory").fill("ann")
    page.get_by_label("Workspace").fill("home")
    page.get_by_label("Namespaces").fill(COMMON_NAMESPACE)
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("textbox", name="The new token")).not_to_be_empty()
    page.get_by_role("button", name="View as this token").click()
    expect(page.locator("header")).to_contain_text("Signed in as ann")
    page.get_by_role("link", name="see what is known about ann").click()
    expect(page.locator(".card")).to_contain_text("Allergy: penicillin")
    page.goto(f"{server.url}/inspect/home/people/ben")
    expect(page.locator("main")).to_contain_text("cap_scope_mismatch")
    server.owner.post("/v1/caps/revoke", json={"sub": "ann"}).raise_for_status()
    page.goto(f"{server.url}/inspect/home/people/ann")
    expect(page.get_by_role("heading", name="What does memory know about you?")).to_be_visible()


def test_recall_says_which_messages_would_be_given_and_which_are_left_out(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/recall?w=home&peer=ann")
    page.get_by_label("What they would say").fill("where do I live?")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".exact")).to_contain_text("I live in Porto now.")
    first = page.locator(".ranked > li").first
    expect(first).to_contain_text("Given")
    expect(first.locator(".signals li").first).to_be_visible()
    expect(page.locator(".ranked > li.left").first).to_contain_text("Left out: weak match")


def test_the_audit_log_is_filtered_verified_and_held_against_a_checkpoint(server, window):
    page = window(accept_downloads=True, **OFF)
    page.goto(f"{server.url}/inspect/audit?w=default")
    with page.expect_download() as began:
        page.get_by_role("button", name="Download a checkpoint").click()
    saved = Path(began.value.path()).read_text()
    page.get_by_label("Operation").fill("memory.put")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("tbody tr").first).to_contain_text("stored a line")
    page.get_by_label("A checkpoint that you saved").fill(saved)
    page.get_by_role("button", name="Verify the log").click()
    expect(page.get_by_role("heading", name="The log holds")).to_be_visible()
    expect(page.locator("main")).to_contain_text("are those of your checkpoint")


def test_a_session_shows_what_was_concluded_beside_each_turn_and_forgets_one(server, window):
    said = [{"peer_id": "ben", "content": "The secret plan is a boat."}]
    server.owner.post("/v3/workspaces/home/sessions/boat/messages", json={"messages": said})
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/boat")
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_role("heading", name="Forget this message?")).to_be_visible()
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("main")).to_contain_text("Nothing was said here.")


@pytest.mark.parametrize(
    "path", ["/?w=home", "/inspect/home/people/ann", "/inspect/audit", "/inspect/access"]
)
def test_every_page_fits_a_narrow_screen(server, window, path):
    page = window()
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(server.url + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
