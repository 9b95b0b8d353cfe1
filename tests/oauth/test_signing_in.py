"""The way a program is let in, as the person and the program see it."""

from __future__ import annotations

import re

import pytest

from oauth.browser import ORIGIN, Place, action, answered, asking, fetching, hidden, refreshing
from souvenance.domain.capability import SIGNED_IN
from souvenance.gate import messages as m
from souvenance.gate import operations as o


def test_a_person_lets_hermes_in_and_its_token_is_a_cap_of_what_they_allowed(place):
    place.sign_in(at=place.there())
    told = place.fetch(fetching(place.code())).json()
    assert told["access_token"].startswith(SIGNED_IN)
    assert told["refresh_token"].startswith("hch-rt-")
    assert (told["token_type"], told["scope"], told["expires_in"]) == ("Bearer", "write", 3600)
    assert told["config"] == {"peerName": "alice", "workspace": "hermes"}
    cap = place.whoami(told["access_token"]).json()
    assert (cap["sub"], cap["wid"], cap["namespaces_allowed"]) == ("alice", "hermes", ["default"])
    assert set(cap["ops"]) == {"put", "get", "list", "snapshot", "invalidate", "forget"}


def test_the_answer_carries_the_state_and_says_who_gave_it(place):
    place.sign_in()
    told = answered(place.decide(place.consent()))
    assert told["state"] == "the state"
    assert told["iss"] == ORIGIN


def test_a_refreshed_token_follows_and_the_old_one_still_works_until_it_ends(place):
    first = place.signed_in_program()
    second = place.fetch(refreshing(first["refresh_token"])).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert "config" not in second
    for token in (first, second):
        assert place.whoami(token["access_token"]).status_code == 200


def test_reading_alone_can_be_allowed_though_the_program_asked_for_more(place):
    place.sign_in()
    told = place.fetch(fetching(place.code({"access": "read"}))).json()
    assert told["scope"] == "read"
    assert place.whoami(told["access_token"]).json()["ops"] == ["get", "list", "snapshot"]


def test_a_program_may_fetch_less_than_it_was_allowed(place):
    first = place.signed_in_program()
    less = place.fetch(refreshing(first["refresh_token"], scope="read")).json()
    assert less["scope"] == "read"
    assert place.whoami(less["access_token"]).json()["ops"] == ["get", "list", "snapshot"]
    again = place.fetch(refreshing(less["refresh_token"])).json()
    assert again["scope"] == "write"


def test_a_program_that_asks_to_read_is_not_offered_to_write(place):
    place.sign_in()
    page = place.consent(scope="read")
    assert 'value="write"' not in page.text
    assert place.decide(page).status_code == 400


def test_who_is_not_signed_in_is_asked_for_a_cap_and_then_comes_back(place):
    form = place.browser.get(place.there())
    assert "Hermes Agent" in form.text
    back = place.browser.post(action(form), data={"csrf": hidden(form, "csrf"), "cap": place.owner.token})
    assert (back.status_code, back.headers["location"]) == (303, place.there())
    assert "Hermes Agent asks to use your memory" in place.browser.get(back.headers["location"]).text.replace(
        "<bdi>", ""
    ).replace("</bdi>", "")


def test_a_cap_that_is_no_good_is_asked_for_again_with_the_reason(place):
    spent = place.world.operator(exp=place.world.seconds - 1)
    for cap, status, reason in ((spent, 401, "expired"), (place.world.issue(ops=["get"]), 403, "grant")):
        found = place.sign_in(cap, browser=place.new_browser())
        assert found.status_code == status
        assert reason in found.text
        assert 'name="cap"' in found.text
        assert cap.token not in found.text


def test_the_cap_is_in_no_cookie_and_no_page(place):
    place.sign_in()
    page = place.consent()
    assert place.owner.token not in page.text
    assert place.owner.token not in str(dict(place.browser.cookies))


