"""Which programs were let in, and ending that: for whoever reaches all that they do."""

from __future__ import annotations

from contextlib import ExitStack

import httpx
import pytest

from oauth.browser import Flow, fetching, refreshing
from processes import PATIENCE_SECONDS
from running import running
from souvenance.config import settings_from
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import make_app
from souvenance.surfaces.http.oauth.door import SignInDoor
from surfaces.door import souvenance


def listed(place, cap=None):
    token = place.owner_cap if cap is None else cap.token
    answer = place.program.get("/v1/signins", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    return answer.json()["sign_ins"]


def ended(place, signin_id, cap=None):
    token = place.owner_cap if cap is None else cap.token
    return place.program.post(
        "/v1/signins/end", json={"id": signin_id}, headers={"authorization": f"Bearer {token}"}
    )


def let_in(place, **choosing):
    return place.fetch(fetching(place.code(choosing=choosing))).json()


def test_nobody_was_let_in_before_anybody_was(place):
    assert listed(place) == []


def test_each_program_is_listed_with_what_it_was_given_newest_first(place):
    place.sign_in()
    let_in(place)
    place.world.clock.advance(seconds=60)
    let_in(place, workspace="lab", peer="bob", access="read", everyone="no", namespace="travel", end="3600")
    newest, oldest = listed(place)
    assert (oldest["client"], oldest["name"]) == ("hermes-agent", "Hermes Agent")
    assert (oldest["workspace"], oldest["peer"], oldest["everyone"]) == ("hermes", "alice", True)
    assert (newest["workspace"], newest["peer"], newest["everyone"]) == ("lab", "bob", False)
    assert (newest["access"], newest["namespaces"]) == ("read", ["travel"])
    assert newest["since"] == newest["last_used"]
    assert newest["since"] < newest["until"]


def test_it_is_told_when_a_program_last_fetched_a_token(place):
    place.sign_in()
    code = place.code()
    assert listed(place)[0]["last_used"] is None
    token = place.fetch(fetching(code)).json()
    first = listed(place)[0]["last_used"]
    place.world.clock.advance(seconds=1800)
    place.fetch(refreshing(token["refresh_token"]))
    assert listed(place)[0]["last_used"] > first


def test_what_is_over_is_not_listed(place):
    place.sign_in()
    let_in(place, end="3600")
    place.world.clock.advance(seconds=3600)
    assert listed(place) == []


def test_what_ended_with_the_token_that_let_it_in_is_not_listed(place):
    owner = {"authorization": f"Bearer {place.owner_cap}"}
    rights = ["get", "list", "put", "invalidate", "forget", "grant"]
    asked = {"sub": "alice", "ops": rights, "namespaces_allowed": ["*"], "wid": "hermes"}
    place.owner_cap = place.program.post("/v1/caps", json=asked, headers=owner).json()["cap"]
    place.sign_in()
    let_in(place, everyone="no", end="3600")
    assert len(place.program.get("/v1/signins", headers=owner).json()["sign_ins"]) == 1
    place.program.post("/v1/caps/revoke", json={"sub": "alice"}, headers=owner).raise_for_status()
    assert place.program.get("/v1/signins", headers=owner).json()["sign_ins"] == []


def test_ending_one_ends_its_access_and_refresh_tokens_at_once_and_no_others(place):
    place.sign_in()
    kept = let_in(place)
    place.world.clock.advance(seconds=1)
    gone = let_in(place)
    answer = ended(place, listed(place)[0]["id"])
    assert (answer.status_code, answer.json()["client"]) == (200, "hermes-agent")
    assert place.whoami(gone["access_token"]).json()["error"] == "cap_revoked"
    assert place.fetch(refreshing(gone["refresh_token"])).json()["error"] == "invalid_grant"
    assert place.whoami(kept["access_token"]).status_code == 200
    assert place.fetch(refreshing(kept["refresh_token"])).status_code == 200
    assert len(listed(place)) == 1


def test_what_is_not_there_can_not_be_ended(place):
    place.sign_in()
    let_in(place)
    signin = listed(place)[0]["id"]
    assert ended(place, signin).status_code == 200
    for unknown in (signin, "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"):
        refused = ended(place, unknown)
        assert (refused.status_code, refused.json()["error"]) == (404, "not_found")
    assert ended(place, "no id").status_code == 400


@pytest.mark.parametrize(
    "cap",
    [
        {"wid": "lab", "peers": ["*"]},
        {"wid": "hermes", "sub": "bob", "peers": []},
        {"wid": "hermes", "sub": "alice", "peers": ["bob"]},
        {"wid": "hermes", "sub": "alice", "peers": ["*"], "sessions": ["s"]},
    ],
    ids=["another workspace", "another peer", "not everyone", "sessions alone"],
)
def test_who_does_not_reach_all_that_a_program_does_neither_sees_nor_ends_it(place, cap):
    place.sign_in()
    let_in(place)
    signin = listed(place)[0]["id"]
    other = place.world.issue(ops=["revoke"], **cap)
    assert listed(place, other) == []
    assert ended(place, signin, other).status_code == 404
    assert len(listed(place)) == 1


def test_a_person_sees_and_ends_what_acts_for_them_alone(place):
    place.sign_in()
    token = let_in(place, everyone="no")
    alice = place.world.issue(wid="hermes", sub="alice", peers=[], ops=["revoke"])
    assert ended(place, listed(place, alice)[0]["id"], alice).status_code == 200
    assert place.whoami(token["access_token"]).status_code == 401


def test_it_takes_the_right_to_revoke_which_no_program_that_signed_in_has(place):
    place.sign_in()
    program = let_in(place)["access_token"]
    for token in (program, place.world.operator(ops=["grant", "get", "list"]).token):
        headers = {"authorization": f"Bearer {token}"}
        assert place.program.get("/v1/signins", headers=headers).json()["error"] == "cap_op_mismatch"
        asked = {"id": listed(place)[0]["id"]}
        refused = place.program.post("/v1/signins/end", json=asked, headers=headers)
        assert refused.json()["error"] == "cap_op_mismatch"


def test_looking_and_ending_leave_their_rows_in_the_audit_log(place):
    place.sign_in()
    let_in(place)
    ended(place, listed(place)[0]["id"])
    assert ("signin.list", "ok") in place.world.outcomes()
    assert ("signin.withdraw", "ok") in place.world.outcomes()


class Visited(Flow):
    def __init__(self, installation, url, stack):
        self.owner_cap = installation.owner_cap
        self.browser = self.program = stack.enter_context(
            httpx.Client(base_url=url, trust_env=False, verify=False, timeout=PATIENCE_SECONDS)
        )


def test_the_command_line_lists_and_ends_them_here_and_at_a_server(home):
    with ExitStack() as stack:
        installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
        stack.callback(installation.close)
        url = stack.enter_context(
            running(make_app(installation.gate, doors=[SignInDoor(installation.sign_ins)]))
        )
        place = Visited(installation, url, stack)
        place.sign_in()
        first, second = let_in(place), let_in(place, peer="bob", everyone="no", access="read")
        newest, oldest = souvenance("sign-ins", "--json", home=home).json()["sign_ins"]
        assert souvenance("sign-ins", "list", "--json", home=home).json()["sign_ins"] == [newest, oldest]
        head, row, _ = souvenance("sign-ins", home=home, url=url).out.splitlines()
        assert head.split()[:6] == ["id", "program", "client", "workspace", "peer", "access"]
        assert row.split()[:7] == [newest["id"], "Hermes", "Agent", "hermes-agent", "hermes", "bob", "read"]
        assert souvenance("sign-ins", "end", newest["id"], home=home, url=url).out.startswith("ended ")
        assert souvenance("sign-ins", "end", oldest["id"], "--json", home=home).json()["id"] == oldest["id"]
        for token in (first, second):
            assert place.whoami(token["access_token"]).json()["error"] == "cap_revoked"
            assert place.fetch(refreshing(token["refresh_token"])).status_code == 400
        assert souvenance("sign-ins", home=home).out == ""
        refused = souvenance("sign-ins", "end", oldest["id"], "--json", home=home, exit_code=None)
        assert refused.complaint()["error"] == "not_found"
