"""The pages about tokens, without JavaScript, and what two people see in two browsers."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect

from inspector.scenes import OFF, W, csrf_of, say, signed_in_program
from souvenance.domain.names import COMMON_NAMESPACE


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
    expect(page.locator("section", has=page.get_by_role("heading", name="Lines"))).to_contain_text(
        re.compile(rf"{COMMON_NAMESPACE} \d+ lines")
    )
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
    viewed = secrets_of(page)
    page.get_by_role("button", name="Back to your own sign-in").click()
    expect(page.get_by_role("heading", name="Access", exact=True)).to_be_visible()
    expect(page.locator("header")).to_contain_text("Signed in as owner")
    expect(page.get_by_role("button", name="Back to your own sign-in")).to_have_count(0)
    assert secrets_of(page) == [viewed[1]]
    branch = page.locator(".tree > li", has_text="ann").first
    branch.get_by_role("button", name=re.compile("Revoke")).first.click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("region", name="Who gave what to whom")).to_be_visible()


def test_whoever_is_given_a_token_signs_in_by_a_link_that_works_once(server, window, browser):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/access?w=home")
    page.get_by_label("Whose memory").fill("ben")
    page.get_by_role("button", name="Preview it").click()
    page.get_by_role("button", name="Make it").click()
    token = page.get_by_role("textbox", name="The new token").input_value()
    page.get_by_role("button", name="Make a link that signs in").click()
    link = page.get_by_role("textbox", name="A link that signs in").input_value()
    assert link.startswith(server.url)
    assert token not in link
    expect(page.get_by_role("textbox", name="The new token")).to_have_value(token)
    for _ in range(2):  # A program that reads letters follows it, too.
        assert "set-cookie" not in httpx.get(link, trust_env=False).headers
    theirs = browser.new_context(**OFF).new_page()
    theirs.goto(link)
    theirs.get_by_role("button", name="Sign in").click()
    expect(theirs.locator("header")).to_contain_text("Signed in as ben")
    theirs.context.clear_cookies()
    theirs.goto(link)
    theirs.get_by_role("button", name="Sign in").click()
    expect(theirs.locator("main")).to_contain_text(re.compile("this link was used before", re.IGNORECASE))
    theirs.context.close()
    page.goto(f"{server.url}/inspect/audit?w=home")
    expect(page.locator("tr", has_text="gave somebody a link that signs in")).to_contain_text("owner")


def test_a_link_is_given_only_for_a_token_that_is_good(server, visitor):
    client = visitor()
    answer = client.post("/inspect/access/link", data={"csrf": csrf_of(client), "token": "nonsense"})
    assert answer.status_code == 401
    made = {"sub": "ann", "ops": ["get"], "namespaces_allowed": [COMMON_NAMESPACE], "wid": "home"}
    token = server.owner.post("/v1/caps", json=made).raise_for_status().json()
    server.owner.post("/v1/caps/revoke", json={"jti": token["jti"]}).raise_for_status()
    answer = client.post("/inspect/access/link", data={"csrf": csrf_of(client), "token": token["cap"]})
    assert answer.status_code == 401
    assert "given=1" not in answer.text


def secrets_of(page):
    """Of the session that a browser looks with, and of the person's own, if that is another."""
    cookies = {one["name"]: one["value"] for one in page.context.cookies()}
    names = ("souvenance-inspector", "souvenance-inspector-own")
    return [cookies[name] for name in names if name in cookies]


def view_as(server, client, **claims):
    """Look with the client as a new token of ann's would; its id."""
    made = {"sub": "ann", "ops": ["get", "list"], "namespaces_allowed": [COMMON_NAMESPACE], "wid": "home"}
    answer = server.owner.post("/v1/caps", json={**made, **claims}).raise_for_status().json()
    shown = client.post("/inspect/access/view-as", data={"csrf": csrf_of(client), "token": answer["cap"]})
    assert "Signed in as <bdi>ann</bdi>" in shown.text
    return answer["jti"]


def test_whoever_views_as_a_token_that_ends_meanwhile_still_comes_back(server, visitor):
    client = visitor()
    jti = view_as(server, client)
    server.owner.post("/v1/caps/revoke", json={"jti": jti}).raise_for_status()
    ended = client.get("/inspect/home/people/ann")
    assert ended.status_code == 401
    assert "Back to your own sign-in" in ended.text
    assert "Signed in as <bdi>owner</bdi>" in client.post("/inspect/back").text


def test_signing_out_while_viewing_as_another_ends_both_sessions(server, visitor):
    client = visitor()
    view_as(server, client)
    kept = dict(client.cookies)
    assert len(kept) == 2
    client.post("/inspect/sign-out", data={"csrf": csrf_of(client)})
    assert dict(client.cookies) == {}
    for secret in kept.values():
        cookies = {"souvenance-inspector": secret}
        assert httpx.get(server.url, cookies=cookies, trust_env=False).status_code == 401


def test_a_new_sign_in_leaves_no_way_back_to_another(server, visitor, link):
    client = visitor()
    view_as(server, client)
    assert "Back to your own sign-in" not in client.get(link()).text
    assert list(client.cookies) == ["souvenance-inspector"]


def test_without_a_sign_in_of_ones_own_there_is_no_way_back(server):
    answer = httpx.post(f"{server.url}/inspect/back", trust_env=False)
    assert "set-cookie" not in answer.headers


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


