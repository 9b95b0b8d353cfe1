"""Who asks where they live, and who has moved."""

from __future__ import annotations

import pytest

from mnemon.domain import moving, words
from mnemon.domain.moving import asks_for_home, moved

MOVES = [
    "I moved to a little flat in Bergen last week",
    "We relocated to Bergen",
    "We've finally moved into the house",
    "Moved in with Ada on Sunday",
    "We got the keys to the flat!",
    "Wir sind nach Kiel gezogen",
    "Ich bin letzte Woche umgezogen",
    "Me he mudado a Vigo",
    "Nos mudamos a Vigo en mayo",
    "On a enfin déménagé à Lille",
    "J'ai emménagé à Lille",
    "先月、奈良に引っ越しました。",
    "我上个月搬到了杭州。",
]


@pytest.mark.parametrize(
    "question",
    [
        "where do i live?",
        "where am i living now?",
        "which city do we live in?",
        "what's my address?",
        "wo wohne ich?",
        "¿dónde vivo?",
        "où est-ce que j'habite ?",
        "私はどこに住んでいますか。",
        "我住在哪里？",
    ],
)
def test_a_question_asks_where_the_asker_lives(question):
    assert asks_for_home(question)


@pytest.mark.parametrize(
    "question", ["where does my mother live?", "where do i work?", "wo wohnt lena?", "¿dónde vive ana?", ""]
)
def test_where_others_live_or_work_is_another_question(question):
    assert not asks_for_home(question)


@pytest.mark.parametrize("line", MOVES)
def test_a_line_tells_that_its_speaker_has_moved_and_can_be_found_by_that(line):
    assert moved(line)
    assert not words.terms(line).keys().isdisjoint(moving.TERMS)


@pytest.mark.parametrize(
    "line",
    [
        "My sister moved in on Friday",
        "We moved to Postgres",
        "I moved to the marketing team",
        "They moved us to the third floor",
        "I moved the shelf to the cellar",
        "If we moved into the house we'd need a car",
        "When I moved into my flat I knew nobody",
        "Have I moved house?",
        "Lena ist nach Graz gezogen",
        "Mi prima se ha mudado a Vigo",
        "Hugo a déménagé à Lille",
        "健が奈良に引っ越しました。",
        "妹は奈良に引っ越しました。",
        "我妹妹搬到了北京。",
        "",
    ],
)
def test_who_has_not_moved_or_is_another_has_not(line):
    assert not moved(line)
