"""Days and months that lines are marked with."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from souvenance.language import signs
from souvenance.language.times import EARLIEST, LATEST, TimeSpan, spans

HOUR = 3_600_000


def at(*day):
    return int(datetime(*day, tzinfo=UTC).timestamp() * 1000)


def test_a_weekend_is_two_days_and_its_month():
    weekend = spans("this weekend", at(2026, 5, 14))
    assert signs.days(weekend, 0) == ["2026-05-16", "2026-05-17"]
    assert signs.months(weekend, 0) == ["2026-05"]
    assert signs.months(weekend, 0, long_only=True) == []


def test_a_season_is_months_and_no_days():
    summer = [TimeSpan(at(2025, 6, 1), at(2025, 9, 1))]
    assert signs.days(summer, 0) == []
    assert (
        signs.months(summer, 0)
        == signs.months(summer, 0, long_only=True)
        == ["2025-06", "2025-07", "2025-08"]
    )


def test_months_go_on_over_the_year():
    assert signs.months([TimeSpan(at(2025, 12, 20), at(2026, 1, 3))], 0) == ["2025-12", "2026-01"]


def test_days_are_those_of_the_clock_they_are_spoken_by():
    late = at(2026, 5, 14) + 23 * HOUR
    for offset, today in ((0, "2026-05-14"), (2 * HOUR, "2026-05-15"), (-24 * HOUR, "2026-05-13")):
        assert signs.days(spans("today", late, offset), offset) == [today]
        assert signs.months(spans("this month", late, offset), offset) == ["2026-05"]


def test_years_open_ends_and_guesses_are_not_marked():
    vague = [
        TimeSpan(at(2020, 1, 1), at(2023, 1, 1)),
        TimeSpan(EARLIEST, at(2023, 1, 1)),
        TimeSpan(at(2023, 1, 1), LATEST),
        TimeSpan(at(2023, 1, 1), at(2023, 1, 2), certainty=0.3),
    ]
    assert signs.days(vague, 0) == [] == signs.months(vague, 0)


def test_close_days_are_two_on_each_side():
    day = TimeSpan(at(2026, 5, 16), at(2026, 5, 17))
    assert signs.days([signs.widened(day)], 0) == [f"2026-05-{number}" for number in range(14, 19)]


@given(st.integers(at(1971, 1, 1), at(2100, 1, 1)), st.integers(1, 400 * 86_400_000))
def test_marks_are_few_ordered_and_within_the_span(start, width):
    span = [TimeSpan(start, start + width)]
    days, months = signs.days(span, 0), signs.months(span, 0)
    assert days == sorted(set(days)) and len(days) <= signs.MOST_DAYS + 1
    assert months == sorted(set(months)) and len(months) <= signs.MOST_MONTHS
    assert all(day[:7] in months for day in days)
