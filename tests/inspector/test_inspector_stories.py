"""The inspector as people use it, in a real browser, with JavaScript switched off."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from inspector.conftest import link_of
from oauth.browser import Flow, fetching
from processes import PATIENCE_SECONDS, until
from souvenance.domain.names import COMMON_NAMESPACE
from surfaces.door import serving, souvenance

OFF = {"java_script_enabled": False}
W = "/v3/workspaces/home"


def say(server, session, *said, workspace="home", **more):
    """Store messages, as (who, text); their ids."""
    messages = [{"peer_id": who, "content": text} for who, text in said]
    path = f"/v3/workspaces/{workspace}/sessions/{session}/messages"
    answer = server.owner.post(path, json={"messages": messages, **more})
    assert answer.status_code == 201, answer.text
    return [one["id"] for one in answer.json()]


def put(server, text, namespace="personal"):
    answer = server.owner.post("/v1/memory/put", json={"text": text, "namespace": namespace})
    return answer.raise_for_status().json()["id"]


def worked(server):
    """Wait until everything that was said is read."""

    def read():
        queue = server.owner.get(f"{W}/queue/status").json()
        return queue["completed_work_units"] == queue["total_work_units"]

    until(read)


def csrf_of(client):
    return re.search(r'name="csrf" value="([^"]+)"', client.get("/inspect/notes").text)[1]


# Home.


def test_home_lists_people_with_what_they_said_last(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/?w=home")
    names = page.locator(".people tbody th")
    shown = names.all_inner_texts()
    assert shown.index("ben") < shown.index("ann")
    ann = page.locator(".people tbody tr", has_text="ann").first
    expect(ann).to_contain_text("11 Jun 2026")
    expect(ann.locator("td.number").first).to_have_text("4")
    expect(ann.get_by_role("img")).to_have_accessible_name(re.compile(r"messages in the last 26 weeks"))


def test_home_tells_the_health_in_one_row(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/?w=home")
    health = page.get_by_role("region", name="Health")
    for what in ("Store", "Search", "Embedder", "Model budget", "Jobs waiting"):
        expect(health).to_contain_text(what)
    expect(health).to_contain_text("no model: rules do the work")


def test_one_search_finds_notes_and_messages_and_leads_to_the_place(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/?w=home")
    page.get_by_label("Search everything").fill("penicillin")
    page.get_by_role("button", name="Search").click()
    hit = page.locator(".lines li", has_text="allergic to penicillin")
    hit.get_by_role("link", name="ann-health").click()
    expect(page.locator("li:target")).to_contain_text("allergic to penicillin")


def test_a_workspace_with_nobody_says_what_to_do_next(server, visitor):
    page = visitor().get("/", params={"w": "empty"}).text
    assert "Connect an agent" in page
    assert "write a note" in page


# A person.


def test_a_person_shows_the_card_with_the_value_that_was_replaced(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/ann")
    home = page.locator(".card > li", has_text="Home: Porto")
    expect(home).to_contain_text("Said on 4 Mar 2026 in ann-talk")
    expect(home).to_contain_text("Lisbon until 4 Mar 2026 → Porto")
    home.get_by_role("link", name="ann-talk").click()
    expect(page.locator("li:target")).to_contain_text("I live in Porto now.")


def test_a_wrong_fact_is_corrected_and_the_others_keep_where_they_come_from(server, window):
    say(server, "cleo-talk", ("cleo", "My name is Cleo. I'm vegetarian."))
    worked(server)
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/cleo")
    fact = page.locator(".card > li", has_text="Name: Cleo")
    fact.get_by_text("Correct or remove").click()
    fact.get_by_label("What is true").fill("Name: Cleo Holt")
    fact.get_by_role("button", name="Save").click()
    corrected = page.locator(".card > li", has_text="Name: Cleo Holt")
    expect(corrected).to_contain_text("written by hand")
    diet = page.locator(".card > li", has_text=re.compile("vegetarian", re.IGNORECASE))
    expect(diet).to_contain_text("in cleo-talk")
    say(server, "cleo-talk", ("cleo", "I'm allergic to nuts."))
    worked(server)
    card = server.owner.get(f"{W}/peers/cleo/card").json()["peer_card"]
    assert "Name: Cleo Holt" in card
    assert "Name: Cleo" not in card
    assert any("vegetarian" in one.lower() for one in card)
    assert "Allergy: nuts" in card


def test_a_fact_is_removed_added_and_pinned(server, window):
    say(server, "dora-talk", ("dora", "I'm allergic to nuts."), ("dora", "I live in Rome."))
    worked(server)
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/dora")
    nuts = page.locator(".card > li", has_text="Allergy: nuts")
    nuts.get_by_text("Correct or remove").click()
    nuts.get_by_label("What is true").fill("")
    nuts.get_by_role("button", name="Save").click()
    expect(page.locator(".card")).not_to_contain_text("nuts")
    page.get_by_text("Add a fact").click()
    page.get_by_label("Fact", exact=True).fill("Shoes: 42")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".card > li", has_text="Shoes: 42")).to_contain_text("written by hand")
    page.locator(".card > li", has_text="Home: Rome").get_by_role("button", name="Pin").click()
    expect(page.locator(".card > li", has_text="Home: Rome")).to_contain_text("pinned")
    say(server, "dora-talk", ("dora", "I live in Oslo now."))
    worked(server)
    page.reload()
    expect(page.locator(".card")).to_contain_text("Home: Rome")
    expect(page.locator(".card")).not_to_contain_text("nuts")


def test_a_change_that_comes_too_late_is_refused(server, visitor):
    client = visitor()
    sent = {"before": "Home: Nowhere", "after": "Home: Here", "csrf": csrf_of(client)}
    answer = client.post("/inspect/home/people/ann/card", data=sent)
    assert answer.status_code == 409
    assert "changed meanwhile" in answer.text
    empty = client.post("/inspect/home/people/ann/card", data={"after": " ", "csrf": csrf_of(client)})
    assert empty.status_code == 400


def test_a_person_has_a_timeline_namespaces_and_those_who_know_them(server, window):
    say(server, "fay-talk", ("fay", "I sail a boat."), ("guide", "Good wind to you."))
    noted = {"content": "Fay sails.", "observer_id": "guide", "observed_id": "fay", "session_id": "fay-talk"}
    server.owner.post(f"{W}/conclusions", json={"conclusions": [noted]}).raise_for_status()
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/fay")
    months = page.get_by_role("table", name="Messages by month")
    expect(months.locator("tbody tr")).to_have_count(1)
    expect(months.locator("tbody tr").last.locator("td")).to_have_text("1")
    expect(page.get_by_role("region", name="Namespaces")).to_contain_text(COMMON_NAMESPACE)
    expect(page.get_by_role("region", name="Timeline").get_by_role("link", name="fay-talk")).to_be_visible()
    page.get_by_role("region", name="Who knows something of fay").get_by_role("link", name="guide").click()
    expect(page.get_by_role("region", name="Conclusions")).to_contain_text("Fay sails.")
    page.get_by_role("button", name="Forget … Fay sails.").click()
    expect(page.locator("main")).to_contain_text("Fay sails.")
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_role("region", name="Conclusions")).to_contain_text("Nothing was concluded yet")


def test_a_token_that_reads_a_person_is_shown_there_and_ended_there(server, window):
    server.mint("gail", ["get", "list"], [COMMON_NAMESPACE], wid="home")
    say(server, "gail-talk", ("gail", "I like tea."))
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/gail")
    readers = page.get_by_role("region", name="Who can read this")
    expect(readers).to_contain_text("token from owner, may read, list")
    readers.get_by_role("button", name=re.compile("End the token of gail")).click()
    expect(page.get_by_role("heading", name="What falls", exact=True)).to_be_visible()
    page.get_by_role("button", name="Revoke", exact=True).click()
    page.goto(f"{server.url}/inspect/home/people/gail")
    expect(readers).not_to_contain_text("token from owner, may read, list")


# A session.


def test_a_session_shows_what_was_concluded_beside_each_turn_and_forgets_one(server, window):
    first, second = say(server, "boat", ("ben", "The secret plan is a boat."), ("ben", "Tea is fine."))
    noted = {
        "content": "Ben plans a boat.",
        "observer_id": "ben",
        "observed_id": "ben",
        "session_id": "boat",
        "source_ids": [first],
    }
    server.owner.post(f"{W}/conclusions", json={"conclusions": [noted]}).raise_for_status()
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/boat")
    turn = page.locator(f"li[id='{first}']")
    expect(turn.get_by_role("complementary")).to_contain_text("Ben plans a boat.")
    expect(page.locator(f"li[id='{second}']").get_by_role("complementary")).to_have_count(0)
    turn.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_role("heading", name="Forget this message?")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Ben plans a boat.")
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("main")).not_to_contain_text("secret plan")
    expect(page.locator("main")).to_contain_text("Tea is fine.")


def test_a_session_is_forgotten_from_a_message_on(server, window):
    say(server, "long", *(("ben", f"Sentence number {n}.") for n in range(1, 6)))
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/long")
    page.locator(".turns li", has_text="number 3").get_by_role("button", name="Forget from here").click()
    expect(page.locator("main")).to_contain_text("3 messages go for good")
    expect(page.locator("main")).to_contain_text("Sentence number 3.")
    expect(page.locator("main")).not_to_contain_text("Sentence number 2.")
    page.get_by_role("button", name="Forget 3 messages").click()
    expect(page.locator(".turns > li")).to_have_count(2)
    told = souvenance("doctor", home=server.home)
    assert "never forgotten, and is not there" not in told.out


# A line.


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
    told = souvenance("audit", "verify", "--receipt", str(receipt), home=server.home)
    assert "the log confirms the receipt" in told.out
    page.goto(f"{server.url}/inspect/notes?namespace=travel")
    expect(page.locator("main")).not_to_contain_text("window seats")


def test_a_line_tells_its_history_its_seal_who_may_see_it_and_who_read_it(server, window):
    line = put(server, "the door code is 4711")
    server.mint("owner", ["get"], ["personal"], wid="default")
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/lines/{line}")
    expect(page.get_by_role("region", name="History")).to_contain_text("It was never corrected.")
    page.get_by_label("What is true").fill("the door code is 0815")
    page.get_by_role("button", name="Save").click()
    history = page.get_by_role("region", name="History")
    expect(history.locator("li").first).to_contain_text("the door code is 4711")
    expect(history.locator("li").last).to_contain_text("the door code is 0815")
    expect(page.get_by_role("region", name="How it is sealed")).to_contain_text("AES-256-GCM, with key")
    expect(page.get_by_role("region", name="Who may see it")).to_contain_text("token from owner, may read")
    history.get_by_role("link").first.click()
    expect(page.locator("main")).to_contain_text("This no longer holds.")
    read = page.get_by_role("region", name="Who read it")
    expect(read).to_contain_text("stored a line")
    expect(read).to_contain_text("looked at a line")


def test_a_message_has_a_page_of_its_own_too(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/ann-health")
    page.locator(".turns a time").click()
    expect(page.get_by_role("heading", name="A message")).to_be_visible()
    expect(page.locator("main")).to_contain_text("their own words")
    expect(page.get_by_role("button", name="Forget …")).to_be_visible()
    expect(page.get_by_role("button", name="Move")).to_have_count(0)


def test_a_note_moves_to_another_namespace_and_leaves_a_receipt(server, window):
    line = put(server, "the spare key is under the pot")
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/default/lines/owner/{line}")
    page.get_by_label("Namespace").fill("house")
    page.get_by_role("button", name="Move").click()
    expect(page.get_by_role("heading", name="Moved")).to_be_visible()
    expect(page.get_by_role("button", name="Download the receipt")).to_be_visible()
    page.get_by_role("link", name="see it there").click()
    expect(page.locator("main")).to_contain_text("the spare key is under the pot")
    page.goto(f"{server.url}/inspect/default/lines/owner/{line}")
    expect(page.locator("main")).to_contain_text("there is no such line")


# The recall lab.


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
    weak = page.locator(".ranked > li.left", has_text="weak match").first
    expect(weak).to_contain_text("too little of it has to do with the message")


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


# The audit log.


def test_the_audit_log_is_filtered_verified_and_held_against_a_checkpoint(server, window):
    put(server, "something to find in the log")
    page = window(accept_downloads=True, **OFF)
    page.goto(f"{server.url}/inspect/audit?w=default")
    with page.expect_download() as began:
        page.get_by_role("button", name="Download a checkpoint").click()
    saved = Path(began.value.path())
    page.get_by_label("What", exact=True).fill("stored a line")
    page.get_by_label("Who", exact=True).fill("owner")
    page.get_by_label("Outcome").select_option("allowed")
    page.get_by_role("button", name="Filter").click()
    rows = page.locator(".log tbody tr")
    expect(rows.first).to_contain_text("stored a line")
    assert all("stored a line" in row for row in rows.all_inner_texts())
    page.get_by_label("A checkpoint that you saved").set_input_files(saved)
    page.get_by_role("button", name="Verify the log").click()
    expect(page.get_by_role("heading", name="The log holds")).to_be_visible()
    expect(page.locator("main")).to_contain_text("are those of your checkpoint")
    page.get_by_role("link", name="Back to the log").click()
    page.get_by_text("Paste it instead").click()
    page.get_by_label("What is in the file").fill(saved.read_text())
    page.get_by_role("button", name="Verify the log").click()
    expect(page.locator("main")).to_contain_text("are those of your checkpoint")


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"not a checkpoint", "this is not a checkpoint"),
        (b"\xff\xfe\x00", "this is not a checkpoint"),
        (b"x" * 200_000, "larger than"),
    ],
    ids=["text", "bytes", "too large"],
)
def test_a_file_that_is_no_checkpoint_is_refused(server, visitor, sent, told):
    client = visitor()
    form = {"csrf": csrf_of(client), "w": "default"}
    answer = client.post("/inspect/audit/verify", data=form, files={"file": ("saved.json", sent)})
    assert answer.status_code in (400, 413)
    assert told in answer.text


def test_a_checkpoint_of_another_log_does_not_hold(server, visitor):
    client = visitor()
    form = {"csrf": csrf_of(client), "w": "default"}
    told = client.post("/inspect/audit/checkpoint", data=form).json()
    other = json.dumps({**told, "root": "00" * 32}).encode()
    answer = client.post("/inspect/audit/verify", data=form, files={"file": ("saved.json", other)})
    assert "The log does not hold" in answer.text


def test_the_audit_log_is_filtered_by_day_and_by_what_was_refused(server, visitor):
    token = server.mint("judy", ["list"], ["personal"], wid="default")
    client = visitor(token)
    assert client.get("/inspect/audit").status_code == 403
    owner = visitor()
    refused = owner.get("/inspect/audit", params={"w": "default", "actor": "judy", "outcome": "refused"})
    assert "cap op mismatch" in refused.text
    past = owner.get("/inspect/audit", params={"w": "default", "until": "2020-01-01"})
    assert "No row matches" in past.text
    assert owner.get("/inspect/audit", params={"since": "someday"}).status_code == 400


def test_the_whole_log_can_be_downloaded(server, visitor):
    client = visitor()
    answer = client.post("/inspect/audit/log", data={"csrf": csrf_of(client), "w": "default"})
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    assert "attachment" in answer.headers["content-disposition"]


def test_a_log_that_somebody_altered_does_not_hold(tmp_path):
    with serving(tmp_path / "home", SOUVENANCE_EMBEDDER="none") as server:
        put(server, "a note")
        with sqlite3.connect(server.home / "souvenance.db") as store:
            store.execute("UPDATE audit SET actor = 'nobody' WHERE operation = 'memory.put'")
        store.close()
        with httpx.Client(base_url=server.url, trust_env=False, follow_redirects=True) as client:
            client.get(link_of(server))
            answer = client.post("/inspect/audit/verify", data={"csrf": csrf_of(client), "w": "default"})
    assert "The log does not hold" in answer.text
    assert "was altered" in answer.text
    assert "souvenance doctor" in answer.text


def test_who_sees_a_part_of_the_log_is_not_told_that_it_is_broken(server, visitor):
    token = server.mint("kim", ["get", "list", "audit"], ["personal"], wid="default")
    client = visitor(token)
    assert client.get("/inspect/audit").status_code == 200
    answer = client.post("/inspect/audit/verify", data={"csrf": csrf_of(client)})
    assert answer.status_code == 403
    assert "only a part of the log" in answer.text


# Access.


def test_a_narrow_token_is_previewed_made_viewed_as_and_revoked(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/access?w=home")
    page.get_by_label("Whose memory").fill("ann")
    page.get_by_label("Namespaces").fill(COMMON_NAMESPACE)
    page.get_by_role("button", name="Preview it").click()
    expect(page.get_by_role("heading", name="What this token would see")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Allergy: penicillin")
    expect(page.locator("main")).to_contain_text("Only ann.")
    expect(page.locator("main")).to_contain_text("✗ forget")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("textbox", name="The new token")).not_to_be_empty()
    given = page.get_by_role("region", name="Who gave what to whom")
    expect(given).to_contain_text("your own token")
    expect(given.locator(".tree li", has_text="ann").first).to_contain_text(
        "may read, list, read the profile"
    )
    page.get_by_role("button", name="View as this token").click()
    expect(page.locator("header")).to_contain_text("Signed in as ann")
    page.get_by_role("link", name="see what is known about ann").click()
    expect(page.locator(".card")).to_contain_text("Allergy: penicillin")
    expect(page.get_by_role("region", name="Who can read this")).to_contain_text("does not show")
    page.goto(f"{server.url}/inspect/home/people/ben")
    expect(page.locator("main")).to_contain_text("cap_scope_mismatch")
    server.owner.post("/v1/caps/revoke", json={"sub": "ann"}).raise_for_status()
    page.goto(f"{server.url}/inspect/home/people/ann")
    expect(page.get_by_role("heading", name="What does memory know about you?")).to_be_visible()


def test_revoking_shows_what_falls_with_it_first(server, window):
    first = server.mint("lea", ["get", "list", "grant", "revoke"], ["personal"], wid="home")
    answer = server.client(first).post(
        "/v1/caps",
        json={"sub": "lea", "ops": ["get"], "namespaces_allowed": ["personal"], "wid": "home"},
    )
    below = answer.raise_for_status().json()["jti"]
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/access?w=home")
    tree = page.get_by_role("region", name="Who gave what to whom")
    branch = tree.locator(".tree > li", has=page.get_by_text(below)).first
    branch.get_by_role("button", name=re.compile("Revoke")).first.click()
    expect(page.get_by_role("heading", name="Tokens 2")).to_be_visible()
    expect(page.locator("main")).to_contain_text(below)
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("region", name="Who gave what to whom")).not_to_contain_text(below)
    assert server.client(first).get("/v1/caps/whoami").status_code == 401


class Program(Flow):
    """A program that asks a person to let it in, who has that token."""

    def __init__(self, server, token):
        self.owner_cap = token
        self.browser = self.program = httpx.Client(
            base_url=server.url, trust_env=False, timeout=PATIENCE_SECONDS
        )


def test_revoking_shows_the_programs_that_fall_too_and_they_do(server, window):
    rights = ["get", "list", "put", "grant", "revoke"]
    token = server.mint("pia", rights, [COMMON_NAMESPACE], wid="home", ttl_seconds=7200)
    program = Program(server, token)
    with program.browser:
        program.sign_in()
        chosen = {"workspace": "home", "peer": "pia", "everyone": "no", "end": "3600"}
        let_in = program.fetch(fetching(program.code(choosing=chosen))).json()
        assert program.whoami(let_in["access_token"]).status_code == 200
        page = window(**OFF)
        page.goto(f"{server.url}/inspect/access?w=home")
        expect(page.get_by_role("region", name="Programs that signed in")).to_contain_text("Hermes Agent")
        page.get_by_label("or all tokens of").fill("pia")
        page.get_by_role("button", name="Revoke …", exact=True).click()
        expect(page.get_by_role("heading", name="Programs that signed in 1")).to_be_visible()
        expect(page.locator("main")).to_contain_text("may write the memory of pia in home")
        assert program.whoami(let_in["access_token"]).status_code == 200
        page.get_by_role("button", name="Revoke", exact=True).click()
        assert program.whoami(let_in["access_token"]).status_code == 401
    expect(page.get_by_role("region", name="Programs that signed in")).to_contain_text("No program")


def test_a_token_that_may_do_nothing_is_not_made(server, visitor):
    client = visitor()
    sent = {"peer": "ann", "workspace": "home", "namespaces": "default", "csrf": csrf_of(client)}
    for path in ("preview", "tokens"):
        answer = client.post(f"/inspect/access/{path}", data=sent)
        assert answer.status_code == 400
        assert "Choose what it may do" in answer.text


# Two people in two browsers.


def test_what_one_person_opens_is_closed_to_another(server, visitor):
    session = say(server, "mia-own", ("mia", "My safe code is 99."))
    server.owner.put(f"{W}/peers/mia/card", json={"peer_card": ["Safe: 99"]}).raise_for_status()
    every = ["get", "list", "put", "forget", "invalidate", "audit", "revoke"]
    mia, noa = (visitor(server.mint(name, every, [COMMON_NAMESPACE], wid="home")) for name in ("mia", "noa"))
    line = f"/inspect/home/lines/mia/{session[0]}"
    asked = {"w": "home", "peer": "mia", "q": "my safe code"}
    for path, params in (
        ("/inspect/home/people/mia", {}),
        (line, {}),
        ("/inspect/recall", asked),
        ("/inspect/home/sessions/mia-own", {}),
    ):
        assert "99" in mia.get(path, params=params).text, path
        answer = noa.get(path, params=params)
        assert answer.status_code in (403, 404), path
        assert "99" not in answer.text
    csrf = csrf_of(noa)
    for path, fields in (
        ("/inspect/home/people/mia/card", {"before": "Safe: 99", "after": "Safe: 1"}),
        (f"/inspect/home/sessions/mia-own/messages/{session[0]}/forget-from", {"sure": "yes"}),
        (f"{line}/forget", {"sure": "yes"}),
        (f"{line}/move", {"namespace": COMMON_NAMESPACE}),
        (f"{line}/correct", {"text": "gone"}),
    ):
        assert noa.post(path, data={**fields, "csrf": csrf}).status_code in (403, 404), path
    assert "99" in mia.get("/inspect/home/people/mia").text
    rows = noa.get("/inspect/audit").text
    assert "<bdi>mia</bdi>" not in rows
    assert "mia" not in noa.get("/inspect/access").text


def test_a_namespace_that_the_token_does_not_open_is_not_even_counted(server, visitor):
    say(server, "olga-home", ("olga", "I like tea."))
    say(server, "olga-secret", ("olga", "I have a secret garden."), namespace="secret")
    client = visitor(server.mint("olga", ["get", "list"], [COMMON_NAMESPACE], wid="home"))
    page = client.get("/inspect/home/people/olga").text
    assert "olga-home" in page
    assert "secret" not in page
    assert "secret" not in client.get("/inspect/recall", params={"peer": "olga", "q": "my garden"}).text


@pytest.mark.parametrize(
    "path",
    [
        "/?w=home",
        "/inspect/home/people/ann",
        "/inspect/home/sessions/ann-talk",
        "/inspect/notes",
        "/inspect/recall?w=home&peer=ann&q=where+do+I+live",
        "/inspect/audit",
        "/inspect/access",
    ],
)
def test_every_page_fits_a_narrow_screen(server, window, path):
    page = window()
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(server.url + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
