"""The inspector without a mouse, from right to left, on a phone, with nothing that moves; and its charts."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from browser.axe import troubles_of
from inspector.conftest import W
from model.brain import honest
from model.stand_in import NAME, a_stand_in
from processes import until
from surfaces.door import serving

MOST_TABS = 80
HEBREW = "אני גרה בחיפה ואוהבת תה."
OTHERS = ("日本語で話します。", "मुझे चाय पसंद है।", "Ich heiße Öğuz – ελληνικά 👩🏽‍🚀")


def focused(page) -> str:
    """What a screen reader would call the focused element."""
    return page.evaluate(
        "() => { const one = document.activeElement;return (one.labels?.[0] || one).innerText.trim() }"
    )


def tab_to(page, name: str) -> None:
    """Press Tab until what has that name has the focus, and see that one can see it."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if focused(page).startswith(name):
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"{name!r} has the focus, and nobody sees it"
            return
    raise AssertionError(f"the Tab key never reaches {name!r}")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_fact_is_corrected_with_the_keyboard_alone(server, window, scripts):
    who = "kim" if scripts else "lou"
    said = [{"peer_id": who, "content": "I live in Rome."}]
    server.owner.post(f"{W}/sessions/{who}-talk/messages", json={"messages": said}).raise_for_status()
    until(lambda: server.owner.get(f"{W}/peers/{who}/card").json()["peer_card"])
    page = window(java_script_enabled=scripts)
    page.goto(f"{server.url}/?w=home")
    tab_to(page, "Skip to content")
    page.keyboard.press("Enter")
    tab_to(page, who)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=who, exact=True)).to_be_visible()
    tab_to(page, "Correct or remove")
    page.keyboard.press("Enter")
    tab_to(page, "What is true")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Home: Oslo")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Correct this fact?")).to_be_visible()
    tab_to(page, "Correct it")
    page.keyboard.press("Enter")
    expect(page.locator(".card")).to_contain_text("Home: Oslo")


def test_text_from_right_to_left_and_of_any_script_reads_as_it_was_written(server, window):
    said = [{"peer_id": "noa", "content": text} for text in (HEBREW, *OTHERS)]
    server.owner.post(f"{W}/sessions/scripts/messages", json={"messages": said}).raise_for_status()
    page = window()
    page.goto(f"{server.url}/inspect/home/sessions/scripts")
    for text, direction in ((HEBREW, "rtl"), *((one, "ltr") for one in OTHERS)):
        shown = page.locator(".said").get_by_text(text, exact=True)
        expect(shown).to_have_css("direction", direction)
    page.goto(f"{server.url}/inspect/recall?w=home&peer=noa&q={quote('גרה תה')}")
    expect(page.locator(".ranked .said", has_text=HEBREW)).to_have_css("direction", "rtl")
    page.goto(f"{server.url}/?w=home")
    expect(page.locator("bdi", has_text="noa").first).to_have_css("unicode-bidi", "isolate")
    page.set_viewport_size({"width": 320, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_nothing_moves_for_who_wants_that(server, window):
    page = window()
    page.goto(f"{server.url}/inspect/notes")
    button = page.get_by_role("button").last
    expect(button).not_to_have_css("transition-duration", "0s")
    page.emulate_media(reduced_motion="reduce")
    expect(button).to_have_css("transition-duration", "0s")


def test_on_a_phone_home_still_shows_dates_counts_and_activity(server, window):
    page = window()
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(f"{server.url}/?w=home")
    ann = page.locator(".people tbody tr", has_text="ann").first
    expect(ann.locator("time")).to_have_text("11 Jun 2026")
    expect(ann.locator("td.number").first).to_have_text("4")
    expect(ann.get_by_role("img")).to_be_visible()


DASHED = """() => [...document.querySelectorAll(".plot")].filter(plot => {
  const canvas = plot.querySelector("canvas");
  const shown = document.createElement("p");
  shown.style.color = "var(--quiet)";
  plot.append(shown);
  const wanted = getComputedStyle(shown).color.match(/[0-9]+/g).map(Number);
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const rows = new Array(canvas.height).fill(0);
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] > 200 && wanted.every((one, part) => Math.abs(data[at + part] - one) < 12))
      rows[Math.floor(at / 4 / canvas.width)] += 1;
  return Math.max(...rows) > canvas.width / 3;
}).map(plot => plot.querySelector(".plot-title").textContent)"""
"""The titles of the charts with a line across them."""


def test_what_a_model_cost_is_drawn_against_its_budget(tmp_path, browser):
    with a_stand_in() as endpoint:
        endpoint.plays(honest)
        settings = {
            "SOUVENANCE_MODEL_BASE_URL": endpoint.url,
            "SOUVENANCE_MODEL_NAME": NAME,
            "SOUVENANCE_MODEL_CALLS_PER_DAY": "4",
            "SOUVENANCE_MODEL_PRICE": "2 EUR",
        }
        with serving(tmp_path / "home", **settings) as server:
            said = [{"peer_id": "ann", "content": "I live in Lisbon and I work as a nurse."}]
            server.owner.post(f"{W}/sessions/s/messages", json={"messages": said}).raise_for_status()
            asked = server.owner.post(f"{W}/peers/ann/chat", json={"query": "Where does ann live?"})
            assert asked.status_code == 200, asked.text
            page = browser.new_context().new_page()
            page.goto(server.url + server.owner.post("/inspect/links").json()["path"])
            page.goto(f"{server.url}/inspect/work?w=home")
            models = page.get_by_role("region", name="Models")
            expect(models.get_by_role("progressbar", name="Calls today")).to_have_attribute("max", "4")
            cost = models.get_by_role("row", name="Cost today")
            expect(cost).to_contain_text(re.compile(r"\d+\.\d\d EUR\s*\d+\.\d\d EUR"))
            expect(cost.get_by_role("progressbar", name="Cost today")).to_be_visible()
            expect(models.locator(".plot canvas")).to_have_count(3)
            assert page.evaluate(DASHED) == ["Calls by day, of at most 4"]
            expect(models.get_by_role("table", name="Cost by day")).to_contain_text(re.compile(r"\d EUR"))
            expect(models.get_by_role("table", name="Calls by day").locator("tr").last).to_contain_text(
                re.compile(r"[1-9]")
            )
            assert troubles_of(page) == []
            page.context.close()
