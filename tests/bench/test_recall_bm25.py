"""The baseline: a plain BM25 that ranks as its formula says."""

from __future__ import annotations

from math import log

import pytest

from recall_bm25 import Bm25, stems, words


@pytest.mark.parametrize(
    "family",
    [
        "hope hoped hoping hopes",
        "plan plans planned planning",
        "try tries tried",
        "study studies studied",
        "class classes",
        "paint paints painted painting paintings",
        "move moves moved moving movement movements",
    ],
)
def test_the_forms_of_a_word_have_one_stem(family):
    assert len(set(stems(family))) == 1


def test_a_stem_keeps_three_letters():
    assert stems("sing red bus ring") == ["sing", "red", "bus", "ring"]


def test_words_are_in_lower_case_and_without_marks():
    assert words("It's Zoë, at 9:30!") == ["it", "s", "zoë", "at", "9", "30"]


def test_only_what_shares_a_word_is_ranked():
    index = Bm25({"a": "red kite", "b": "blue boat"}, words)
    assert index.ranked("a kite?", 10) == ["a"]
    assert index.ranked("hello", 10) == []


def test_the_rarer_word_tells_more_and_the_shorter_text_comes_first():
    index = Bm25({"a": "kite day", "b": "day day", "c": "day and some more of it", "d": "night"}, words)
    assert index.ranked("kite day", 10) == ["a", "b", "c"]
    assert index.ranked("kite day", 1) == ["a"]


def test_a_score_is_what_the_formula_says():
    index = Bm25({"a": "x x y", "b": "y"}, words)
    expected = log(1 + 1.5 / 1.5) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
    assert index.scores("x") == {"a": pytest.approx(expected)}
