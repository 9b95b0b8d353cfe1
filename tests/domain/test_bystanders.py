"""Of whom a line tells, other than its speaker."""

from __future__ import annotations

import pytest

from mnemon.domain.bystanders import bystanders


@pytest.mark.parametrize(
    ("line", "who"),
    [
        ("My sister's rent was raised", "sister"),
        ("Anna's flight was pushed back", "anna"),
        ("The neighbours' son changed school", "son"),
        ("He sold it", "he"),
        ("I told Tom that it should be changed", "tom"),
        ("Priya has stopped eating meat", "priya"),
        ("Die Miete meiner Schwester wurde erhöht", "schwester"),
        ("Mi hermano cambió de trabajo", "hermano"),
        ("我妹妹搬到了北京。", "妹妹"),
        ("田中さんの会議は変更になりました。", "さん"),
    ],
)
def test_somebody_else_is_told_of(line, who):
    assert who in bystanders(line)


@pytest.mark.parametrize(
    "line",
    [
        "We moved to York",
        "The landlord raised the rent",
        "It's 18 May now, that's all",
        "At today's check-up it was fine",
        "The doctor told me to rest",
        "We had to cancel because of my mother's operation",
        "我搬到了杭州。",
        "",
    ],
)
def test_who_speaks_and_why_is_nobody_else(line):
    assert bystanders(line) == frozenset()


def test_a_line_of_any_length_is_read_at_once():
    assert bystanders("a" * 100_000 + "'s " * 100_000) == frozenset()
