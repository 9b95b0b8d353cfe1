"""Values that name several things."""

from __future__ import annotations

import pytest

from mnemon.domain.several import rest_of, things


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("peanuts and shellfish", ["peanuts", "shellfish"]),
        ("peanuts, milk and kiwi", ["peanuts", "milk", "kiwi"]),
        ("peanuts, milk, and kiwi", ["peanuts", "milk", "kiwi"]),
        ("mac and cheese, pizza and tea", ["mac and cheese", "pizza", "tea"]),
        ("Mia and Leo (cats)", ["Mia (cats)", "Leo (cats)"]),
        ("peanuts", []),
        ("Rex (dog)", []),
        ("peanuts and other nuts", []),
    ],
)
def test_each_thing_is_named_by_itself(value, named):
    assert things(value) == named


@pytest.mark.parametrize(
    ("value", "gone", "left"),
    [
        ("peanuts and shellfish", ["shellfish"], "peanuts"),
        ("peanuts, milk and kiwi", ["milk"], "peanuts and kiwi"),
        ("a, b, c and d", ["b"], "a, c and d"),
        ("Mia and Leo (cats)", ["Leo (cats)"], "Mia (cat)"),
        ("Mia, Leo and Tom (cats)", ["Leo (cats)"], "Mia and Tom (cats)"),
        ("tea and milk", ["tea", "milk"], ""),
    ],
)
def test_what_is_left_reads_as_if_it_had_been_said(value, gone, left):
    assert rest_of(value, gone) == left
