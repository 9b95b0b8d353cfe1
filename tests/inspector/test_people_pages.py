"""The pages of people and sessions, in a real browser with JavaScript switched off."""

from __future__ import annotations

import re
from html import unescape

import pytest
from playwright.sync_api import expect

from inspector.scenes import OFF, SURE, W, csrf_of, say, worked
from processes import run_souvenance
from souvenance.domain.names import COMMON_NAMESPACE


@pytest.fixture(scope="module")
def embedder():
    """What makes vectors for everybody: a search tells what has its words, and what is near."""
    return "packaged"


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


GROWS = "Apples, pears and plums grow in my orchard."
MOWN = "Apples, pears, plums: the whole orchard is to be mown."
PICKED = "Pick the apples."
CONCLUDED = "Una's orchard has apples and pears."


def test_home_tells_the_health_in_one_row(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/?w=home")
    health = page.get_by_role("region", name="Health")
    for what in ("Store", "Search", "Embedder", "Model budget", "Jobs waiting"):
        expect(health).to_contain_text(what)
    expect(health).to_contain_text("no model: rules do the work")
    expect(health).to_contain_text("by words and meaning")
    page.goto(f"{server.url}/?w=home&q=penicillin")
    page.goto(f"{server.url}/?w=home")
    expect(health).to_contain_text(", loaded")


def test_one_search_finds_notes_and_messages_and_leads_to_the_place(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/?w=home")
    page.get_by_label("Search everything").fill("penicillin")
    page.get_by_role("button", name="Search").click()
    hit = page.locator(".lines li", has_text="allergic to penicillin")
    hit.get_by_role("link", name="ann-health").click()
    expect(page.locator("li:target")).to_contain_text("allergic to penicillin")


def test_a_search_ranks_notes_messages_and_conclusions_in_one_list(server, window):
    say(server, "orchard", ("una", GROWS), ("gardener", "How nice."))
    made = {"observer_id": "gardener", "observed_id": "una"}
    server.owner.post(
        f"{W}/conclusions",
        json={"conclusions": [{"content": CONCLUDED, **made}]},
    ).raise_for_status()
    una = server.client(server.mint("una", wid="home"))
    for text in (PICKED, MOWN):
        una.post("/v1/memory/put", json={"text": text, "namespace": "garden"}).raise_for_status()
    page = window(**OFF)
    page.goto(f"{server.url}/?w=home&q=apples+pears+plums+orchard")
    hits = page.locator(".lines > li")
    texts = hits.locator("p.said").all_inner_texts()
    kinds = hits.locator("a.badge").all_inner_texts()
    assert len(texts) == len(set(texts))
    told = {GROWS: "Message", MOWN: "Note", CONCLUDED: "Conclusion", PICKED: "Note"}
    assert {text: kinds[texts.index(text)] for text in told} == told
    assert max(map(texts.index, (GROWS, MOWN))) < texts.index(CONCLUDED) < texts.index(PICKED)
    hit = hits.filter(has_text=CONCLUDED)
    expect(hit).to_contain_text("by gardener about una")
    hit.get_by_role("link", name="Conclusion").click()
    expect(page.get_by_role("heading", name="A conclusion")).to_be_visible()


def test_a_search_tells_when_nothing_has_its_words(server, visitor):
    client = visitor()
    for query, told in (("penicillin", "Best first."), ("xyzzy", "Nothing has these words.")):
        page = client.get("/", params={"w": "home", "q": query}).text
        assert told in page
        assert 'class="said"' in page


def test_a_part_of_a_word_finds_what_holds_it(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/?w=home&q=enicilli")
    expect(page.locator(".lines > li").first).to_contain_text("penicillin")


def test_a_conclusion_tells_when_it_was_said_and_when_it_was_concluded(server, window):
    said = [{"peer_id": "ivo", "content": "I moved to Graz.", "created_at": "2026-02-03T10:00:00Z"}]
    answer = server.owner.post(f"{W}/sessions/ivo-talk/messages", json={"messages": said})
    [message] = answer.raise_for_status().json()
    noted = {
        "content": "Ivo lives in Graz.",
        "observer_id": "ivo",
        "observed_id": "ivo",
        "session_id": "ivo-talk",
        "source_ids": [message["id"]],
    }
    server.owner.post(f"{W}/conclusions", json={"conclusions": [noted]}).raise_for_status()
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/ivo")
    conclusions = page.get_by_role("region", name="Conclusions")
    expect(conclusions).to_contain_text("said on 3 Feb 2026, concluded on ")
    conclusions.locator("li", has_text="Ivo lives in Graz.").get_by_role("link", name="the line").click()
    facts = page.get_by_role("region", name="Where it comes from")
    expect(facts).to_contain_text("Said3 Feb 2026, 10:00 UTC")
    expect(facts).to_contain_text("Concluded")


def test_what_a_correction_by_hand_replaced_is_told(server, window):
    for day, text in (("2026-01-12", "I live in Graz."), ("2026-03-04", "I live in Linz now.")):
        said = [{"peer_id": "olga", "content": text, "created_at": f"{day}T10:00:00Z"}]
        server.owner.post(f"{W}/sessions/olga-talk/messages", json={"messages": said}).raise_for_status()
    worked(server)
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/olga")
    home = page.locator(".card > li", has_text="Home: ")
    home.get_by_text("Correct or remove").click()
    home.get_by_label("What is true").fill("Home: Wels")
    home.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Correct it").click()
    expect(home).to_contain_text("Graz until 4 Mar 2026 → Linz until it was corrected → Wels")


def test_the_first_page_leads_to_all_that_a_narrow_token_opens(server, visitor):
    reads = (["get", "list"], [COMMON_NAMESPACE])
    two = visitor(server.mint("ben", *reads, wid="home", peers=["ann"])).get("/").text
    assert "/inspect/home/people/ann" in two
    assert "/inspect/home/people/ben" in two
    session = visitor(server.mint("guest", *reads, wid="home", peers=["*"], sessions=["ann-talk"])).get("/")
    assert "/inspect/home/sessions/ann-talk" in session.text
    assert "Your token is for 1 session." in session.text


def test_a_narrow_token_is_led_only_where_it_may_go(server, visitor):
    reads = (["get", "list"], [COMMON_NAMESPACE])
    for token, names in (
        (server.mint("ann", *reads, wid="home"), ["People", "Notes", "Recall", "Data"]),
        (
            server.mint("guest", *reads, wid="home", peers=["*"], sessions=["ann-talk"]),
            ["People", "Notes", "Data"],
        ),
        (
            server.mint("auditor", ["audit", "list"], ["*"], wid="home"),
            ["People", "Notes", "Audit", "Data", "Work"],
        ),
    ):
        client = visitor(token)
        [menu] = re.findall(r'(?s)<nav aria-label="Pages">(.*?)</nav>', client.get("/").text)
        links = re.findall(r'<a href="([^"]+)"[^>]*>(\w+)</a>', menu)
        assert [name for _, name in links] == names
        assert {client.get(link.replace("&amp;", "&")).status_code for link, _ in links} == {200}
    refused = visitor(server.mint("ann", *reads, wid="home")).get("/inspect/home/people/ben")
    assert refused.status_code == 403
    assert "Your token does not open this." in refused.text


def test_a_note_is_first_offered_a_namespace_that_the_token_opens(server, visitor):
    offered = {
        names: re.search(
            r'id="namespace" name="namespace" value="([^"]*)"', client.get("/inspect/notes").text
        )[1]
        for names in (("*",), ("travel", "work"), ("personal", "travel"))
        if (client := visitor(server.mint("ann", ["list", "put"], list(names), wid="home")))
    }
    assert offered == {("*",): "personal", ("travel", "work"): "travel", ("personal", "travel"): "personal"}


def test_every_page_leads_to_the_others_of_the_same_workspace(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/ann")
    for name in ("Notes", "Recall", "Audit", "Access", "Data", "Work"):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(re.compile(rf"/inspect/{name.lower()}\?w=home$"))
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="People").click()
    expect(page.get_by_role("link", name="ann", exact=True)).to_be_visible()


def test_a_long_session_shows_what_it_was_about_in_short(server, window):
    say(server, "voyage", *(("nora", f"Leg {n} of the voyage ends in port {n}.") for n in range(1, 22)))
    worked(server)
    told = server.owner.get(f"{W}/sessions/voyage/summaries").json()["short_summary"]["content"]
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/voyage")
    summary = page.locator("section", has=page.get_by_role("heading", name="Summary", exact=True))
    expect(summary).to_contain_text(told.splitlines()[0])
    expect(page.get_by_role("heading", name="Transcript 21")).to_be_visible()
    page.goto(f"{server.url}/inspect/home/sessions/ben-talk")
    expect(page.get_by_role("heading", name="Summary")).to_have_count(0)


def test_who_forgets_a_session_comes_back_to_the_people_of_its_workspace(server, window):
    say(server, "short", ("ben", "It rains."))
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/short")
    page.get_by_role("button", name="Forget this session").click()
    page.get_by_role("button", name=SURE).click()
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("link", name="ann", exact=True)).to_be_visible()


def test_a_workspace_with_nobody_says_what_to_do_next(server, visitor):
    page = visitor().get("/", params={"w": "empty"}).text
    assert "Connect an agent" in page
    assert "write a note" in page


def test_a_person_shows_the_card_with_the_value_that_was_replaced(server, window):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/ann")
    home = page.locator(".card > li", has_text="Home: Porto")
    expect(home.locator(".concluded")).to_have_text("I live in Porto now.")
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
    goes = page.get_by_role("definition")
    expect(goes).to_have_text(["Name: Cleo", "Name: Cleo Holt"])
    assert "Name: Cleo" in server.owner.get(f"{W}/peers/cleo/card").json()["peer_card"]
    page.get_by_role("button", name="Correct it").click()
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
    expect(page.get_by_role("definition")).to_have_text(["Allergy: nuts"])
    page.get_by_role("link", name="Change nothing").click()
    expect(page.locator(".card")).to_contain_text("nuts")
    nuts.get_by_text("Correct or remove").click()
    nuts.get_by_label("What is true").fill("")
    nuts.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Remove it").click()
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


def test_a_fact_that_takes_the_place_of_another_is_added_only_after_a_look(server, window):
    say(server, "vera-talk", ("vera", "I live in Rome."))
    worked(server)
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/vera")

    def add(fact):
        page.get_by_text("Add a fact").click()
        page.get_by_label("Fact", exact=True).fill(fact)
        page.get_by_role("button", name="Add", exact=True).click()

    for old, new in (("Home: Rome", "Home: Oslo"), ("Home: Oslo", "Home: Wels")):
        add(new)
        expect(page.get_by_role("definition")).to_have_text([old, new])
        page.get_by_role("link", name="Change nothing").click()
        expect(page.locator(".card")).to_contain_text(old)
        add(new)
        page.get_by_role("button", name="Correct it").click()
        expect(page.locator(".fact")).to_have_text([re.compile(new)])
    add("Allergy: nuts")
    add("Allergy: eggs")
    expect(page.locator(".fact")).to_have_count(3)


def test_a_change_that_comes_too_late_is_refused(server, visitor):
    client = visitor()
    sent = {"before": "Home: Nowhere", "after": "Home: Here", "csrf": csrf_of(client)}
    for sure in ({}, {"sure": "yes"}):
        answer = client.post("/inspect/home/people/ann/card", data={**sent, **sure})
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
    page.get_by_role("button", name=SURE).click()
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("region", name="Conclusions")).to_contain_text("Nothing was concluded yet")


def test_the_timeline_counts_a_message_in_the_month_that_it_was_said_in(server, visitor):
    for moment in ("2026-01-31T23:59:59Z", "2026-02-01T00:00:00Z", "2026-02-28T23:59:59Z"):
        said = [{"peer_id": "moira", "content": "Good day.", "created_at": moment}]
        server.owner.post(f"{W}/sessions/moira-talk/messages", json={"messages": said}).raise_for_status()
    page = visitor().get("/inspect/home/people/moira").text
    months = dict(re.findall(r'<th scope="row">(2026-\d\d)</th><td class="number">(\d+)</td>', page))
    assert (months["2026-01"], months["2026-02"], months["2026-03"]) == ("1", "2", "0")


def test_what_an_agent_concluded_is_paged_and_stays_that_agents(server, window):
    say(server, "gil-talk", ("gil", "Good morning."), ("guide", "Good morning, Gil."))
    about = {"observer_id": "guide", "observed_id": "gil", "session_id": "gil-talk"}
    noted = [{"content": f"Gil has fact {number:02}.", **about} for number in range(1, 24)]
    server.owner.post(f"{W}/conclusions", json={"conclusions": noted}).raise_for_status()
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/gil?as=guide")
    conclusions = page.get_by_role("region", name="Conclusions")
    expect(conclusions.locator("li")).to_have_count(20)
    conclusions.get_by_role("link", name="More").click()
    expect(conclusions.locator("li")).to_have_count(3)
    expect(page.locator("main")).to_contain_text("As guide knows them.")


def test_a_token_that_reads_a_person_is_shown_there_and_ended_there(server, window):
    server.mint("gail", ["get", "list"], [COMMON_NAMESPACE], wid="home")
    say(server, "gail-talk", ("gail", "I like tea."))
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/people/gail")
    readers = page.get_by_role("region", name="Who can read this")
    expect(readers).to_contain_text(f"token from owner, may read, list in {COMMON_NAMESPACE}, until")
    expect(readers).to_contain_text("The owner’s own token reads everything, too.")
    readers.get_by_role("button", name=re.compile("End the token of gail")).click()
    expect(page.get_by_role("heading", name="What falls", exact=True)).to_be_visible()
    page.get_by_role("button", name="Revoke", exact=True).click()
    page.goto(f"{server.url}/inspect/home/people/gail")
    expect(readers).not_to_contain_text("token from owner, may read, list")


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
    button = turn.get_by_role("button", name="Forget …", exact=True)
    expect(button).to_have_accessible_description(re.compile(r"ben · \d+ \w+ 2\d{3}"))
    button.click()
    expect(page.get_by_role("heading", name="Forget this message?")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Ben plans a boat.")
    page.get_by_role("button", name=SURE).click()
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    expect(page.locator("main")).not_to_contain_text("secret plan")
    expect(page.locator("main")).to_contain_text("Tea is fine.")


def test_a_session_is_forgotten_from_a_message_on(server, window):
    say(server, "long", *(("ben", f"Sentence number {n}.") for n in range(1, 6)))
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/home/sessions/long")
    page.locator(".turns li", has_text="number 3").get_by_role("button", name="Forget from here").click()
    expect(page.locator("main")).to_contain_text("3 lines go for good")
    expect(page.locator("main")).to_contain_text("Sentence number 3.")
    expect(page.locator("main")).not_to_contain_text("Sentence number 2.")
    page.get_by_role("button", name=SURE).click()
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    page.get_by_role("link", name="Back").click()
    expect(page.locator(".turns > li")).to_have_count(2)
    told = run_souvenance("doctor", home=server.home)
    assert "never forgotten, and is not there" not in told.stdout


def test_a_correction_reaches_the_cards_of_agents_that_say_the_same_unless_it_is_for_one(server, window):
    heard = {"id": "rhea-talk", "peers": {"rhea": {}, "aide": {"observe_others": True}}}
    server.owner.post(f"{W}/sessions", json=heard).raise_for_status()
    say(server, "rhea-talk", ("rhea", "I live in Rome."), ("rhea", "I'm allergic to nuts."))
    worked(server)
    page = window(**OFF)

    def correct(fact, text, *, others):
        page.goto(f"{server.url}/inspect/home/people/rhea")
        shown = page.locator(".card > li", has_text=fact)
        shown.get_by_text("Correct or remove").click()
        shown.get_by_label("What is true").fill(text)
        shown.get_by_label("also on the cards of aide").set_checked(others)
        shown.get_by_role("button", name="Save").click()
        told = "2 cards about rhea, kept by rhea, aide." if others else "on the card of rhea."
        expect(page.locator("main")).to_contain_text(told)
        page.get_by_role("button", name="Correct it" if text else "Remove it").click()
        expect(page.locator(".card")).not_to_contain_text(fact)

    correct("Home: Rome", "Home: Oslo", others=True)
    correct("Allergy: nuts", "", others=False)
    page.get_by_role("region", name="Who knows something of rhea").get_by_role("link", name="aide").click()
    expect(page.locator(".card > li", has_text="Home: Oslo")).to_contain_text("written by hand")
    expect(page.locator(".card")).to_contain_text("Allergy: nuts")
    page.goto(f"{server.url}/inspect/recall?w=home&peer=rhea&agent=aide&q=where+do+I+live%3F")
    expect(page.locator(".exact")).to_contain_text("Home: Oslo")


def test_a_correction_reaches_no_card_that_the_token_does_not_hold(server, visitor):
    heard = {"id": "thea-talk", "peers": {"thea": {}, "aide": {"observe_others": True}}}
    server.owner.post(f"{W}/sessions", json=heard).raise_for_status()
    say(server, "thea-talk", ("thea", "I live in Rome."))
    worked(server)
    client = visitor(server.mint("thea", ["get", "list", "put"], [COMMON_NAMESPACE], wid="home"))
    sent = {"before": "Home: Rome", "after": "Home: Oslo", "others": "yes", "csrf": csrf_of(client)}
    assert "also on the cards" not in client.get("/inspect/home/people/thea").text
    assert "aide" not in client.post("/inspect/home/people/thea/card", data=sent).text
    sent["sure"] = "yes"
    assert "Home: Oslo" in client.post("/inspect/home/people/thea/card", data=sent).text
    card = server.owner.get(f"{W}/peers/aide/card", params={"target": "thea"}).json()["peer_card"]
    assert card == ["Home: Rome"]


def test_a_search_for_a_name_leads_to_the_person_if_the_token_opens_them(server, visitor):
    say(server, "willa-talk", ("willa", "Good morning."))
    shown = visitor().get("/", params={"w": "home", "q": "Willa"}).text
    assert 'A name: <a href="/inspect/home/people/willa">' in shown
    assert re.search(r'>Message</a>\s+by <a href="/inspect/home/people/willa">', unescape(shown))
    other = visitor(server.mint("ben", ["get", "list"], [COMMON_NAMESPACE], wid="home"))
    assert "A name:" not in other.get("/", params={"q": "willa"}).text
