"""What a narrow key writes stays within what it may reach, and tells nothing of the rest."""

from __future__ import annotations

import pytest


@pytest.fixture
def alice(stage):
    """Alice's key; she is in the session s, zoe in t."""
    stage.owner.say("s", "I like tea")
    stage.owner.say("t", "I like rain", peer="zoe")
    return stage.speaker(stage.key(peer_id="alice"))


def conclusion(**more):
    return {"conclusions": [{"content": "a claim", "observer_id": "alice", "observed_id": "alice", **more}]}


def test_a_peer_s_key_states_nothing_in_another_s_name(alice):
    for observer in ("zoe", "nobody"):
        answer = alice.code("POST", "/conclusions", conclusion(observer_id=observer))
        assert answer == (401, "cap_scope_mismatch")


def test_a_peer_s_key_states_nothing_as_concluded_in_a_session_it_is_not_in(stage, alice):
    answers = [alice.code("POST", "/conclusions", conclusion(session_id=name)) for name in ("t", "none")]
    assert answers[0] == answers[1], "it tells whether there is such a session"
    assert answers[0][0] in (401, 404)
    told = stage.speaker(stage.key(session_id="t"))
    seen = told.context("t", peer_target="alice", peer_perspective="alice")
    assert "a claim" not in str(seen)


def test_a_peer_s_key_states_something_as_concluded_in_its_own_session(alice):
    assert alice.code("POST", "/conclusions", conclusion(session_id="s")) == 201


def test_a_peer_s_key_makes_no_other_peers(stage, owner, alice):
    alice.ask("PUT", "/peers/alice/card", {"peer_card": ["x"]}, params={"target": "ghost"})
    alice.ask("POST", "/conclusions", conclusion(observed_id="ghost"))
    alice.ask("POST", "/peers", {"id": "ghost"})
    assert "ghost" not in str(owner.told("POST", "/peers/list"))


def test_a_session_s_key_writes_in_its_session_and_leaves_the_others_alone(stage, owner):
    owner.say("s", "I like tea")
    [other] = owner.say("t", "I like rain", peer="zoe")
    key = stage.speaker(stage.key(session_id="s"))
    key.say("s", "and milk")
    attempts = [
        ("POST", "/sessions/t/messages", {"messages": [{"peer_id": "alice", "content": "forged"}]}),
        ("PUT", "/sessions/t", {"metadata": {"a": 1}}),
        ("DELETE", "/sessions/t", None),
        ("DELETE", f"/sessions/t/messages/{other['id']}", None),
        ("DELETE", f"/sessions/s/messages/{other['id']}", None),
        ("PUT", f"/sessions/s/messages/{other['id']}", {"metadata": {"a": 1}}),
        ("PUT", "/peers/alice", {"metadata": {"a": 1}}),
        ("PUT", "/peers/alice/card", {"peer_card": ["x"]}),
        ("POST", "/conclusions", conclusion()),
        ("DELETE", "/peers/alice", None),
        ("POST", "/sessions/s/clone", None),
    ]
    answers = {(method, path): key.ask(method, path, body).status_code for method, path, body in attempts}
    assert {asked: status for asked, status in answers.items() if status not in (401, 404)} == {}
    assert owner.messages("t") == [other]
    assert owner.texts("s") == ["I like tea", "and milk"]


def test_a_session_s_key_puts_its_session_into_no_scope(stage, owner):
    owner.say("s", "I like tea")
    owner.open("scopes", "sc")
    key = stage.speaker(stage.key(session_id="s"))
    assert key.code("POST", "/sessions", {"id": "s", "scopes": ["sc"]}) == (401, "cap_scope_mismatch")
    assert key.code("POST", "/sessions", {"id": "s", "scopes": ["none"]}) == (401, "cap_scope_mismatch")
    assert owner.told("POST", "/scopes/sc/sessions/list")["items"] == []


def test_every_request_that_changes_something_leaves_a_row_of_names_and_no_content(stage, owner):
    owner.say("s", "the secret okapi", metadata={"k": "v"})
    owner.conclude("the secret okapi again")
    owner.told("PUT", "/peers/alice/card", {"peer_card": ["the secret okapi"]})
    owner.told("POST", "/sessions/s/clone")
    owner.search("", "okapi")
    owner.chat("okapi")
    stage.rest()
    owner.told("DELETE", "/sessions/s")
    rows = stage.world.rows("w")
    assert [row.event.operation for row in rows] == [
        "messages.add",
        "conclusions.add",
        "peers.set_card",
        "sessions.clone",
        "workspaces.search",
        "peers.chat",
        "work.derive",
        "sessions.delete",
    ]
    assert "okapi" not in str(rows)
    assert {row.event.actor for row in rows} == {"owner", "souvenance"}
    said = rows[0].event
    assert len(said.lines) == 1


def nested(levels):
    return {"a": nested(levels - 1)} if levels else 1


def batch(**changed):
    one = {"peer_id": "alice", "content": "x", **changed}
    return {"messages": [{name: value for name, value in one.items() if value is not None}]}


LIMITS = {
    "no message": ({"messages": []}, False),
    "too many": ({"messages": batch()["messages"] * 101}, False),
    "the longest": (batch(content="x" * 25_000), True),
    "too long": (batch(content="x" * 25_001), False),
    "empty": (batch(content=""), True),
    "nothing": (batch(content=None), False),
    "nobody": (batch(peer_id=None), False),
    "no name": (batch(peer_id="a b"), False),
    "not a peer's name": (batch(peer_id="@sessions"), False),
    "many keys": (batch(metadata={str(number): number for number in range(100)}), True),
    "too many keys": (batch(metadata={str(number): number for number in range(101)}), False),
    "deep": (batch(metadata=nested(5)), True),
    "too deep": (batch(metadata=nested(6)), False),
    "no time": (batch(created_at="yesterday"), False),
}


@pytest.mark.parametrize("what", LIMITS)
def test_a_message_within_the_limits_is_stored_and_one_beyond_is_refused(owner, what):
    owner.open("sessions", "s")
    body, fits = LIMITS[what]
    assert owner.code("POST", "/sessions/s/messages", body) == (201 if fits else (422, "invalid_input"))
    assert len(owner.messages("s")) == int(fits)


def test_one_bad_message_keeps_the_whole_batch_out(owner):
    owner.open("sessions", "s")
    both = [*batch(content="good")["messages"], *batch(content="x" * 25_001)["messages"]]
    assert owner.code("POST", "/sessions/s/messages", {"messages": both}) == (422, "invalid_input")
    assert (owner.messages("s"), owner.members("s")) == ([], [])


def test_a_nul_is_taken_out_of_what_is_said(owner):
    raw = (
        b'{"messages": [{"peer_id": "alice", "content": "a\\u0000b", "metadata": {"k\\u0000": "v\\u0000"}}]}'
    )
    more = {"content": raw, "headers": {"content-type": "application/json"}}
    [said] = owner.told("POST", "/sessions/s/messages", **more)
    assert (said["content"], said["metadata"]) == ("ab", {"k": "v"})
