"""Runs of characters are those that a regular expression finds, in whatever script."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.language.characters import Runs

steady = settings(deadline=None, derandomize=True)
SORTS = [r"\w", r"\d", r"[^\W\d_]", "[ab]"]
texts = st.one_of(st.text(), st.text(st.characters(max_codepoint=127)), st.text("ab_7 '\t\x1c\x85\u2028é٣½"))


@pytest.mark.parametrize("sort", SORTS)
@steady
@given(text=texts)
def test_the_runs_are_those_of_the_regular_expression(sort, text):
    assert Runs(sort).of(text) == re.findall(f"{sort}+", text)


def test_runs_come_in_their_order_and_as_often_as_they_are_there():
    assert Runs(r"\w").of("one two, one_two-3 one") == ["one", "two", "one_two", "3", "one"]
    assert Runs(r"\d").of("no number") == []
