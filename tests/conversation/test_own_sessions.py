"""A token of named peers writes to sessions of its own, and tells nothing of the sessions of others."""

from __future__ import annotations

import pytest

from souvenance.domain.names import own_session

REFUSED = (401, "cap_scope_mismatch")
ALICES = own_session("project", "alice")
OPS = ["put", "get", "list", "forget"]


@pytest.fixture
def narrow(stage):
    """Whoever holds a token of alice and her agent."""
    stage.owner.say("s", "I like tea", ("bob", "So do I"))
    return stage.speaker(stage.cap(sub="alice", peers=["hermes"], ops=OPS, namespaces_allowed=["default"]))


def message(peer="alice"):
    return {"messages": [{"peer_id": peer, "content": "more"}]}


def test_a_token_of_named_peers_makes_a_session_of_its_own_and_reads_it_back(narrow):
    narrow.say(ALICES, "I live in Oslo", ("hermes", "Noted."))
    assert narrow.texts(ALICES) == ["I live in Oslo", "Noted."]
    assert narrow.members(ALICES) == ["alice", "hermes"]


def test_it_takes_back_what_was_said_there_and_deletes_the_session(narrow, owner):
    [said] = narrow.say(ALICES, "I live in Oslo")
    assert narrow.code("DELETE", f"/sessions/{ALICES}/messages/{said['id']}") == 204
    assert narrow.code("DELETE", f"/sessions/{ALICES}") == 202
    assert ALICES not in str(owner.told("POST", "/sessions/list"))


def test_any_other_session_is_refused_alike_whether_or_not_it_is_there(narrow, owner):
    """A name that it could take would be one that others are to speak in later."""
    bobs = own_session("project", "bob")
    owner.say(bobs, "I am bob", peer="bob")
    for there, missing in (("s", "none"), (bobs, own_session("none", "bob"))):
        for method, path, body in (
            ("POST", "/messages", message()),
            ("POST", "/peers", {"alice": {}}),
            ("PUT", "", {"metadata": {"a": 1}}),
            ("DELETE", "", None),
        ):
            answers = [narrow.ask(method, f"/sessions/{one}{path}", body) for one in (there, missing)]
            assert [one.status_code for one in answers] == [401, 401]
            assert answers[0].json() == answers[1].json()
    assert "none" not in str(owner.told("POST", "/sessions/list"))


def test_in_its_own_session_too_it_speaks_for_nobody_else(narrow):
    assert narrow.code("POST", f"/sessions/{ALICES}/messages", message("bob")) == REFUSED
    assert narrow.code("POST", f"/sessions/{ALICES}/peers", {"bob": {}}) == REFUSED


def test_once_somebody_else_was_there_it_neither_writes_nor_deletes(narrow, owner):
    narrow.say(ALICES, "I live in Oslo")
    owner.say(ALICES, "Hello", peer="bob")
    owner.told("DELETE", f"/sessions/{ALICES}/peers", ["bob"])
    assert narrow.code("POST", f"/sessions/{ALICES}/messages", message()) == REFUSED
    assert narrow.code("DELETE", f"/sessions/{ALICES}") == REFUSED


def test_sessions_that_a_token_of_peers_names_limit_it_here_too(stage):
    claims = {"sub": "alice", "ops": OPS, "namespaces_allowed": ["default"]}
    other = stage.speaker(stage.cap(**claims, peers=["hermes"], sessions=["t"]))
    assert other.code("POST", f"/sessions/{ALICES}/messages", message()) == REFUSED
    reader = stage.speaker(stage.cap(**{**claims, "ops": ["get"]}, peers=["hermes"]))
    assert reader.code("POST", f"/sessions/{ALICES}/messages", message()) == (401, "cap_op_mismatch")


def test_it_stays_within_its_namespaces(stage):
    claims = {"sub": "alice", "ops": OPS, "namespaces_allowed": ["travel"]}
    travel = stage.speaker(stage.cap(**claims))
    assert travel.code("POST", f"/sessions/{ALICES}/messages", message()) == (401, "namespace_denied")


def test_a_session_in_a_closed_namespace_is_refused_as_one_that_is_not_there(narrow, owner):
    there, missing = ALICES, own_session("none", "alice")
    owner.told("POST", f"/sessions/{there}/peers?namespace=work", {"alice": {}, "bob": {}})
    for method, path, body in (
        ("DELETE", "", None),
        ("DELETE", "/peers", ["alice"]),
        ("PUT", "/peers/alice/config", {"observe_me": True}),
    ):
        answers = [narrow.ask(method, f"/sessions/{one}{path}", body) for one in (there, missing)]
        assert [one.status_code for one in answers] == [404, 404]
        assert answers[0].json() == answers[1].json()