def test_the_cookie_is_for_this_server_alone_and_a_sign_in_replaces_it(place):
    form = place.browser.get("/signin")
    before = form.headers["set-cookie"]
    after = place.browser.post(
        "/signin", data={"csrf": hidden(form, "csrf"), "cap": place.owner.token}
    ).headers["set-cookie"]
    for cookie in (before, after):
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Secure" not in cookie
    assert before.split(";")[0] != after.split(";")[0]


def test_over_tls_the_cookie_is_bound_to_the_host():
    place = Place(public_url="https://memory.example", origin="https://memory.example")
    cookie = place.browser.get("/signin").headers["set-cookie"]
    assert cookie.startswith("__Host-souvenance-session=")
    assert "Secure" in cookie


def test_a_session_ends_after_a_quarter_of_an_hour_and_when_its_cap_does(place):
    place.sign_in()
    place.consent()
    place.world.clock.advance(seconds=15 * 60)
    assert 'name="cap"' in place.browser.get(place.there()).text
    place.sign_in()
    place.world.revoke("jti", place.owner.jti)
    assert 'name="cap"' in place.browser.get(place.there()).text


def test_a_session_ends_with_a_sign_out(place):
    place.sign_in()
    assert "owner" in place.browser.get("/signin").text
    page = place.browser.get("/signout")
    assert "You are signed in as <bdi>owner</bdi>" in page.text
    assert "owner" in place.browser.get("/signin").text
    before = dict(place.browser.cookies)
    assert "Signed out" in place.browser.post(action(page), data={"csrf": hidden(page, "csrf")}).text
    place.browser.cookies.update(before)
    assert 'name="cap"' in place.browser.get("/signin").text
    assert "Signed out" in place.browser.get("/signout").text


def test_no_other_page_can_sign_somebody_out(place):
    place.sign_in()
    page = place.consent()
    forged = [
        {"csrf": ""},
        {"csrf": "forged"},
        {"csrf": hidden(page, "csrf")},
        {"csrf": "forged", "request": hidden(page, "request")},
        {"csrf": hidden(place.browser.get("/signout"), "csrf"), "request": hidden(page, "request")},
    ]
    for form in forged:
        assert place.browser.post("/signout", data=form).status_code == 403
    other = {"sec-fetch-site": "cross-site"}
    right = {"csrf": hidden(page, "csrf"), "request": hidden(page, "request")}
    assert place.browser.post("/signout", data=right, headers=other).status_code == 403
    assert "owner" in place.browser.get("/signin").text


def test_who_is_not_whom_the_page_says_signs_out_and_the_request_is_not_lost(place):
    place.sign_in()
    page = place.consent(state="kept", login_hint="bob")
    assert 'formaction="/signout"' in page.text
    form = {"csrf": hidden(page, "csrf"), "request": hidden(page, "request"), "peer": "alice"}
    back = place.browser.post("/signout", data=form)
    assert back.status_code == 303
    asked = place.browser.get(back.headers["location"])
    assert "Hermes Agent" in asked.text
    assert 'name="cap"' in asked.text
    alice = place.world.issue(wid="hermes", exp=place.world.seconds + 90 * 24 * 3600)
    place.browser.post(action(asked), data={"csrf": hidden(asked, "csrf"), "cap": alice.token})
    again = place.browser.get(back.headers["location"])
    assert "You are signed in as <bdi>alice</bdi>" in again.text
    assert answered(place.decide(again))["state"] == "kept"
    assert place.decide(page).status_code == 403


def test_who_signs_out_before_a_device_is_let_in_is_asked_for_its_code_again(place):
    place.sign_in()
    shown = place.program.post("/oauth/device", data={"client_id": "hermes-agent"}).json()["user_code"]
    typing = place.browser.get("/device")
    page = place.browser.post("/device", data={"csrf": hidden(typing, "csrf"), "user_code": shown})
    form = {"csrf": hidden(page, "csrf"), "request": hidden(page, "request")}
    assert place.browser.post("/signout", data=form).headers["location"] == "/device"


