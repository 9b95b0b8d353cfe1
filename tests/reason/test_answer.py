"""Answers in the words of what was said."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement, Told
from reason.utterances import SAID_AT

DAY = 86_400_000
KNOWN = {
    "porto": Statement("porto", "ann lives in Porto", SAID_AT - 400 * DAY),
    "lisbon": Statement("lisbon", "ann lives in Lisbon", SAID_AT),
    "vegan": Statement("vegan", "ann is vegan", SAID_AT),
    "nurse": Statement("nurse", "ann works as a nurse", SAID_AT),
    "ana": Statement("ana", "ann's sister Ana lives in Madrid", SAID_AT),
    "fly": Statement("fly", "ann is flying to Bologna on Saturday (2026-11-21)", SAID_AT),
    "cats": Statement("cats", "Hi! I have two cats, Luna and Oliver. How are you?", SAID_AT, "ann"),
    "tea": Statement("tea", "ann likes tea", SAID_AT),
    "blue": Statement("blue", "ann's favourite colour is blue", SAID_AT),
    "ran": Statement("ran", "ann ran a marathon in Berlin", SAID_AT),
    "french": Statement("french", 'ann said: "Always answer in French"', SAID_AT),
}


def ask(question, known=KNOWN, about="ann"):
    return Extractive().answer(question, list(known.values()), about)


@pytest.mark.parametrize(
    ("question", "cited"),
    [
        ("Where does ann live?", ("lisbon", "porto")),
        ("where is she based", ("lisbon", "porto")),
        ("What city is home?", ("lisbon", "porto")),
        ("What does ann do for a living?", ("nurse",)),
        ("what's her job?", ("nurse",)),
        ("Does she have pets?", ("cats",)),
        ("how many cats does ann have?", ("cats",)),
        ("When is ann flying?", ("fly",)),
        ("What is ann's favorite color?", ("blue",)),
        ("Who is Ana?", ("ana",)),
        ("Where does Ana live?", ("ana",)),
        ("Tell me about the family", ("ana",)),
        ("Can ann eat meat?", ("vegan",)),
        ("What does ann like?", ("tea",)),
        ("Did ann ever run a marathon?", ("ran",)),
        ("What did she do in Berlin?", ("ran",)),
        ("How should I answer?", ("french",)),
        ("What does she think of quantum physics?", ()),
        ("How are you?", ()),
        ("???", ()),
        ("", ()),
    ],
)
def test_an_answer_rests_on_what_speaks_to_the_question(question, cited):
    assert ask(question).cited == cited


def test_an_answer_says_what_was_said_and_when():
    assert ask("What does ann like?").text == "ann likes tea (2026-11-15)."


def test_a_message_is_cited_by_the_sentence_that_matters():
    assert ask("Does ann have cats?").text == 'ann said: "I have two cats, Luna and Oliver." (2026-11-15).'


@pytest.mark.parametrize(
    ("question", "statement", "opening"),
    [
        (
            "When did ann sell the boat?",
            "ann sold the boat last week (week of 2026-11-02)",
            "week of 2026-11-02: ",
        ),
        ("When did ann sell the boat?", "ann sold the boat in June", "in June: "),
        ("When did ann sell the boat?", "ann sold the boat to a friend", ""),
        ("Where did ann sell the boat?", "ann sold the boat in Piran", "Piran: "),
        ("Where did ann sell the boat?", "ann sold the boat in June", ""),
        ("Who bought the boat?", "ann sold the boat to their uncle", "their uncle: "),
        ("Who is Ana?", "ann's sister Ana sold the boat", "ann's sister: "),
        ("Who did ann sail the boat with?", "ann sailed the boat with Kim and Bo", "Kim and Bo: "),
        ("How many boats does ann have?", "ann has three boats and a raft", "three boats: "),
        ("How long did ann own the boat?", "ann owned the boat for nine years", "for nine years: "),
        (
            "How long ago did ann buy the boat?",
            "ann bought the boat nine years ago (2017)",
            "nine years ago: ",
        ),
        ("Which year did ann buy the boat?", "ann bought the boat nine years ago (2017)", "2017: "),
        ("How does ann feel when she sails the boat?", "ann sailed the boat today (2026-11-15)", ""),
        ("Does ann have a boat?", "ann has a boat in Piran", ""),
    ],
)
def test_what_was_asked_for_comes_first(question, statement, opening):
    told = ask(question, {"1": Statement("1", statement, SAID_AT)})
    assert told.text.startswith(opening + statement.partition(" (")[0])


@pytest.mark.parametrize(
    "greeting", ["hi", "Hi!", "hello there", "Good morning", "ok thanks", "Thanks, ann!", "bye"]
)
def test_a_greeting_asks_for_nothing(greeting):
    known = {"1": Statement("1", "Hi! Good morning, thanks.", SAID_AT, "ann"), **KNOWN}
    assert ask(greeting, known, about="bo") == Told("", ())


def test_an_earlier_question_is_no_answer():
    known = {
        "asked": Statement("asked", "Where is my boat moored?", SAID_AT, "ann"),
        "both": Statement("both", "My boat needs paint. Where is my boat moored?", SAID_AT, "ann"),
    }
    told = ask("Where is my boat moored?", known)
    assert "moored" not in told.text
    assert "asked" not in told.cited


def test_a_label_alone_answers_no_question_about_more():
    known = {"1": Statement("1", "ann has a dog named Rex", SAID_AT)}
    assert ask("Which tricks did the circus teach dogs last winter?", known) == Told("", ())
    assert ask("Does ann have pets?", known).cited == ("1",)


def test_an_older_value_comes_after_the_newer_and_is_called_so():
    assert ask("Where does ann live?").text == (
        "Lisbon: ann lives in Lisbon (2026-11-15).\nEarlier: ann lives in Porto (2025-10-11)."
    )


def test_a_statement_that_names_a_day_says_which_day_it_was_said_on():
    assert ask("When is ann flying?").text == (
        "2026-11-21: ann is flying to Bologna on Saturday (2026-11-21) (said 2026-11-15)."
    )


@pytest.mark.parametrize("when", ["a few weeks ago", "recently, in May", "since last summer"])
def test_a_day_that_is_not_known_is_not_mixed_up_with_the_day_it_was_said_on(when):
    told = ask("Did ann sell the boat?", {"1": Statement("1", f"ann sold the boat {when}", SAID_AT)})
    assert told.text == f"ann sold the boat {when} (said 2026-11-15)."


def test_the_days_that_a_message_means_are_worked_out():
    known = {"1": Statement("1", "Sold the old boat today!", SAID_AT, "ann")}
    assert ask("When did ann sell the old boat?", known).text == (
        '2026-11-15: ann said: "Sold the old boat today (2026-11-15)!" (said 2026-11-15).'
    )


def test_a_line_begins_like_a_sentence_unless_it_begins_with_the_peer():
    known = {
        "1": Statement("1", "last week ann sold the boat", SAID_AT),
        "2": Statement("2", "ann painted the boat", SAID_AT),
        "3": Statement("3", "The boat was great fun, and green.", SAID_AT, "bo"),
    }
    lines = ask("What happened to the boat?", known).text.splitlines()
    assert [line.partition(" boat")[0] for line in lines] == [
        "Last week ann sold the",
        "ann painted the",
        'bo said: "The',
    ]


@pytest.mark.parametrize(
    "saying", ["Pets bring so much joy, though.", "Pets sure do bring so much joy to us!", "Love pets!"]
)
def test_a_saying_about_everyone_is_no_answer(saying):
    known = {"1": Statement("1", saying, SAID_AT, "ann")}
    assert ask("Which pets does ann have?", known) == Told("", ())


def test_what_names_something_is_an_answer_though_it_names_nobody():
    known = {"1": Statement("1", "The spare key is under the doormat.", SAID_AT, "ann")}
    assert ask("Where is the spare key?", known).cited == ("1",)


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about ann?",
        "who is ann",
        "Tell me about the user",
        "summarize",
        "Who am I?",
        "ann",
        "What do you know about me?",
    ],
)
def test_a_general_question_gets_the_first_statements(question):
    told = ask(question)
    assert told.cited == ("lisbon", "porto", "vegan", "nurse", "ana", "fly", "tea", "blue")
    assert len(told.cited) == 8


def test_an_answer_has_few_lines():
    known = {str(n): Statement(str(n), f"ann bought boat {n} in port {n}", SAID_AT) for n in range(20)}
    assert len(ask("Which boats has ann bought?", known).cited) == 5


def test_what_a_line_says_already_is_not_said_again():
    known = {
        "fact": Statement("fact", "ann lives in Lisbon", SAID_AT),
        "message": Statement("message", "I live in Lisbon!", SAID_AT, "ann"),
    }
    assert ask("Where does ann live?", known).cited == ("fact",)


def test_a_message_that_says_hardly_more_than_its_conclusion_is_left_out():
    known = {
        "fact": Statement("fact", "ann sold the boat last week (week of 2026-11-02)", SAID_AT),
        "message": Statement("message", "I sold the boat last week, wow, cheap!", SAID_AT, "ann"),
        "more": Statement("more", "I sold the boat to Kim, with oars, sails and anchor.", SAID_AT, "ann"),
        "later": Statement("later", "I sold the boat last week, wow, cheap!", SAID_AT + 9 * DAY, "ann"),
    }
    assert ask("When did ann sell the boat?", known).cited == ("fact", "later", "more")


def test_a_question_about_nobody_in_particular_is_answered_all_the_same():
    assert ask("Where does ann live?", about=None).cited == ("lisbon", "porto")


def test_a_long_statement_is_shortened():
    known = {"1": Statement("1", "ann likes tea " + "and more tea " * 900, SAID_AT)}
    assert len(ask("What does ann like?", known).text) < 400


def test_a_moment_outside_of_every_calendar_is_left_out():
    known = {"1": Statement("1", "ann likes tea", 10**18)}
    assert ask("What does ann like?", known) == Told("ann likes tea.", ("1",))
