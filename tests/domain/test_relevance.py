"""How signals are weighed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.domain import relevance
from souvenance.language.times import EARLIEST, LATEST, TimeSpan

DAY = 86_400_000
steady = settings(deadline=None, derandomize=True)
moments = st.integers(EARLIEST, LATEST)


def test_every_signal_is_declared_once_and_says_what_it_tells():
    names = [signal.name for signal in relevance.SIGNALS]
    assert list(relevance.WEIGHTS) == names
    assert len(set(names)) == len(names)
    assert all(signal.tells for signal in relevance.SIGNALS)


def test_only_asking_length_and_what_is_told_twice_speak_against_a_line():
    against = {name for name, weight in relevance.WEIGHTS.items() if weight < 0}
    assert against == {relevance.IS_QUESTION, relevance.LONG, relevance.WORDS_AND_MEANING}
    assert {name for name, weight in relevance.WEIGHTS.items() if not weight} == {relevance.LINES_SEARCHED}


@steady
@given(st.integers(1, 10**6), st.data())
def test_a_term_tells_something_and_the_less_the_more_lines_hold_it(lines, data):
    holding = data.draw(st.integers(0, lines - 1))
    assert relevance.idf(lines, holding) > relevance.idf(lines, holding + 1) > 0
    assert relevance.idf(lines + 1, holding) >= relevance.idf(lines, holding)
    assert relevance.idf(lines + relevance.FEW, holding) > relevance.idf(lines, holding)


def test_a_term_that_the_only_line_holds_tells_about_as_much_as_one_that_it_lacks():
    assert relevance.idf(1, 1) > 0.7 * relevance.idf(1, 0)


@steady
@given(st.integers(1, 10**6), st.data())
def test_a_time_tells_the_less_the_more_lines_are_of_it_and_nothing_if_all_are(lines, data):
    in_time = data.draw(st.floats(0, lines - 1))
    assert 1 >= relevance.seldom(lines, in_time) > relevance.seldom(lines, in_time + 1) >= 0
    assert relevance.seldom(lines, 0) == 1
    assert relevance.seldom(lines, lines) == relevance.seldom(0, 0) == 0


@pytest.mark.parametrize(
    ("days", "before", "after"),
    [(0, 1.5, 2), (1, 1.5, 2), (2, 2, 3), (7, 4.5, 8), (30, 16, 31), (365, 183.5, 31)],
)
def test_a_span_has_compartment_on_both_sides(days, before, after):
    assert relevance.slack(TimeSpan(10 * DAY, (10 + days) * DAY)) == (before * DAY, after * DAY)


def test_up_to_some_months_there_is_more_compartment_afterwards():
    for days in range(60):
        before, after = relevance.slack(TimeSpan(0, days * DAY))
        assert before < after


@steady
@given(moments, moments)
def test_every_span_has_compartment_of_a_day_at_least(one, other):
    before, after = relevance.slack(TimeSpan(min(one, other), max(one, other)))
    assert before >= 1.5 * DAY
    assert 2 * DAY <= after <= 31 * DAY


def test_a_wider_span_has_no_less_compartment():
    compartment = [relevance.slack(TimeSpan(0, hours * 3_600_000)) for hours in range(0, 24 * 400, 5)]
    for (early, late), (earlier, later) in pairwise(compartment):
        assert earlier >= early
        assert later >= late


@pytest.mark.parametrize("by_meaning", [True, False])
def test_what_nothing_speaks_for_is_not_worth_showing(by_meaning):
    assert not relevance.worth_showing({}, by_meaning=by_meaning)
    assert not relevance.worth_showing({relevance.SPEAKER: 1.0}, by_meaning=by_meaning)


def test_what_is_near_in_meaning_and_holds_the_terms_is_worth_showing_and_one_of_these_is_not_enough():
    terms = dict.fromkeys((relevance.WORDS_AROUND, relevance.SIMILAR_WORDS), 0.6) | {
        relevance.LINES_SEARCHED: 5.5
    }
    near = dict.fromkeys((relevance.MEANING, relevance.MEANING_IN_SESSION), 0.5) | {
        relevance.LINES_SEARCHED: 5.5
    }
    assert relevance.worth_showing(terms | near, by_meaning=True)
    assert not relevance.worth_showing(terms, by_meaning=True)
    assert not relevance.worth_showing(near, by_meaning=True)


def test_the_best_of_many_lines_must_answer_better_to_be_worth_showing():
    signals = {relevance.SIMILAR_WORDS: 1.0, relevance.MEANING: 0.5}
    assert relevance.worth_showing(signals | {relevance.LINES_SEARCHED: 2.0}, by_meaning=True)
    assert not relevance.worth_showing(signals | {relevance.LINES_SEARCHED: 8.0}, by_meaning=True)


def test_whose_line_it_is_does_not_make_it_worth_showing():
    signals = {relevance.SIMILAR_WORDS: 0.5, relevance.MEANING: 0.4}
    assert relevance.answers(signals | {relevance.SPEAKER: 1.0}) == relevance.answers(signals)


def test_without_vectors_a_line_with_enough_of_the_terms_or_of_the_day_is_worth_showing():
    much, little = relevance.LEAST_COVERAGE, relevance.LEAST_COVERAGE - 0.001
    assert relevance.worth_showing({relevance.WORDS_AROUND: much}, by_meaning=False)
    assert not relevance.worth_showing(
        {relevance.WORDS_AROUND: little, relevance.MEANING: 1.0}, by_meaning=False
    )
    assert relevance.worth_showing({relevance.MENTIONS_DATE: 1.0}, by_meaning=False)


@pytest.mark.parametrize("by_meaning", [True, False])
def test_where_a_time_is_all_that_is_asked_by_only_what_is_of_it_is_worth_showing(by_meaning):
    near = {relevance.MEANING: 1.0, relevance.WORDS_AROUND: 1.0}
    assert not relevance.worth_showing(near, by_meaning=by_meaning, by_time=True)
    assert relevance.worth_showing({relevance.MATCHES_TIME: 1.0}, by_meaning=by_meaning, by_time=True)


@steady
@given(moments, moments)
def test_a_time_that_is_all_that_is_asked_by_has_no_more_compartment_than_any(one, other):
    span = TimeSpan(min(one, other), max(one, other))
    assert all(close < far for close, far in zip(relevance.close(span), relevance.slack(span), strict=True))
