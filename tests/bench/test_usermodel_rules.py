"""The judge of the user model's benchmark can say no."""

from __future__ import annotations

from datetime import date

import pytest
from usermodel_rules import Line, judge

SUNDAY = date(2026, 11, 15)


def verdict(text, said, asked="", about="ann"):
    return judge(text, about, [Line("ann", SUNDAY, said)], [asked], "bob")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ann lives in Lisbon", "I live in Lisbon!"),
        ("ann's sister moved to Berlin", "My sister moved to Berlin."),
        ("ann sold the boat yesterday (2026-11-14)", "I sold the boat yesterday."),
        ("ann never eats fish", "I never eat fish."),
        ("Pottery calms ann down", "Pottery calms me down."),
        ("ann would love to visit Iceland", "I'd love to visit Iceland. I would love to visit Iceland."),
        ('ann said: "We roasted chestnuts around the fire"', "We roasted chestnuts around the fire."),
        ("ann loves jazz", "I love jazz."),
    ],
)
def test_a_sound_conclusion_passes(text, said):
    assert verdict(text, said) is None


@pytest.mark.parametrize(
    ("text", "said", "rule"),
    [
        ('bob said: "I live in Lisbon"', "I live in Lisbon.", "attribution"),
        ("ann lives in the", "I live in the old town.", "whole"),
        ("ann Lisbon Porto", "Lisbon, Porto!", "whole"),
        ("It has two gardens", "It has two gardens.", "subject"),
        ("ann lives in Lisbon", "He lives in Lisbon.", "subject"),
        ("ann is painting the kitchen ceiling", "Painting the kitchen ceiling is work.", "subject"),
        ("ann keeps your garden book", "I keep your garden book.", "address"),
        ('ann said: "Thanks for the garden book"', "Thanks for the garden book.", "address"),
        ("ann lives in Lisbon", "Do I live in Lisbon?", "asked"),
        ("ann buys the red house", "If I buy the red house, we sail.", "imagined"),
        ("ann sells the red boat", "Maybe I sell the red boat.", "imagined"),
        ("ann loves Lisbon and cats", 'My aunt said "I love Lisbon and cats" to me.', "quoted"),
        ("ann lives in Madrid", "I live in Lisbon.", "supported"),
        ("ann eats raw fish", "I don't eat raw fish.", "supported"),
        ("ann sold the boat yesterday (2026-11-13)", "I sold the boat yesterday.", "dated"),
        ("ann sold the boat last week (week of 2026-11-09)", "I sold the boat last week.", "dated"),
        ("ann is so happy", "I'm so happy!", "trivial"),
        ("ann's kids are amazing", "My kids are amazing!", "trivial"),
        ('ann said: "Hard work gets us there"', "Hard work gets us there.", "trivial"),
        ("ann painted it for the old harbour", "I painted it for the old harbour.", "pointing"),
    ],
)
def test_each_rule_can_be_broken(text, said, rule):
    assert verdict(text, said) == rule


def test_an_answer_stands_with_its_question():
    said = "It was the old harbour choir."
    assert verdict('ann said: "It was the old harbour choir", asked "Who sang at the wedding?"', said) is None
    assert verdict('ann said: "It was the old harbour choir"', said) == "subject"


def test_an_answer_that_adds_nothing_to_its_question_is_trivial():
    assert verdict('ann said: "Bob", asked "Who sang at the wedding?"', "Thanks, Bob!") == "trivial"
    assert verdict('ann said: "The wedding", asked "Was it the wedding?"', "The wedding.") == "trivial"
