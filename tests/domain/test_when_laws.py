"""Laws of the times a text speaks of: they hold for every text and every moment."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth import keeps_to_length
from pace import examples
from souvenance.language.characters import small_words
from souvenance.language.times import may_tell, spans

DAY = 86_400_000
WEEK = 7 * DAY
NOON = 1_778_673_600_000
"""2026-05-13T12:00:00Z, a Wednesday."""
steady = settings(deadline=None, derandomize=True)

moments = st.integers(-(10**16), 10**16)
near = st.integers(0, 4_102_444_800_000)
offsets = st.integers(-840, 840)
days = st.dates(date(1950, 1, 1), date(2090, 12, 31))
VOCABULARY = """
the a in on at of since before after between and to from until by last next this past coming every early
mid- late end first second half few couple three 2 7 12 16th 31 2023 1999 90s 5/7 2023-05-07 07.05.2023 May
may March June Feb Friday Sat Sunday weekend week weeks month months year years day days hour night morning
summer fall Christmas Easter New Year's Eve ago back now today tomorrow yesterday recently I will went going
gestern morgen vor Wochen hier semaine dernière hace mañana que viene Q3 , . ? - – '
"""
words = st.sampled_from([*VOCABULARY.split(), "\n"])
phrases = st.lists(words, max_size=14).map(" ".join)
texts = st.one_of(phrases, st.text(max_size=60), st.text("0123456789/.-: adefjlmnorstuvy", max_size=40))


@steady
@given(texts, moments, offsets)
def test_no_text_and_no_moment_is_too_odd(text, at, offset):
    found = spans(text, at, offset)
    assert all(span.start_ms < span.end_ms for span in found)
    assert all(0 < span.certainty <= 1 for span in found)


@steady
@given(texts, near)
def test_no_text_that_speaks_of_a_time_is_taken_for_one_that_does_not(text, at):
    told = bool(spans(text, at))
    assert may_tell(text, small_words(text)) >= told
    assert may_tell(text, None) >= told


@settings(steady, max_examples=examples(400))
@given(phrases, near)
def test_spans_come_in_the_order_of_the_text_and_do_not_share_words(text, at):
    reached = 0
    for span in spans(text, at):
        assert span.position >= reached
        assert span.phrase
        assert text[span.position :].startswith(span.phrase)
        reached = span.position + len(span.phrase)


@pytest.mark.parametrize(
    "text",
    [
        "on Friday",
        "last Tuesday",
        "next Monday morning",
        "this weekend",
        "next weekend",
        "last week",
        "Sunday of next week",
        "yesterday",
        "in three days",
        "two weeks ago",
        "from Friday to Monday",
        "since Monday",
        "by Friday",
    ],
)
@settings(steady, max_examples=20)
@given(near, st.integers(-500, 500))
def test_a_phrase_of_days_and_weeks_moves_by_whole_weeks_with_when_it_is_said(text, at, weeks):
    [here], [there] = spans(text, at), spans(text, at + weeks * WEEK)
    assert there.start_ms - here.start_ms == there.end_ms - here.end_ms == weeks * WEEK


FORMATS = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d %B %Y",
    "%d %b %Y",
    "%d %B, %Y",
    "%dth of %B %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%B %d %Y",
    "%A, %d %B %Y",
    "%A, %B %d, %Y",
    "%a %d %b %Y",
]


@pytest.mark.parametrize("form", FORMATS)
@settings(steady, max_examples=40)
@given(days, near)
def test_a_date_in_full_is_that_day_whenever_it_is_said(form, day, at):
    [span] = spans(f"It was {day.strftime(form)}, I think", at)
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert span.start_ms == int(midnight.timestamp()) * 1000
    assert span.end_ms - span.start_ms == DAY
    assert span.certainty >= 0.9


@steady
@given(days, near)
def test_slashes_have_the_month_first_unless_that_is_no_date(day, at):
    [american] = spans(f"{day.month}/{day.day}/{day.year}", at)
    [european] = spans(f"{day.day}/{day.month}/{day.year}", at)
    assert american.start_ms == int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000
    assert (european.start_ms == american.start_ms) == (day.day > 12 or day.day == day.month)


@steady
@given(days, st.integers(-150, 150))
def test_a_weekday_and_a_date_find_their_year_from_five_months_away(day, away):
    said = datetime(day.year, day.month, day.day, 12, tzinfo=UTC) + timedelta(days=away)
    [span] = spans(day.strftime("%A, %d %B"), int(said.timestamp()) * 1000)
    assert span.start_ms == int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


@steady
@given(near, offsets)
def test_the_speakers_day_is_a_day_long_and_holds_the_moment(at, offset):
    [span] = spans("today", at, offset)
    assert span.start_ms <= at < span.end_ms
    assert span.end_ms - span.start_ms == DAY


def test_only_the_start_of_a_very_long_text_is_read():
    assert len(spans("yesterday " * 5000, NOON)) == 800


@pytest.mark.parametrize(
    "part",
    [
        "which first ",
        "when ",
        "may 5-",
        "on friday ",
        "after the ",
        "1/",
        "a year and a half ",
        "last ",
        "mid-",
    ],
)
def test_the_time_it_takes_grows_with_the_text_alone(part):
    assert keeps_to_length(partial(spans, at=NOON), part, short=800, times=10)
