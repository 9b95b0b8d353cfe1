"""Phrases that people use for times, and the days they mean: `times.json` has them by language."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from spoken import WEDNESDAY, at, meant

from souvenance.language.times import spans

HOUR = 3_600_000
TIMES = json.loads(Path(__file__).with_name("times.json").read_text("utf-8"))


@pytest.mark.parametrize("phrases", TIMES.values(), ids=list(TIMES))
def test_a_phrase_means_its_days(phrases):
    assert {text: meant(text) for text in phrases} == {text: days.split() for text, days in phrases.items()}


@pytest.mark.parametrize(
    "text",
    ["昨" * 100_000, "上个" * 50_000, "지난 " * 30_000, "last " * 30_000, "1 " * 50_000, "may " * 30_000],
)
def test_a_text_of_nothing_but_beginnings_is_read_to_its_end(text):
    assert isinstance(meant(text), list)


def test_the_phrase_is_given_as_it_stands_in_the_text():
    text = "So: İ moved On MAY 7TH, 2023, or since last Summer"
    found = spans(text, at(WEDNESDAY))
    assert [span.phrase for span in found] == ["MAY 7TH, 2023", "since last Summer"]
    assert all(text[span.position :].startswith(span.phrase) for span in found)


@pytest.mark.parametrize("day", range(11, 18))
def test_this_weekend_is_the_same_on_every_day_of_its_week(day):
    said = datetime(2026, 5, day, 18, 30, tzinfo=UTC)
    assert meant("where am I going this weekend?", said) == ["2026-05-16/2026-05-17"]


@pytest.mark.parametrize("day", range(4, 11))
def test_next_weekend_said_the_week_before_is_that_weekend(day):
    said = datetime(2026, 5, day, 9, tzinfo=UTC)
    assert meant("We fly to Lisbon next weekend", said) == ["2026-05-16/2026-05-17"]


@pytest.mark.parametrize("back", [0, 1, 5, 30, 90, 150])
def test_a_weekday_beside_a_date_without_a_year_finds_the_year(back):
    said = datetime(2026, 5, 15, tzinfo=UTC) - timedelta(days=back)
    assert meant("We fly to Lisbon on Saturday, 16 May", said) == ["2026-05-16"]


def test_a_day_begins_when_the_speakers_clock_says_so():
    late = datetime(2026, 5, 13, 23, 30, tzinfo=UTC)
    [span] = spans("today", at(late), offset=2 * HOUR)
    assert (span.start_ms, span.end_ms) == (
        at(datetime(2026, 5, 13, 22, tzinfo=UTC)),
        at(datetime(2026, 5, 14, 22, tzinfo=UTC)),
    )
    [span] = spans("yesterday", at(late), offset=-5 * HOUR)
    assert span.start_ms == at(datetime(2026, 5, 12, 5, tzinfo=UTC))


@pytest.mark.parametrize(
    ("surer", "vaguer"),
    [
        ("on 7 May 2023", "on 7 May"),
        ("17/5/2023", "5/7/2023"),
        ("last week", "on Friday"),
        ("on Friday", "a few days ago"),
        ("a few days ago", "recently"),
    ],
)
def test_the_less_a_phrase_settles_the_less_certain_it_is(surer, vaguer):
    [one], [other] = spans(surer, at(WEDNESDAY)), spans(vaguer, at(WEDNESDAY))
    assert one.certainty > other.certainty
