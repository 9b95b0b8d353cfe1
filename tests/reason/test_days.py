"""Which day is meant, where it is certain."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.days import ago, dated

SUNDAY = 1_794_744_000_000
"""2026-11-15T12:00:00Z"""
DAY = 86_400_000
WEDNESDAY = SUNDAY + 3 * DAY


@pytest.mark.parametrize(
    ("text", "said_at", "past", "expected"),
    [
        ("today", SUNDAY, None, "today (2026-11-15)"),
        ("this morning", SUNDAY, None, "this morning (2026-11-15)"),
        ("tonight", SUNDAY, None, "tonight (2026-11-15)"),
        ("yesterday", SUNDAY, None, "yesterday (2026-11-14)"),
        ("last night", SUNDAY, None, "last night (2026-11-14)"),
        ("yesterday evening", SUNDAY, None, "yesterday evening (2026-11-14)"),
        ("tomorrow morning", SUNDAY, None, "tomorrow morning (2026-11-16)"),
        ("the day after tomorrow", SUNDAY, None, "the day after tomorrow (2026-11-17)"),
        ("the day before yesterday", SUNDAY, None, "the day before yesterday (2026-11-13)"),
        ("on Saturday", SUNDAY, False, "on Saturday (2026-11-21)"),
        ("on Saturday", SUNDAY, True, "on Saturday (2026-11-14)"),
        ("on Saturday", SUNDAY, None, "on Saturday"),
        ("on Sunday", SUNDAY, False, "on Sunday"),
        ("on Sundays", WEDNESDAY, True, "on Sundays"),
        ("on Monday nights", WEDNESDAY, True, "on Monday nights"),
        ("last Friday", WEDNESDAY, None, "last Friday (2026-11-13)"),
        ("last Sunday", SUNDAY, None, "last Sunday (2026-11-08)"),
        ("this Friday", WEDNESDAY, False, "this Friday (2026-11-20)"),
        ("next Monday", WEDNESDAY, False, "next Monday (2026-11-23)"),
        ("next Friday", WEDNESDAY, False, "next Friday"),
        ("last week", WEDNESDAY, None, "last week (week of 2026-11-09)"),
        ("next week", SUNDAY, None, "next week (week of 2026-11-16)"),
        ("last weekend", WEDNESDAY, None, "last weekend (weekend of 2026-11-14)"),
        ("this weekend", WEDNESDAY, None, "this weekend (weekend of 2026-11-21)"),
        ("next weekend", WEDNESDAY, None, "next weekend"),
        ("next weekend", SUNDAY, None, "next weekend (weekend of 2026-11-21)"),
        ("last month", SUNDAY, None, "last month (2026-10)"),
        ("next month", SUNDAY + 20 * DAY, None, "next month (2027-01)"),
        ("next year", SUNDAY, None, "next year (2027)"),
        ("3 days ago", SUNDAY, None, "3 days ago (2026-11-12)"),
        ("two weeks ago", SUNDAY, None, "two weeks ago (about 2026-11-01)"),
        ("a month ago", SUNDAY, None, "a month ago (2026-10)"),
        ("ten years ago", SUNDAY, None, "ten years ago (2016)"),
        ("in three days", SUNDAY, False, "in three days (2026-11-18)"),
        ("in three days", SUNDAY, True, "in three days"),
        ("in 2 months", SUNDAY, False, "in 2 months (2027-01)"),
        ("a few days ago", SUNDAY, None, "a few days ago"),
        ("in May", SUNDAY, False, "in May"),
        ("yesterday (2026-11-14)", SUNDAY, None, "yesterday (2026-11-14)"),
        ("the today show", -(10**18), None, "the today show"),
    ],
)
def test_a_day_is_named_where_only_one_can_be_meant(text, said_at, past, expected):
    assert dated(text, said_at, past) == expected


@pytest.mark.parametrize(
    ("days", "told"),
    [
        (0, "today"),
        (1, "yesterday"),
        (13, "13 days ago"),
        (28, "about 4 weeks ago"),
        (68, "about 2 months ago"),
        (800, "about 2 years ago"),
    ],
)
def test_how_long_ago_something_was_is_told_as_people_reckon(days, told):
    assert ago(SUNDAY - days * 86_400_000, SUNDAY) == told
