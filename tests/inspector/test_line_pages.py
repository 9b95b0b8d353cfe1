"""The pages of notes and other lines, in a real browser with JavaScript switched off."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from inspector.scenes import OFF, SURE, conclude, put, say, worked
from processes import run_souvenance
from souvenance.domain.names import COMMON_NAMESPACE


def forget_with_receipt(server, page, file):
    """Confirm what the page asks, and hold the receipt against the log."""
    page.get_by_role("button", name=SURE).click()
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    told = kept_receipt(server, page, file)
    expect(page.locator("main")).to_contain_text(re.compile(r"owner forgot \d+ lines? of [\w -]+ on "))
    return told


def kept_receipt(server, page, file):
    """Download the receipt, and hold it against the log."""
    with page.expect_download() as began:
        page.get_by_role("button", name="Download the receipt").click()
    began.value.save_as(file)
    told = run_souvenance("audit", "verify", "--receipt", str(file), home=server.home)
    assert "the log confirms the receipt" in told.stdout
    page.goto(f"{server.url}/inspect/audit")
    page.get_by_label("A receipt of something forgotten").set_input_files(file)
    page.get_by_role("button", name="Verify the receipt").click()
    expect(page.get_by_role("heading", name="The receipt holds")).to_be_visible()
    return told.stdout


def test_a_note_is_forgotten_after_a_look_and_its_receipt_is_verified(server, window, tmp_path):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/notes?namespace=travel")
    page.locator(".lines a").first.click()
    page.get_by_role("button", name="Forget …").click()
    expect(page.locator("main")).to_contain_text("window seats on long flights")
    forget_with_receipt(server, page, tmp_path / "receipt.jws")
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


def test_a_note_is_taken_back_by_an_empty_text_only_after_a_page_has_shown_it(server, window):
    line = put(server, "the bus stops at the mill")
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/lines/{line}")
    page.get_by_label("What is true").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Say that this no longer holds?")).to_be_visible()
    expect(page.locator("main")).to_contain_text("the bus stops at the mill")
    page.get_by_role("link", name="Leave it as it is").click()
    expect(page.locator("main")).not_to_contain_text("This no longer holds.")
    page.get_by_label("What is true").fill("")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Take it back").click()
    expect(page.locator("main")).to_contain_text("This no longer holds.")


def test_reads_of_one_minute_are_counted_and_not_repeated(server, visitor):
    line, client = put(server, "the bins go out on Friday"), visitor()
    for _ in range(12):
        page = client.get(f"/inspect/default/lines/owner/{line}").text
    assert re.search(r'looked at a line <span class="about">\d+ times</span>', page)
    assert page.count("looked at a line") < 12


def test_who_read_a_line_is_followed_back_to_the_day_it_was_stored(server, visitor):
    line, client = put(server, "the meter is behind the door"), visitor()
    for _ in range(101):
        page = client.get(f"/inspect/default/lines/owner/{line}").text
    assert "stored a line" not in page
    assert "That is all of it." not in page
    older = re.search(r'href="([^"#]+)#read" rel="next">Look further back', page)[1]
    oldest = client.get(older).text
    assert "stored a line" in oldest
    assert "That is all of it." in oldest


def test_the_notes_of_a_person_hold_nothing_that_was_said_or_concluded(server, visitor):
    token = server.mint("ann", ["get", "list", "put"], [COMMON_NAMESPACE], wid="home")
    note = {"text": "the skis are at the repair shop", "namespace": COMMON_NAMESPACE}
    server.client(token).post("/v1/memory/put", json=note).raise_for_status()
    page = visitor(token).get("/inspect/notes").text
    assert re.findall(r'class="said" dir="auto">([^<]*)<', page) == ["the skis are at the repair shop"]


def test_a_message_has_a_page_of_its_own_too(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/ann-health")
    page.locator(".turns a time").click()
    expect(page.get_by_role("heading", name="A message")).to_be_visible()
    expect(page.locator("main")).to_contain_text("their own words")
    expect(page.get_by_role("button", name="Forget …")).to_be_visible()
    expect(page.get_by_role("button", name="Move")).to_have_count(0)
    page.get_by_role("link", name="Move the whole session").click()
    expect(page.get_by_role("heading", name="Move it to another namespace")).to_be_visible()


def test_a_message_and_what_was_concluded_of_a_person_are_forgotten_with_a_receipt(server, window, tmp_path):
    said, _ = say(server, "garden", ("gus", "I planted a fig tree."), ("helper", "How nice."))
    made = conclude(server, "helper", "gus", "Gus grows figs.")
    page = window(**OFF)
    for owner, line in (("gus", said), ("helper", made)):
        page.goto(f"{server.url}/inspect/home/lines/{owner}/{line}")
        page.get_by_role("button", name="Forget …").click()
        forget_with_receipt(server, page, tmp_path / f"{owner}.jws")
        page.goto(f"{server.url}/inspect/home/lines/{owner}/{line}")
        expect(page.locator("main")).to_contain_text("there is no such line")


def test_the_end_of_a_session_and_the_whole_of_it_are_forgotten_with_a_receipt(server, window, tmp_path):
    said = [("gus", f"The vine has {number} leaves.") for number in range(4)]
    first, *_ = say(server, "vine", *said)
    conclude(server, "gus", "gus", "Gus counts leaves.")
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/vine")
    page.locator(".turns li").nth(2).get_by_role("button", name="Forget from here").click()
    told = forget_with_receipt(server, page, tmp_path / "end.jws")
    assert re.search(r"session vine from line \w{26} on, deleted by owner .*\(2 lines, 0 keys", told)
    page.goto(f"{server.url}/inspect/home/sessions/vine")
    expect(page.locator(".turns > li")).to_have_count(2)
    page.get_by_role("button", name="Forget this session").click()
    told = forget_with_receipt(server, page, tmp_path / "whole.jws")
    expect(page.locator("main")).to_contain_text("of the session vine on")
    assert re.search(r"session vine, deleted by owner .* UTC \(\d+ lines, 0 keys", told)
    page.goto(f"{server.url}/inspect/home/lines/gus/{first}")
    expect(page.locator("main")).to_contain_text("there is no such line")


def test_who_holds_a_session_alone_gets_a_receipt_for_what_others_said_there(server, visitor):
    [line, _] = say(server, "porch", ("hal", "The key is red."), ("guest", "I see."))
    ops = ["get", "list", "forget"]
    guest = visitor(server.mint("guest", ops, wid="home", peers=["*"], sessions=["porch"]))
    [csrf] = set(re.findall(r'name="csrf" value="([^"]+)"', guest.get("/inspect/home/sessions/porch").text))
    address = f"/inspect/home/sessions/porch/messages/{line}/forget"
    headers = {"origin": server.url}
    page = guest.post(address, data={"csrf": csrf, "sure": "yes"}, headers=headers).text
    receipt = re.search(r'name="receipt" value="([^"]+)"', page)[1]
    answer = server.owner.post("/v1/receipts/verify", json={"receipt": receipt})
    assert answer.status_code == 400  # It is of another workspace than the owner's own.
    there = server.client(server.mint("owner", ["audit"], wid="home"))
    told = there.post("/v1/receipts/verify", json={"receipt": receipt}).raise_for_status().json()["receipt"]
    assert (told["actor"], told["owner"], told["line"], told["lines"]) == ("guest", "hal", line, 1)


def test_a_conclusion_is_corrected_on_its_page(server, window):
    say(server, "home", ("ida", "Hello."), ("helper", "Hello."))
    made = conclude(server, "helper", "ida", "Ida lives in Bath.")
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/lines/helper/{made}")
    page.get_by_label("What is true").fill("Ida lives in Leeds.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="A conclusion")).to_be_visible()
    expect(page.get_by_role("region", name="Text", exact=True)).to_contain_text("Ida lives in Leeds.")
    page.goto(f"{server.url}/inspect/home/people/ida?as=helper")
    expect(page.locator("main")).to_contain_text("Ida lives in Leeds.")
    expect(page.locator("main")).not_to_contain_text("Ida lives in Bath.")


def test_who_is_in_the_session_may_see_a_message_and_nobody_else(server, window, visitor):
    [line, _] = say(server, "gate-talk", ("hal", "The code is 2580."), ("guest", "I will remember."))
    reads = (["get", "list"], [COMMON_NAMESPACE])
    guest, other = (server.mint(name, *reads, wid="home") for name in ("guest", "passer-by"))
    address = f"/inspect/home/lines/hal/{line}"
    page = window(**OFF)
    page.goto(server.url + address)
    readers = page.get_by_role("region", name="Who may see it")
    expect(readers.get_by_role("listitem")).to_have_count(1)
    expect(readers).to_contain_text("guest token from owner, may read, list")
    assert "The code is 2580." in visitor(guest).get("/inspect/home/sessions/gate-talk").text
    assert visitor(other).get("/inspect/home/sessions/gate-talk").status_code == 403


def test_a_note_moves_to_another_namespace_and_leaves_a_receipt(server, window):
    line = put(server, "the spare key is under the pot")
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/default/lines/owner/{line}")
    page.get_by_label("Namespace").fill("house")
    page.get_by_role("button", name="Move").click()
    expect(page.get_by_role("heading", name="Move this line to house?")).to_be_visible()
    expect(page.locator("main")).to_contain_text("the spare key is under the pot")
    page.get_by_role("link", name="Leave it there").click()
    expect(page.get_by_role("region", name="Where it comes from")).to_contain_text("personal")
    page.get_by_label("Namespace").fill("house")
    page.get_by_role("button", name="Move").click()
    page.get_by_role("button", name="Move it").click()
    expect(page.get_by_role("heading", name="Moved")).to_be_visible()
    expect(page.get_by_role("button", name="Download the receipt")).to_be_visible()
    page.get_by_role("link", name="see it there").click()
    expect(page.locator("main")).to_contain_text("the spare key is under the pot")
    expect(page.get_by_role("region", name="Where it comes from")).to_contain_text(
        re.compile(r"Namespace\s*house")
    )


def test_a_session_moves_with_its_card_after_a_look_and_leaves_a_receipt(server, window, visitor, tmp_path):
    say(server, "fjord", ("nils", "I live in Oslo."), ("nils", "My name is Nils Berg."))
    worked(server)
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/fjord")
    page.get_by_label("Namespace").fill("north")
    page.get_by_role("button", name="Move …").click()
    expect(page.get_by_role("heading", name="Move fjord to north?")).to_be_visible()
    expect(page.locator("main")).to_contain_text("I live in Oslo.")
    tokens = {name: server.mint("nils", ["get", "list"], [name], wid="home") for name in ("default", "north")}
    card = "/inspect/home/people/nils"
    assert "Oslo" in visitor(tokens["default"]).get(card).text
    assert "Oslo" not in visitor(tokens["north"]).get(card).text
    page.get_by_role("button", name="Move it").click()
    expect(page.get_by_role("heading", name="Moved")).to_be_visible()
    told = kept_receipt(server, page, tmp_path / "receipt.jws")
    assert re.search(r"session fjord, moved to north by owner .* \(4 lines", told)
    assert "Oslo" not in visitor(tokens["default"]).get(card).text
    found = visitor(tokens["north"]).get(card).text
    assert "Home: Oslo" in found and "I live in Oslo." in found


def test_a_note_of_another_person_moves_and_stays_theirs(server, window):
    ann = server.client(server.mint("ann", ["put"], ["*"], wid="home"))
    note = {"text": "the bike is in the cellar", "namespace": "hall"}
    line = ann.post("/v1/memory/put", json=note).raise_for_status().json()["id"]
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/lines/ann/{line}")
    page.get_by_label("Namespace").fill("cellar")
    page.get_by_role("button", name="Move").click()
    page.get_by_role("button", name="Move it").click()
    page.get_by_role("link", name="see it there").click()
    expect(page.get_by_role("region", name="Where it comes from")).to_contain_text(
        re.compile("Noted by *ann")
    )
    expect(page.get_by_role("region", name="Where it comes from")).to_contain_text("cellar")


def test_a_message_says_where_to_correct_what_follows_from_it_and_the_card_that_it_was(server, window):
    [said] = say(server, "iris-talk", ("iris", "I live in Bath."))
    worked(server)
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/lines/iris/{said}")
    expect(page.locator("section", has_text="Correct it")).to_contain_text(
        "What was said stays as it was said."
    )
    page.get_by_role("link", name="card", exact=True).click()
    card = page.locator(".card > li", has_text="Home: Bath")
    expect(card).to_contain_text("Said on")
    page.get_by_role("region", name="Conclusions").get_by_role("link", name="the line").click()
    page.get_by_label("What is true").fill("I live in Leeds.")
    page.get_by_role("button", name="Save").click()
    worked(server)
    page.goto(f"{server.url}/inspect/home/people/iris")
    corrected = page.locator(".card > li", has_text="Home: Leeds")
    expect(corrected).to_contain_text("Corrected by hand, in place of what was said on")
    expect(corrected).not_to_contain_text("Said on")


@pytest.fixture(scope="module")
def orchard(server):
    """What was said of an orchard, and what was concluded from it: there, in another session and in none."""
    [said] = say(server, "orchard", ("una", "My pears are ripe."))
    say(server, "kitchen", ("una", "What shall I cook?"), ("cook", "A cake."))
    told = {"orchard": "Una has ripe pears.", "kitchen": "Una can bake.", None: "Una likes fruit."}
    for session, text in told.items():
        conclude(server, "cook", "una", text, session_id=session, source_ids=[said])
    return said, told


def test_beside_a_turn_stands_what_was_concluded_from_it_in_any_session_or_in_none(server, window, orchard):
    said, told = orchard
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/lines/una/{said}")
    page.get_by_role("link", name=re.compile(r"^\d+ lines$")).click()  # The rules may conclude one, too.
    beside = page.locator(f"[id='{said}']").get_by_role("complementary", name="Concluded from this")
    for text in told.values():
        expect(beside).to_contain_text(text)
    page.goto(f"{server.url}/inspect/home/sessions/kitchen")
    expect(page.locator("main")).not_to_contain_text(told["kitchen"])


def test_a_conclusion_leads_to_the_session_of_what_it_follows_from(server, window, orchard):
    page = window(**OFF)
    for text in orchard[1].values():
        page.goto(f"{server.url}/?w=home&q={text}")
        page.locator(".lines > li", has_text=text).get_by_role("link", name="Conclusion").click()
        facts = page.get_by_role("region", name="Where it comes from")
        facts.locator("div", has_text="Follows from").get_by_role("link", name="orchard").click()
        expect(page.locator(f"[id='{orchard[0]}']")).to_contain_text("My pears are ripe.")


def test_beside_a_turn_stands_only_what_the_token_may_see(server, visitor, orchard):
    _, told = orchard
    reads = ["get", "list"], [COMMON_NAMESPACE]
    tokens = {
        "orchard": server.mint("guest", *reads, wid="home", peers=["*"], sessions=["orchard"]),
        None: server.mint("una", *reads, wid="home"),
    }
    pages = {
        name: visitor(token).get("/inspect/home/sessions/orchard").text for name, token in tokens.items()
    }
    assert [text for text in told.values() if text in pages["orchard"]] == [told["orchard"]]
    assert "My pears are ripe." in pages[None]
    assert [text for text in told.values() if text in pages[None]] == []
