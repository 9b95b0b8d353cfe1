"""Chat without a model tells what holds, of whom is asked about, in the words of whoever said it."""

from __future__ import annotations

import pytest

from conversation.world import staged
from mnemon.adapters.reason.extractive import Extractive


@pytest.fixture
def stage():
    """A stage whose reasoner reads English."""
    with staged(reasoner=Extractive()) as stage:
        yield stage


def hear(stage, *said, **more):
    """Have mira say one thing a day."""
    for day, text in enumerate(said):
        when = f"2026-{1 + day // 28:02}-{1 + day % 28:02}T12:00:00Z"
        stage.owner.say("s", text, peer="mira", created_at=when, **more)
    stage.rest()


@pytest.mark.parametrize(
    ("said", "question", "opening"),
    [
        (
            ("I live in Oslo.", "Actually I moved to Bergen last weekend!"),
            "Where do I live now?",
            "Bergen: mira moved to Bergen",
        ),
        (
            ("I live in Oslo.", "I don't live in Oslo anymore."),
            "Where do I live?",
            "mira does not live in Oslo anymore (2026-01-02).",
        ),
        (
            ("I work at Google.", "I quit my job at Google."),
            "Where do I work?",
            "mira quit their job at Google (2026-01-02).",
        ),
        (
            ("I'm vegetarian.", "I'm not vegetarian anymore."),
            "What is my diet?",
            "mira is not vegetarian anymore (2026-01-02).",
        ),
        (
            ("I live in Oslo.", "I live in Bergen now."),
            "Where did I live before?",
            "Earlier: mira lives in Oslo",
        ),
    ],
)
@pytest.mark.parametrize("level", ["minimal", "max"])
def test_the_answer_is_what_holds_unless_the_past_is_asked_for(stage, said, question, opening, level):
    hear(stage, *said)
    assert stage.owner.chat(question, "mira", reasoning_level=level).startswith(opening)


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("Am I allergic to shellfish?", ["mira is not allergic", "mira is allergic"]),
        ("Can I eat shellfish?", ["mira is not allergic", "mira is allergic"]),
        ("Am I allergic to peanuts?", ["mira is allergic", "mira is not allergic"]),
        ("What am I allergic to?", ["mira is allergic", "mira is not allergic"]),
        ("Do I have any allergies?", ["mira is allergic", "mira is not allergic"]),
    ],
)
def test_what_was_denied_in_part_since_is_told_with_it_and_first_where_just_that_is_asked(
    stage, question, lines
):
    hear(
        stage, "I'm allergic to peanuts and shellfish.", "Good news, I'm not allergic to shellfish after all."
    )
    told = stage.owner.chat(question, "mira").splitlines()
    assert [one[: len(opening)] for one, opening in zip(told, lines, strict=True)] == lines


def test_what_outdates_something_is_brought_along_however_much_was_said_since(stage):
    since = [f"I painted fence {number} in town {number}." for number in range(30)]
    hear(stage, "I work at Google.", "I quit my job at Google.", *since)
    told = stage.owner.chat("Who is my employer, where do I work?", "mira", reasoning_level="minimal")
    assert told.startswith("mira quit their job at Google")


def test_what_was_said_in_other_sessions_outdates_nothing_where_only_some_are_asked(stage):
    hear(stage, "I live in Oslo.")
    stage.owner.say("t", "I moved to Bergen.", peer="mira", created_at="2026-02-02T12:00:00Z")
    stage.rest()
    told = stage.owner.chat("Where do I live?", "mira", filters={"session_id": ["s"]})
    assert told == "Oslo: mira lives in Oslo (2026-01-01)."


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("My sister Anna lives in Rome.", "Where do I live?"),
        ("My brother works at Google in Berlin.", "Where do I work?"),
        ("I live in Oslo.", "Where does my mother live?"),
    ],
)
def test_what_is_known_of_somebody_else_is_no_answer(stage, said, question):
    hear(stage, said)
    assert stage.owner.chat(question, "mira") is None


def test_what_a_tool_said_is_told_as_a_quotation(stage):
    hear(stage, "The ferry to Rome leaves at nine.", metadata={"role": "tool"})
    lines = stage.owner.chat("When does the ferry to Rome leave?", "mira").splitlines()
    assert lines
    assert all(line.startswith("Quoted: “") for line in lines)


def test_chat_tells_first_what_the_search_put_before_how_it_was(stage):
    hear(stage, "The meeting is in room 12.", "They moved the meeting to room 31.")
    first, second = stage.owner.chat("Which room is the meeting in?", "mira").splitlines()
    assert "room 31" in first
    assert second.startswith("Earlier: ")
    assert "room 12" in second


def test_a_document_outdates_nothing_that_a_peer_said(stage):
    hear(stage, "My rent is 900 euros.")
    stage.owner.say(
        "s",
        "My rent went up to 980 euros.",
        peer="mira",
        created_at="2026-03-01T12:00:00Z",
        metadata={"role": "tool"},
    )
    stage.rest()
    assert "900" in stage.owner.chat("How much is my rent?", "mira").splitlines()[0]
