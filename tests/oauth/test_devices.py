"""Signing in a machine without a browser: a code on its screen, typed where there is one."""

from __future__ import annotations

import pytest

from oauth.browser import action, hidden, refreshing
from souvenance.domain.sign_ins import DEVICE_GRANT
from souvenance.gate.oauth_state import MOST_DEVICES


@pytest.fixture
def device(place):
    return ask(place).json()


def ask(place, **changed):
    return place.program.post(
        "/oauth/device", data={"client_id": "hermes-agent", "scope": "write", **changed}
    )


def poll(place, device, **changed):
    fields = {"grant_type": DEVICE_GRANT, "client_id": "hermes-agent", "device_code": device["device_code"]}
    return place.fetch({**fields, **changed})


def type_in(place, code):
    page = place.browser.get("/device")
    return place.browser.post(action(page), data={"csrf": hidden(page, "csrf"), "user_code": code})


def test_a_device_is_let_in_by_the_code_that_it_shows(place, device):
    assert device["verification_uri"].endswith("/device")
    assert (device["expires_in"], device["interval"]) == (900, 5)
    assert poll(place, device).json()["error"] == "authorization_pending"
    place.sign_in(at="/device")
    page = type_in(place, device["user_code"])
    assert "another device" in page.text
    assert "Connected" in place.decide(page).text
    token = poll(place, device).json()
    assert token["config"] == {"peerName": "alice", "workspace": "hermes"}
    assert token["scope"] == "write"
    assert place.whoami(token["access_token"]).json()["sub"] == "alice"
    assert place.fetch(refreshing(token["refresh_token"])).status_code == 200


def test_reading_alone_can_be_allowed_a_device(place, device):
    place.sign_in()
    place.decide(type_in(place, device["user_code"]), access="read")
    assert poll(place, device).json()["scope"] == "read"


def test_the_link_with_the_code_in_it_fills_the_form_and_does_not_send_it(place, device):
    place.sign_in()
    page = place.browser.get(device["verification_uri_complete"])
    assert f'value="{device["user_code"]}"' in page.text
    assert "Connect a device" in page.text


@pytest.mark.parametrize(
    "spelled", [str.lower, lambda code: code.replace("-", " "), lambda code: f" {code} "]
)
def test_the_code_may_be_spelled_as_people_do(place, device, spelled):
    place.sign_in()
    assert "asks to use your memory" in type_in(place, spelled(device["user_code"])).text


@pytest.mark.parametrize("code", ["", "BBBB-BBBB", "AAAA-AAAA", "x" * 100, "ÄÖÜ"])
def test_a_code_that_no_device_shows_is_asked_for_again(place, device, code):
    place.sign_in()
    found = type_in(place, code)
    assert found.status_code == 400
    assert "No device waits with this code" in found.text


def test_who_denies_a_device_tells_it_so(place, device):
    place.sign_in()
    assert "Denied" in place.decide(type_in(place, device["user_code"]), "deny").text
    assert poll(place, device).json()["error"] == "access_denied"
    assert type_in(place, device["user_code"]).status_code == 400


def test_a_device_that_polls_too_often_is_told_to_slow_down(place, device):
    assert poll(place, device).json()["error"] == "authorization_pending"
    assert poll(place, device).json()["error"] == "slow_down"
    place.world.clock.advance(seconds=5)
    assert poll(place, device).json()["error"] == "authorization_pending"


def test_a_code_that_nobody_typed_in_time_is_over(place, device):
    place.sign_in()
    place.world.clock.advance(seconds=15 * 60)
    assert poll(place, device).json()["error"] == "expired_token"
    place.sign_in()
    assert type_in(place, device["user_code"]).status_code == 400


def test_a_device_that_was_let_in_too_late_gets_nothing(place, device):
    place.sign_in()
    place.world.clock.advance(seconds=14 * 60)
    page = type_in(place, device["user_code"])
    place.world.clock.advance(seconds=59)
    place.decide(page)
    place.world.clock.advance(seconds=1)
    assert poll(place, device).json()["error"] == "expired_token"


def test_a_replayed_device_code_ends_the_sign_in(place, device):
    place.sign_in()
    place.decide(type_in(place, device["user_code"]))
    token = poll(place, device).json()
    assert poll(place, device).json()["error"] == "invalid_grant"
    assert place.whoami(token["access_token"]).json()["error"] == "cap_revoked"


def test_a_device_code_is_its_clients_alone(place, device):
    other = place.register(grant_types=[DEVICE_GRANT], redirect_uris=[]).json()["client_id"]
    place.sign_in()
    place.decide(type_in(place, device["user_code"]))
    assert poll(place, device, client_id=other).status_code == 400
    assert poll(place, device).status_code == 200
    assert poll(place, {"device_code": "made up"}).json()["error"] == "invalid_grant"


def test_a_client_that_did_not_ask_for_devices_gets_no_code(place):
    other = place.register().json()["client_id"]
    assert ask(place, client_id=other).json()["error"] == "unauthorized_client"
    assert ask(place, client_id="stranger").json()["error"] == "invalid_client"
    assert ask(place, scope="admin").json()["error"] == "invalid_scope"
    assert ask(place, resource="https://elsewhere.example").json()["error"] == "invalid_target"


def test_a_forged_form_lets_no_device_in(place, device):
    place.sign_in()
    assert place.browser.post("/device", data={"user_code": device["user_code"]}).status_code == 403
    page = type_in(place, device["user_code"])
    assert place.decide(page, csrf="forged").status_code == 403
    assert poll(place, device).json()["error"] == "authorization_pending"


def test_strangers_can_not_fill_the_store_with_device_codes(place):
    found = []
    while len(found) < MOST_DEVICES:
        if ask(place).status_code == 200:
            found.append(1)
        else:
            place.world.clock.advance(seconds=60)
    place.world.clock.advance(seconds=60)
    full = ask(place)
    assert (full.status_code, full.json()["error"]) == (429, "temporarily_unavailable")
    assert int(full.headers["retry-after"]) > 0
    place.world.clock.advance(seconds=15 * 60)
    assert ask(place).status_code == 200
