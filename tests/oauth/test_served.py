"""Sign-in at a real server, over real connections, in several processes and across restarts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

import httpx
import pytest

from oauth.browser import Flow, answered, fetching, refreshing
from surfaces.door import PATIENCE_SECONDS, serving

RIVALS = 20


class Served(Flow):
    def __init__(self, server, stack):
        self.owner_cap = server.owner_cap
        self.browser, self.program = (
            stack.enter_context(
                httpx.Client(base_url=server.url, timeout=PATIENCE_SECONDS, trust_env=False, verify=False)
            )
            for _ in range(2)
        )


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


def test_two_servers_on_one_folder_know_of_each_others_sign_ins(home, stack):
    with serving(home) as one, serving(home) as other:
        here, there = Served(one, stack), Served(other, stack)
        here.sign_in()
        there.browser.cookies = here.browser.cookies
        code = answered(there.decide(here.consent()))["code"]
        first = here.fetch(fetching(code)).json()
        second = there.fetch(refreshing(first["refresh_token"])).json()
        assert here.whoami(second["access_token"]).status_code == 200
        assert here.fetch(refreshing(first["refresh_token"])).json()["error"] == "invalid_grant"
        assert there.whoami(second["access_token"]).json()["error"] == "cap_revoked"


def test_of_many_who_refresh_one_token_at_once_exactly_one_wins_and_the_sign_in_ends(home, stack):
    with serving(home) as server:
        place = Served(server, stack)
        token = place.signed_in_program()
        start = Barrier(RIVALS)

        def refresh(_):
            start.wait(PATIENCE_SECONDS)
            return place.fetch(refreshing(token["refresh_token"]))

        with ThreadPoolExecutor(RIVALS) as pool:
            found = list(pool.map(refresh, range(RIVALS)))
        won = [one.json() for one in found if one.status_code == 200]
        assert len(won) == 1
        lost = [one.json()["error"] for one in found if one.status_code != 200]
        assert lost == ["invalid_grant"] * (RIVALS - 1)
        assert place.whoami(won[0]["access_token"]).json()["error"] == "cap_revoked"
        assert place.fetch(refreshing(won[0]["refresh_token"])).json()["error"] == "invalid_grant"


@pytest.mark.embedded("it reads the bytes of the file")
def test_a_sign_in_survives_a_restart_and_no_secret_of_it_lies_in_the_folder(home, stack):
    with serving(home) as server:
        place = Served(server, stack)
        place.sign_in()
        code = place.code()
        token = place.fetch(fetching(code)).json()
        device = place.program.post("/oauth/device", data={"client_id": "hermes-agent"}).json()
        secrets = [code, token["refresh_token"], token["access_token"], *place.browser.cookies.values()]
        secrets += [device["device_code"], device["user_code"], token["access_token"].rpartition("~")[2]]
        stored = b"".join(path.read_bytes() for path in home.glob("souvenance.db*"))
        log = server.stop()
    assert b"hermes-agent" in stored
    for secret in (*secrets, place.owner_cap):
        assert secret.encode() not in stored
        assert secret not in log.out + log.err
    with serving(home) as server:
        place = Served(server, stack)
        assert place.whoami(token["access_token"]).json()["sub"] == "alice"
        assert place.fetch(refreshing(token["refresh_token"])).status_code == 200


def test_on_a_server_that_trusts_this_machine_a_browser_on_it_decides_at_once(home, stack):
    with serving(home, "--trust-loopback") as server:
        place = Served(server, stack)
        token = place.fetch(fetching(place.code())).json()
        assert place.whoami(token["access_token"]).json()["wid"] == "hermes"
        afar = place.browser.get(place.there(), headers={"x-forwarded-for": "10.0.0.1"})
        assert 'name="cap"' in afar.text
