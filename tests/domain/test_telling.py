"""Whether a line tells how a thing is."""

from __future__ import annotations

import pytest

from mnemon.domain import telling, words
from mnemon.domain.telling import changes, states, tells


@pytest.mark.parametrize(
    ("line", "thing"),
    [
        ("My favourite band is Radiohead", "favourite band"),
        ("my dentist’s Dr Lee", "dentist"),
        ("my sister's dentist is Dr Lee", "dentist"),
        ("The wifi password is hunter2", "wifi password"),
        ("Ann's email is ann@example.com", "email"),
        ("I drive a red Volvo", "drive"),
        ("I'm vegetarian", "vegetarian"),
        ("I am not a vegetarian", "vegetarian"),
        ("I got a new phone number", "phone number"),
        ("Aurora has become my favourite band", "favourite band"),
        ("The dentist moved to Graz", "dentist"),
        ("we have no car any more", "car"),
    ],
)
def test_a_line_tells_how_a_thing_is_or_that_it_has_changed(line, thing):
    assert tells(line, words.asked(thing))


@pytest.mark.parametrize(
    ("line", "thing"),
    [
        ("I have a dentist appointment on Friday", "dentist"),
        ("Is my dentist in today, or is it Friday now?", "dentist"),
        ("My favourite band has a new album", "favourite band"),
        ("My sister is ill", "dentist"),
        ("I met my dentist in the park. I live in Graz now!", "dentist"),
        ("", "dentist"),
    ],
)
def test_a_line_that_only_speaks_of_a_thing_or_asks_does_not_tell_it(line, thing):
    assert not tells(line, words.asked(thing))


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("Choir is on Tuesdays at 19:30", {"day": {"tuesday"}, "clock": {"19:30"}}),
        ("Der Chor ist donnerstags um 20h30", {"day": {"donnerstag"}, "clock": {"20h30"}}),
        ("会議は金曜日の14時です", {"day": {"金曜"}, "clock": {"14時"}}),
        ("It's due on May 4", {"date": {"may 4"}}),
        ("She raised it to 1,600", {"number": {"1,600"}}),
        ("I weigh 84 kilos", {"number": {"84"}, "of kilo": {"84"}}),
        ("They cut it to 190k", {"of k": {"190"}}),
        ("It may be so", {}),
    ],
)
def test_days_times_and_numbers_are_values_of_one_kind_each(line, values):
    assert telling.values(line) == values


def test_a_change_is_told_of_what_its_own_sentence_names():
    assert changes("The meeting went up to room 4. Lunch was fine.", words.asked("meeting"))
    assert not changes("The meeting was fine. I moved to room 4.", words.asked("meeting"))
    assert not changes("Has the meeting moved?", words.asked("meeting"))


def test_a_line_that_only_asks_states_nothing():
    assert states("Is it so? It is.")
    assert not states("Is it so?")
    assert not states("")
