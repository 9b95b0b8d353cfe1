"""A short reply says what a question right before it asked, if it is a yes or names the value."""

from __future__ import annotations

import pytest

from model.world import fact, facts

ALLERGIC = "Are you allergic to nuts?"


def derived(thinker, endpoint, asked, reply, claimed):
    endpoint.plays(facts(fact(claimed, "t1", "t2", card="Allergy: nuts")))
    return {one.text: one for one in thinker.facts(("bot", asked), reply)}.get(claimed)


@pytest.mark.parametrize(
    ("asked", "reply", "claimed"),
    [
        (ALLERGIC, "No.", "ann is allergic to nuts"),
        (ALLERGIC, "Never was!", "ann is allergic to nuts"),
        (ALLERGIC, "no idea", "ann is not allergic to nuts"),
        (ALLERGIC, "maybe", "ann is allergic to nuts"),
        (ALLERGIC, "Only milk.", "ann is allergic to nuts"),
        (ALLERGIC, "Yes!", "ann is not allergic to nuts"),
        ("I remember that you love Rust.", "fix line 12", "ann loves Rust"),
        ("I remember that you love Rust.", "yes, fix line 12", "ann loves Rust"),
        ("I remember that you love Rust. Shall we go on?", "Yes", "ann loves Rust"),
        ("Do you want to live in Rome?", "Yes", "ann lives in Rome"),
        ("Did you live in Rome?", "Yes", "ann lives in Rome"),
        ("Do you prefer tea or coffee?", "Coffee", "ann prefers tea"),
        ("Do you prefer tea or coffee?", "yes", "ann prefers tea"),
        ("Do you like nuts, or rather milk?", "no", "ann likes milk"),
    ],
)
def test_what_a_short_reply_does_not_take_up_is_no_fact(thinker, endpoint, asked, reply, claimed):
    assert derived(thinker, endpoint, asked, reply, claimed) is None


@pytest.mark.parametrize(
    ("asked", "reply", "claimed"),
    [
        (ALLERGIC, "Yes, sadly.", "ann is allergic to nuts"),
        (ALLERGIC, "No.", "ann is not allergic to nuts"),
        ("You keep bees, right?", "yep", "ann keeps bees"),
        ("Nice! What do you play, then?", "the cello", "ann plays the cello"),
        ("Do you live in Lisbon?", "No, Porto.", "ann lives in Porto"),
        ("Do you prefer tea or coffee?", "Coffee", "ann prefers coffee"),
        ("你住在北京吗？", "是的", "ann 住在北京"),
        ("Hältst du Bienen?", "Ja", "ann hältst Bienen"),
    ],
)
def test_what_a_short_reply_takes_up_is_a_fact(thinker, endpoint, asked, reply, claimed):
    found = derived(thinker, endpoint, asked, reply, claimed)
    assert found is not None
    assert found.sources == ("id1", "id2")


def test_a_no_puts_nothing_on_a_card(thinker, endpoint):
    assert derived(thinker, endpoint, ALLERGIC, "No.", "ann is not allergic to nuts").trait is None


def test_a_question_that_others_came_after_is_not_answered(thinker, endpoint):
    endpoint.plays(facts(fact("ann keeps bees", "t1", "t3")))
    assert thinker.derived(("bot", "Do you keep bees?"), ("bob", "I do. Tea?"), "Yes") == []
