"""What the queue says is true: before, during and after the work, for all and for some."""

from __future__ import annotations

import pytest

from conversation.world import Counting, staged
from souvenance.gate.worker import LEASE_MS


class Killed(BaseException):
    """The end of a worker's process in the middle of its work."""


def killing(text):
    raise Killed


def counts(status):
    names = ("total", "completed", "in_progress", "pending")
    return tuple(status[f"{name}_work_units"] for name in names)


def test_an_idle_workspace_has_no_work(owner):
    owner.open("peers", "alice")
    assert owner.queue() == {
        "total_work_units": 0,
        "completed_work_units": 0,
        "in_progress_work_units": 0,
        "pending_work_units": 0,
        "sessions": None,
    }


def test_work_waits_is_under_way_and_is_done():
    with staged(tokenizer=Counting()) as stage:
        owner = stage.owner
        owner.say("s", "My name is Ann.", "I live in Oslo.", ("bob", "I have a dog called Rex."))
        assert counts(owner.queue()) == (3, 0, 0, 3)
        stage.tokenizer.on_count = killing
        with pytest.raises(Killed):
            stage.another_worker().work_once()
        assert counts(owner.queue()) == (3, 0, 3, 0)
        stage.tokenizer.on_count = lambda text: None
        stage.clock.advance(ms=LEASE_MS)
        stage.rest()
        assert counts(owner.queue()) == (3, 3, 0, 0)


def test_summaries_and_dreams_are_counted_too(stage, owner):
    owner.say("s", *(f"line {number}" for number in range(20)))
    assert counts(owner.queue()) == (21, 0, 0, 21)
    owner.told("POST", "/schedule_dream", {"observer": "alice", "dream_type": "omni"})
    assert counts(owner.queue()) == (22, 0, 0, 22)
    stage.rest()
    assert counts(owner.queue()) == (22, 22, 0, 0)


def test_deliveries_to_webhooks_are_not_counted(stage, owner):
    owner.told("POST", "/webhooks", {"url": "https://example.org/"})
    owner.told("GET", "/webhooks/test")
    assert counts(owner.queue()) == (0, 0, 0, 0)


def test_each_session_is_counted_for_itself(stage, owner):
    owner.say("s", "My name is Ann.", "I live in Oslo.")
    owner.say("t", "I have a dog called Rex.")
    stage.worker.work_once()
    sessions = owner.queue()["sessions"]
    by_name = {one["session_id"]: counts(one) for one in sessions.values()}
    assert by_name == {"s": (2, 2, 0, 0), "t": (1, 0, 0, 1)}


def test_one_session_s_status_has_no_list_of_sessions(stage, owner):
    owner.say("s", "My name is Ann.")
    owner.say("t", "I have a dog called Rex.", "I live in Oslo.")
    status = owner.queue(session_id="t")
    assert (counts(status), status["sessions"]) == ((2, 0, 0, 2), None)
    assert counts(owner.queue(session_id="none")) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("filters", "total"),
    [
        ({"sender_id": "alice"}, 3),
        ({"sender_id": "bob"}, 1),
        ({"sender_id": "nobody"}, 0),
        ({"observer_id": "alice"}, 3),
        ({"observer_id": "watcher"}, 3),
        ({"sender_id": "bob", "observer_id": "watcher"}, 3),
        ({"sender_id": "alice", "session_id": "t"}, 1),
    ],
    ids=str,
)
def test_work_can_be_counted_by_who_spoke_and_who_listens(owner, filters, total):
    owner.open("sessions", "s", peers={"watcher": {"observe_others": True}})
    owner.say("s", "My name is Ann.", "I live in Oslo.", ("bob", "I have a dog called Rex."))
    owner.say("t", "Food: tea")
    assert owner.queue(**filters)["total_work_units"] == total


def test_another_workspace_s_work_is_not_counted(stage, owner):
    stage.speaker(workspace="v").say("s", "My name is Ann.")
    owner.open("peers", "alice")
    assert counts(owner.queue()) == (0, 0, 0, 0)


def test_when_the_queue_says_that_all_is_done_it_is_known(stage, owner):
    for number in range(5):
        owner.say("s", f"I own {number} bikes now.")
        while counts(owner.queue())[3]:
            stage.worker.work_once()
        assert f"I own {number} bikes now." in owner.held()
