"""The recall lab, in a real browser with JavaScript switched off."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from inspector.scenes import OFF, W, conclude, say, worked
from souvenance.agents.recall_trial import (
    BUDGET,
    GIVEN,
    LAYER_OFF,
    OTHER_NAMESPACE,
    WEAK,
    TrialSetting,
    conclusions_left_out,
)
from souvenance.agents.recalled import Known, Portrait
from souvenance.domain.names import COMMON_NAMESPACE
from souvenance.gate.inspect_search import RankedConclusion


@pytest.fixture(scope="module")
def embedder():
    """What makes vectors for everybody who installs it: the lab shows what is near in meaning too."""
    return "packaged"


def test_recall_says_which_messages_would_be_given_and_why_others_are_left_out(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/recall?w=home&peer=ann")
    page.get_by_label("What they would say").fill("where do I live?")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".exact")).to_contain_text("I live in Porto now.")
    expect(page.get_by_role("heading", name=re.compile(r"word for word \d+ tokens"))).to_be_visible()
    first = page.locator(".ranked > li").first
    expect(first).to_contain_text("Given")
    expect(first.locator(".signals li").first).to_be_visible()
    expect(page.locator(".ranked > li.left", has_text="Left out: weak match").first).to_be_visible()
    expect(page.locator(".reasons")).to_contain_text("too little of it has to do with the message")


def test_recall_compares_two_settings_side_by_side(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/recall?w=home&peer=ann&q=where+do+I+live%3F")
    page.get_by_text("Change floor, budget or layers").click()
    other = page.get_by_role("group", name="Setting B")
    other.get_by_label("what was said").uncheck()
    page.get_by_label("compare A with B").check()
    page.get_by_role("button", name="Try it").click()
    texts = page.locator(".exact")
    expect(texts).to_have_count(2)
    expect(texts.nth(0)).to_contain_text("Said earlier:")
    expect(texts.nth(1)).not_to_contain_text("Said earlier:")
    expect(page.locator(".ranked > li").first).to_contain_text("B: Left out: layer off")
    expect(other.get_by_label("what was said")).not_to_be_checked()


def test_recall_compares_with_and_without_the_floor(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/recall?w=home&peer=ann&q=where+do+I+live%3F")
    page.get_by_text("Change floor, budget or layers").click()
    other = page.get_by_role("group", name="Setting B")
    other.get_by_label("hide weak matches").uncheck()
    page.get_by_label("compare A with B").check()
    page.get_by_role("button", name="Try it").click()
    texts = page.locator(".exact")
    expect(texts.nth(0)).not_to_contain_text("I'm allergic to penicillin.")
    expect(texts.nth(1)).to_contain_text("I'm allergic to penicillin.")
    weak = page.locator(".ranked > li", has_text="I'm allergic to penicillin.")
    expect(weak).to_contain_text("A: Left out: weak match")
    expect(weak).to_contain_text("B: Given")
    expect(other.get_by_label("hide weak matches")).not_to_be_checked()


def test_recall_gives_what_was_said_twice_once(server, visitor):
    for session in ("ivo-monday", "ivo-friday"):
        say(server, session, ("ivo", "My bicycle is locked behind the blue shed."))
    worked(server)
    asked = {"w": "home", "peer": "ivo", "q": "where is my bicycle locked?"}
    page = visitor().get("/inspect/recall", params=asked).text
    verdicts = re.findall(r'<strong class="verdict[^>]*>(.*?)</strong>', page)
    assert verdicts == ["Given", "Left out: duplicate"]
    assert "the message or another line says the same" in page


def test_recall_gives_nothing_that_the_message_itself_says(server, visitor):
    said = "The spare fuse lies in the yellow drawer."
    say(server, "jon-fuse", ("jon", said))
    worked(server)
    asked = {"w": "home", "peer": "jon", "q": said, "set": "yes", "floor": "on", "layer": "said"}
    page = visitor().get("/inspect/recall", params=asked).text
    assert "Left out: duplicate" in page


def test_recall_in_a_session_gives_its_summary_and_not_what_it_holds_itself(server, visitor):
    talk = [("quin" if n % 2 else "guide", f"Sentence {n} about the tiny red boat.") for n in range(1, 32)]
    say(server, "quin-now", *talk)
    say(server, "quin-then", ("quin", "The tiny red boat is moored in Faro."), ("guide", "Noted."))
    worked(server)
    asked = {"w": "home", "peer": "quin", "agent": "guide", "q": "where is the tiny red boat?"}
    client = visitor()
    alone = client.get("/inspect/recall", params=asked).text
    assert "This conversation so far" not in alone
    assert "Left out: this session" not in alone
    within = client.get("/inspect/recall", params={**asked, "session": "quin-now"}).text
    text = re.search(r'<pre class="exact"[^>]*>(.*?)</pre>', within, re.DOTALL)[1]
    assert "This conversation so far, in short:" in text
    assert "moored in Faro" in text
    assert "Sentence 31" not in text.partition("Said earlier:")[2]
    assert "Left out: this session" in within
    off = {"set": "yes", "floor": "on", "layer": ["said", "card", "notes", "agent"]}
    without = client.get("/inspect/recall", params={**asked, "session": "quin-now", **off}).text
    assert "This conversation so far" not in without


def test_recall_with_too_small_a_budget_says_so(server, visitor):
    asked = {"w": "home", "peer": "ann", "q": "where do I live?", "set": "yes", "floor": "on"}
    page = visitor().get("/inspect/recall", params={**asked, "layer": "said", "tokens": "12"}).text
    assert "Left out: budget" in page


def test_recall_as_a_narrow_token_says_what_lies_in_another_namespace(server, window):
    say(server, "hana-trip", ("hana", "My passport number starts with K7."), namespace="travel")
    token = server.mint("hana", ["get", "list"], [COMMON_NAMESPACE], wid="home")
    assert token
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/recall?w=home&peer=hana&q=what+is+my+passport+number%3F")
    expect(page.locator(".ranked > li").first).to_contain_text("Given")
    page.get_by_label("As which token").select_option(index=1)
    page.get_by_role("button", name="Try it").click()
    expect(page.locator(".ranked > li").first).to_contain_text("Left out: other namespace")


def test_recall_leaves_out_what_a_third_party_said(server, visitor):
    said = [{"peer_id": "ivo", "content": "The boat leaves at nine.", "metadata": {"source": "web_page"}}]
    server.owner.post(f"{W}/sessions/ivo-mail/messages", json={"messages": said})
    page = visitor().get("/inspect/recall", params={"w": "home", "peer": "ivo", "q": "the boat is nice"})
    assert "third party&#39;s words" in page.text


def test_recall_on_another_day_reads_the_question_from_that_day(server, visitor):
    asked = {"w": "home", "peer": "ann", "q": "where did I live last week?", "day": "2026-03-05"}
    page = visitor().get("/inspect/recall", params=asked).text
    assert "Looked up on 2026-03-05." in page


def test_recall_says_what_is_given_though_weak_and_what_the_budget_keeps_of_that(server, visitor):
    days = ("I paint the fence.", "My boat is green.", "The bus was late.", "I read about whales.")
    say(server, "otis-talk", *(("otis", f"{one} So it went on that day.") for one in days), ("aide", "Good."))
    conclude(server, "aide", "otis", "Otis keeps a diary.")
    asked = {"w": "home", "peer": "otis", "agent": "aide", "q": "Which violin strings?", "set": "yes"}
    client, shown = visitor(), {"floor": "on", "layer": "said"}
    given = client.get("/inspect/recall", params={**asked, **shown, "tokens": 1200}).text
    assert "Given, though weak" in given
    assert "among what tells most of the person" in given
    less = client.get("/inspect/recall", params={**asked, **shown, "tokens": 60}).text
    assert "Left out: budget" in less


def test_recall_first_asks_as_the_person_whom_a_narrow_token_is_for(server, visitor):
    narrow = visitor(server.mint("ann", ["get", "list"], [COMMON_NAMESPACE], wid="home"))
    assert 'name="peer" value="ann"' in narrow.get("/inspect/recall").text
    assert 'name="peer" value=""' in visitor().get("/inspect/recall?w=home").text


def test_recall_ranks_what_an_agent_concluded_and_says_why_it_is_left_out(server, window):
    say(server, "mara-talk", ("mara", "My violin needs new strings."), ("aide", "Noted."))
    conclude(server, "aide", "mara", "Mara plays the violin in an orchestra.")
    conclude(server, "aide", "mara", "Mara is afraid of geese.")
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/recall?w=home&peer=mara&agent=aide&q=where+do+I+play+the+violin%3F")
    concluded = page.locator(
        "section", has=page.get_by_role("heading", name="What was concluded, best first")
    )
    first = concluded.locator(".ranked > li").first
    expect(first).to_contain_text("Mara plays the violin in an orchestra.")
    expect(first).to_contain_text("Given")
    expect(first.locator(".signals li").first).to_be_visible()
    page.get_by_text("Change floor, budget or layers").click()
    page.get_by_role("group", name="Setting A").get_by_label("what was concluded").uncheck()
    page.get_by_role("button", name="Try it").click()
    expect(first).to_contain_text("Left out: layer off")


def test_recall_gives_what_the_person_told_the_agent_about_itself_where_nobody_else_speaks(server, visitor):
    say(server, "pavo-talk", ("pavo", "Good morning."), ("aide", "Good morning."))
    worked(server)
    told = {"peer_card": ["Calls pavo: captain"]}
    server.owner.put(f"{W}/peers/pavo/card", params={"target": "aide"}, json=told).raise_for_status()
    asked = {"w": "home", "peer": "pavo", "agent": "aide", "q": "good morning"}
    client = visitor()
    assert "Calls pavo: captain" in text_of(client.get("/inspect/recall", params=asked))
    shared = client.get("/inspect/recall", params={**asked, "others": "on"})
    assert "captain" not in text_of(shared)
    assert re.search(r'name="others" checked', shared.text)


def text_of(page):
    found = re.search(r'<pre class="exact"[^>]*>(.*?)</pre>', page.text, re.DOTALL)
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("text", "view", "opened", "reason"),
    [
        ("- Una has an orchard.", "", {"a"}, GIVEN),
        ("", "", {"a"}, WEAK),
        ("", "[2026-03-04] Una has an orchard.", {"a"}, BUDGET),
        ("", "[2026-03-04] Una has an orchard.", set(), OTHER_NAMESPACE),
    ],
)
def test_a_conclusion_is_left_out_for_the_reason_that_is_true(text, view, opened, reason):
    one = RankedConclusion("a", "aide", "Una has an orchard.", datetime.now(UTC), {})
    known = Known(user=Portrait(view))
    assert conclusions_left_out(TrialSetting(), text, known, opened, [one]) == {"a": reason}
    off = TrialSetting(layers=frozenset({"said"}))
    assert conclusions_left_out(off, text, known, opened, [one]) == {"a": LAYER_OFF}


def test_recall_says_what_a_day_in_the_past_changes_and_what_not(server, visitor):
    asked = {"w": "home", "peer": "ann", "q": "where do I live?", "day": "2026-02-01"}
    page = visitor().get("/inspect/recall", params=asked).text
    assert "What was said later is still searched." in page
    assert "I live in Porto now." in page


def test_recall_as_a_token_for_somebody_else_shows_nobody_s_conclusions(server, visitor):
    say(server, "nils-talk", ("nils", "Good morning."), ("aide", "Good morning."))
    conclude(server, "aide", "nils", "Nils collects stamps.")
    other = visitor(server.mint("oda", ["get", "list"], [COMMON_NAMESPACE], wid="home"))
    asked = {"w": "home", "peer": "nils", "agent": "aide", "q": "what does Nils collect?"}
    assert "stamps" in visitor().get("/inspect/recall", params=asked).text
    assert "stamps" not in other.get("/inspect/recall", params=asked).text
