"""Statements that say the same are known as such, and others are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.domain.corrections import corrected, correction
from mnemon.domain.wording import days, gist, plain, undated


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann likes tea", "ann  likes TEA."),
        ("Ann has a dog", "Ann has the dog!"),
        ("The dog is Ann's", "dog is Ann’s"),
        ("Ann said “hi”", 'Ann said "hi"'),
    ],
)
def test_case_spacing_marks_and_articles_make_no_difference(one, other):
    assert plain(one) == plain(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann knows C", "Ann knows C++"),
        ("Ann takes vitamin A", "Ann takes vitamin"),
        ("Ann ran 3.5 km", "Ann ran 35 km"),
        ("Ann is a nurse", "Ann is not a nurse"),
        ("Ann likes it", "Ann liked it"),
        ("Ann went (2026-05-03)", "Ann went (2026-05-10)"),
        ("Ann gave Bob a book", "Bob gave Ann a book"),
    ],
)
def test_whatever_else_differs_says_something_else(one, other):
    assert plain(one) != plain(other)
    assert gist(one) != gist(other)


def test_a_gist_is_without_fillers_and_plurals():
    assert gist("Ann really likes very old stories") == gist("ann like old story")


def test_days_are_read_and_taken_out():
    said = "Ann went hiking yesterday (2026-05-03)"
    assert (days(said), undated(said)) == (["2026-05-03"], "Ann went hiking yesterday")


@given(st.text())
def test_what_is_plain_stays_so(text):
    assert plain(plain(text)) == plain(text)
    assert isinstance(gist(text), str)


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Not Berlin, Lisbon.", ("Berlin", "Lisbon")),
        ("no, not Berlin but Lisbon", ("Berlin", "Lisbon")),
        ("Actually it's Lisbon, not Berlin!", ("Berlin", "Lisbon")),
        ("it's New York not Boston", ("Boston", "New York")),
        ("I live in Lisbon, not Berlin", None),
        ("not New York", None),
        ("Lisbon", None),
        ("", None),
    ],
)
def test_a_correction_names_what_is_wrong_and_what_is_right(text, pair):
    assert correction(text) == pair


def test_the_right_word_takes_the_place_of_the_wrong_one_alone():
    assert corrected("Ann lives in Rome", "rome", "Oslo") == "Ann lives in Oslo"
    assert corrected("Ann is a Romeo", "Rome", "Oslo") is None


@given(st.text(max_size=200))
def test_any_text_may_be_looked_at_for_a_correction(text):
    pair = correction(text)
    assert pair is None or pair[0] != pair[1]
