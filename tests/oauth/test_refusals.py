"""What the door refuses: each wrong turn gets its own error, at the right place, and changes nothing."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from oauth.browser import (
    CALLBACK,
    ORIGIN,
    VERIFIER,
    Place,
    action,
    answered,
    asking,
    challenge,
    fetching,
    hidden,
    refreshing,
)


def refused(response, error, status=400):
    assert response.status_code == status, response.text
    assert response.json()["error"] == error
    assert response.headers["cache-control"] == "no-store"


def is_page(response, *, status=400, saying=""):
    assert response.status_code == status
    assert "location" not in response.headers
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert saying in response.text


# The code


def test_a_wrong_verifier_is_refused_and_the_right_one_still_works(place):
    place.sign_in()
    code = place.code()
    refused(place.fetch(fetching(code, code_verifier="w" * 64)), "invalid_grant")
    assert place.fetch(fetching(code)).status_code == 200


@pytest.mark.parametrize("verifier", [None, "", "short", "é" * 50])
def test_a_missing_or_malformed_verifier_is_refused(place, verifier):
    place.sign_in()
    refused(place.fetch(fetching(place.code(), code_verifier=verifier)), "invalid_request")


def test_a_replayed_code_is_refused_and_ends_the_sign_in(place):
    place.sign_in()
    code = place.code()
    token = place.fetch(fetching(code)).json()
    refused(place.fetch(fetching(code)), "invalid_grant")
    assert place.whoami(token["access_token"]).json()["error"] == "cap_revoked"
    refused(place.fetch(refreshing(token["refresh_token"])), "invalid_grant")


def test_a_replayed_refresh_token_is_refused_and_ends_the_sign_in(place):
    first = place.signed_in_program()
    second = place.fetch(refreshing(first["refresh_token"])).json()
    refused(place.fetch(refreshing(first["refresh_token"])), "invalid_grant")
    for token in (first, second):
        assert place.whoami(token["access_token"]).json()["error"] == "cap_revoked"
        refused(place.fetch(refreshing(token["refresh_token"])), "invalid_grant")


def test_an_expired_code_is_refused(place):
    place.sign_in()
    code = place.code()
    place.world.clock.advance(seconds=120)
    refused(place.fetch(fetching(code)), "invalid_grant")


@pytest.mark.parametrize(
    "uri", [None, "http://127.0.0.1:49153/callback", "http://127.0.0.1:49152/other", "https://evil.example"]
)
def test_a_code_is_good_only_with_the_redirect_that_it_was_sent_to(place, uri):
    place.sign_in()
    refused(place.fetch(fetching(place.code(), redirect_uri=uri)), "invalid_grant")


def test_another_clients_code_and_refresh_token_are_refused_and_stay_good(place):
    other = place.register(grant_types=["authorization_code", "refresh_token"]).json()["client_id"]
    place.sign_in()
    code = place.code()
    refused(place.fetch(fetching(code, client_id=other)), "invalid_grant")
    token = place.fetch(fetching(code)).json()
    refused(place.fetch(refreshing(token["refresh_token"], client_id=other)), "invalid_grant")
    assert place.fetch(refreshing(token["refresh_token"])).status_code == 200


def test_made_up_tokens_are_refused(place):
    for fields in (fetching("made up"), refreshing("hch-rt-made-up"), refreshing("\x00é")):
        refused(place.fetch(fields), "invalid_grant")


def test_a_client_that_nobody_knows_is_refused(place):
    refused(place.fetch(fetching("code", client_id="stranger")), "invalid_client")
    refused(place.fetch(fetching("code", client_id=None)), "invalid_client", 401)
    header = {"authorization": "Basic /////w=="}
    refused(place.fetch(fetching("code", client_id=None), headers=header), "invalid_client", 401)


def test_a_grant_that_is_not_there_and_a_form_that_is_none_are_refused(place):
    refused(place.fetch(fetching("code", grant_type="password")), "unsupported_grant_type")
    refused(place.program.post("/oauth/token", json={"grant_type": "refresh_token"}), "invalid_request")
    twice = "grant_type=refresh_token&client_id=hermes-agent&refresh_token=a&refresh_token=b"
    header = {"content-type": "application/x-www-form-urlencoded"}
    refused(place.program.post("/oauth/token", content=twice, headers=header), "invalid_request")
    refused(
        place.program.post("/oauth/token", content="a=" + "b" * 40_000, headers=header),
        "invalid_request",
        413,
    )


def test_a_scope_can_not_grow_with_a_refresh(place):
    place.sign_in()
    token = place.fetch(fetching(place.code({"access": "read"}))).json()
    refused(place.fetch(refreshing(token["refresh_token"], scope="write")), "invalid_scope")


@pytest.mark.parametrize("resource", ["https://elsewhere.example", f"{ORIGIN}/v1", "urn:x"])
def test_a_token_for_another_server_is_refused(place, resource):
    place.sign_in()
    found = answered(place.browser.get("/authorize", params=asking(resource=resource)))
    assert (found["error"], found["state"]) == ("invalid_target", "the state")
    code = place.code()
    refused(place.fetch(fetching(code, resource=resource)), "invalid_target")
    assert place.fetch(fetching(code)).status_code == 200


# The request


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "stranger"},
        {"client_id": None},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": None},
        {"redirect_uri": "http://127.0.0.1:1@evil.example/callback"},
        {"redirect_uri": "http://127.0.0.1.evil.example:1/callback"},
        {"redirect_uri": "http://localhost:49152/callback"},
        {"redirect_uri": "https://127.0.0.1:49152/callback"},
        {"redirect_uri": "http://127.0.0.1:49152/callback?more"},
        {"redirect_uri": "http://127.0.0.1:49152/callback#more"},
        {"redirect_uri": "http://127.0.0.1:99999/callback"},
        {"redirect_uri": 'http://127.0.0.1:1/callback"<b>'},
        {"redirect_uri": "javascript:alert(1)"},
    ],
)
def test_while_client_and_redirect_are_not_known_to_be_good_nothing_is_redirected(place, changed):
    place.sign_in()
    found = place.browser.get("/authorize", params=asking(**changed))
    assert found.status_code in (400, 401)
    is_page(found, status=found.status_code)
    assert "<b>" not in found.text


def test_nor_is_a_request_that_says_two_things(place):
    place.sign_in()
    for name in ("redirect_uri", "client_id", "state", "code_challenge"):
        is_page(place.browser.get(f"{place.there()}&{name}=more"), saying="given twice")


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": VERIFIER, "code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"scope": "write admin"}, "invalid_scope"),
    ],
)
def test_afterwards_errors_go_to_the_client_with_state_and_issuer(place, changed, error):
    place.sign_in()
    for browser in (place.browser, place.new_browser()):
        found = browser.get("/authorize", params=asking(**changed))
        told = answered(found)
        assert (told["error"], told["state"], told["iss"]) == (error, "the state", ORIGIN)
        assert found.headers["location"].startswith(f"{CALLBACK}?")


def test_but_not_to_a_stranger_elsewhere_whom_nobody_let_in_yet(place):
    there = "https://evil.example/lure"
    client = place.register(redirect_uris=[there]).json()["client_id"]
    place.sign_in()
    wrong = asking(client_id=client, redirect_uri=there, scope="admin")
    is_page(place.browser.get("/authorize", params=wrong), saying="invalid_scope")
    place.code(client_id=client, redirect_uri=there)
    assert answered(place.browser.get("/authorize", params=wrong))["error"] == "invalid_scope"


def test_a_request_that_is_too_old_is_not_answered(place):
    place.sign_in()
    page = place.consent()
    place.world.clock.advance(seconds=10 * 60)
    is_page(place.decide(page), status=404, saying="expired")


def test_a_request_is_answered_once(place):
    place.sign_in()
    page = place.consent()
    assert "code" in answered(place.decide(page))
    is_page(place.decide(page), status=404, saying="answered already")


def test_a_request_of_the_one_page_is_not_answered_at_the_other(place):
    place.sign_in()
    page = place.consent()
    form = {"csrf": hidden(page, "csrf"), "request": hidden(page, "request"), "decision": "allow"}
    is_page(place.browser.post("/device", data=form), status=404)


# The form


def test_a_forged_form_is_refused(place):
    place.sign_in()
    page = place.consent()
    other = place.consent()
    for csrf in ("", "forged", hidden(other, "csrf"), "é"):
        is_page(place.decide(page, csrf=csrf), status=403)
    assert "code" in answered(place.decide(page))


def test_a_form_of_another_browser_is_refused(place):
    thief = place.new_browser()
    place.sign_in()
    place.sign_in(place.world.operator(), browser=thief)
    lure = place.consent(browser=thief)
    is_page(place.decide(lure), status=403)


def test_a_sign_in_form_of_another_browser_is_refused(place):
    form = place.new_browser().get("/signin")
    sent = {"csrf": hidden(form, "csrf"), "cap": place.owner.token}
    is_page(place.browser.post("/signin", data=sent), status=403)
    place.browser.get("/signin")
    is_page(place.browser.post("/signin", data=sent), status=403)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:9999", "null"])
def test_a_form_that_another_site_sends_is_refused(place, origin):
    place.sign_in()
    page = place.consent()
    form = {"csrf": hidden(page, "csrf"), "request": hidden(page, "request"), "decision": "allow"}
    found = place.browser.post(action(page), data=form, headers={"origin": origin})
    assert (found.status_code, found.json()["error"]) == (403, "host_refused")
    found = place.browser.post(action(page), data=form, headers={"sec-fetch-site": "cross-site"})
    is_page(found, status=403)


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        ({"workspace": "other"}, "another workspace"),
        ({"peer": "bob"}, "does not reach"),
        ({"namespace": "secrets"}, "namespace"),
        ({"namespace": "*"}, "namespace"),
        ({"namespace": "travel,secrets"}, "namespace"),
        ({"access": "write"}, "access"),
        ({"access": "all"}, "access"),
        ({"end": "31536000"}, "end"),
        ({"end": "soon"}, "end"),
        ({"namespace": ""}, "at least one namespace"),
        ({"decision": ""}, "allow or to deny"),
        ({"workspace": ""}, ""),
        ({"peer": ""}, ""),
    ],
)
def test_nobody_can_allow_more_than_their_own_cap(place, chosen, reason):
    cap = place.world.issue(
        wid="acme", ops=["get", "list", "snapshot", "grant"], namespaces_allowed=["travel"], peers=[]
    )
    place.sign_in(cap)
    page = place.consent()
    right = {"workspace": "acme", "peer": "alice", "namespace": "travel", "access": "read", "end": "3600"}
    found = place.decide(page, **{**right, **chosen})
    is_page(found, status=found.status_code, saying=reason)
    assert found.status_code in (400, 403)
    assert 'class="trouble"' in found.text
    token = place.fetch(fetching(answered(place.decide(page, **right))["code"])).json()
    assert place.whoami(token["access_token"]).json()["ops"] == ["get", "list", "snapshot"]


def test_a_page_that_comes_again_shows_what_was_chosen_and_nothing_wider(place):
    place.sign_in()
    page = place.decide(place.consent(), "", access="read", everyone="no", end="3600", namespace="travel")
    assert re.search(r'name="namespace" value="travel"', page.text)
    assert re.search(r'name="access" value="read"[^>]* checked', page.text)
    assert re.search(r'name="everyone" value="no"[^>]* checked', page.text)
    assert re.search(r'<option value="3600" selected', page.text)


def test_a_cap_that_is_bound_to_a_key_is_of_no_use_here(place):
    form = place.browser.get("/signin")
    bound = place.owner.bound
    found = place.browser.post("/signin", data={"csrf": hidden(form, "csrf"), "cap": bound})
    assert found.status_code == 401


def test_without_tls_it_lets_nobody_in_from_afar():
    place = Place(public_url="http://memory.example", origin="http://memory.example")
    is_page(place.browser.get("/authorize", params=asking()), saying="insecure_transport")
    refused(place.fetch(fetching("code")), "insecure_transport")


def test_a_redirect_with_a_code_leads_where_the_request_said_and_nowhere_else(place):
    place.sign_in()
    for port in (1, 8765, 65535):
        uri = f"http://127.0.0.1:{port}/callback"
        found = place.decide(place.consent(redirect_uri=uri, code_challenge=challenge("x" * 50)))
        parts = urlsplit(found.headers["location"])
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == uri
        assert set(parse_qs(parts.query)) == {"code", "state", "iss"}
