"""Keys as Honcho's clients ask for them: caps that end, can be withdrawn, and never exceed their maker."""

from __future__ import annotations

import pytest

from souvenance.domain.capability import OPS

SPEAKING = {"put", "get", "list", "snapshot"}
CONVERSING = SPEAKING | {"invalidate", "forget"}


def whoami(stage, key):
    return stage.speaker(key).told("GET", "/v1/caps/whoami")


@pytest.fixture(autouse=True)
def furnished(stage):
    stage.owner.say("s", "I like tea")
    stage.owner.say("t", "I like rain", peer="zoe")


@pytest.mark.parametrize(
    ("named", "sub", "peers", "sessions"),
    [
        ({}, "workspace:w", ["*"], None),
        ({"peer_id": "alice"}, "alice", ["alice"], None),
        ({"session_id": "s"}, "session:s", ["*"], ["s"]),
        ({"peer_id": "alice", "session_id": "s"}, "alice", ["alice"], ["s"]),
    ],
    ids=str,
)
def test_a_key_of_a_workspace_grants_what_it_names_in_one_namespace_and_nothing_else(
    stage, named, sub, peers, sessions
):
    grant = whoami(stage, stage.key(**named))
    assert (grant["sub"], grant["wid"], grant["peers"], grant["sessions"]) == (sub, "w", peers, sessions)
    assert (set(grant["ops"]), grant["namespaces_allowed"], grant["data_class"]) == (
        SPEAKING if "peer_id" in named else CONVERSING,
        ["default"],
        "memory",
    )
    assert not grant["bound"]


def test_a_key_that_names_nothing_is_the_admin_s(stage):
    grant = whoami(stage, stage.key(None))
    assert (grant["sub"], grant["wid"], grant["peers"], set(grant["ops"])) == (
        "admin",
        "*",
        ["*"],
        {*OPS} - {"chat"},
    )


@pytest.mark.parametrize("named", [{"peer_id": "alice"}, {"session_id": "s"}], ids=str)
def test_a_key_of_a_peer_or_a_session_needs_its_workspace(owner, named):
    assert owner.code("POST", "/v3/keys", params=named) == (422, "invalid_input")


def test_a_key_works_until_it_expires_and_not_a_second_longer(stage):
    key = stage.speaker(stage.key(peer_id="alice", expires_at=stage.later(minutes=5)))
    stage.clock.advance(seconds=299)
    assert key.code("GET", "/peers/alice/card") == 200
    stage.clock.advance(seconds=1)
    refused = key.ask("GET", "/peers/alice/card")
    assert (refused.status_code, refused.json()["detail"]) == (401, "JWT expired")
    assert refused.json()["error"] == "cap_expired"


def test_a_time_without_a_zone_is_utc(stage):
    moment = stage.later(minutes=5).replace("+00:00", "")
    assert whoami(stage, stage.key(expires_at=moment))["exp"] == stage.world.seconds + 300


@pytest.mark.parametrize("moment", ["2001-01-01T00:00:00Z", "soon", "0000-00-00"])
def test_a_key_that_would_never_work_is_not_made(owner, moment):
    asked = {"workspace_id": "w", "expires_at": moment}
    assert owner.code("POST", "/v3/keys", params=asked) == (422, "invalid_input")


def test_a_key_does_not_outlive_the_cap_that_made_it(stage):
    maker = stage.world.operator(exp=stage.world.seconds + 600).token
    asked = {"workspace_id": "w", "expires_at": stage.later(days=9)}
    made = stage.speaker(maker).told("POST", "/v3/keys", params=asked)["key"]
    assert whoami(stage, made)["exp"] == stage.world.seconds + 600


def test_a_revoked_key_is_refused_from_the_next_request_on(stage, owner):
    key, other = stage.key(peer_id="alice"), stage.key(peer_id="alice")
    jti = whoami(stage, key)["jti"]
    assert stage.speaker(key).code("GET", "/peers/alice/card") == 200
    owner.told("POST", "/v1/caps/revoke", {"jti": jti})
    refused = stage.speaker(key).ask("GET", "/peers/alice/card").json()
    assert (refused["error"], refused["detail"]) == ("cap_revoked", "JWT revoked")
    assert stage.speaker(other).code("GET", "/peers/alice/card") == 200


def test_all_keys_of_a_peer_so_far_can_be_revoked_at_once(stage, owner):
    keys = [stage.key(peer_id="alice"), stage.key(peer_id="alice", session_id="s"), stage.key(peer_id="zoe")]
    stage.clock.advance(seconds=1)
    owner.told("POST", "/v1/caps/revoke", {"sub": "alice"})
    stage.clock.advance(seconds=1)
    keys.append(stage.key(peer_id="alice"))
    answers = [stage.speaker(key).code("POST", "/v3/workspaces", {"id": "w"}) for key in keys]
    assert answers == [(401, "cap_revoked"), (401, "cap_revoked"), 200, 200]


