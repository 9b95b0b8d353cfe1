"""A question about a time is answered by what tells of that time, in whichever words."""

from datetime import UTC, datetime

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement


def moment(*when):
    return int(datetime(*when, tzinfo=UTC).timestamp() * 1000)


NOW = moment(2026, 11, 17, 12)
YESTERDAY = moment(2026, 11, 16, 9)


def told(question, *said, at=NOW):
    statements = [Statement(str(number), text, when, "ann") for number, (text, when) in enumerate(said)]
    return Extractive().answer(question, statements, "ann", at=at).text


@pytest.mark.parametrize(
    "trip",
    [
        "I'm flying to Porto on Saturday.",
        "The trip to Porto is November 20-23.",
        "Flying to Porto on the 21st.",
    ],
)
def test_where_somebody_goes_is_told_by_the_time_alone(trip):
    others = [
        ("I stayed in Rome last weekend.", YESTERDAY),
        ("My cousin moved the meeting in Bonn to Sunday.", moment(2026, 9, 1)),
        ("I bought bread in Lyon.", YESTERDAY),
    ]
    assert told("Where am I going this weekend?", (trip, YESTERDAY), *others).startswith("Porto: ")
    assert told("Where am I going this weekend?", *others) == ""


DIARY = [
    ("Dinner with Jonas at the Thai place", moment(2026, 2, 14, 20)),
    ("Visited the Bauhaus museum", moment(2026, 10, 2, 12)),
    ("I broke my wrist last week.", moment(2026, 7, 6)),
]


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What did I do last month?", "Bauhaus"),
        ("What happened on October 2nd?", "Bauhaus"),
        ("What did I do on 2026-02-14?", "Jonas"),
        ("What did I do in July?", "wrist"),
    ],
)
def test_what_happened_then_is_what_was_said_then_or_of_then(question, word):
    assert word in told(question, *DIARY)
    assert "\n" not in told(question, *DIARY)


def test_of_a_time_of_which_nothing_is_known_nothing_is_told():
    assert told("What did I do in March?", *DIARY) == ""


def test_without_a_clock_no_time_is_compared():
    assert told("What did I do last month?", *DIARY[:2], at=None) == ""


YEAR = [
    ("Had a tooth out this morning.", moment(2026, 5, 6, 12)),
    ("Beth had her baby!! A girl, Matilda.", moment(2026, 5, 30)),
    ("I ran my first 10k today.", moment(2026, 6, 1)),
    ("Third 10k, in pouring rain.", moment(2026, 10, 4)),
    ("Got promoted to lead designer!", moment(2026, 9, 10)),
    ("We got the keys and moved to Totnes.", moment(2026, 7, 1)),
    ("started volunteering at the otter sanctuary", moment(2026, 8, 2)),
    ("I'll take the train to Rome in May next year.", moment(2026, 5, 7)),
]


def test_a_month_is_told_in_its_order_and_whole_without_its_plans():
    lines = told("What happened in May?", *YEAR).split("\n")
    assert ["tooth" in lines[0], "baby!! A girl, Matilda" in lines[1], len(lines)] == [True, True, 2]


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("When was Matilda born?", 'ann said: "A girl, Matilda'),
        ("How long ago did I get promoted?", 'about 2 months ago: ann said: "Got promoted'),
        ("When was my promotion?", 'ann said: "Got promoted'),
        ("When did I last run a 10k?", 'ann said: "Third 10k'),
        ("Where did I volunteer after we moved to Totnes?", 'ann said: "started volunteering'),
        ("Which came first, the tooth or Matilda's birth?", '2026-05-06: ann said: "Had a tooth out'),
        ("Did I get promoted before or after the tooth?", '2026-05-06: ann said: "Had a tooth out'),
    ],
)
def test_what_is_asked_by_an_event_is_told_by_when_that_was(question, begins):
    assert told(question, *YEAR).startswith(begins)


@pytest.mark.parametrize(
    "question",
    [
        "When was Beth born?",
        "Which came first, the tooth or the divorce?",
        "What did I buy in May?",
        "How long ago did I sell the kayak?",
    ],
)
def test_neither_another_event_nor_the_time_alone_is_an_answer(question):
    assert told(question, *YEAR) == ""
