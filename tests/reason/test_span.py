"""What stands before an answer: of several values in one sentence the one that is asked for, or none."""

import pytest

from mnemon.adapters.reason.span import span

CATS = "I have two cats and three dogs."
HOMES = "My brother Tom lives in Bonn and my sister Eva lives in Kiel."
FLIGHT = "My flight leaves at 7:10 from gate B4 and lands at 9:30 in Oslo."
MET = "We met Anna in Paris on Monday and Ben in Lyon on Friday."


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("how many dogs do i have?", CATS, "three dogs"),
        ("how many cats do i have?", CATS, "two cats"),
        ("where does eva live?", HOMES, "Kiel"),
        ("where does tom live?", HOMES, "Bonn"),
        ("when does my flight land?", FLIGHT, "at 9:30"),
        ("when does my flight leave?", FLIGHT, "at 7:10"),
        ("where did we meet ben?", MET, "Lyon"),
        ("when did we meet anna?", MET, "on Monday"),
        ("where did i move?", "I moved from Porto to Faro in 2020.", "Faro"),
        ("where am i from?", "I am from Porto.", "Porto"),
        ("when was i in oslo?", "I was in Rome in 2019 and in Oslo in 2021.", "in 2021"),
    ],
)
def test_it_is_the_value_beside_what_is_asked_about(question, text, told):
    assert span(question, text, "ann") == told


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("how many pets do i have?", CATS),
        ("when does it open?", "We go at 9 and they come at 10."),
        ("where did i work after ibm?", "I worked at IBM until 2015 and then at SAP."),
    ],
)
def test_where_several_may_be_meant_none_is_put_first(question, text):
    assert span(question, text, "ann") is None


def test_a_long_text_is_read_in_one_go():
    assert span("how many dogs do i have?", "two cats and " * 50_000 + "three dogs", None) == "three dogs"
