"""A rule that summarises first removes only what a model's summary covers, and keeps what it says."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from model.brain import honest
from model.stage import thinking_stage
from model.stand_in import Fails, Says
from model.world import Thinker
from souvenance.core.retention import EVERY_MS

DAYS_MS = 86_400_000
LAST = "And at last we fed hens."


@pytest.fixture
def owner(stage):
    key = stage.cap(
        ops=["put", "get", "list", "forget"],
        namespaces_allowed=["*"],
        exp=stage.world.seconds + 365 * 86_400,
    )
    return stage.speaker(key)


def talked(stage, owner, count=4):
    """A session of old messages, and a newer one."""
    owner.say("s", *(f"On day {number} we sew quilts." for number in range(count)))
    stage.rest()
    stage.clock.advance(ms=31 * DAYS_MS)
    owner.say("s", LAST)
    stage.rest()


def gist(owner):
    return owner.told("POST", "/v1/retention/set", {"name": "gist", "then": "summarise", "days": 30})


def later(stage):
    """The next time that the worker looks at the rules, and after what it asked for."""
    for _ in range(2):
        stage.clock.advance(ms=EVERY_MS)
        stage.rest()


def test_what_no_summary_covers_stays_until_one_is_made_and_the_summary_stays(stage, owner, endpoint):
    endpoint.plays(honest)
    talked(stage, owner)
    held = owner.held()
    assert owner.summaries("s") == (None, None)
    assert gist(owner)["lines"] == 4
    assert len(owner.texts("s")) == 5
    later(stage)
    assert owner.texts("s") == [LAST]
    _, summary = owner.summaries("s")
    assert "sew quilts" in summary["content"]
    assert set(held) <= set(owner.held())
    rows = [row.event for row in stage.world.rows("w") if row.event.operation == "work.retain"]
    assert [json.loads(row.detail)["rule"] for row in rows] == ["gist"]
    assert sum(len(ids) for row in rows for *_, ids in json.loads(row.detail)["gone"]) == 4


def gist_of(owner):
    """What a person is told of the session: its summary, and what a search of the conclusions finds."""
    asked = {"query": "quilts", "filters": {"observer_id": "alice"}}
    found = [one["content"] for one in owner.told("POST", "/conclusions/query", asked)]
    return owner.context("s")["summary"]["content"], found


def test_what_the_summary_tells_outlives_a_later_message_that_is_deleted(stage, owner, endpoint):
    endpoint.plays(honest)
    talked(stage, owner)
    gist(owner)
    later(stage)
    told, found = gist_of(owner)
    assert "On day 3 we sew quilts" in told and any("sew quilts" in text for text in found)
    [last] = owner.messages("s")
    owner.told("DELETE", f"/sessions/s/messages/{last['id']}")
    stage.rest()
    assert gist_of(owner) == (told, found)


def test_it_outlives_the_summaries_that_come_after_it_and_those_go_with_what_they_tell(
    stage, owner, endpoint
):
    endpoint.plays(honest)
    talked(stage, owner)
    gist(owner)
    later(stage)
    told, _ = gist_of(owner)
    owner.say("s", *(f"On night {number} we fed hens." for number in range(60)))
    stage.rest()
    assert "On night 9 we fed hens" in owner.summaries("s")[1]["content"]
    owner.told("DELETE", f"/sessions/s/messages/{owner.messages('s')[10]['id']}")
    assert owner.summaries("s")[1]["content"] == told
    stage.rest()
    _, anew = owner.summaries("s")
    assert "On night 8" in anew["content"] and "On night 9" not in anew["content"]
    assert [asked for asked in endpoint.asked[-3:] if told[:20] in asked.text]


@pytest.mark.parametrize(
    "ill", [Fails(500), Fails(401), Says(""), Says("I'm sorry, but I can't help.")], ids=str
)
def test_nothing_goes_before_its_summary_is_there(stage, owner, endpoint, ill):
    """Whatever fails: the endpoint, the key to it, or what it says."""
    endpoint.plays(lambda asked: ill if asked.system.startswith("You summarise") else honest(asked))
    talked(stage, owner)
    gist(owner)
    for _ in range(5):
        later(stage)
    assert len(owner.texts("s")) == 5
    endpoint.plays(honest)
    stage.clock.advance(ms=DAYS_MS)
    later(stage)
    assert owner.texts("s") == [LAST]
    assert "On day 0 we sew quilts" in gist_of(owner)[0]


def test_a_model_whose_summaries_are_no_use_is_asked_again_once_a_day(stage, owner, endpoint):
    endpoint.plays(lambda asked: "" if asked.system.startswith("You summarise") else honest(asked))
    talked(stage, owner)
    gist(owner)
    for _ in range(5):
        later(stage)
    asked = len(endpoint.asked)
    later(stage)
    assert len(endpoint.asked) == asked
    stage.clock.advance(ms=DAYS_MS)
    later(stage)
    assert len(endpoint.asked) > asked


def test_a_session_that_wants_no_summaries_gets_none_and_keeps_its_messages(stage, owner, endpoint):
    endpoint.plays(honest)
    owner.open("sessions", "s", configuration={"summary": {"enabled": False}})
    talked(stage, owner)
    gist(owner)
    later(stage)
    assert len(owner.texts("s")) == 5
    assert owner.summaries("s") == (None, None)


def test_without_a_model_the_rule_waits_and_says_so(stage, owner, endpoint):
    endpoint.plays(honest)
    talked(stage, owner)
    gist(owner)
    services = stage.world.services
    stage.worker._services = stage.worker._retention._services = replace(services, model=None)
    later(stage)
    assert len(owner.texts("s")) == 5
    stage.world.gate._services = replace(services, model=None)
    [rule] = owner.told("GET", "/v1/retention")["rules"]
    assert rule["waits_for"] == "no model writes summaries"


def test_a_summary_of_quotations_covers_nothing(endpoint, tmp_path):
    with thinking_stage(tmp_path, Thinker(endpoint, tmp_path)) as stage:
        owner = stage.speaker()
        endpoint.plays("")
        owner.told("PUT", "", {"configuration": {"summary": {"messages_per_short_summary": 10}}})
        talked(stage, owner, count=10)
        gist(owner)
        for _ in range(4):
            later(stage)
        assert len(owner.texts("s")) == 11


def test_statements_whose_messages_went_are_told_with_what_is_known_of_their_peer(endpoint, tmp_path):
    """Elsewhere their messages say them, and they are not looked at."""
    with thinking_stage(tmp_path, Thinker(endpoint, tmp_path, tasks=("summarise",))) as stage:
        owner = stage.speaker(
            stage.cap(
                ops=["put", "get", "list", "forget"],
                namespaces_allowed=["*"],
                exp=stage.world.seconds + 365 * 86_400,
            )
        )
        endpoint.plays(honest)
        owner.say("s", "I live in Lisbon.", *(f"On day {number} we sew quilts." for number in range(3)))
        stage.rest()
        stage.clock.advance(ms=31 * DAYS_MS)
        owner.say("s", LAST)
        stage.rest()
        asked = {"search_query": "Lisbon"}
        before = owner.told("POST", "/peers/alice/representation", asked)["representation"]
        assert "I live in Lisbon" in before and "Explicit" not in before
        gist(owner)
        later(stage)
        assert owner.texts("s") == [LAST]
        after = owner.told("POST", "/peers/alice/representation", asked)["representation"]
        assert "I live in Lisbon" in after and "Explicit" in after
