"""What ends or changes something is told in its place, and that after it as what was so before."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement

NOON = 1_794_744_000_000
DAY = 86_400_000


def ask(question, *said):
    """Ask after one thing was said a day."""
    known = [Statement(text, text, NOON + at * DAY, "mira") for at, text in enumerate(said)]
    return Extractive().answer(question, known, "mira").text.split("\n")


@pytest.mark.parametrize(
    ("question", "before", "after"),
    [
        (
            "Where do I work?",
            "I work as a nurse at Shell.",
            "I quit Shell because of my back. I start at Total in May.",
        ),
        ("What car do I drive?", "I drive a blue Skoda.", "I sold the Skoda. I bought a Yaris instead."),
        (
            "When is the deadline?",
            "The deadline is June 30.",
            "The publisher moved the deadline to September 15.",
        ),
        (
            "How much lisinopril do I take?",
            "I take 10 mg of lisinopril.",
            "They raised my lisinopril to 20 mg.",
        ),
        (
            "When does the internship start?",
            "The internship starts July 3.",
            "They pushed the internship to July 17.",
        ),
    ],
)
def test_the_later_word_comes_first_whole_and_the_earlier_as_such(question, before, after):
    told = ask(question, before, after)
    assert after.rstrip(".") in told[0]
    assert told[1].startswith("Earlier: ")
    assert before.rstrip(".") in told[1]


@pytest.mark.parametrize(
    ("question", "first", "later"),
    [
        ("What car do I drive?", "I drive a blue Skoda.", "I sold the piano."),
        ("When is the deadline?", "The deadline is June 30.", "We moved the sofa to the attic."),
        ("Where do I live?", "I live in Oslo.", "I left the party in Oslo early."),
    ],
)
def test_a_change_of_something_else_changes_nothing(question, first, later):
    assert first.rstrip(".") in ask(question, first, later)[0]
    assert not any(line.startswith("Earlier: ") for line in ask(question, first, later))


def test_what_was_said_again_after_it_ended_holds():
    told = ask("What car do I drive?", "I sold the Skoda.", "I drive a blue Skoda.")
    assert "I drive a blue Skoda" in told[0]


def test_a_question_about_the_past_is_told_the_past():
    told = ask("What did I drive?", "I drove a blue Skoda.", "I sold the Skoda.")
    assert "I drove a blue Skoda" in told[0]