def test_where_this_machine_is_trusted_nobody_can_sign_out():
    place = Place(trusting=True)
    assert "/signout" not in place.consent().text
    assert "Nobody has to sign in on this machine" in place.browser.get("/signout").text


@pytest.mark.parametrize(
    ("hint", "proposed"),
    [
        ("bob", "bob"),
        ('"><script>', "&#34;&gt;&lt;script&gt;"),
        ("", "owner"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "owner"),
        ("@sessions", "owner"),
        ("*", "owner"),
        ("two\nlines", "owner"),
        ("b\x00b", "owner"),
    ],
)
def test_whom_the_program_means_is_proposed_if_anybody_can_have_that_name(place, hint, proposed):
    place.sign_in()
    assert f'name="peer" value="{proposed}"' in place.consent(login_hint=hint).text


def test_whom_the_program_means_is_not_proposed_to_who_does_not_reach_them(place):
    place.sign_in(place.world.issue(wid="acme", ops=["get", "grant"], peers=["bob"]))
    assert 'name="peer" value="bob"' in place.consent(login_hint="bob").text
    assert 'name="peer" value="alice"' in place.consent(login_hint="carol").text


def test_who_is_signed_out_while_deciding_signs_in_again_and_the_request_is_not_lost(place):
    place.sign_in()
    place.world.clock.advance(seconds=10 * 60)
    page = place.consent()
    place.world.clock.advance(seconds=6 * 60)
    form = place.decide(page)
    assert "Sign in again" in form.text
    place.browser.post(action(form), data={"csrf": hidden(form, "csrf"), "cap": place.owner.token})
    assert "code" in answered(place.decide(place.browser.get(action(form))))


def test_where_this_machine_is_trusted_nobody_types_a_cap_but_forms_are_still_guarded():
    place = Place(trusting=True)
    page = place.consent()
    assert place.decide(page, csrf="forged").status_code == 403
    assert "code" in answered(place.decide(page))


def test_who_denies_tells_the_program_so(place):
    place.sign_in()
    told = answered(place.decide(place.consent(), "deny"))
    assert (told["error"], told["state"], told["iss"]) == ("access_denied", "the state", ORIGIN)
    assert "code" not in told


def test_pages_can_be_neither_framed_nor_scripted_nor_kept(place):
    place.sign_in()
    for page in (place.consent(), place.browser.get("/device"), place.program.get("/signin")):
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script-src" not in policy
        assert "<script" not in page.text
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["x-frame-options"] == "DENY"
    assert "form-action 'self' http://127.0.0.1:49152;" in place.consent().headers["content-security-policy"]


def test_what_the_page_shows_is_what_the_program_says_and_where_the_answer_goes(place):
    place.sign_in()
    page = place.consent(source="hermes-cli", config_path="~/.hermes/honcho.json").text
    for shown in ("hermes-agent", "hermes-cli", "~/.hermes/honcho.json", "127.0.0.1:49152"):
        assert shown in page


def test_nothing_is_offered_that_the_cap_of_whoever_decides_does_not_have(place):
    cap = place.world.issue(
        wid="acme", ops=["get", "list", "grant"], namespaces_allowed=["travel", "work"], peers=[]
    )
    place.sign_in(cap)
    page = place.consent().text
    assert 'value="write"' not in page
    assert 'type="hidden" name="workspace" value="acme"' in page
    assert 'type="hidden" name="peer" value="alice"' in page
    assert 'value="travel"' in page
    assert "As long as your own cap" in page or 'value="3600"' in page