def test_revoking_shows_the_programs_that_fall_too_and_they_do(server, window):
    with signed_in_program(server, "pia") as (program, access_token):
        assert program.whoami(access_token).status_code == 200
        page = window(**OFF)
        page.goto(f"{server.url}/inspect/access?w=home")
        expect(page.get_by_role("region", name="Programs that signed in")).to_contain_text("Hermes Agent")
        page.get_by_label("or all tokens of").fill("pia")
        page.get_by_role("button", name="Revoke …", exact=True).click()
        expect(page.get_by_role("heading", name="Programs that signed in 1")).to_be_visible()
        expect(page.locator("main")).to_contain_text("may write the memory of pia in home")
        assert program.whoami(access_token).status_code == 200
        page.get_by_role("button", name="Revoke", exact=True).click()
        assert program.whoami(access_token).status_code == 401
    expect(page.get_by_role("region", name="Programs that signed in")).to_contain_text("No program")


def test_a_token_for_somebody_who_is_not_known_yet_is_previewed_too(server, visitor):
    client = visitor()
    sent = {"peer": "newcomer", "workspace": "home", "namespaces": "default", "read": "on"}
    answer = client.post("/inspect/access/preview", data={**sent, "csrf": csrf_of(client)})
    assert answer.status_code == 200
    assert "It would open no line of <bdi>newcomer</bdi>." in answer.text


def test_a_preview_asks_only_for_what_it_shows(server, visitor):
    client = visitor()
    sent = {"peer": "previewed", "workspace": "home", "namespaces": "default", "read": "on"}
    client.post("/inspect/access/preview", data={**sent, "csrf": csrf_of(client)}).raise_for_status()
    admin = server.client(server.mint("admin", None, wid="home", peers=["*"]))
    rows = admin.get("/v1/audit", params={"limit": 1000}).raise_for_status().json()["rows"]
    asked = [row["operation"] for row in rows if row["actor"] == "previewed"]
    assert sorted(asked) == ["inspect.facts", "storage"]


def test_whoever_holds_a_narrow_token_gives_on_as_much_of_it_as_they_like(server, visitor):
    client = visitor(server.mint("rosa", ["get", "list", "grant", "revoke"], [COMMON_NAMESPACE], wid="home"))
    page = client.get("/inspect/access").text
    assert re.findall(r'<input type="checkbox" name="([^"]+)"', page)[:2] == [
        "read",
        "give and revoke tokens",
    ]
    assert re.search(r'name="peer" required value="rosa"', page)
    sent = {"peer": "rosa", "workspace": "home", "namespaces": COMMON_NAMESPACE, "read": "on"}
    for path in ("preview", "tokens"):
        answer = client.post(f"/inspect/access/{path}", data={**sent, "csrf": csrf_of(client)})
        assert answer.status_code == 200, answer.text
    assert "opens rosa in the workspace <bdi>home</bdi>, namespace default" in answer.text
    assert "may read, list " in answer.text


def test_a_token_that_may_do_nothing_is_not_made(server, visitor):
    client = visitor()
    sent = {"peer": "ann", "workspace": "home", "namespaces": "default", "csrf": csrf_of(client)}
    for path in ("preview", "tokens"):
        answer = client.post(f"/inspect/access/{path}", data=sent)
        assert answer.status_code == 400
        assert "Choose what it may do" in answer.text


def test_what_one_person_opens_is_closed_to_another(server, visitor):
    session = say(server, "mia-own", ("mia", "My safe code is heron."))
    server.owner.put(f"{W}/peers/mia/card", json={"peer_card": ["Safe: heron"]}).raise_for_status()
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
        assert "heron" in mia.get(path, params=params).text, path
        answer = noa.get(path, params=params)
        assert answer.status_code in (403, 404), path
        assert "heron" not in answer.text
    csrf = csrf_of(noa)
    for path, fields in (
        ("/inspect/home/people/mia/card", {"before": "Safe: heron", "after": "Safe: 1"}),
        (f"/inspect/home/sessions/mia-own/messages/{session[0]}/forget-from", {"sure": "yes"}),
        (f"/inspect/home/sessions/mia-own/messages/{session[0]}/forget", {"sure": "yes", "owner": "mia"}),
        (f"/inspect/home/sessions/mia-own/messages/{session[0]}/forget", {"sure": "yes", "owner": "noa"}),
        (f"{line}/forget", {"sure": "yes"}),
        (f"{line}/move", {"namespace": COMMON_NAMESPACE}),
        (f"{line}/correct", {"text": "gone"}),
    ):
        assert noa.post(path, data={**fields, "csrf": csrf}).status_code in (403, 404), path
    assert "heron" in mia.get("/inspect/home/people/mia").text
    rows = noa.get("/inspect/audit").text
    assert "<bdi>mia</bdi>" not in rows
    assert "mia" not in noa.get("/inspect/access").text


def test_pages_ask_for_nothing_that_a_narrow_token_does_not_grant(server, visitor):
    say(server, "nina-home", ("nina", "I live in Braga now."))
    client = visitor(server.mint("nina", ["get", "list", "audit"], [COMMON_NAMESPACE], wid="home"))
    for path in (
        "/",
        "/inspect/home/people/nina",
        "/inspect/notes",
        "/inspect/work",
        "/inspect/data/stored",
        "/inspect/data/kinds",
    ):
        assert client.get(path).status_code == 200, path
    assert "I live in Braga now." in client.get("/", params={"q": "Braga"}).text
    log = client.get("/inspect/audit", params={"actor": "nina", "outcome": "refused"}).text
    assert re.findall(r"<tr><td.*refused.*</tr>", log) == []
    assert "No row matches" in log


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
