"""Halves, quarters, years of two digits and decades, and what only looks like them."""

from __future__ import annotations

import pytest
from spoken import meant

HALVES = [
    ("I quit one and a half years ago", "2024-11-01/2024-11-30"),
    ("I quit a year and a half ago", "2024-11-01/2024-11-30"),
    ("I quit 1.5 years ago", "2024-11-01/2024-11-30"),
    ("I quit one and half years ago", "2024-11-01/2024-11-30"),
    ("We met two and a half months ago", "2026-02-26/2026-02-28"),
    ("I moved here three and a half weeks ago", "2026-04-18/2026-04-20"),
    ("I left two and a half years ago", "2023-11-01/2023-11-30"),
    ("it broke half a year ago", "2025-11-01/2025-11-30"),
    ("a month and a half ago I fell", "2026-03-28/2026-03-30"),
    ("1½ years ago I quit", "2024-11-01/2024-11-30"),
    ("a week and a half ago we met", "2026-05-02/2026-05-04"),
    ("vor anderthalb Jahren zog ich um", "2024-11-01/2024-11-30"),
]
SHORT_YEARS = [
    ("That was the summer of '22", "2022-06-01/2022-08-31"),
    ("We met in the summer of '22", "2022-06-01/2022-08-31"),
    ("the fall of ’21 was wet", "2021-09-01/2021-11-30"),
    ("in '22 we married", "2022-01-01/2022-12-31"),
    ("We married back in ’98", "1998-01-01/1998-12-31"),
    ("since '19 I run", "2019-01-01/2026-05-13"),
    ("in May of '22 we met", "2022-05-01/2022-05-31"),
    ("May '22 was hot", "2022-05-01/2022-05-31"),
    ("it was the summer of '69", "1969-06-01/1969-08-31"),
]
QUARTERS = [
    ("Sales fell last quarter", "2026-01-01/2026-03-31"),
    ("this quarter is busy", "2026-04-01/2026-06-30"),
    ("next quarter we hire", "2026-07-01/2026-09-30"),
    ("We ship in Q3", "2026-07-01/2026-09-30"),
    ("We shipped in Q3", "2025-07-01/2025-09-30"),
    ("Q1 2025 was slow", "2025-01-01/2025-03-31"),
    ("Q1 of 2025 was slow", "2025-01-01/2025-03-31"),
    ("We grew in 2025 Q1", "2025-01-01/2025-03-31"),
    ("the third quarter of 2024 was best", "2024-07-01/2024-09-30"),
    ("Q4 was rough", "2025-10-01/2025-12-31"),
    ("two quarters ago we hired", "2025-10-01/2025-12-31"),
    ("Q4 '24 was fine", "2024-10-01/2024-12-31"),
    ("the first quarter of last year was slow", "2025-01-01/2025-03-31"),
    ("Our Q2 goals are set", "2026-04-01/2026-06-30"),
]
DECADES = [
    ("The 90s were loud", "1990-01-01/1999-12-31"),
    ("in the '90s I skated", "1990-01-01/1999-12-31"),
    ("back in the 1990s", "1990-01-01/1999-12-31"),
    ("in the nineties I skated", "1990-01-01/1999-12-31"),
    ("the eighties were fun", "1980-01-01/1989-12-31"),
]
OTHERS = [
    ("a fortnight ago we met", "2026-04-26/2026-05-02"),
    ("the day before yesterday we met", "2026-05-11"),
    ("at the end of last month I quit", "2026-04-21/2026-04-30"),
    ("end of last month was hard", "2026-04-21/2026-04-30"),
    ("in mid-June we swam", "2025-06-11/2025-06-20"),
    ("mid-June we will swim", "2026-06-11/2026-06-20"),
    ("mid June 2024 it rained", "2024-06-11/2024-06-20"),
    ("early 2023 I moved", "2023-01-01/2023-05-02"),
    ("in early 2023 I moved", "2023-01-01/2023-05-02"),
    ("late 2023 was good", "2023-09-01/2023-12-31"),
    ("towards the end of May", "2026-05-22/2026-05-31"),
    ("two years ago today we met", "2024-05-13"),
    ("the weekend before last we camped", "2026-05-02/2026-05-03"),
    ("three Sundays ago we met", "2026-04-26"),
    ("a couple of weeks ago we met", "2026-04-19/2026-05-02"),
    ("in the last fortnight", "2026-04-29/2026-05-13"),
]


@pytest.mark.parametrize(("text", "expected"), HALVES + SHORT_YEARS + QUARTERS + DECADES + OTHERS)
def test_a_phrase_means_its_time(text, expected):
    assert meant(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Q1: What is your name?",
        "Q2. Where do you live?",
        "I drive an Audi Q3 to work",
        "my Q3 has a flat tyre",
        "a quarter of the cake",
        "in the last quarter of the game we lost",
        "the last quarter mile was hard",
        "the first quarter was tense",
        "three quarters of the people",
        "quarter past three",
        "in my thirties I moved",
        "he is in his nineties",
        "it was in the eighties all week, 85 degrees",
        "the song '99 Problems'",
        "it costs '22",
        "it came in '22 inch",
        "a 1.5 year warranty",
        "one and a half cakes",
    ],
)
def test_what_only_looks_like_such_a_time_is_none(text):
    assert meant(text) == []
