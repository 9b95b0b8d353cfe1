"""Whether a line tells how a thing is."""

from __future__ import annotations

import pytest

from mnemon.domain import words
from mnemon.domain.telling import changes, given_up, states, tells


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
    ("line", "gone"),
    [
        ("I sold the Skoda and drive a Kia now", "skoda"),
        ("I quit Google, I'm with Fern now", "google"),
        ("We gave Momo away", "momo"),
        ("I dropped Vim, VS Code instead", "vim"),
        ("We no longer deploy on Fridays, Tuesdays only", "friday"),
        ("We migrated from Heroku to Hetzner", "heroku"),
        ("I replaced the Pixel 6 with another", "pixel"),
    ],
)
def test_a_line_says_what_is_had_used_or_done_no_longer(line, gone):
    assert words.terms(gone).keys() <= given_up(line)


@pytest.mark.parametrize(
    "line",
    [
        "I dropped my Pixel on the floor",
        "I replaced the Skoda's tyres",
        "I sold the Skoda tyres",
        "I left my Pixel at home",
        "Have I sold the Skoda?",
        "I moved the walnuts to the cellar",
        "",
    ],
)
def test_what_only_happened_to_a_thing_is_no_end_of_it(line):
    assert given_up(line).isdisjoint({"skoda", "pixel", "walnut"})


def test_a_change_is_told_of_what_its_own_sentence_names():
    assert changes("The meeting went up to room 4. Lunch was fine.", words.asked("meeting"))
    assert not changes("The meeting was fine. I moved to room 4.", words.asked("meeting"))
    assert not changes("Has the meeting moved?", words.asked("meeting"))


def test_a_line_that_only_asks_states_nothing():
    assert states("Is it so? It is.")
    assert not states("Is it so?")
    assert not states("")
