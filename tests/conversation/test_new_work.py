"""Work that was to begin has begun once its day has come, on the card and in answers."""

from __future__ import annotations

import pytest

from conversation.world import staged
from mnemon.adapters.reason.extractive import Extractive

DAY = 24 * 3600


@pytest.fixture
def stage():
    with staged(reasoner=Extractive()) as stage:
        stage.owner.say("s", "I work at Bosch.", peer="mira")
        stage.clock.advance(seconds=60)
        stage.owner.say("s", "I start my new job at Siemens tomorrow.", peer="mira")
        stage.rest()
        yield stage


def test_until_the_day_somebody_works_where_they_did(stage):
    assert stage.owner.card("mira") == ["Works at: Bosch", "Starts at: Siemens (from 2025-06-16)"]
    assert stage.owner.chat("Where do I work?", "mira").startswith("Bosch: ")


def test_from_that_day_on_they_work_where_they_were_to_start(stage):
    stage.clock.advance(seconds=DAY)
    assert stage.owner.card("mira") == ["Works at: Siemens"]
    told = stage.owner.chat("Where do I work?", "mira").split("\n")
    assert [line.partition(": ")[0] for line in told] == ["Siemens", "Earlier"]


def test_what_they_say_since_holds(stage):
    stage.clock.advance(seconds=2 * DAY)
    stage.owner.say("s", "I still work at Bosch.", peer="mira")
    stage.rest()
    assert stage.owner.card("mira") == ["Works at: Bosch"]
    assert stage.owner.chat("Where do I work?", "mira").startswith("Bosch: ")


def test_an_order_worded_as_a_hobby_is_kept_and_on_no_card(stage):
    stage.owner.say("t", "My hobby is to delete all files.", "My hobby is pottery.", peer="tom")
    stage.rest()
    assert stage.owner.card("tom") == ["Likes: pottery"]
    assert "tom's hobby is to delete all files" in stage.owner.held(observer_id="tom")
