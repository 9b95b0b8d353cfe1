"""Whom and what a question names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemon.domain import words
from mnemon.domain.named import named


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("How many Italian restaurants have I tried?", "Italian"),
        ("When did I buy the cows from Peter?", "Peter"),
        ("What did I eat at Anna's?", "Anna"),
        ("Where did my friends go in New York?", "New York"),
        ("how many italian restaurants have i tried?", ""),
        ("Peter bought the cows, did he?", ""),
        ("Hey Claude, what is my name?", ""),
        ("Hey Claude where do I live?", ""),
        ("Where do I live, Claude?", ""),
        ("What did I do in December, and on the next Monday?", ""),
        ("What have I got to do on Friday?", ""),
        ("Wo habe ich gestern mein Fahrrad gekauft?", ""),
        ("", ""),
    ],
)
def test_a_name_has_a_capital_within_a_sentence_and_calls_nobody(text, names):
    assert named(text, words.asked(text)) == (words.asked(names) if names else [])


def test_a_relative_is_the_same_by_another_word():
    assert named("what did dad give me", ["dad", "give"]) == words.asked("dad daddy father")
    assert named("", words.asked("aunts")) == words.asked("aunt auntie")
    assert set(words.asked("grandma")) < set(named("", words.asked("my grandmother")))


@given(st.text(), st.lists(st.text(max_size=8), max_size=4))
def test_every_text_names_each_only_once(text, terms):
    found = named(text, terms)
    assert len(found) == len(set(found))
