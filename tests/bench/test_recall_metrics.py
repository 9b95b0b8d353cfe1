"""The measures of retrieval, held against values worked out by hand."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_metrics import (
    all_at,
    any_at,
    by_session,
    distinct,
    frac_at,
    means,
    ndcg_at,
    reciprocal_rank,
    scores,
)

RANKED = ["a", "b", "c", "d", "e"]
IDS = st.lists(st.sampled_from("abcdefgh"), max_size=12)
GOLD = st.sets(st.sampled_from("abcdefgh"), min_size=1)


def test_any_asks_for_one_of_the_gold_and_all_for_every_one():
    assert [any_at(RANKED, {"b", "d"}, k) for k in (1, 2, 4)] == [0, 1, 1]
    assert [all_at(RANKED, {"b", "d"}, k) for k in (1, 2, 4)] == [0, 0, 1]


def test_frac_is_the_share_of_the_gold_and_not_of_the_ranking():
    assert [frac_at(RANKED, {"b", "d", "x"}, k) for k in (1, 2, 5)] == [0, 1 / 3, 2 / 3]


def test_the_reciprocal_rank_is_that_of_the_first_gold_id():
    assert reciprocal_rank(RANKED, {"c", "e"}) == 1 / 3
    assert reciprocal_rank(RANKED, {"x"}) == 0


def test_the_ideal_of_ndcg_has_all_the_gold_there_is_and_not_only_what_was_found():
    found = 1 / log2(3)
    assert ndcg_at(RANKED, {"b", "x"}, 10) == pytest.approx(found / (1 + 1 / log2(3)))
    assert ndcg_at(["b", "x"], {"b", "x"}, 10) == pytest.approx(1)


def test_the_ideal_of_ndcg_is_no_longer_than_the_cut():
    assert ndcg_at(["a"], {"a", "b", "c"}, 1) == 1


def test_an_id_that_comes_again_counts_once_and_takes_no_place():
    assert distinct(["a", "a", "b", "a", "c"]) == ["a", "b", "c"]
    assert scores("turn", ["x", "x", "a"], {"a"}, (2,), 9)["turn_all@2"] == 100


def test_sessions_are_counted_in_the_order_in_which_their_turns_come():
    session_of = {"1:1": "one", "1:2": "one", "2:1": "two"}
    assert by_session(["2:1", "1:2", "1:1"], session_of) == ["two", "one"]


def test_a_measure_is_named_after_what_it_ranks_and_its_cut():
    found = scores("session", RANKED, {"b"}, (1, 4), 6)
    assert found["session_any@1"] == 0
    assert found["session_frac@4"] == 100
    assert found["session_mrr"] == 0.5
    assert set(found) == {
        *(f"session_{name}@{k}" for name in ("any", "all", "frac") for k in (1, 4)),
        "session_mrr",
        "session_ndcg@10",
    }


def test_a_cut_that_takes_in_the_whole_corpus_measures_nothing():
    with pytest.raises(ValueError, match="all there is"):
        scores("session", RANKED, {"b"}, (5,), 5)


def test_a_question_without_gold_is_no_question():
    with pytest.raises(ValueError, match="nothing to find"):
        scores("session", RANKED, set(), (1,), 5)


def test_a_mean_is_over_questions_and_bears_the_suffix():
    assert means([{"turn_any@5": 100.0}, {"turn_any@5": 0.0}], "_cat1") == {"turn_any@5_cat1": 50.0}
    assert means([]) == {}


@given(ranking=IDS, gold=GOLD, k=st.integers(1, 8))
def test_all_is_at_most_frac_and_frac_at_most_any(ranking, gold, k):
    ranked = distinct(ranking)
    assert 0 <= all_at(ranked, gold, k) <= frac_at(ranked, gold, k) <= any_at(ranked, gold, k) <= 1


@given(ranking=IDS, gold=GOLD, k=st.integers(1, 8))
def test_a_deeper_cut_never_finds_less(ranking, gold, k):
    ranked = distinct(ranking)
    for measure in (any_at, all_at, frac_at):
        assert measure(ranked, gold, k) <= measure(ranked, gold, k + 1)


@given(ranking=IDS, gold=GOLD, k=st.integers(1, 8))
def test_ndcg_is_1_exactly_if_nothing_stands_before_the_gold(ranking, gold, k):
    ranked = distinct(ranking)
    best = min(k, len(gold))
    perfect = len(ranked) >= best and set(ranked[:best]) <= gold
    assert (ndcg_at(ranked, gold, k) == pytest.approx(1)) == perfect
