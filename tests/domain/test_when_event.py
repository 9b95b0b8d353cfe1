"""When something happened, as a line tells it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemon.domain import words
from mnemon.domain.when import ahead, happened

TUESDAY = datetime(2026, 3, 10, 12, tzinfo=UTC)


def told(line, event):
    """The first day of it, as the line has it that was said on that Tuesday."""
    span = happened(line, round(TUESDAY.timestamp() * 1000), words.asked(event))
    return None if span is None else f"{datetime.fromtimestamp(span.start_ms / 1000, UTC):%m-%d}"


@pytest.mark.parametrize(
    ("line", "event", "day"),
    [
        ("I moved to Bergen.", "the move", "03-10"),
        ("We moved to Bergen last weekend, finally!", "the move", "03-07"),
        ("I'm going to move on 20 April.", "the move", "04-20"),
        ("Lunch with Ana tomorrow. We moved to Bergen yesterday.", "the move", "03-09"),
        ("The wedding was lovely", "the wedding", "03-10"),
        ("Our move went well, I will write more soon", "the move", "03-10"),
    ],
)
def test_an_event_has_the_day_that_its_line_gives_or_was_said_on(line, event, day):
    assert told(line, event) == day


@pytest.mark.parametrize(
    "line",
    [
        "When will you move?",
        "Some day I will move to Bergen",
        "I have slept badly since the move.",
        "I had a garden before the move.",
        "I bought a boat.",
        "",
    ],
)
def test_a_line_that_asks_hopes_or_looks_back_does_not_tell_when_it_happened(line):
    assert told(line, "the move") is None


def test_a_year_tells_when_where_it_may_be_so_long():
    at, event = round(TUESDAY.timestamp() * 1000), words.asked("the move")
    line = "Ten years ago we moved to Bergen."
    assert happened(line, at, event).start_ms > at - 86_400_000
    decade = happened(line, at, event, longest=3_660 * 86_400_000)
    assert datetime.fromtimestamp(decade.middle / 1000, UTC).year == 2016


def test_a_moment_that_no_calendar_has_tells_nothing():
    assert happened("I moved today", 10**18, ["move"]) is None


@pytest.mark.parametrize(
    ("line", "plan"),
    [
        ("I'm flying to Oslo on Friday, back on Sunday.", True),
        ("dentist next Tuesday at 8:20", True),
        ("I'm going to sell the boat.", True),
        ("Am Samstag fahre ich nach Bremen.", True),
        ("Vendredi je pars à Lille.", True),
        ("金曜日に福岡へ出張します。", True),
        ("I'm flying to Oslo on Friday. We sold the boat yesterday.", False),
        ("We sold the boat.", False),
        ("My knee is killing me.", False),
        ("Saturday was lovely.", False),
        ("Ugh!", False),
    ],
)
def test_a_line_that_tells_only_of_what_is_yet_to_come_is_a_plan(line, plan):
    assert ahead(line, round(TUESDAY.timestamp() * 1000)) is plan


def test_what_was_said_at_a_moment_that_no_calendar_has_is_no_plan():
    assert not ahead("I will sell the boat.", 10**18)
