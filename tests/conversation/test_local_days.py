"""A day is one of where people live: late in the evening there it is tomorrow in UTC, and not for them."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest

from conversation.world import staged
from souvenance.adapters.system_clock import WallClock

WEST = WallClock(timezone(timedelta(hours=-7)))
LATE_ON_THE_14TH = "2026-05-15T05:30:00Z"
DENTIST = "I have a dentist appointment tomorrow"


@pytest.fixture
def stage():
    with staged(zone=WEST) as stage:
        yield stage


@pytest.fixture
def owner(stage):
    return stage.owner


def test_what_is_known_is_dated_by_the_same_clock(stage, owner):
    owner.say("chat", DENTIST, created_at=LATE_ON_THE_14TH)
    stage.rest()
    assert "[2026-05-14 22:30:00]" in owner.representation()
    assert "2026-05-14" in owner.chat("what appointment do I have?")


def test_a_message_keeps_the_moment_that_it_was_sent_with(stage, owner):
    owner.say("chat", DENTIST, created_at=LATE_ON_THE_14TH)
    stage.rest()
    assert [one["created_at"] for one in owner.messages("chat")] == [LATE_ON_THE_14TH]


@pytest.mark.parametrize(
    ("asked", "first"), [("what is on 15 May 2026?", DENTIST), ("what is on 16 May 2026?", "dinner tomorrow")]
)
def test_a_line_is_found_by_the_day_that_its_speaker_meant(owner, asked, first):
    owner.say("chat", "we have dinner tomorrow", created_at="2026-05-16T05:30:00Z")
    owner.say("other", DENTIST, created_at=LATE_ON_THE_14TH)
    assert first in owner.search("", asked, limit=1)[0]


def test_a_summary_names_that_day(stage, owner):
    for number in range(20):
        owner.say("chat", f"{DENTIST} at {number} o'clock", created_at=LATE_ON_THE_14TH)
    stage.rest()
    summary, _ = owner.summaries("chat")
    assert {line[:12] for line in summary["content"].splitlines()} == {"[2026-05-14]"}
