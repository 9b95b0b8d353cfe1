"""A model reads a finished stretch of a session in one call, and nobody waits forever for that."""

from __future__ import annotations

import pytest

from model.stage import thinking_stage
from model.world import Thinker, facts

QUIET = 60


@pytest.fixture
def thinker(endpoint, tmp_path):
    return Thinker(endpoint, tmp_path, quiet_seconds=QUIET)


@pytest.fixture(autouse=True)
def nothing_new(endpoint):
    endpoint.plays(facts())


def read(asked):
    """The texts that the model was asked to read."""
    return [row["text"] for row in asked.quoted[-1]]


def test_a_live_session_is_read_once_it_is_quiet(stage, owner, endpoint):
    for number in range(8):
        owner.say("s", f"I have {number} hens.", ("bot", "Noted."))
        stage.rest()
        stage.clock.advance(seconds=QUIET - 1)
    stage.rest()
    assert endpoint.asked == []
    stage.clock.advance(seconds=1)
    stage.rest()
    [asked] = endpoint.asked
    assert len(read(asked)) == 16


def test_six_sessions_take_six_calls_live_and_in_bulk(stage, owner, endpoint):
    said = [("alice", "I have hens."), ("agent", "How many?"), ("alice", "Seven, and a goat.")]
    for session in range(6):
        for one in said:
            owner.say(f"live{session}", one)
            stage.rest()
        stage.clock.advance(seconds=QUIET)
        stage.rest()
    assert len(endpoint.asked) == 6
    for session in range(6):
        owner.say(f"bulk{session}", *said)
    stage.clock.advance(seconds=QUIET)
    stage.rest()
    assert len(endpoint.asked) == 12


def test_a_stretch_that_fills_its_share_of_the_window_is_read_at_once(stage, owner, endpoint, thinker):
    long = "We keep hens and goats and bees by the sea. " * 100
    said = []
    for number in range(20):
        owner.say("s", f"{number}. {long}")
        stage.rest()
        said.append(len(endpoint.asked))
    assert said[1] == 0
    assert said[-1] > 1
    assert max(len(read(asked)) for asked in endpoint.asked) < 10


def test_a_summary_in_between_does_not_part_a_stretch(stage, owner, endpoint):
    owner.told("PUT", "", {"configuration": {"summary": {"messages_per_short_summary": 10}}})
    for number in range(15):
        owner.say("s", f"I have {number} hens.")
    stage.clock.advance(seconds=QUIET)
    stage.rest()
    kinds = [asked.system.split()[1] for asked in endpoint.asked]
    assert kinds.count("keep") == 1


def test_what_waits_for_quiet_is_told_as_waiting_and_whoever_asks_does_not_wait_for_quiet(
    stage, owner, endpoint
):
    owner.say("s", "I have hens.")
    owner.say("t", "I have goats.")
    stage.rest()
    assert endpoint.asked == []
    assert owner.queue(session_id="s")["pending_work_units"] == 1
    stage.rest()
    assert [read(asked) for asked in endpoint.asked] == [["I have hens."]]
    assert owner.queue(session_id="s")["pending_work_units"] == 0
    assert owner.queue()["pending_work_units"] == 1
    stage.rest()
    assert len(endpoint.asked) == 2
    assert owner.queue()["pending_work_units"] == 0


def test_asking_does_not_shorten_the_rest_of_a_model_that_fails(stage, owner, endpoint):
    endpoint.plays("not json", "not json", facts())
    owner.say("s", "I have hens.")
    owner.queue()
    stage.rest()
    owner.queue()
    stage.rest()
    assert len(endpoint.asked) == 2
    stage.clock.advance(seconds=10)
    stage.rest()
    assert len(endpoint.asked) == 3


def test_a_worker_can_be_told_to_read_a_session_now(stage, owner, endpoint):
    owner.say("s", "I have hens.")
    owner.say("t", "I have bees.")
    stage.speaker(workspace="v").say("s", "I have goats.")
    stage.worker.hurry("w", "s")
    stage.rest()
    assert [read(asked) for asked in endpoint.asked] == [["I have hens."]]


def test_nothing_is_asked_about_a_peer_who_is_not_observed(stage, owner, endpoint):
    owner.open("sessions", "s", peers={"alice": {}, "bot": {"observe_me": False}})
    owner.say("s", "I am a bot and I have hens.", peer="bot")
    stage.clock.advance(seconds=QUIET)
    stage.rest()
    assert endpoint.asked == []
    owner.say("s", "I have hens.", ("bot", "And I have goats."))
    stage.clock.advance(seconds=QUIET)
    stage.rest()
    [asked] = endpoint.asked
    assert 'The people are: "alice".' in asked.system


def test_two_people_are_read_in_one_call(stage, owner, endpoint):
    owner.say("s", "I have hens.", ("bob", "I have goats."))
    stage.clock.advance(seconds=QUIET)
    stage.rest()
    [asked] = endpoint.asked
    assert 'The people are: "alice", "bob".' in asked.system
    assert read(asked) == ["I have hens.", "I have goats."]


def test_without_a_model_nothing_waits_for_quiet(tmp_path, endpoint):
    thinker = Thinker(endpoint, tmp_path, tasks=("answer",), quiet_seconds=QUIET)
    with thinking_stage(tmp_path, thinker) as stage:
        stage.owner.say("s", "I live in Lisbon.")
        stage.rest()
        assert stage.owner.queue()["pending_work_units"] == 0
