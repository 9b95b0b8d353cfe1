"""A status says how much is known of peers, and how much of it the next dream would merge."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from msgspec.structs import asdict

from conversation.world import staged
from souvenance.core.conversation.deduplicate import stock
from souvenance.core.request_context import RequestContext
from souvenance.domain.policy import Scope
from souvenance.gate import messages as m
from souvenance.gate import operations as o

NOTHING = {"conclusions": 0, "reasoned": 0, "quoted": 0, "outdated": 0, "duplicates": 0, "card_lines": 0}


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
    found = stage.world.call(o.STATUS, asks, m.Status()).knowledge
    return None if found is None else asdict(found)


def test_where_nothing_is_known_a_status_says_so(stage):
    assert known(stage) == {**NOTHING, "whole": True}


def test_a_status_says_what_the_next_dream_merges(stage, owner):
    owner.say("s", "I live in Lisbon.", ("ann", "I live in Lisbon."))
    stage.rest()
    owner.told("POST", "/peers/ann/rename", {"name": "alice"})
    assert known(stage) == {**NOTHING, "conclusions": 2, "duplicates": 1, "card_lines": 1, "whole": True}
    owner.told("POST", "/schedule_dream", {"observer": "alice", "dream_type": "omni"})
    stage.rest()
    assert known(stage) == {**NOTHING, "conclusions": 1, "card_lines": 1, "whole": True}


def test_a_status_tells_what_is_outdated_quoted_and_reasoned_from_the_rest(stage, owner):
    owner.say("s", "I live in Lisbon.", "I live in Porto now.", "I run every day.")
    stage.rest()
    ids = [one["id"] for one in owner.conclusions() if "live" in one["content"]]
    stated = {"observer_id": "alice", "observed_id": "alice"}
    further = {**stated, "content": "alice moved", "source_ids": ids}
    quoted = {**stated, "content": "alice lives in Paris", "quoted": True}
    owner.told("POST", "/conclusions", {"conclusions": [further, quoted]})
    found = known(stage)
    assert (found["conclusions"], found["reasoned"], found["quoted"]) == (5, 1, 1)
    assert found["outdated"] == 2, "what follows from what is outdated is so too"


def test_a_cap_is_told_of_what_those_know_whom_it_reaches(stage, owner):
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    owner.say("s", "I live in Lisbon.", "I run every day.")
    owner.say("t", "I work as a nurse.", peer="carol")
    stage.rest()
    assert known(stage)["conclusions"] == 5
    assert known(stage, sub="alice")["conclusions"] == 2
    assert known(stage, sub="carol")["conclusions"] == 1
    assert known(stage, sub="carol", peers=["bob"])["conclusions"] == 3
    assert known(stage, sub="dave")["conclusions"] == 0
    assert known(stage, sub="alice", namespaces_allowed=["travel"])["conclusions"] == 0
    assert known(stage, sub="alice", wid="another")["conclusions"] == 0


def test_what_lies_in_two_namespaces_is_counted_in_each_by_itself(stage, owner):
    for session, namespace in (("s", "home"), ("t", "work")):
        owner.open("sessions", session, namespace=namespace)
        owner.say(session, "I live in Lisbon.", "I run every day.")
    stage.rest()
    assert known(stage)["conclusions"] == 4
    assert known(stage)["duplicates"] == 0
    assert known(stage, sub="alice", namespaces_allowed=["home"])["conclusions"] == 2


@pytest.mark.embedded("it damages the file")
def test_a_conclusion_that_can_not_be_opened_keeps_no_status_from_being_told(stage, owner, tmp_path):
    owner.say("s", "I live in Lisbon.")
    stage.rest()
    with closing(sqlite3.connect(tmp_path / "book.db")) as raw, raw:
        raw.execute("UPDATE lines SET sealed = zeroblob(60) WHERE about = 'alice'")
    assert known(stage) is None
    assert stage.world.call(o.STATUS, stage.owner_cap, m.Status()).workspace == "default"


def test_of_more_than_are_counted_a_status_says_that_it_is_not_all(stage, owner):
    owner.say("s", "I live in Lisbon.", "I run every day.", "I work as a nurse.")
    stage.rest()
    with stage.world.store.read() as tx:
        scope = Scope("default", "souvenance", None, None)
        ctx = RequestContext(tx, scope, "souvenance", stage.clock.ms, stage.world.services)
        counted, whole = stock(ctx, most=2)
        assert (counted.conclusions, whole) == (2, False)
        counted, whole = stock(ctx, most=3)
        assert (counted.conclusions, whole) == (3, True)
