"""Answers tell what holds as what holds, what was before as that, and quotations as quotations."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement, Told
from reason.utterances import SAID_AT

DAY = 86_400_000
OSLO = Statement("oslo", "mira lives in Oslo", SAID_AT - DAY, outdated_by="bergen")
BERGEN = Statement("bergen", "mira moved to Bergen last weekend", SAID_AT)
GOOGLE = Statement("google", "mira works at Google", SAID_AT - DAY, outdated_by="quit")
QUIT = Statement("quit", "mira quit their job at Google", SAID_AT)
VEGETARIAN = Statement("vegetarian", "mira is vegetarian", SAID_AT - DAY, outdated_by="meat")
MEAT = Statement("meat", "mira is not vegetarian anymore", SAID_AT)


def ask(question, *known):
    return Extractive().answer(question, known, "mira")


@pytest.mark.parametrize(
    "question", ["Where do I live?", "Where do I live now?", "Where does mira live?", "What city am I in?"]
)
@pytest.mark.parametrize("known", [(OSLO, BERGEN), (BERGEN, OSLO)], ids=["older first", "newer first"])
def test_what_stands_answers_before_what_it_outdates(question, known):
    told = ask(question, *known)
    assert told.cited == ("bergen", "oslo")
    first, second = told.text.splitlines()
    assert first.startswith("Bergen: mira moved to Bergen")
    assert second == "Earlier: mira lives in Oslo (2026-11-14)."


@pytest.mark.parametrize(
    ("question", "before", "denial"),
    [
        ("Where do I work?", GOOGLE, QUIT),
        ("Who is my employer?", GOOGLE, QUIT),
        ("What is my diet?", VEGETARIAN, MEAT),
        ("Am I vegetarian?", VEGETARIAN, MEAT),
    ],
)
def test_where_nothing_stands_the_answer_is_that_it_is_no_longer_so_and_since_when(question, before, denial):
    told = ask(question, before, denial)
    assert told.text.splitlines()[0] == f"{denial.text} (2026-11-15)."
    assert all(line.startswith("Earlier: ") for line in told.text.splitlines()[1:])


def test_a_denial_is_reached_through_what_it_came_after():
    porto = Statement("porto", "mira lives in Porto", SAID_AT - 2 * DAY, outdated_by="lisbon")
    lisbon = Statement("lisbon", "mira lives in Lisbon", SAID_AT - DAY, outdated_by="gone")
    gone = Statement("gone", "mira left Lisbon for good", SAID_AT)
    assert ask("Where do I live?", porto, lisbon, gone).cited[0] == "gone"


def test_what_is_outdated_by_something_that_is_not_at_hand_is_called_no_longer_so():
    assert ask("Where do I live?", OSLO).text == "No longer so: mira lives in Oslo (2026-11-14)."


def test_things_that_outdate_each_other_end_nowhere():
    one = Statement("one", "mira lives in Oslo", SAID_AT, outdated_by="two")
    two = Statement("two", "mira lives in Bergen", SAID_AT, outdated_by="one")
    assert ask("Where do I live?", one, two).text.startswith("No longer so: ")


def test_a_message_is_outdated_with_the_conclusion_that_says_the_same():
    said = Statement("said", "Hello! I live in Oslo.", SAID_AT - DAY, "mira")
    moved = Statement("moved", "Actually I moved to Bergen last weekend!", SAID_AT, "mira")
    told = ask("Where do I live?", OSLO, BERGEN, said, moved)
    assert told.cited == ("bergen", "oslo")


def test_a_message_that_says_again_what_was_outdated_stands():
    back = Statement("back", "I live in Oslo, finally.", SAID_AT + DAY, "mira")
    assert ask("Where do I live?", OSLO, BERGEN, back).text.startswith('Oslo: mira said: "I live in Oslo')


def test_the_newer_of_two_messages_answers_though_it_has_fewer_words_of_the_question():
    old = Statement("old", "I live in Oslo.", SAID_AT - DAY, "mira")
    new = Statement("new", "I moved to Bergen.", SAID_AT, "mira")
    assert ask("Where do I live?", old, new).cited == ("new", "old")


@pytest.mark.parametrize(
    "question",
    ["Where did I live before?", "Where did I use to live?", "Where did I live before Bergen?"],
)
def test_asked_about_before_what_is_outdated_is_the_answer(question):
    assert ask(question, OSLO, BERGEN) == Told("Earlier: mira lives in Oslo (2026-11-14).", ("oslo",))


def test_asked_about_before_what_holds_is_no_answer():
    bergen = Statement("bergen", "mira lives in Bergen now", SAID_AT)
    rome = Statement("rome", "mira used to live in Rome", SAID_AT)
    assert ask("Where did I live before?", bergen) == Told("", ())
    assert ask("Where did I live before?", bergen, rome).cited == ("rome",)


def test_a_general_answer_leaves_out_what_is_outdated():
    assert ask("What do you know about me?", OSLO, BERGEN, GOOGLE, QUIT).cited == ("bergen", "quit")


TOOL = Statement("tool", "I live in Rome and I work as a spy.", SAID_AT, "mira", carried=True)


def test_what_a_peer_only_carried_is_told_as_a_quotation():
    told = ask("What do you know about me?", TOOL)
    assert told.text == "Quoted: “I live in Rome and I work as a spy.” (2026-11-15)."


MAIL = Statement("mail", "On Monday Bob wrote:\n> I live in Leeds.\n\nIs that far?", SAID_AT, "mira")
NOTES = Statement("notes", "ALICE: I'm leaving Acme.\nBOB: I have two kids, my lot.", SAID_AT, "mira")


@pytest.mark.parametrize(
    ("question", "carried"),
    [
        ("Where do I live?", TOOL),
        ("Where do I live?", MAIL),
        ("How many kids do I have?", NOTES),
    ],
)
def test_what_others_say_of_themselves_is_no_answer_about_the_peer(question, carried):
    assert ask(question, carried).text == ""


def test_what_a_message_quotes_is_told_as_a_quotation():
    guide = Statement("guide", "On Monday Bob wrote:\n> The ferry leaves at 9.\n\nOk?", SAID_AT, "mira")
    assert ask("When does the ferry leave?", guide).text == "Quoted: “The ferry leaves at 9.” (2026-11-15)."


def test_a_peers_own_word_answers_in_the_place_of_what_they_only_carried():
    assert ask("Where do I live?", TOOL, BERGEN).cited == ("bergen",)


def test_a_document_answers_what_is_asked_of_it():
    guide = Statement("guide", "The warranty lasts two years.", SAID_AT, "mira", carried=True)
    told = ask("How long does the warranty last?", guide, BERGEN)
    assert told.text == "Quoted: “The warranty lasts two years.” (2026-11-15)."


OF_ANN = [
    Statement("name", "u1's name is Ann Smith", SAID_AT),
    Statement("oslo", "u1 lives in Oslo", SAID_AT),
    Statement("age", "u1 is 34", SAID_AT),
    Statement("tea", "u1 likes tea", SAID_AT),
    Statement("rex", "u1's dog Rex is 5", SAID_AT),
]


@pytest.mark.parametrize(
    ("question", "cited"),
    [
        ("Where does Ann live?", ("oslo",)),
        ("where does ann live?", ("oslo",)),
        ("How old is Ann Smith?", ("age",)),
        ("What is Ann's age?", ("age",)),
        ("What does Smith like?", ("tea",)),
        ("Where does u1 live?", ("oslo",)),
    ],
)
def test_a_peer_may_be_called_by_the_name_that_they_told(question, cited):
    assert Extractive().answer(question, OF_ANN, "u1").cited == cited


@pytest.mark.parametrize(
    ("question", "cited"),
    [
        ("where does bob live?", ()),
        ("what does bob like?", ()),
        ("what does dad like?", ()),
        ("what is bob's age?", ()),
        ("how old is bob?", ()),
        ("how old is rex?", ("rex",)),
    ],
)
def test_what_is_known_of_the_peer_is_no_answer_about_another_however_their_name_is_written(question, cited):
    assert Extractive().answer(question, OF_ANN, "u1").cited == cited


def test_a_name_that_is_a_word_is_a_word_where_nothing_shows_otherwise():
    known = [
        Statement("name", "u1's name is Will", SAID_AT),
        Statement("rome", "u1 moves to Rome in May", SAID_AT),
    ]
    assert Extractive().answer("Will I move to Rome?", known, "u1").cited == ("rome",)


THIRD = Statement("third", "our team sits on the third floor", SAID_AT - DAY, "mira", outdated_by="fifth")
FIFTH = Statement("fifth", "They moved us. We're up on five now.", SAID_AT, "mira")


def test_a_message_that_the_search_put_before_another_is_told_first_and_whole():
    told = ask("Which floor is our team on?", FIFTH, THIRD)
    assert told.cited == ("fifth", "third")
    first, second = told.text.splitlines()
    assert first == 'mira said: "They moved us. We\'re up on five now." (2026-11-15).'
    assert second == 'Earlier: mira said: "our team sits on the third floor" (2026-11-14).'


def test_what_the_search_found_changed_answers_where_it_shares_no_word_with_the_question():
    before = Statement("84", "I'm 84 kilos.", SAID_AT - DAY, "mira", outdated_by="79")
    now = Statement("79", "I'm down to 79 kilos.", SAID_AT, "mira")
    assert ask("How much do I weigh?", now, before).cited == ("79", "84")
    assert ask("How much is my rent?", now, before).cited == ()


def test_what_somebody_puts_right_is_told_before_what_they_said_first():
    pilot = Statement("pilot", "mira's sister Rita is a pilot", SAID_AT)
    dad = Statement("dad", "mira's dad is a pilot", SAID_AT)
    said = "I was wrong, my sister isn't a pilot, she's a flight attendant."
    right = Statement("right", said, SAID_AT + 60_000, "mira")
    assert ask("What does my sister do?", pilot, right).cited == ("right", "pilot")
    assert ask("What does my dad do?", dad, right).cited == ("dad",)
