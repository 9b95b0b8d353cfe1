"""A key of a session speaks as who is in it, however it was made narrower, and lets nobody in."""

from __future__ import annotations

import pytest

from conversation.world import staged
from souvenance.gate import messages as m
from souvenance.gate import operations as o

REFUSED = (401, "cap_scope_mismatch")
BERLIN = "I moved to Berlin"


@pytest.fixture
def stage(tmp_path):
    """Bob lives in Paris and is not in the session 's', where alice is."""
    with staged(tmp_path) as stage:
        stage.owner.say("home", "I live in Paris", peer="bob")
        stage.owner.say("s", "I like tea")
        stage.rest()
        assert stage.owner.card("bob") == ["Home: Paris"]
        yield stage


def said(peer, text=BERLIN):
    return {"messages": [{"peer_id": peer, "content": text}]}


def session_key(stage):
    return stage.key(session_id="s")


def minted(stage):
    """Not by the Honcho door: a token of the session with the right to mint, and what that mints for bob."""
    wide = stage.world.call(
        o.MINT,
        stage.world.operator(),
        m.Mint("hub", ("put", "get", "list", "grant"), ("*",), wid="w", peers=("*",), sessions=("s",)),
    )
    return stage.world.call(o.MINT, wide.cap, m.Mint("bob", ("put", "list"), ("*",), sessions=("s",))).cap


def narrowed(stage):
    return stage.world.call(o.ATTENUATE, session_key(stage), m.Attenuate(sub="bob", peers=("bob",))).cap


KEYS = [session_key, minted, narrowed]


@pytest.mark.parametrize("made", KEYS)
def test_it_says_nothing_in_the_name_of_who_is_not_in_the_session(stage, made):
    key, before = stage.speaker(made(stage)), stage.owner.card("bob")
    upload = {"files": {"file": ("a.txt", BERLIN.encode(), "text/plain")}, "data": {"peer_id": "bob"}}
    mixed = {"messages": [*said("alice", "hello")["messages"], *said("bob")["messages"]]}
    refused = key.ask("POST", "/sessions/s/messages", said("bob"))
    assert (refused.status_code, refused.json()["error"]) == REFUSED
    assert key.code("POST", "/sessions/s/messages", mixed) == REFUSED
    assert key.code("POST", "/sessions/s/messages/upload", **upload) == REFUSED
    stage.rest()
    assert stage.owner.texts("s") == ["I like tea"]
    assert stage.owner.card("bob") == before


@pytest.mark.parametrize("made", KEYS)
def test_it_lets_nobody_in(stage, made):
    key = stage.speaker(made(stage))
    for method, path, body in (
        ("POST", "/sessions/s/peers", {"bob": {}}),
        ("PUT", "/sessions/s/peers", {"alice": {}, "bob": {}}),
        ("POST", "/sessions", {"id": "s", "peers": {"bob": {}}}),
        ("PUT", "/sessions/s/peers/bob/config", {"observe_me": True}),
    ):
        assert key.code(method, path, body) == REFUSED, (method, path)
    assert stage.owner.members("s") == ["alice"]


def test_the_refusal_says_what_to_do(stage):
    refused = stage.speaker(session_key(stage)).ask("POST", "/sessions/s/messages", said("bob"))
    assert refused.json()["hint"] == "Let the peer into the session with a token of the workspace first."


def test_it_speaks_for_who_is_in_the_session_for_as_long_as_they_are(stage):
    key = stage.speaker(session_key(stage))
    stage.owner.told("POST", "/sessions/s/peers", {"bob": {}})
    assert key.code("POST", "/sessions/s/messages", said("bob", "hello")) == 201
    assert key.code("POST", "/sessions/s/messages", said("alice", "hi")) == 201
    stage.owner.told("DELETE", "/sessions/s/peers", ["bob"])
    assert key.code("POST", "/sessions/s/messages", said("bob")) == REFUSED


def test_it_makes_its_session_and_lets_nobody_into_that_either(stage):
    key = stage.speaker(stage.key(session_id="new"))
    assert key.code("POST", "/sessions/new/messages", said("bob")) == REFUSED
    assert key.code("POST", "/sessions", {"id": "new", "peers": {"bob": {}}}) == REFUSED
    assert key.code("POST", "/sessions", {"id": "new"}) == 201
    assert key.code("POST", "/sessions/new/messages", said("bob")) == REFUSED


def test_what_a_member_says_of_others_is_on_no_card(stage):
    """What alice says is concluded of alice alone, and of that only what she says of herself."""
    stage.owner.told("POST", "/sessions/s/peers", {"bob": {"observe_others": True}})
    stage.owner.told("PUT", "/sessions/s/peers/alice/config", {"observe_others": True})
    before = stage.owner.card("bob")
    key = stage.speaker(session_key(stage))
    key.say("s", "Bob moved to Berlin.", "Bob lives in Oslo.", "I live in Rome.", peer="alice")
    stage.rest()
    assert stage.owner.card("bob") == before
    assert not stage.owner.card("alice", target="bob")
    for view in ({}, {"target": "bob"}):
        of_bob = stage.owner.representation("alice" if view else "bob", **view)
        assert not any(place in of_bob for place in ("Berlin", "Oslo", "Rome"))
    assert stage.owner.card("alice") == stage.owner.card("bob", target="alice") == ["Home: Rome"]
    concluded = stage.owner.told("POST", "/conclusions/list", {}, params={"size": 100})["items"]
    assert {one["content"] for one in concluded if one["observed_id"] == "alice"} == {
        "I like tea",
        "I live in Rome.",
    }


@pytest.mark.parametrize("peer", ["alice", "bob"])
def test_it_writes_no_card_and_states_nothing(stage, peer):
    key = stage.speaker(session_key(stage))
    stated = {"content": "lives in Berlin", "observer_id": "alice", "observed_id": peer, "session_id": "s"}
    assert key.code("PUT", f"/peers/{peer}/card", {"peer_card": ["City: Berlin"]}) == REFUSED
    assert key.code("POST", "/conclusions", {"conclusions": [stated]}) == REFUSED


def test_a_token_of_named_peers_in_a_session_speaks_for_them_before_they_are_in(stage):
    key = stage.speaker(stage.key(peer_id="bob", session_id="s"))
    assert key.code("POST", "/sessions/s/messages", said("bob", "hello")) == 201
