"""A dream thinks again of what is known: it knows no more than its observer may."""

from __future__ import annotations

import pytest


def dream(owner, observer="alice", **more):
    return owner.code("POST", "/schedule_dream", {"observer": observer, "dream_type": "omni", **more})


def known(owner):
    return sorted((one["observer_id"], one["observed_id"], one["content"]) for one in owner.conclusions())


def test_a_dream_changes_nothing_where_everything_is_known(stage, owner):
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    owner.say("s", "My name is Ann.", "My name is Ann.", ("bob", "I have a dog called Rex."))
    stage.rest()
    before, card = owner.conclusions(), owner.card()
    assert dream(owner) == 204
    assert dream(owner, "bob", observed="alice") == 204
    stage.rest()
    assert sorted(map(str, owner.conclusions())) == sorted(map(str, before))
    assert owner.card() == card


def test_a_dream_makes_the_card_of_the_conclusions_that_stand(stage, owner):
    owner.open("sessions", "s", configuration={"peer_card": {"create": False}})
    owner.say("s", "My name is Ann. I live in Oslo.")
    stage.rest()
    [city] = [one for one in owner.conclusions() if "Oslo" in one["content"]]
    owner.told("DELETE", f"/conclusions/{city['id']}")
    assert owner.card() is None
    dream(owner)
    stage.rest()
    assert (owner.card(), owner.held()) == (["Name: Ann"], ["My name is Ann."])


def test_a_rebuilt_card_keeps_what_was_written_by_hand(stage, owner):
    owner.told("PUT", "/peers/alice/card", {"peer_card": ["By hand"]})
    owner.say("s", "My name is Ann.")
    stage.rest()
    dream(owner, rebuild=True)
    stage.rest()
    assert owner.card() == ["By hand", "Name: Ann"]


@pytest.mark.parametrize(
    "asked", [{"observer": "nobody"}, {"observer": "alice", "observed": "nobody"}], ids=str
)
def test_a_dream_of_nobody_is_not_found(owner, asked):
    owner.open("peers", "alice")
    assert owner.code("POST", "/schedule_dream", {"dream_type": "omni", **asked}) == (404, "not_found")


def test_a_dream_of_an_unknown_kind_or_session_is_refused(owner):
    owner.open("peers", "alice")
    assert dream(owner, dream_type="nightmare") == (422, "invalid_input")
    assert dream(owner, session_id="none") == (404, "not_found")


@pytest.mark.parametrize("level", ["workspace", "session"])
def test_where_dreams_are_switched_off_none_is_dreamt(owner, level):
    owner.say("s", "hello")
    off = {"configuration": {"dream": {"enabled": False}}}
    owner.told("PUT", "" if level == "workspace" else "/sessions/s", off)
    assert dream(owner, session_id="s") == (400, "disabled")


def test_a_dream_tells_an_observer_only_of_sessions_in_which_it_observes(stage, owner):
    owner.open("sessions", "s", peers={"bob": {"observe_others": True}})
    owner.say("s", "My name is Ann.")
    owner.say("t", "I live in Oslo.", ("bob", "hello"))
    owner.say("u", "I have a dog called Rex.")
    stage.rest()
    before = known(owner)
    dream(owner, "bob", observed="alice")
    stage.rest()
    assert known(owner) == before
    assert owner.held(observer_id="bob", observed_id="alice") == ["My name is Ann."]
    assert owner.card("bob", target="alice") == ["Name: Ann"]


OFF = {"reasoning": {"enabled": False}}


def test_a_dream_does_not_read_what_was_said_not_to_be_reasoned_about(stage, owner):
    owner.say("s", "My name is Ann.", configuration=OFF)
    owner.say("s", "I live in Oslo.")
    stage.rest()
    dream(owner)
    stage.rest()
    assert owner.held() == ["I live in Oslo."]


def test_a_dream_does_not_read_sessions_in_which_nothing_is_reasoned_about(stage, owner):
    owner.open("sessions", "s", configuration=OFF)
    owner.say("s", "My name is Ann.")
    dream(owner)
    stage.rest()
    assert owner.held() == []


@pytest.mark.parametrize("where", ["peer", "member"])
def test_nobody_dreams_of_a_peer_that_may_not_be_observed(stage, owner, where):
    if where == "peer":
        owner.open("peers", "alice", configuration={"observe_me": False})
    else:
        owner.open("sessions", "s", peers={"alice": {"observe_me": False}})
    owner.say("s", "My name is Ann.")
    dream(owner)
    stage.rest()
    assert owner.held() == []


def test_the_dream_of_a_peer_that_was_deleted_meanwhile_is_forgotten(stage, owner):
    owner.say("s", "My name is Ann.", ("bob", "I run every day."))
    stage.rest()
    dream(owner)
    owner.told("DELETE", "/peers/alice")
    stage.rest()
    assert owner.held() == ["I run every day."]
    assert stage.complaints == []
    assert owner.queue()["pending_work_units"] == 0
