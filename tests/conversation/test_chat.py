"""Chat: answered from what is known, with what the answer rests on, or with nothing."""

from __future__ import annotations

import json

import pytest

LEVELS = ("minimal", "low", "medium", "high", "max")


@pytest.fixture(autouse=True)
def furnished(stage):
    owner = stage.owner
    owner.open("sessions", "s", peers={"alice": {}, "bob": {"observe_others": True}})
    owner.say("s", "I play the bassoon", ("bob", "I play chess"))
    stage.rest()


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_quotes_what_answers_and_says_that_it_does(owner, level):
    answer = owner.ask("POST", "/peers/alice/chat", {"query": "bassoon", "reasoning_level": level})
    assert "\nalice: I play the bassoon\n" in answer.json()["content"]
    assert answer.headers["x-souvenance-reasoner"] == "quotes"


def test_where_nothing_is_known_the_answer_is_null(owner):
    assert owner.told("POST", "/peers/alice/chat", {"query": "quasars"}) == {"content": None}
    assert owner.told("POST", "/peers/nobody/chat", {"query": "bassoon"}) == {"content": None}


def test_the_evidence_names_the_lines_that_are_quoted(owner):
    asked = {"query": "bassoon", "include_evidence": True}
    evidence = owner.told("POST", "/peers/alice/chat", asked)["evidence"]
    assert [one["id"] for one in evidence["messages"]] == [one["id"] for one in owner.messages("s")]
    assert evidence["conclusions"] == []
    assert "evidence" not in owner.told("POST", "/peers/alice/chat", {"query": "bassoon"})


def test_what_was_noted_of_a_peer_answers_beside_what_was_said(owner):
    noted = owner.conclude("keeps the bassoon in the attic")
    told = owner.told("POST", "/peers/alice/chat", {"query": "bassoon", "include_evidence": True})
    assert "] keeps the bassoon in the attic" in told["content"]
    assert "alice: I play the bassoon" in told["content"]
    assert [one["id"] for one in told["evidence"]["conclusions"]] == [noted["id"]]


def test_a_higher_level_quotes_more_passages_and_more_of_what_was_said_around_them(owner):
    for number in range(12):
        owner.say(f"t{number}", "so", "well", "then", f"the oboe costs {number}", "oh", "aha", "good")
    lines = [owner.chat("oboe costs", reasoning_level=level).count("\n") for level in LEVELS]
    assert lines[0] < lines[1] == lines[2] < lines[3] < lines[4]
    assert owner.chat("oboe costs").count("session t") == 3


def events(answer):
    return [json.loads(part.removeprefix("data: ")) for part in answer.text.split("\n\n") if part]


def test_a_streamed_answer_ends_with_the_evidence(owner):
    asked = {"query": "bassoon", "stream": True, "include_evidence": True}
    answer = owner.ask("POST", "/peers/alice/chat", asked)
    assert answer.headers["content-type"].startswith("text/event-stream")
    *pieces, last = events(answer)
    assert "".join(piece["delta"]["content"] for piece in pieces) == owner.chat("bassoon")
    assert (last["done"], bool(last["evidence"]["messages"])) == (True, True)


def test_a_stream_of_nothing_still_ends(owner):
    assert events(owner.ask("POST", "/peers/alice/chat", {"query": "quasars", "stream": True})) == [
        {"done": True}
    ]


def test_a_shape_that_no_model_is_there_to_fill_is_refused_by_name(owner):
    asked = {"query": "bassoon", "response_format": {"type": "object"}}
    refused = owner.ask("POST", "/peers/alice/chat", asked)
    assert (refused.status_code, refused.json()["error"]) == (422, "unsupported")
    assert "quotations" in refused.json()["detail"]


def test_an_observer_answers_of_another_what_it_heard_and_no_more(stage, owner):
    owner.say("t", "I play the theremin")
    stage.rest()
    assert "bassoon" in owner.chat("play", "bob", target="alice")
    assert "theremin" not in owner.chat("play", "bob", target="alice")
    assert owner.chat("theremin", "bob", target="alice") is None
    assert "theremin" in owner.chat("theremin")


def test_the_whole_workspace_is_asked_about_anyone(owner):
    told = owner.told("POST", "/chat", {"query": "play"})["content"]
    assert ("bassoon" in told, "chess" in told) == (True, True)


def test_an_answer_can_be_limited_to_sessions(stage, owner):
    owner.say("t", "I play the theremin")
    stage.rest()
    told = owner.chat("play", filters={"session_id": ["t"]})
    assert ("theremin" in told, "bassoon" in told) == (True, False)


@pytest.mark.parametrize(
    "wrong",
    [{"query": ""}, {"query": "x" * 10_001}, {"query": "x", "reasoning_level": "extreme"}, {}],
    ids=lambda wrong: str(wrong)[:30],
)
def test_a_question_that_is_none_is_refused(owner, wrong):
    assert owner.code("POST", "/peers/alice/chat", wrong) == (422, "invalid_input")
