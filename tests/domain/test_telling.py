"""Whether a line tells how a thing is."""

from __future__ import annotations

import pytest

from mnemon.domain import words
from mnemon.domain.telling import tells


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