@pytest.mark.parametrize("left", [600, 3600], ids=["as long as the cap", "one hour"])
def test_who_thinks_it_over_is_given_what_the_page_offered_and_what_is_left_of_the_cap(place, left):
    ends = place.world.seconds + left
    place.sign_in(place.world.operator(exp=ends))
    page = place.consent()
    (offered,) = re.findall(r'<option value="(\d+)"', page.text)
    place.world.clock.advance(seconds=30)
    token = place.fetch(fetching(answered(place.decide(page, end=offered))["code"])).json()
    assert place.whoami(token["access_token"]).json()["exp"] == ends


def test_hermes_may_be_let_in_for_the_whole_workspace_by_who_reaches_that(place):
    place.sign_in()
    for chosen, peers in (("yes", ["*"]), ("no", [])):
        told = place.fetch(fetching(place.code({"everyone": chosen}))).json()
        assert place.whoami(told["access_token"]).json()["peers"] == peers
    one = Place()
    one.sign_in(one.world.issue(wid="hermes", exp=one.world.seconds + 90 * 24 * 3600))
    told = one.fetch(fetching(one.code())).json()
    assert one.whoami(told["access_token"]).json()["peers"] == []


def test_a_program_that_registered_itself_speaks_for_one_person_alone(place):
    client = place.register(client_name="Some MCP client").json()["client_id"]
    place.sign_in()
    code = place.code(client_id=client)
    told = place.fetch(fetching(code, client_id=client)).json()
    assert place.whoami(told["access_token"]).json()["peers"] == []


def test_what_was_allowed_is_never_longer_than_the_cap_that_allowed_it(place):
    place.sign_in(place.world.operator(exp=place.world.seconds + 2 * 3600))
    token = place.fetch(fetching(place.code({"end": "3600"}))).json()
    place.world.clock.advance(seconds=3600)
    assert place.fetch(refreshing(token["refresh_token"])).json()["error"] == "invalid_grant"


def test_a_withdrawn_cap_takes_along_everything_that_it_let_in(place):
    token = place.signed_in_program()
    place.world.revoke("jti", place.owner.jti)
    assert place.whoami(token["access_token"]).json()["error"] == "cap_revoked"
    assert place.fetch(refreshing(token["refresh_token"])).json()["error"] == "invalid_grant"


def test_everything_leaves_its_row_in_the_audit_log(place):
    token = place.signed_in_program()
    place.decide(place.consent(), "deny")
    place.fetch(refreshing(token["refresh_token"]))
    place.program.post("/oauth/revoke", data={"client_id": "hermes-agent", "token": token["refresh_token"]})
    assert ("signin.allow", "ok") in place.world.outcomes()
    assert ("signin.deny", "ok") in place.world.outcomes()
    assert place.world.outcomes("hermes") == [
        ("signin.exchange", "ok"),
        ("signin.exchange", "ok"),
        ("signin.end", "ok"),
    ]
    told = str(place.world.rows("hermes")) + str(place.world.rows())
    assert "client=hermes-agent" in told
    assert token["refresh_token"] not in told
    assert "hch-at-" not in told


def test_sign_ins_survive_the_rotation_of_the_root_key_and_sessions_do_not(place):
    token = place.signed_in_program()
    place.world.call(o.ROTATE, place.owner, m.RotateKeys())
    assert place.fetch(refreshing(token["refresh_token"])).status_code == 200
    assert 'name="cap"' in place.browser.get("/signin").text


@pytest.mark.parametrize("resource", [ORIGIN, f"{ORIGIN}/", f"{ORIGIN}/mcp"])
def test_a_token_can_be_asked_for_this_server_by_name(place, resource):
    place.sign_in()
    code = place.code(resource=resource)
    assert place.fetch(fetching(code, resource=resource)).status_code == 200


def test_a_query_of_the_redirect_is_kept(place):
    client = place.register(redirect_uris=["https://app.example/back?tenant=7"]).json()["client_id"]
    place.sign_in()
    page = place.browser.get(
        "/authorize", params=asking(client_id=client, redirect_uri="https://app.example/back?tenant=7")
    )
    told = answered(place.decide(page))
    assert told["tenant"] == "7"
    assert "code" in told
