"""Which turn is given what, however the host counts its turns."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.scene import configured
from souvenance.hermes.recall import RecallPace, TurnPlan, fresh

ASKED = "Where do I fly in May?"


def taken(configuration, numbers, message=ASKED):
    """What each of the turns takes, where everything that is due succeeds."""
    pace, turns = RecallPace(), []
    for number in numbers:
        turn = pace.turn(number, message, configuration)
        turns.append(turn)
        if turn.ask:
            pace = pace.with_answer(number, found=True)
    return turns


def asked(configuration, numbers):
    turns = taken(configuration, numbers)
    return [number for number, turn in zip(numbers, turns, strict=True) if turn.ask]


def test_without_settings_every_turn_takes_everything():
    assert taken(configured(), range(1, 5)) == [TurnPlan(base=True, ask=True)] * 4


@pytest.mark.parametrize("number", [0, 1, 2, 7, 5000])
def test_a_provider_that_has_just_been_made_does_everything_on_any_turn(number):
    configuration = configured(dialectic_cadence=5)
    assert taken(configuration, [number]) == [TurnPlan(base=True, ask=True)]


def test_turns_that_were_not_seen_count_too():
    assert asked(configured(dialectic_cadence=3), [2, 3, 9, 10, 12]) == [2, 9, 12]


def test_a_count_that_begins_anew_begins_anew():
    configuration = configured(dialectic_cadence=4)
    assert asked(configuration, [5, 6, 1, 2, 5]) == [5, 1, 5]


def test_on_the_first_turn_only_means_the_first_turn_of_the_conversation():
    configuration = configured(injection_frequency="first-turn")
    assert taken(configuration, [1, 2, 3]) == [
        TurnPlan(base=True, ask=True),
        TurnPlan(),
        TurnPlan(),
    ]
    assert taken(configuration, [7]) == [TurnPlan()]


def test_memory_for_tools_takes_nothing():
    assert taken(configured(recall_mode="tools"), [1, 2]) == [TurnPlan(), TurnPlan()]
    assert taken(configured(recall_mode="context"), [1])[0].base


@pytest.mark.parametrize("message", ["ok", "Thanks!", "/new", "👍"])
def test_a_nod_takes_nothing(message):
    assert RecallPace().turn(2, message, configured()) == TurnPlan()


def test_a_conversation_that_opens_with_a_greeting_is_told_whose_it_is():
    assert RecallPace().turn(1, "hello", configured()) == TurnPlan(base=True)
    assert RecallPace().turn(1, " \n", configured()) == TurnPlan()


def test_what_failed_is_due_again_on_the_next_turn():
    pace, configuration = RecallPace(), configured(dialectic_cadence=5)
    assert pace.turn(1, ASKED, configuration) == pace.turn(2, ASKED, configuration) != TurnPlan()


def test_a_memory_without_an_answer_is_asked_less_and_less_often():
    pace, turns = RecallPace(), []
    for number in range(1, 60):
        if pace.turn(number, ASKED, configured()).ask:
            turns.append(number)
            pace = pace.with_answer(number, found=False)
    gaps = [later - earlier for earlier, later in pairwise(turns)]
    assert gaps[:7] == [2, 3, 4, 5, 6, 7, 8]
    assert max(gaps) == 8
    answered = pace.with_answer(60, found=True)
    assert answered.turn(61, ASKED, configured()).ask


def test_an_answer_bears_on_the_turns_within_twice_the_cadence():
    configuration = configured(dialectic_cadence=3)
    assert [number for number in range(1, 20) if fresh(5, number, configuration)] == list(range(5, 12))


numbers = st.lists(st.integers(0, 30), max_size=20)


@given(numbers, st.integers(1, 6))
def test_two_questions_of_one_conversation_are_never_closer_than_the_cadence(seen, cadence):
    seen = sorted(set(seen))
    found = asked(configured(dialectic_cadence=cadence), seen)
    assert all(later - earlier >= cadence for earlier, later in pairwise(found))
    assert found[:1] == seen[:1]


def test_a_turn_that_comes_twice_is_looked_up_twice_but_asked_once():
    first, again = taken(configured(), [4, 4])
    assert (first.base, again.base) == (True, True)
    assert (first.ask, again.ask) == (True, False)
