"""Summaries come on their cadence, stand on each other, and name the message they end with."""

from __future__ import annotations

import pytest


def talk(owner, first, last, session="s"):
    """The messages with these numbers, one by one."""
    return [owner.say(session, f"line {number}")[0] for number in range(first, last + 1)]


def test_a_short_summary_is_made_after_twenty_messages_and_none_before(stage, owner):
    talk(owner, 1, 19)
    stage.rest()
    assert owner.summaries("s") == (None, None)
    [last] = talk(owner, 20, 20)
    stage.rest()
    short, long = owner.summaries("s")
    assert long is None
    assert (short["message_id"], short["summary_type"]) == (last["id"], "honcho_chat_summary_short")
    assert short["token_count"] == stage.world.services.tokenizer.count(short["content"]) > 0
    assert short["created_at"].endswith("Z")
    assert [f"line {number}\n" in short["content"] + "\n" for number in (1, 20)] == [True, True]


def test_a_long_summary_is_made_after_sixty(stage, owner):
    said = talk(owner, 1, 60)
    stage.rest()
    short, long = owner.summaries("s")
    assert {short["message_id"], long["message_id"]} == {said[-1]["id"]}
    assert long["summary_type"] == "honcho_chat_summary_long"


def test_a_summary_stands_on_the_one_before_and_takes_its_place(stage, owner):
    talk(owner, 1, 20)
    stage.rest()
    earlier, _ = owner.summaries("s")
    said = talk(owner, 21, 40)
    stage.rest()
    later, _ = owner.summaries("s")
    assert later["content"].startswith(earlier["content"])
    assert later["message_id"] == said[-1]["id"]
    assert later["content"].count("line 7\n") == 1


@pytest.mark.parametrize("level", ["workspace", "session"])
def test_the_cadence_can_be_set(stage, owner, level):
    rhythm = {"summary": {"messages_per_short_summary": 10, "messages_per_long_summary": 20}}
    if level == "workspace":
        owner.told("PUT", "", {"configuration": rhythm})
    else:
        owner.open("sessions", "s", configuration=rhythm)
    talk(owner, 1, 10)
    stage.rest()
    assert [one is not None for one in owner.summaries("s")] == [True, False]
    talk(owner, 11, 20)
    stage.rest()
    assert [one is not None for one in owner.summaries("s")] == [True, True]


def test_the_session_s_cadence_outranks_the_workspace_s(stage, owner):
    owner.told("PUT", "", {"configuration": {"summary": {"messages_per_short_summary": 10}}})
    owner.open("sessions", "s", configuration={"summary": {"messages_per_short_summary": 15}})
    talk(owner, 1, 14)
    stage.rest()
    assert owner.summaries("s") == (None, None)
    talk(owner, 15, 15)
    stage.rest()
    assert owner.summaries("s")[0] is not None


@pytest.mark.parametrize(
    ("workspace", "session", "made"), [(False, None, 0), (True, False, 0), (False, True, 1)]
)
def test_summaries_can_be_switched_off_and_on_again_nearer(stage, owner, workspace, session, made):
    owner.told("PUT", "", {"configuration": {"summary": {"enabled": workspace}}})
    if session is not None:
        owner.open("sessions", "s", configuration={"summary": {"enabled": session}})
    talk(owner, 1, 20)
    stage.rest()
    assert sum(one is not None for one in owner.summaries("s")) == made


@pytest.mark.parametrize(
    "rhythm",
    [
        {"messages_per_short_summary": 9},
        {"messages_per_long_summary": 19},
        {"messages_per_short_summary": 60},
        {"messages_per_short_summary": 40, "messages_per_long_summary": 30},
        {"messages_per_short_summary": "often"},
    ],
    ids=str,
)
def test_a_cadence_that_makes_no_sense_is_refused(owner, rhythm):
    asked = {"configuration": {"summary": rhythm}}
    assert owner.code("PUT", "", asked) == (422, "invalid_input")
    assert owner.code("POST", "/sessions", {"id": "s", **asked}) == (422, "invalid_input")


def test_a_batch_that_passes_the_mark_is_summed_up_to_the_mark(stage, owner):
    said = owner.say("s", *(f"line {number}" for number in range(1, 51)))
    stage.rest()
    short, long = owner.summaries("s")
    assert (short["message_id"], long) == (said[39]["id"], None)
    assert "line 41" not in short["content"]


def test_a_short_summary_keeps_to_its_thousand_tokens(stage, owner):
    owner.say("s", *(f"word{number} " * 200 for number in range(20)))
    stage.rest()
    assert owner.summaries("s")[0]["token_count"] <= 1000


def test_after_a_message_is_deleted_the_next_summary_tells_nothing_of_it(stage, owner):
    said = talk(owner, 1, 20)
    stage.rest()
    owner.told("DELETE", f"/sessions/s/messages/{said[6]['id']}")
    assert owner.summaries("s") == (None, None)
    talk(owner, 21, 40)
    stage.rest()
    short, _ = owner.summaries("s")
    assert "line 7\n" not in short["content"]
    assert "line 6\n" in short["content"]


def test_after_messages_are_deleted_the_summaries_are_made_again_without_them(stage, owner):
    said = talk(owner, 1, 65)
    stage.rest()
    for at in (6, 7):
        owner.told("DELETE", f"/sessions/s/messages/{said[at]['id']}")
    assert owner.summaries("s") == (None, None)
    stage.rest()
    for one in owner.summaries("s"):
        assert one["message_id"] == said[59]["id"]
        assert "line 6\n" in one["content"]
        assert "line 7\n" not in one["content"]
        assert "line 8\n" not in one["content"]


def test_after_a_message_is_deleted_no_summary_is_made_where_they_are_switched_off(stage, owner):
    said = talk(owner, 1, 20)
    stage.rest()
    owner.told("PUT", "/sessions/s", {"configuration": {"summary": {"enabled": False}}})
    owner.told("DELETE", f"/sessions/s/messages/{said[6]['id']}")
    stage.rest()
    assert owner.summaries("s") == (None, None)


def test_summaries_of_one_session_tell_nothing_of_another_and_clones_begin_without(stage, owner):
    talk(owner, 1, 20)
    owner.say("t", *(f"other {number}" for number in range(20)))
    stage.rest()
    assert "other" not in owner.summaries("s")[0]["content"]
    made = owner.told("POST", "/sessions/s/clone")["id"]
    assert owner.code("GET", f"/sessions/{made}/summaries") == 200
    assert owner.code("GET", "/sessions/none/summaries") == (404, "not_found")


def test_who_asks_if_there_are_any_is_given_what_there_is(stage, owner):
    talk(owner, 1, 20)
    stage.rest()
    asked = owner.told("GET", "/sessions/s/summaries?if_any=true")
    assert asked == owner.told("GET", "/sessions/s/summaries")
    assert asked["short_summary"] is not None
