"""Who is observed, by whom, and about what: the nearest word wins."""

from __future__ import annotations

from itertools import product

import pytest

OFF = {"reasoning": {"enabled": False}}
ON = {"reasoning": {"enabled": True}}
SAID = {None: None, True: ON, False: OFF}


@pytest.mark.parametrize(("workspace", "session", "message"), list(product((None, True, False), repeat=3)))
def test_reasoning_follows_the_message_then_the_session_then_the_workspace(
    stage, owner, workspace, session, message
):
    if workspace is not None:
        owner.told("PUT", "", {"configuration": SAID[workspace]})
    if session is not None:
        owner.open("sessions", "s", configuration=SAID[session])
    more = {} if message is None else {"configuration": SAID[message]}
    owner.say("s", "My name is Ann.", **more)
    stage.rest()
    nearest = next((one for one in (message, session, workspace) if one is not None), True)
    assert owner.held() == (["My name is Ann."] if nearest else [])
    assert owner.texts("s") == ["My name is Ann."]
    assert owner.queue()["total_work_units"] == int(nearest)


def test_within_one_batch_only_the_messages_that_may_be_are_reasoned_about(stage, owner):
    batch = [
        {"peer_id": "alice", "content": "My name is Ann."},
        {"peer_id": "alice", "content": "I live in Oslo.", "configuration": OFF},
        {"peer_id": "bob", "content": "My name is Bob.", "configuration": OFF},
        {"peer_id": "alice", "content": "I have a dog called Rex."},
    ]
    owner.told("POST", "/sessions/s/messages", {"messages": batch})
    stage.rest()
    assert owner.held() == ["I have a dog called Rex.", "My name is Ann."]
    assert owner.queue()["completed_work_units"] == 2


@pytest.mark.parametrize(("peer", "member"), list(product((None, True, False), repeat=2)))
def test_a_peer_is_observed_as_its_membership_says_and_else_as_it_says_itself(stage, owner, peer, member):
    if peer is not None:
        owner.open("peers", "alice", configuration={"observe_me": peer})
    if member is not None:
        owner.open("sessions", "s", peers={"alice": {"observe_me": member}})
    owner.say("s", "My name is Ann.")
    stage.rest()
    nearest = next((one for one in (member, peer) if one is not None), True)
    assert owner.held() == (["My name is Ann."] if nearest else [])


def test_a_membership_s_word_counts_in_its_own_session_alone(stage, owner):
    owner.open("sessions", "s", peers={"alice": {"observe_me": False}})
    owner.say("s", "My name is Ann.")
    owner.say("t", "I live in Oslo.")
    stage.rest()
    assert owner.held() == ["I live in Oslo."]


def test_who_observes_others_holds_a_copy_of_what_they_say_and_who_does_not_holds_none(stage, owner):
    owner.open(
        "sessions",
        "s",
        peers={"alice": {}, "bob": {"observe_others": True}, "carol": {"observe_others": False}, "dan": {}},
    )
    owner.say("s", "My name is Ann.", ("bob", "My name is Bob."))
    stage.rest()
    views = {(one["observer_id"], one["observed_id"]): one["content"] for one in owner.conclusions()}
    assert views == {
        ("alice", "alice"): "My name is Ann.",
        ("bob", "alice"): "My name is Ann.",
        ("bob", "bob"): "My name is Bob.",
    }
    assert owner.representation("bob", target="alice").endswith("My name is Ann.")
    there, elsewhere = (owner.representation(peer, target="alice") for peer in ("carol", "erin"))
    assert ("alice: My name is Ann." in there, elsewhere) == (True, "")
    assert (owner.card("bob", target="alice"), owner.card("bob")) == (["Name: Ann"], ["Name: Bob"])
    assert owner.card("carol", target="alice") is None


def test_who_may_not_be_observed_is_not_by_those_who_observe_others_either(stage, owner):
    peers = {"alice": {"observe_me": False}, "bob": {"observe_others": True}}
    owner.open("sessions", "s", peers=peers)
    owner.say("s", "My name is Ann.")
    stage.rest()
    assert owner.held() == []


def test_who_left_observes_no_more(stage, owner):
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    owner.told("DELETE", "/sessions/s/peers", ["bob"])
    owner.say("s", "My name is Ann.")
    stage.rest()
    assert [one["observer_id"] for one in owner.conclusions()] == ["alice"]


def test_who_comes_later_holds_nothing_of_what_was_said_before_however_late_it_is_thought_about(stage, owner):
    owner.say("s", "My name is Ann.")
    owner.told("POST", "/sessions/s/peers", {"bob": {"observe_others": True}})
    owner.say("s", "I live in Oslo.")
    stage.rest()
    assert owner.held(observer_id="bob") == ["I live in Oslo."]


