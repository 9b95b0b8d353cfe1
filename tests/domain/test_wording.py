"""Statements that say the same are known as such, and others are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.language.wording import gist, plain


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


@given(st.text())
def test_what_is_plain_stays_so(text):
    assert plain(plain(text)) == plain(text)
    assert isinstance(gist(text), str)
