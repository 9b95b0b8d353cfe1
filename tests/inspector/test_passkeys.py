"""Passkeys, with an authenticator that Chromium plays: they open what their token opens, while it lives."""

from __future__ import annotations

import base64
import json
import re
from contextlib import contextmanager
from hashlib import sha256

import httpx
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from playwright.sync_api import expect

from processes import PATIENCE_SECONDS
from souvenance.domain.encoding import b64, unb64
from souvenance.domain.names import COMMON_NAMESPACE
from surfaces.door import souvenance

HEADING = "What does memory know about you?"


@contextmanager
def authenticator(page, *, verifies=True):
    """A device that makes passkeys for the page's browser; the session that steers it, and its id."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable", {"enableUI": False})
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": verifies,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield session, made["authenticatorId"]


@pytest.fixture
def at_name(server):
    """The server's address under the name that passkeys need."""
    return server.url.replace("127.0.0.1", "localhost")


@pytest.fixture
def named(browser, link, at_name, server):
    """A page that is signed in at localhost: `named()`, or `named(token)`."""
    contexts = []

    def opened(token=None):
        context = browser.new_context()
        contexts.append(context)
        page = context.new_page()
        page.goto(link(token).replace(server.url, at_name))
        return page

    yield opened
    for context in contexts:
        context.close()


def add(page, at_name, name="My laptop"):
    page.goto(f"{at_name}/inspect/passkeys")
    page.get_by_label("A name").fill(name)
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.locator(".lines")).to_contain_text(name)


def sign_out(page):
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name=HEADING)).to_be_visible()


def sign_in(page, at_name):
    page.goto(f"{at_name}/")
    page.get_by_role("button", name="Sign in with a passkey").click()


def ann(server):
    return server.mint("ann", ["get", "list", "put"], [COMMON_NAMESPACE], wid="home")


def test_a_passkey_signs_in_and_opens_what_its_token_opens(server, named, at_name, visitor):
    page = named(ann(server))
    with authenticator(page):
        add(page, at_name)
        sign_out(page)
        sign_in(page, at_name)
        expect(page.locator("header")).to_contain_text("Signed in as ann")
        page.goto(f"{at_name}/inspect/home/people/ben")
        expect(page.locator("main")).to_contain_text("cap_scope_mismatch")
        page.goto(f"{at_name}/inspect/passkeys")
        expect(page.locator(".lines")).to_contain_text("last used")
    owner = visitor()
    for operation in ("passkey.add", "passkey.use"):
        log = owner.get("/inspect/audit", params={"w": "home", "operation": operation}).text
        assert re.search(r"<tr>.*\bann\b", log), operation


def test_revoking_shows_the_passkeys_that_fall_first(server, named, at_name):
    page = named(ann(server))
    with authenticator(page):
        add(page, at_name, "Kitchen tablet")
    owner = named()
    owner.goto(f"{at_name}/inspect/access?w=home")
    owner.get_by_label("or all tokens of").fill("ann")
    owner.get_by_role("button", name="Revoke …", exact=True).click()
    expect(owner.get_by_role("heading", name="Revoke all tokens of ann?")).to_be_visible()
    expect(owner.get_by_role("heading", name="Passkeys")).to_be_visible()
    expect(owner.locator("main")).to_contain_text("Kitchen tablet signs in as ann")


def test_revoking_the_token_ends_its_passkey_and_the_sessions_of_it(server, named, at_name):
    token = ann(server)
    page = named(token)
    with authenticator(page):
        add(page, at_name, "Old phone")
        sign_out(page)
        sign_in(page, at_name)
        expect(page.locator("header")).to_contain_text("Signed in as ann")
        server.owner.post("/v1/caps/revoke", json={"sub": "ann"}).raise_for_status()
        page.goto(f"{at_name}/inspect/passkeys")
        expect(page.get_by_role("heading", name=HEADING)).to_be_visible()
        sign_in(page, at_name)
        expect(page.locator(".trouble").first).to_be_visible()
        expect(page.locator("header")).not_to_contain_text("Signed in as")


def test_a_removed_passkey_signs_nobody_in_and_its_sessions_end(server, named, at_name):
    page = named(server.mint("cleo", ["get", "list"], ["*"], wid="home"))
    owner = named()
    with authenticator(page):
        add(page, at_name, "Lost key")
        sign_out(page)
        sign_in(page, at_name)
        expect(page.locator("header")).to_contain_text("Signed in as cleo")
        owner.goto(f"{at_name}/inspect/passkeys")
        lost = owner.locator(".lines > li", has_text="Lost key")
        lost.locator("summary").click()
        expect(lost).to_contain_text("“Lost key” stops working at once, for cleo.")
        expect(lost).to_contain_text("1 browser signed in with it is signed out.")
        lost.get_by_role("button", name="Remove this passkey").click()
        expect(owner.locator("main")).not_to_contain_text("Lost key")
        page.goto(f"{at_name}/")
        expect(page.get_by_role("heading", name=HEADING)).to_be_visible()
        sign_in(page, at_name)
        expect(page.locator(".trouble").first).to_contain_text("removed")


def test_a_passkey_outlives_the_root_key_and_a_session_does_not(server, named, at_name):
    page = named(server.mint("gus", ["get", "list"], ["*"], wid="home"))
    with authenticator(page):
        add(page, at_name, "Lasting")
        souvenance("key", "rotate", home=server.home)
        page.goto(f"{at_name}/")
        expect(page.get_by_role("heading", name=HEADING)).to_be_visible()
        sign_in(page, at_name)
        expect(page.locator("header")).to_contain_text("Signed in as gus")


