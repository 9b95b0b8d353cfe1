"""Whether a question asks how something is."""

from __future__ import annotations

import pytest

from mnemon.domain.present import asks_how_it_is


@pytest.mark.parametrize(
    "question",
    [
        "where do i live?",
        "which version of postgres runs in production?",
        "how many guests come to the wedding?",
        "wo arbeite ich?",
        "was ist mein lieblingslied?",
        "où est-ce que j'habite ?",
        "¿cuál es mi número?",
        "a que horas é o meu voo?",
        "我住在哪里？",
        "会議はいつですか？",
    ],
)
def test_it_asks_how_something_is(question):
    assert asks_how_it_is(question)


@pytest.mark.parametrize(
    "question",
    [
        "where did i live before?",
        "who was my previous boss?",
        "was my flight late?",
        "wo habe ich früher gewohnt?",
        "quel était mon loyer ?",
        "¿dónde vivía antes?",
        "onde eu morava?",
        "我以前住在哪里？",
        "会議はいつでしたか？",
        "i live in york",
        "我住在上海。",
    ],
)
def test_it_asks_how_something_was_or_nothing(question):
    assert not asks_how_it_is(question)
