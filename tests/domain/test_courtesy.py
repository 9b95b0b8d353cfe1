"""Courtesies ask memory for nothing; what asks about somebody is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.language.questions import _COURTEOUS, is_courtesy


@pytest.mark.parametrize(
    "text",
    [
        "hi", "Hello there!", "Good morning", "thanks a lot", "ok, sounds good", "See you tomorrow!", "bye",
        "yes please", "How are you doing today?", "What's up?", "continue", "Great, thank you so much!",
        "Danke!", "Bonjour", "Hola, ¿qué tal?",
        "你好", "ありがとう", "안녕하세요", "Привет, как дела?", "", "...", "👍",
    ],
)  # fmt: skip
def test_a_courtesy_is_one(text):
    assert is_courtesy(text)


@pytest.mark.parametrize(
    "text",
    [
        "What do I like?", "what am I doing today?", "where am I going this weekend?", "Who am I?",
        "my name?", "What did we say?", "Lisbon", "good pizza", "hi, when is the dentist?",
        "thanks, and what about Rex?",
        "今天我要去哪里?", "what do you know about me?", "Wie heißt mein Hund?",
    ],
)  # fmt: skip
def test_a_question_is_none(text):
    assert not is_courtesy(text)


@given(st.text())
def test_any_text_is_one_or_the_other(text):
    assert is_courtesy(text) in (True, False)


def test_every_word_of_the_table_is_spelt_as_words_are_compared():
    assert [word for word in _COURTEOUS if not is_courtesy(word)] == []
