"""A model's summary keeps to its tokens and to what was said."""

from __future__ import annotations

import pytest

from gate.world import TOKENS
from model.brain import honest
from model.stand_in import Says
from model.world import Thinker
from souvenance.errors import ModelUnusable

SAID = ("We sew quilts on Monday.", ("bob", "And on Friday 12 of us bake bread."))


def test_a_summary_is_what_the_model_says(thinker, endpoint):
    endpoint.plays("ann sews quilts on Monday. bob and 12 of them bake bread on Friday.")
    assert thinker.summary(*SAID) == "ann sews quilts on Monday. bob and 12 of them bake bread on Friday."


def test_a_sentence_that_nobody_said_is_left_out(thinker, endpoint):
    endpoint.plays(
        "ann sews quilts on Monday. They moved to Paris. There were 40 of them baking bread. bob bakes bread."
    )
    assert thinker.summary(*SAID) == "ann sews quilts on Monday. bob bakes bread."


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I'm sorry, but I can't help with that.",
        Says(refusal="no"),
        "The committee approved the budget. Everyone applauded in Madrid.",
    ],
    ids=str,
)
def test_a_reply_that_is_no_summary_is_told_as_one_that_can_not_be_used(thinker, endpoint, reply):
    endpoint.plays(reply)
    with pytest.raises(ModelUnusable):
        thinker.summary(*SAID)


def test_what_the_earlier_summary_says_may_stay(thinker, endpoint):
    endpoint.plays("Zoe keeps 7 hens. ann sews quilts.")
    assert thinker.summary(*SAID, earlier="Zoe keeps 7 hens.") == "Zoe keeps 7 hens. ann sews quilts."
    assert [{"summary": "Zoe keeps 7 hens."}] in endpoint.asked[0].quoted


def test_a_summary_that_is_cut_off_ends_with_a_whole_sentence(thinker, endpoint):
    endpoint.plays(Says("ann sews quilts on Monday. bob bakes bread on Fri", finish="length"))
    assert thinker.summary(*SAID) == "ann sews quilts on Monday."


def test_a_summary_that_is_too_long_loses_its_end(thinker, endpoint):
    endpoint.plays("ann sews quilts on Monday. " * 30)
    told = thinker.summary(*SAID, most=40)
    assert told
    assert TOKENS.count(told) <= 40


def test_more_than_a_prompt_has_compartment_for_is_summarised_in_steps(endpoint, tmp_path):
    thinker = Thinker(endpoint, tmp_path, window=2048)
    endpoint.plays(honest)
    said = [f"On day {day} we were sewing quilts, and baking bread, and feeding hens." for day in range(120)]
    assert thinker.summary(*said, most=400)
    assert len(endpoint.asked) > 2
    assert all(TOKENS.count(asked.text) + asked.body["max_tokens"] <= 2300 for asked in endpoint.asked)
    assert all("summary" in asked.quoted[0][0] for asked in endpoint.asked[1:])


def test_a_summary_without_a_sentence_that_is_short_enough_can_not_be_used(thinker, endpoint):
    said = "We sew quilts on Monday. " + "And on Friday all of us bake bread, " * 20 + "we do."
    endpoint.plays(
        "On Friday all of us bake bread, " + "and on Friday all of us bake bread, " * 20 + "we do."
    )
    with pytest.raises(ModelUnusable, match="longer than it may be"):
        thinker.summary(said, most=40)


def test_characters_that_nobody_sees_are_left_out_of_a_summary(thinker, endpoint):
    endpoint.plays("ann sews\u202e quilts on\x00 Monday.")
    assert thinker.summary(*SAID) == "ann sews quilts on Monday."
