"""What each reasoning level does that the one below it does not, without a model."""

from __future__ import annotations

import pytest

from conversation.world import staged
from mnemon.adapters.reason.extractive import Extractive

LEVELS = ("minimal", "low", "medium", "high", "max")
CROWD = 60
BOT = ("bot", "I have no idea.")


@pytest.fixture(scope="module")
def stage():
    """A stage on which mira has said much, a few things of it once."""
    with staged(reasoner=Extractive()) as stage:
        hear(stage, "long ago", "My sister Anna came for dinner.", "I live in Oslo.", "I play the cello.")
        hear(stage, "the lab", "Anna works at Siemens, in the lab for imaging, on the third floor.")
        hear(stage, "a party", "Guess where we spend the wedding anniversary?", BOT, "Reykjavik!")
        hear(stage, "a secret", "Guess what I named the sailing boat?", BOT, BOT, BOT, BOT, "Halcyon!")
        hear(stage, "moving", "I live in Bergen now.")
        hear(stage, "music", "Jonas tunes the piano before every concert.")
        for number in range(CROWD):
            hear(stage, f"day {number}", f"I work late on floor {number} of the tower.")
        yield stage


def hear(stage, session, *said):
    stage.clock.advance(seconds=24 * 3600)
    stage.owner.say(session.replace(" ", "-"), *said, peer="mira")
    stage.rest()


def ask(stage, question, level):
    asked = {"query": question, "reasoning_level": level, "include_evidence": True}
    return stage.owner.told("POST", "/peers/mira/chat", asked)


@pytest.mark.parametrize(
    ("question", "answer", "level"),
    [
        ("What do I play?", "cello", "minimal"),
        ("What does Jonas tune?", "piano", "low"),
        ("Where does my sister work?", "Siemens", "low"),
        ("Where do we spend the wedding anniversary?", "Reykjavik", "high"),
        ("What did I name the sailing boat?", "Halcyon", "max"),
    ],
)
def test_a_question_needs_its_level_and_has_its_answer_at_any_above(stage, question, answer, level):
    found = [answer in (ask(stage, question, one)["content"] or "") for one in LEVELS]
    needed = LEVELS.index(level)
    assert found == [False] * needed + [True] * (len(LEVELS) - needed)


def searched(told):
    first, second, *further = [call["tool_input"]["query"] for call in told["evidence"]["tool_calls"]]
    assert first == second
    return further


def test_a_search_for_what_was_found_is_told_and_minimal_and_low_make_none(stage):
    told = {level: searched(ask(stage, "Where does my sister work?", level)) for level in LEVELS}
    assert told["minimal"] == told["low"] == []
    assert told["medium"][0] == "Anna work"
    assert len(told["medium"]) <= len(told["high"]) <= len(told["max"])


def test_what_leads_to_an_answer_is_in_its_evidence(stage):
    told = ask(stage, "Where do we spend the wedding anniversary?", "high")
    said = {one["content"]: one["id"] for one in stage.owner.messages("a-party")}
    assert {one["id"] for one in told["evidence"]["messages"]} == {
        said["Guess where we spend the wedding anniversary?"],
        said["Reykjavik!"],
    }


def test_minimal_tells_the_one_best_line(stage):
    told = {level: ask(stage, "Where do I live?", level)["content"].split("\n") for level in LEVELS}
    assert len(told["minimal"]) == 1
    assert told["minimal"][0].startswith("Bergen: mira lives in Bergen now")
    assert "Earlier: mira lives in Oslo" in told["low"][1]


def test_the_parts_of_a_question_are_answered_each_and_at_max_searched_for_each(stage):
    question = "Where do I live and what does Jonas tune?"
    for level in LEVELS[1:]:
        told = ask(stage, question, level)
        assert "Bergen: mira lives in Bergen now" in told["content"]
        assert "piano" in told["content"]
        assert ("what does Jonas tune?" in searched(told)) == (level == "max")


def test_a_further_search_has_its_own_row_in_the_audit_log(stage):
    before = len(stage.outcomes())
    told = ask(stage, "Where does my sister work?", "medium")
    assert len(stage.outcomes()) - before == 1 + len(searched(told))


def test_an_observer_is_told_nothing_that_was_said_around_it_before_they_came(stage):
    owner = stage.owner
    owner.say("a-trip", "Guess where we go skiing?", peer="mira")
    owner.told("POST", "/sessions/a-trip/peers", {"bob": {"observe_others": True}})
    owner.say("a-trip", "Zermatt!", peer="mira")
    stage.rest()
    question = "Where do they go skiing?"
    assert "Zermatt" in owner.chat(question, "mira", reasoning_level="max")
    assert owner.chat(question, "bob", target="mira", reasoning_level="max") is None


def test_one_session_is_told_nothing_that_was_said_around_it_in_another(stage):
    limited = {"filters": {"session_id": ["day-1"]}, "reasoning_level": "max"}
    for question in ("Where does my sister work?", "Where do we spend the wedding anniversary?"):
        assert stage.owner.chat(question, "mira", **limited) is None
