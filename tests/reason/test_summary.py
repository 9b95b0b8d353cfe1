"""A conversation in its most telling sentences."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Turn
from reason.utterances import SAID_AT

TALK = [
    ("ann", "Hey! How are you?"),
    ("bot", "Hello! I'm fine, thanks."),
    ("ann", "I live in Lisbon. Nice, isn't it?"),
    ("bot", "Lisbon has good weather in spring."),
    ("ann", "lol"),
    ("bot", "Would you like a walk along the river in spring?"),
    ("ann", "I'm visiting my aunt tomorrow. Wow!"),
    ("bot", "Have fun!"),
]


def words(text):
    return len(text.split())


def summary(*said, earlier=None, most=60, count=words):
    turns = [Turn(str(at), peer, text, SAID_AT) for at, (peer, text) in enumerate(said)]
    return Extractive().summarise(earlier, turns, most, count)


def test_facts_come_first_and_small_talk_stays_out():
    assert (
        summary(*TALK, most=14) == "ann: I live in Lisbon.\nann: I'm visiting my aunt tomorrow (2026-11-16)."
    )


def test_lines_are_attributed_and_in_the_order_of_time():
    lines = summary(*TALK).splitlines()
    assert lines[0] == "ann: I live in Lisbon."
    assert lines[-1] == "ann: I'm visiting my aunt tomorrow (2026-11-16)."
    assert all(line.startswith(("ann: ", "bot: ")) for line in lines)


def test_what_one_turn_said_stands_together():
    assert (
        summary(("ann", "I love tea. I hate rain. I have two cats."))
        == "ann: I love tea. I hate rain. I have two cats."
    )


def test_an_earlier_summary_comes_first():
    earlier = "ann: I work as a nurse."
    assert summary(*TALK, earlier=earlier).splitlines()[0] == earlier


def test_an_earlier_summary_is_condensed_where_there_is_no_room():
    earlier = "\n".join(f"ann: I bought the boat number {number} in Porto." for number in range(50))
    told = summary(*TALK, earlier=earlier, most=60)
    assert "ann: I bought the boat number 0 in Porto." in told
    assert "ann: I live in Lisbon." in told
    assert words(told) <= 60


def test_an_earlier_summary_alone_stays_as_it_is():
    assert summary(earlier="ann: one thing\nbot: another thing") == "ann: one thing\nbot: another thing"


@pytest.mark.parametrize("most", range(0, 40, 3))
def test_it_never_goes_beyond_its_tokens(most):
    assert len(summary(*TALK, earlier="ann: hello there", most=most, count=len)) <= most


def test_a_sentence_too_long_for_the_tokens_is_cut():
    assert summary(("ann", "I live in a very small house by the sea."), most=4) == "ann: I live in"


def test_small_talk_is_better_than_nothing():
    assert summary(("ann", "lol")) == "ann: lol"
    assert summary(("ann", "```\nx = 1\n```")) != ""


def test_nothing_readable_gives_nothing():
    assert summary(("ann", "\u200b"), ("bot", "...")) == ""


def test_a_long_conversation_is_shortened_to_a_part_of_it():
    said = [("ann", f"The ship number {number} carries some cargo to port.") for number in range(100)]
    assert len(summary(*said, most=1_000).splitlines()) == 40
    assert len(summary(*said, most=100_000).splitlines()) == 70


def test_a_summary_with_more_room_tells_more():
    said = [("ann", f"The ship number {number} carries some cargo to port.") for number in range(100)]
    short, long = (summary(*said, most=most).splitlines() for most in (1_000, 4_000))
    assert len(long) > len(short)
    assert set(short) < set(long)


def test_what_is_said_in_play_is_told_as_that():
    told = summary(
        ("ann", "Let's role-play: you're the customer and I'm the salesman. I'm Bob and I sell kitchens."),
        ("bot", "Good morning, how much is this oven?"),
        ("ann", "I live in Croydon, madam."),
        ("ann", "Stop. I have to sell my car tomorrow."),
        most=200,
    )
    assert told.splitlines() == [
        "ann: Let's role-play: you're the customer and I'm the salesman.",
        "ann (in play): I'm Bob and I sell kitchens.",
        "ann (in play): I live in Croydon, madam.",
        "ann: I have to sell my car tomorrow (2026-11-16).",
    ]
