"""Nothing is told of what nobody spoke of, though something like it happened to something else."""

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement

NOON = 1_763_294_400_000


def told(question, *said):
    statements = [Statement(str(number), text, NOON, "ann") for number, text in enumerate(said)]
    return Extractive().answer(question, statements, "ann").text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When did I visit Brazil?", "I visited my mom's house last month."),
        ("When did I start at Bosch?", "I started at Siemens in 2020."),
        ("Where did I buy the laptop?", "I bought a bicycle in Berlin."),
        ("How many lamps did I order?", "I ordered three chairs."),
    ],
)
def test_another_thing_is_no_answer(question, said):
    assert told(question, said) == ""


@pytest.mark.parametrize(
    ("question", "said", "word"),
    [
        ("When did I visit Brazil?", "I visited Brazil in May.", "May"),
        ("What instrument do I play?", "I play the cello.", "cello"),
        ("When did we meet?", "We met at the end of March.", "March"),
        ("Where Did I Buy The Laptop?", "I bought the laptop in Berlin.", "Berlin"),
        ("Who ran the marathon with me?", "Tom ran the marathon with me.", "Tom"),
    ],
)
def test_the_thing_itself_is_one_in_any_form_of_its_words(question, said, word):
    assert word in told(question, said)
