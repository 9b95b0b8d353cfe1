"""A dream tells exact duplicates once and makes the card anew; a second one changes nothing."""

from __future__ import annotations

import pytest

from conversation.world import staged
from souvenance.core.conversation.derive import dream
from souvenance.core.request_context import RequestContext
from souvenance.domain.policy import Scope


@pytest.fixture
def stage():
    with staged() as stage:
        yield stage


@pytest.fixture
def owner(stage):
    return stage.owner


def on(day):
    return {"created_at": f"2026-{day}T12:00:00Z"}


def ctx_on(stage, tx, workspace="w"):
    scope = Scope(workspace, "souvenance", frozenset(("default",)), None)
    return RequestContext(tx, scope, "souvenance", stage.clock.ms, stage.world.services)


def dreamt(stage, peer="alice"):
    """A whole dream of a peer's own at once, and what it changed."""
    with stage.world.store.write() as tx:
        return dream(ctx_on(stage, tx), peer, peer, "default")


def twice_in_one(stage, owner):
    """Two peers who said the same in one session, become one."""
    owner.say("s", "I live in Oslo.", ("ann", "I live in Oslo."))
    stage.rest()
    owner.told("POST", "/peers/ann/rename", {"name": "alice"})
    stage.rest()


def test_what_is_there_twice_becomes_one_with_all_its_sources(stage, owner):
    twice_in_one(stage, owner)
    assert len(owner.conclusions()) == 2
    dreamt(stage)
    [kept] = owner.conclusions()
    assert (len(kept["source_ids"]), kept["times_derived"]) == (2, 2)
    assert len(owner.card()) == 1
    for message in owner.messages("s"):
        owner.told("DELETE", f"/sessions/s/messages/{message['id']}")
    assert (owner.conclusions(), owner.card()) == ([], [])


def test_the_same_said_in_two_sessions_stays_in_both_and_is_told_once(stage, owner):
    owner.say("s", "I run every morning.")
    owner.say("t", "I run every morning!")
    stage.rest()
    dreamt(stage)
    assert len(owner.conclusions()) == 2
    owner.told("DELETE", "/sessions/s")
    assert owner.held() == ["I run every morning!"]


def test_when_a_session_is_forgotten_the_card_says_what_the_others_say(stage, owner):
    owner.say("s", "I live in Berlin.", **on("01-10"))
    owner.say("t", "I moved to Lisbon.", **on("03-10"))
    stage.rest()
    owner.told("DELETE", "/sessions/t")
    stage.rest()
    assert (owner.held(), owner.card()) == (["I live in Berlin."], ["Home: Berlin"])


def test_what_a_caller_stated_is_kept_as_it_was_stated(stage, owner):
    owner.say("s", "hello")
    owner.conclude("Ann likes tea")
    owner.conclude("Ann likes tea")
    stage.rest()
    dreamt(stage)
    assert owner.held() == ["Ann likes tea", "Ann likes tea"]


def test_a_second_dream_changes_nothing(stage, owner):
    twice_in_one(stage, owner)
    owner.say("t", "I moved to Rome.", "I have a cat.", **on("03-10"))
    stage.rest()
    dreamt(stage)
    second = dreamt(stage)
    assert (second.put, second.gone) == ([], set())
