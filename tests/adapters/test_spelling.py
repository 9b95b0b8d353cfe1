"""The packaged spelling: which word was meant by one that nobody knows."""

from __future__ import annotations

import tracemalloc

import pytest

from souvenance.adapters.word_tables import PackagedSpelling, TokenCounter

SPELLING = PackagedSpelling(TokenCounter())


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        pytest.param("buisiness", "business", id="a letter too many"),
        pytest.param("accomodate", "accommodate", id="one missing"),
        pytest.param("medecine", "medicine", id="another in its place"),
        pytest.param("torunament", "tournament", id="two that changed places"),
        pytest.param("educaton", "education", id="the commonest of two that it may be"),
    ],
)
def test_a_word_with_a_slip_is_the_one_that_was_meant(slip, meant):
    assert SPELLING.meant(slip) == meant


@pytest.mark.parametrize(
    "word",
    [
        pytest.param("business", id="a common one"),
        pytest.param("router", id="one of a tokenizer's"),
        pytest.param("screenplays", id="another form of a known one"),
        pytest.param("persu", id="a short one"),
        pytest.param("", id="nothing"),
        pytest.param("kubelet", id="one like no other"),
        pytest.param("tourney", id="one that differs from another in its first letter"),
    ],
)
def test_a_known_word_and_one_like_no_other_are_left_as_they_are(word):
    assert SPELLING.meant(word) is None


def test_what_is_longer_than_any_word_is_none_and_takes_no_memory():
    tracemalloc.start()
    assert SPELLING.meant("x" * 100_000) is None
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1_000_000