def test_with_a_cap_its_keys_are_revoked_too(stage, owner):
    maker = stage.world.operator()
    made = stage.speaker(maker.token).told("POST", "/v3/keys", params={"workspace_id": "w"})["key"]
    assert stage.speaker(made).code("POST", "/peers/list") == 200
    owner.told("POST", "/v1/caps/revoke", {"jti": maker.jti})
    assert stage.speaker(made).code("POST", "/peers/list") == (401, "cap_revoked")


@pytest.mark.parametrize("named", [{}, {"peer_id": "alice"}, {"session_id": "s"}], ids=str)
def test_no_key_of_a_workspace_makes_keys(stage, named):
    holder = stage.speaker(stage.key(**named))
    refused = holder.ask("POST", "/v3/keys", params={"workspace_id": "w", **named})
    assert (refused.status_code, refused.json()["detail"]) == (401, "Resource requires admin privileges")
    assert stage.outcomes()[-1] == ("keys.new", "cap_op_mismatch")


GRANTING = {
    "a workspace's": {},
    "a peer's": {"sub": "alice", "peers": ["alice"]},
    "a session's": {"sessions": ["s"]},
    "another namespace's": {"namespaces_allowed": ["travel"]},
    "one that may not write's": {"ops": ["get", "list", "grant"]},
}
WANTED = {
    "an admin's key": {},
    "another workspace's key": {"workspace_id": "v"},
    "the workspace's key": {"workspace_id": "w"},
    "alice's key": {"workspace_id": "w", "peer_id": "alice"},
    "zoe's key": {"workspace_id": "w", "peer_id": "zoe"},
    "the session's key": {"workspace_id": "w", "session_id": "s"},
    "another session's key": {"workspace_id": "w", "session_id": "t"},
    "alice's key in the session": {"workspace_id": "w", "peer_id": "alice", "session_id": "s"},
}
MAY_MAKE = {
    "a workspace's": set(WANTED) - {"an admin's key", "another workspace's key"},
    "a peer's": {"alice's key"},
    "a session's": {"the session's key", "alice's key in the session"},
    "another namespace's": set(),
    "one that may not write's": set(),
}


@pytest.mark.parametrize("whose", GRANTING)
def test_a_cap_makes_no_key_that_is_wider_than_itself(stage, whose):
    maker = stage.speaker(stage.cap(**GRANTING[whose]))
    answers = {name: maker.code("POST", "/v3/keys", params=asked) for name, asked in WANTED.items()}
    assert {name for name, answer in answers.items() if answer == 200} == MAY_MAKE[whose]
    refused = {answer for answer in answers.values() if answer != 200}
    assert refused <= {(401, "cap_scope_mismatch"), (401, "cap_op_mismatch")}


def test_what_a_key_did_is_told_under_its_name_in_the_log_of_its_workspace(stage):
    key = stage.key(peer_id="alice")
    stage.speaker(key).told("GET", "/peers/alice/card")
    last = stage.world.rows("w")[-1].event
    assert (last.actor, last.cap, last.operation) == ("alice", whoami(stage, key)["jti"], "peers.card")


def test_a_peer_s_key_can_not_put_a_message_into_a_session_by_the_other_door(stage, owner):
    alice = stage.speaker(stage.key(peer_id="alice"))
    line = {"text": "a forged pangolin", "namespace": "default", "kind": "message", "session": "t"}
    alice.ask("POST", "/v1/memory/put", line)
    assert owner.search("", "pangolin") == owner.search("/sessions/t", "pangolin") == []


@pytest.mark.parametrize("kind", ["conclusion", "card", "summary"])
def test_the_other_door_can_not_put_what_only_this_one_makes(stage, owner, kind):
    alice = stage.speaker(stage.key(peer_id="alice"))
    line = {"text": '["a forged pangolin"]', "namespace": "default", "kind": kind, "session": "s"}
    alice.ask("POST", "/v1/memory/put", line)
    seen = [owner.held(), owner.card(), owner.representation(), owner.summaries("s"), owner.context("s")]
    assert "pangolin" not in str(seen)


def test_a_peer_s_key_does_not_delete_by_the_other_door_what_it_may_not_delete_here(stage, owner):
    alice = stage.speaker(stage.key(peer_id="alice"))
    [said] = owner.messages("s")
    assert alice.code("DELETE", f"/sessions/s/messages/{said['id']}") == (401, "cap_op_mismatch")
    alice.ask("POST", "/v1/memory/forget", {"id": said["id"]})
    alice.ask("POST", "/v1/memory/forget", {"namespace": "default"})
    assert owner.texts("s") == ["I like tea"]
