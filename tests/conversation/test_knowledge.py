"""A status says how much is known of peers."""

from __future__ import annotations

import pytest

from conversation.world import staged
from souvenance.gate import messages as m
from souvenance.gate import operations as o


@pytest.fixture
def stage(tmp_path):
    with staged(tmp_path) as stage:
        yield stage


@pytest.fixture
def owner(stage):
    """Whoever may do everything, in the workspace that a status is about."""
    return stage.speaker(workspace="default")


def known(stage, **cap):
    """What a status says of it to the holder of such a cap, or else to the installation's owner."""
    asks = stage.world.issue(**cap) if cap else stage.owner_cap
    return stage.world.call(o.STATUS, asks, m.Nothing()).conclusions


def test_where_nothing_is_known_a_status_says_so(stage):
    assert known(stage) == 0


def test_a_cap_is_told_of_what_those_know_whom_it_reaches(stage, owner):
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    owner.say("s", "I live in Lisbon.", "I run every day.")
    owner.say("t", "I work as a nurse.", peer="carol")
    stage.rest()
    assert known(stage) == 5
    assert known(stage, sub="alice") == 2
    assert known(stage, sub="carol") == 1
    assert known(stage, sub="carol", peers=["bob"]) == 3
    assert known(stage, sub="dave") == 0
    assert known(stage, sub="alice", namespaces_allowed=["travel"]) == 0
    assert known(stage, sub="alice", wid="another") == 0


def test_what_lies_in_two_namespaces_is_counted_in_each_by_itself(stage, owner):
    for session, namespace in (("s", "home"), ("t", "work")):
        owner.open("sessions", session, namespace=namespace)
        owner.say(session, "I live in Lisbon.", "I run every day.")
    stage.rest()
    assert known(stage) == 4
    assert known(stage, sub="alice", namespaces_allowed=["home"]) == 2