def test_nobody_sees_or_removes_a_passkey_of_another_person(server, named, at_name, visitor):
    page = named(server.mint("dora", ["get", "list"], ["*"], wid="home"))
    with authenticator(page):
        add(page, at_name, "Dora's key")
        form = page.locator(".lines form").get_attribute("action")
    other = visitor(server.mint("emil", ["get", "list", "revoke"], ["travel"], wid="home"))
    shown = other.get("/inspect/passkeys").text
    assert "Dora" not in shown
    csrf = re.search(r'name="csrf" value="([^"]+)"', shown)[1]
    assert other.post(form, data={"csrf": csrf}).status_code == 404


def test_a_device_that_does_not_verify_its_user_adds_no_passkey(named, at_name):
    page = named()
    with authenticator(page, verifies=False):
        page.goto(f"{at_name}/inspect/passkeys")
        page.get_by_label("A name").fill("Weak")
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_role("alert")).to_contain_text("No passkey was used")


def test_what_a_passkey_signed_is_good_once_for_this_site_and_for_a_while(server, named, at_name):
    page = named(server.mint("fay", ["get", "list"], ["*"], wid="home"))
    with authenticator(page) as (session, device):
        add(page, at_name, "Once")
        sign_out(page)
        sent = []
        page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
        sign_in(page, at_name)
        expect(page.locator("header")).to_contain_text("Signed in as fay")
        [credential] = session.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]
        assert credential["rpId"] == "localhost"
    response = sent[-1].post_data_json["response"]
    with httpx.Client(base_url=at_name, trust_env=False) as client:

        def send(text):
            return client.post("/inspect/passkeys/sign-in", data={"response": text})

        again = send(response)
        assert again.status_code == 403
        assert "used before" in again.text
        for attack in ("", "{}", "[]", "nonsense", "[" * 5000, response[:-40], json.dumps(forged(response))):
            answer = send(attack)
            assert answer.status_code == 403, attack
            assert "set-cookie" not in answer.headers
        cross = client.post(
            "/inspect/passkeys/sign-in", data={"response": response}, headers={"sec-fetch-site": "cross-site"}
        )
        assert cross.status_code == 403


def forged(response):
    """The same signature, as if it had been made for another challenge."""
    answer = json.loads(response)
    data = answer["response"]["clientDataJSON"]
    answer["response"]["clientDataJSON"] = data[:60] + ("A" if data[60] != "A" else "B") + data[61:]
    return answer


def answer_of(response, challenge, key, count, origin, site="localhost"):
    """What the passkey would answer to that challenge at that origin, signed with its own key."""
    answer = json.loads(response)
    told = json.dumps({"type": "webauthn.get", "challenge": challenge, "origin": origin}).encode()
    flags = unb64(answer["response"]["authenticatorData"])[32:33]
    data = sha256(site.encode()).digest() + flags + count.to_bytes(4, "big")
    signature = key.sign(data + sha256(told).digest(), ec.ECDSA(hashes.SHA256()))
    signed = {"clientDataJSON": b64(told), "authenticatorData": b64(data), "signature": b64(signature)}
    return json.dumps({**answer, "response": {**answer["response"], **signed}})


def test_an_answer_made_for_another_origin_is_refused_and_one_for_this_is_good_once(server, named, at_name):
    page = named(server.mint("hugo", ["get", "list"], ["*"], wid="home"))
    with authenticator(page) as (session, device):
        add(page, at_name, "Hugo's key")
        sign_out(page)
        sent = []
        page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
        sign_in(page, at_name)
        expect(page.locator("header")).to_contain_text("Signed in as hugo")
        [credential] = session.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]
    response = sent[-1].post_data_json["response"]
    key = serialization.load_der_private_key(base64.b64decode(credential["privateKey"]), None)
    with httpx.Client(base_url=at_name, trust_env=False, timeout=PATIENCE_SECONDS) as client:

        def made(origin, count, **more):
            challenge = client.post("/inspect/passkeys/challenges").json()["publicKey"]["challenge"]
            return answer_of(response, challenge, key, credential["signCount"] + count, origin, **more)

        def send(text):
            return client.post("/inspect/passkeys/sign-in", data={"response": text})

        port = at_name.rpartition(":")[2]
        for place in ("https://evil.example", "http://localhost", f"http://localhost.evil.example:{port}"):
            refused = send(made(place, 1))
            assert (refused.status_code, "set-cookie" in refused.headers) == (403, False), place
            assert "not that of a passkey of this site" in refused.text
        assert send(made(at_name, 1, site="evil.example")).status_code == 403
        good = made(at_name, 1)
        assert send(good).status_code == 303
        again = send(good)
        assert (again.status_code, "set-cookie" in again.headers) == (403, False)
        assert send(made(at_name, 1)).status_code == 403, "the counter did not move: a copy may have signed"


def test_at_a_bare_address_the_page_leads_to_the_name_that_passkeys_need(server, window, at_name):
    page = window()
    page.goto(f"{server.url}/inspect/passkeys")
    page.get_by_role("button", name="Continue at localhost").click()
    page.get_by_role("link", name="Continue", exact=True).click()
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{at_name}/")
    expect(page.locator("header")).to_contain_text("Signed in as")
    page.context.clear_cookies()
    page.goto(f"{server.url}/")
    expect(page.get_by_role("link", name=at_name)).to_be_visible()


def test_without_javascript_no_button_is_shown_that_does_nothing(window, server, at_name, link):
    page = window(java_script_enabled=False)
    page.goto(link().replace(server.url, at_name))
    page.goto(f"{at_name}/inspect/passkeys")
    expect(page.get_by_role("button", name="Add a passkey")).to_be_hidden()
    expect(page.locator("main")).to_contain_text("Passkeys need JavaScript")
