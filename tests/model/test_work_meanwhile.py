"""What happens to a piece of work while a model thinks about it: its lease ends, or its peer is renamed."""

from __future__ import annotations

import threading

from model.brain import honest
from processes import PATIENCE_SECONDS
from souvenance.gate.worker import MODEL_LEASE_MS

SAID = "I live in Lisbon."


def known(owner, **ends):
    return [(one["content"], one["times_derived"]) for one in owner.conclusions(**ends)]


def during(endpoint, then):
    """Let something happen while the model thinks the first time; each reply is honest."""
    waiting = [then]

    def reply(asked):
        if waiting:
            waiting.pop()()
        return honest(asked)

    endpoint.plays(reply)


def lives(name):
    return f"{name} lives in Lisbon"


def test_a_worker_that_thinks_longer_than_its_lease_writes_nothing_any_more(stage, owner, endpoint):
    def another_does_it():
        stage.clock.advance(ms=MODEL_LEASE_MS)
        stage.rest(stage.another_worker())

    during(endpoint, another_does_it)
    owner.say("s", SAID)
    stage.rest()
    assert len(endpoint.asked) == 2
    assert known(owner) == [(lives("alice"), 1)]
    assert stage.outcomes().count(("work.derive", "ok")) == 1
    assert owner.queue()["completed_work_units"] == 1
    assert stage.complaints == []


def test_what_another_worker_has_taken_over_is_left_to_it(stage, owner, endpoint):
    taken, goes_on = threading.Event(), threading.Event()
    other = threading.Thread(target=stage.another_worker().work_once)

    def wait(asked):
        taken.set()
        assert goes_on.wait(PATIENCE_SECONDS)
        return honest(asked)

    def another_takes_it(asked):
        stage.clock.advance(ms=MODEL_LEASE_MS)
        endpoint.plays(wait)
        other.start()
        assert taken.wait(PATIENCE_SECONDS)
        return honest(asked)

    endpoint.plays(another_takes_it)
    owner.say("s", SAID)
    stage.worker.work_once()
    assert known(owner) == []
    with stage.world.store.read() as tx:
        [tally] = tx.work.tallies("w", ("derive",), stage.clock.ms)
    assert tally.claimed == 1
    goes_on.set()
    other.join()
    assert known(owner) == [(lives("alice"), 1)]
    assert stage.outcomes().count(("work.derive", "ok")) == 1


def test_a_session_is_summed_up_once_though_two_workers_thought_about_it(stage, owner, endpoint):
    owner.told("PUT", "", {"configuration": {"summary": {"messages_per_short_summary": 10}}})
    endpoint.plays(honest)
    owner.say("s", *(f"We sew quilts, number {number}." for number in range(10)))
    stage.worker.work_once()
    asked = len(endpoint.asked)

    def another_does_it():
        stage.clock.advance(ms=MODEL_LEASE_MS)
        stage.rest(stage.another_worker())

    during(endpoint, another_does_it)
    stage.rest()
    assert len(endpoint.asked) == asked + 2
    assert stage.outcomes().count(("work.summarise", "ok")) == 1
    assert owner.summaries("s")[0] is not None


def test_what_is_derived_while_its_peer_is_renamed_is_known_of_the_new_name(stage, owner, endpoint):
    owner.open("sessions", "s", peers={"alice": {}, "bot": {"observe_others": True}})

    def rename():
        assert owner.told("POST", "/peers/alice/rename", {"name": "ann"})["after"] is None

    during(endpoint, rename)
    owner.say("s", SAID)
    stage.rest()
    for observer in ("ann", "bot"):
        assert known(owner, observer_id=observer, observed_id="ann") == [(lives("ann"), 1)]
    assert known(owner, observed_id="alice") == []
    assert {one["id"] for one in owner.told("POST", "/peers/list", {})["items"]} == {"ann", "bot"}
    assert owner.queue()["pending_work_units"] == 0
