"""What is seen of a line at a glance."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.language import signs
from souvenance.language.signs import ASKS, EVERY, NUMBER, SELF, TIME

steady = settings(deadline=None, derandomize=True)

SHOWN = {
    ASKS: ["Did it rain?", "and?  \n", "?", "Really ?", "Comment ça va?"],
    SELF: [
        "I moved",
        "then i left",
        "I'm tired",
        "I’ve been there",
        "my boat",
        "it was me.",
        "The house is mine",
        "We left",
        "they saw us",
        "OUR garden",
    ],
    NUMBER: [
        "3 boats",
        "room b12",
        "it costs 4.50",
        "two boats",
        "a dozen eggs",
        "Twice a day",
        "in 2019",
        "once more",
    ],
    TIME: [
        "yesterday it rained",
        "see you Tomorrow",
        "last spring",
        "two weeks ago",
        "on Tuesday",
        "Sundays are slow",
        "in JUNE",
        "built in 1987",
        "since 2024",
        "a birthday cake",
        "every weekend",
    ],
}
HIDDEN = {
    ASKS: ["It rained.", "Why? Because.", "what now", ""],
    SELF: ["It rained", "the mystery of mynah birds", "meal", "bus", "house", "radii", "is it in"],
    NUMBER: ["boats", "someone else", "a tent", "weight", "often", "ones"],
    TIME: ["it rained", "lastly", "nextdoor", "Maya left", "the marching band", "in 1876", "120190"],
}


@pytest.mark.parametrize(("sign", "text"), [(sign, text) for sign in EVERY for text in SHOWN[sign]])
def test_a_sign_is_seen_where_it_is(sign, text):
    assert sign in signs.signs(text)


@pytest.mark.parametrize(("sign", "text"), [(sign, text) for sign in EVERY for text in HIDDEN[sign]])
def test_a_sign_is_not_seen_where_it_is_not(sign, text):
    assert sign not in signs.signs(text)


def test_a_line_may_bear_all_signs_or_none():
    assert signs.signs("Did I tell Tom that two boats sank last week?") == list(EVERY)
    assert signs.signs("Rain, and then more rain.") == []


@steady
@given(st.text())
def test_signs_come_each_once_and_in_order_whatever_the_text(text):
    found = signs.signs(text)
    assert found == [sign for sign in EVERY if sign in found]


@steady
@given(st.text(st.sampled_from("iI'’ m1mayMAY?T,. \n\t日ß\x00"), max_size=60))
def test_no_mixture_of_letters_and_marks_is_too_much(text):
    assert set(signs.signs(text)) <= set(EVERY)


@steady
@given(st.text(st.sampled_from("iImye_ oneOne2019 ,.'’日ß\n"), max_size=30))
def test_only_a_word_that_stands_alone_is_a_sign(text):
    found, low = signs.signs(text), text.lower()
    assert (SELF in found) == bool(re.search(r"\b(?:i|my|me|mine)\b", low))
    assert (NUMBER in found) == bool(re.search(r"\d|\b(?:one|nine)\b", low))
    assert (TIME in found) == bool(re.search(r"\b(?:19|20)\d\d\b", low))


@pytest.mark.parametrize("text", ["?", "I", "my ", "a, B", "1", "may", "’" * 7, " ", "Aa "])
def test_a_very_long_text_is_looked_at_in_part(text):
    assert set(signs.signs(text * 200_000)) <= set(EVERY)


def test_what_comes_late_in_a_long_text_is_not_looked_for():
    rain = "rain and rain and rain " * 400
    assert signs.signs(rain + "I met Tom two weeks ago.") == []
    assert signs.signs("I met Tom two weeks ago. " + rain) == [SELF, NUMBER, TIME]