def test_who_leaves_keeps_what_it_heard_however_late_it_is_thought_about(stage, owner):
    owner.open("sessions", "s", peers={"bob": {"observe_others": True}})
    owner.say("s", "My name is Ann.")
    owner.told("DELETE", "/sessions/s/peers", ["bob"])
    owner.say("s", "I live in Oslo.")
    stage.rest()
    assert owner.held(observer_id="bob") == ["My name is Ann."]


def test_who_observes_in_one_session_does_not_in_another(stage, owner):
    owner.open("sessions", "s", peers={"bob": {"observe_others": True}})
    owner.open("sessions", "t", peers={"bob": {}})
    owner.say("s", "My name is Ann.")
    owner.say("t", "I live in Oslo.")
    stage.rest()
    assert owner.held(observer_id="bob") == ["My name is Ann."]


def test_a_member_s_settings_are_read_as_they_were_set_and_changed_one_by_one(owner):
    owner.open("sessions", "s", peers={"alice": {"observe_me": False}})
    path = "/sessions/s/peers/alice/config"
    assert owner.told("GET", path) == {"observe_me": False, "observe_others": None}
    owner.told("PUT", path, {"observe_others": True})
    assert owner.told("GET", path) == {"observe_me": False, "observe_others": True}
    owner.say("s", "hello")
    assert owner.told("GET", path) == {"observe_me": False, "observe_others": True}


def test_no_more_than_ten_peers_of_a_session_observe_the_others(owner):
    watching = {f"p{number}": {"observe_others": True} for number in range(10)}
    owner.open("sessions", "s", peers=watching)
    refused = owner.ask("POST", "/sessions/s/peers", {"one-more": {"observe_others": True}})
    assert refused.status_code == 422
    assert "one-more" not in owner.members("s")
    owner.told("POST", "/sessions/s/peers", {"one-more": {}})
    assert owner.code("PUT", "/sessions/s/peers/one-more/config", {"observe_others": True})[0] == 422


@pytest.mark.parametrize(("workspace", "session"), list(product((None, True, False), repeat=2)))
def test_cards_are_made_and_used_as_the_session_says_and_else_the_workspace(stage, owner, workspace, session):
    if workspace is not None:
        owner.told("PUT", "", {"configuration": {"peer_card": {"create": workspace}}})
    if session is not None:
        owner.open("sessions", "s", configuration={"peer_card": {"create": session}})
    owner.say("s", "My name is Ann.")
    stage.rest()
    nearest = next((one for one in (session, workspace) if one is not None), True)
    assert owner.card() == (["Name: Ann"] if nearest else None)
    assert owner.held() == ["My name is Ann."]


def test_a_card_that_is_not_to_be_used_is_not_in_the_context(stage, owner):
    owner.open("sessions", "s", configuration={"peer_card": {"use": False}})
    owner.say("s", "My name is Ann.")
    owner.say("t", "hello")
    stage.rest()
    assert owner.context("s", peer_target="alice")["peer_card"] is None
    assert owner.context("t", peer_target="alice")["peer_card"] == ["Name: Ann"]


def test_what_is_derived_names_its_source_and_counts_how_often_it_was_said(stage, owner):
    first, second = owner.say("s", "My name is Ann.", "my   NAME is ANN!")
    stage.rest()
    [one] = owner.conclusions()
    assert (one["level"], one["session_id"], one["times_derived"]) == ("explicit", "s", 2)
    assert one["source_ids"] == [first["id"], second["id"]]
    assert [view["id"] for view in owner.conclusions(source_ids={"contains": first["id"]})] == [one["id"]]


def test_a_card_keeps_what_was_written_by_hand_and_follows_what_is_said(stage, owner):
    owner.told("PUT", "/peers/alice/card", {"peer_card": ["Speaks softly"]})
    owner.say("s", "I live in Oslo.")
    stage.rest()
    assert owner.card() == ["Speaks softly", "Home: Oslo"]
    stage.clock.advance(seconds=1)
    owner.say("s", "I live in Rome.")
    stage.rest()
    assert owner.card() == ["Speaks softly", "Home: Rome"]
    owner.told("PUT", "/peers/alice/card", {"peer_card": ["By hand alone"]})
    assert owner.card() == ["By hand alone"]
    owner.told("PUT", "/peers/alice/card", {"peer_card": []})
    assert owner.card() == []


def test_a_card_holds_at_most_forty_entries(stage, owner):
    owner.say("s", *(f"I have a dog called Rex{number}." for number in range(60)))
    stage.rest()
    assert len(owner.card()) == 40
