"""What people say, what follows from it, and what doesn't."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.adapters.reason.statements import MOST_FACTS
from mnemon.ports.reasoner import Turn
from reason.silences import SILENT
from reason.utterances import SAID_AT, TELLING
from reason.utterances_abroad import TELLING_ABROAD
from reason.utterances_lives import TELLING_LIVES

TOLD = [*TELLING, *TELLING_ABROAD, *TELLING_LIVES]


def facts(*said, about="ann", before=()):
    turns = [Turn(str(number), "ann", text, SAID_AT) for number, text in enumerate(said)]
    return Extractive().derive(turns, about, before)


@pytest.mark.parametrize(("said", "expected"), TOLD, ids=range(len(TOLD)))
def test_what_is_told_about_oneself_becomes_a_fact(said, expected):
    assert [(fact.text, fact.trait) for fact in facts(said)] == expected


@pytest.mark.parametrize("said", SILENT, ids=range(len(SILENT)))
def test_what_tells_nothing_of_its_author_gives_no_fact(said):
    assert facts(said) == []


def test_facts_come_in_the_order_of_the_turns():
    assert [fact.sources for fact in facts("I live in Lisbon.", "Hi!", "I'm vegan. I hate rain.")] == [
        ("0",),
        ("2",),
        ("2",),
    ]


def test_a_fact_said_twice_names_both_turns():
    (fact,) = facts("I live in Lisbon.", "As I said, I live in lisbon!")
    assert fact.text == "ann lives in Lisbon"
    assert fact.sources == ("0", "1")


def test_turns_of_others_give_no_facts():
    assert facts("I live in Lisbon.", about="bob") == []


def test_the_peers_name_is_written_as_it_is():
    turn = Turn("1", "user_42", "I love my dog", SAID_AT)
    assert Extractive().derive([turn], "user_42")[0].text == "user_42 loves their dog"


def test_a_long_message_gives_a_bounded_number_of_facts():
    said = " ".join(f"I bought a boat number {number} yesterday." for number in range(500))
    assert len(facts(said)) == MOST_FACTS


def test_a_fact_stands_in_one_line():
    assert facts("I live in\nlovely Lisbon") == facts("I live in lovely Lisbon")
    assert "\n" not in facts("I live in\nlovely Lisbon")[0].text


@pytest.mark.parametrize("said_at", [-(10**18), 10**18, 253_402_300_799_999, -62_135_596_800_000])
def test_a_moment_outside_of_every_calendar_leaves_a_day_as_it_was_said(said_at):
    turn = Turn("1", "ann", "I went to Rome yesterday and I fly to Oslo in 400 days", said_at)
    assert Extractive().derive([turn], "ann")[0].text.startswith("ann went to Rome yesterday")


@pytest.mark.parametrize(
    ("question", "reply", "trait"),
    [
        ("Hi there! What's your name?", "Ann", "Name: Ann"),
        ("What's your name?", "I'm Ann!", "Name: Ann"),
        ("What should I call you?", "Jo!", "Goes by: Jo"),
        ("What should I call you?", "Just Harold is fine.", "Goes by: Harold"),
        ("What should I call you?", "Anything is fine.", None),
        ("What should I call you?", "Let's skip that.", None),
        ("Where do you live?", "In Lisbon.", "Lives in: Lisbon"),
        ("Where do you live?", "Lisbon, Portugal", "Lives in: Lisbon, Portugal"),
        ("Where are you from?", "Brazil", "From: Brazil"),
        ("How old are you?", "32", "Age: 32"),
        ("What do you do for a living?", "A nurse", "Works as: nurse"),
        ("When is your birthday?", "March 3rd", "Birthday: March 3rd"),
        ("Do you have any allergies?", "peanuts", "Allergy: peanuts"),
        ("Do you have any allergies?", "No", None),
        ("What's your favorite color?", "Blue!", "Favorite color: Blue"),
        ("Are you vegetarian?", "yes", "Diet: vegetarian"),
        ("Are you vegetarian?", "Yes, since 2015.", "Diet: vegetarian"),
        ("Are you vegetarian?", "yes but only at home", None),
        ("Are you vegetarian or vegan?", "yes", None),
        ("Do you eat meat?", "No, not since 2015", "Does not eat: meat"),
        ("Do you like your job?", "yes", "Likes: their job"),
        ("Do you have siblings?", "one sister, Leyla", "Sister: Leyla"),
        ("Do you love me?", "yes", None),
        ("Do you like the new design of the page?", "yes", None),
        ("Do you have any questions?", "no", None),
        ("Are you sure?", "yes", None),
        ("Do you like it?", "yes", None),
        ("Do you want to live in Rome?", "yes", None),
        ("Any kids?", "two girls, 3 and 5", "Children: two girls"),
        ("Do you have any pets?", "yes, two cats", "Pet: two cats"),
        ("What's your name?", "why?", None),
        ("What's your name?", "not telling", None),
        ("Where do you live? Never mind.", "Lisbon", None),
    ],
)
def test_a_plain_answer_to_a_plain_question_is_a_fact_of_both_turns(question, reply, trait):
    asked = Turn("q", "bot", question, SAID_AT)
    found = facts(reply, before=[asked])
    assert [fact.trait for fact in found] == ([trait] if trait else [])
    assert all(fact.sources == ("q", "0") for fact in found)
    assert all(fact.text.startswith('ann said: "') for fact in found)


def test_how_somebody_is_called_is_heard_in_a_reply_that_goes_on():
    asked = Turn("q", "bot", "What should I call you?", SAID_AT)
    traits = [fact.trait for fact in facts("Harold is fine. I live in Oslo.", before=[asked])]
    assert traits == ["Goes by: Harold", "Lives in: Oslo"]


def test_a_name_without_whose_it_is_is_the_authors_only_where_nothing_else_was_told_before():
    assert [fact.trait for fact in facts("Hi there! Name's Tunde.")] == ["Name: Tunde"]
    assert facts("Got a puppy from the shelter. Name's Rex.")[1:] == []


def test_a_name_in_small_letters_is_one_where_its_author_is_known_by_it():
    turn = Turn("0", "mei", "hii i'm mei, second year", SAID_AT)
    assert [fact.trait for fact in Extractive().derive([turn], "mei")] == ["Name: mei"]
    assert [fact.trait for fact in facts("hii i'm mei, second year")] == [None]


@pytest.mark.parametrize(
    ("question", "reply", "expected"),
    [
        ("Where did you go?", "Paris!", ["ann went to Paris"]),
        ("Where did you go?", "To the lake", ["ann went to the lake"]),
        ("What did you buy?", "Two oranges", ["ann bought two oranges"]),
        ("How long did you stay in Rome?", "For three weeks.", ["ann stayed in Rome for three weeks"]),
        ("When did you move to Oslo?", "In 2019", ["ann moved to Oslo in 2019"]),
        ("Who did you travel with?", "My best friend", ["ann traveled with their best friend"]),
        ("What's your dog's name?", "Rex", ["ann's dog's name is Rex"]),
        (
            "Who painted the ceiling?",
            "A neighbour painted it in spring.",
            ['ann said: "A neighbour painted it in spring", asked "Who painted the ceiling?"'],
        ),
        (
            "That lamp is lovely! Where did you get it?",
            "I got it from a glassblower in Murano.",
            [
                'ann said: "I got it from a glassblower in Murano", '
                'asked "That lamp is lovely! Where did you get it?"'
            ],
        ),
        (
            "That lamp is lovely! So bright. Why did you hang it there?",
            "It keeps the moths off my desk.",
            [
                'ann said: "It keeps the moths off my desk", '
                'asked "That lamp is lovely! Why did you hang it there?"'
            ],
        ),
        ("Sounds lovely! Where is it?", "It's behind them.", []),
        ("Lovely! Does it help you when you see it?", "It reminds them to rest and breathe.", []),
        ("Got any tips for getting started on it?", "They'll send all the forms for the permit.", []),
        (
            "How long have you been carving spoons?",
            "Since I was 17 or so.",
            ['ann said: "Since I was 17", asked "How long have you been carving spoons?"'],
        ),
        ("Any plans coming up?", "Bob, that boat looks splendid!", []),
        ("We drove to the coast. What did you end up doing?", "A drive to the coast sounds splendid!", []),
        ("Where did you go?", "Thanks, Bob!", []),
        ("Where did you go?", "Thanks for asking!", []),
        ("Where did you go?", "Why?", []),
        ("Where am I going in May?", "Noted.", []),
        ("Who painted the ceiling?", "Understood, all saved", []),
        ("Did you like the museum?", "Yesss!", []),
        ("Did you like the museum?", "It was great!", []),
        ("How are you?", "The ferry was late again today.", []),
        ("Do you have any suggestions?", "Try the salmon roll with ginger first.", []),
        ("What should we cook?", "Maybe the old lentil soup of the village.", []),
        ("What is a monad?", "A monad is a monoid. " * 30, []),
        ("Where did you go? Never mind.", "Paris", []),
    ],
)
def test_a_reply_is_told_with_the_question_that_it_answers(question, reply, expected):
    found = facts(reply, before=[Turn("q", "bot", question, SAID_AT)])
    assert [fact.text for fact in found] == expected
    assert all(fact.sources == ("q", "0") for fact in found)


@pytest.mark.parametrize(
    ("question", "reply", "expected"),
    [
        ("Do you still live in Berlin?", "No.", ["ann does not live in Berlin"]),
        ("Are you allergic to nuts?", "nope", ["ann is not allergic to nuts"]),
        ("Do you have a dog?", "No, not anymore", ["ann does not have a dog"]),
        ("Do you have a dog?", "no but two cats", []),
        ("Are you ready?", "no", []),
        ("Do you want me to stop?", "no", []),
        ("Do you like tea or coffee?", "no", []),
    ],
)
def test_a_plain_no_denies_what_a_card_would_say(question, reply, expected):
    found = facts(reply, before=[Turn("q", "bot", question, SAID_AT)])
    assert [(fact.text, fact.trait) for fact in found] == [(text, None) for text in expected]


def test_nobody_answers_their_own_question():
    assert facts("Ann", before=[Turn("q", "ann", "What's your name?", SAID_AT)]) == []


@pytest.mark.parametrize(
    "pasted",
    [
        "<memory-context>\nI live in Madrid.\n</memory-context>",
        "## Memory\n- I live in Kiel\n- I'm vegan",
        "From: bob@example.org\nSubject: news\n\nHi, I live in Leeds now.",
    ],
)
def test_what_is_pasted_into_a_message_tells_nothing_of_its_author(pasted):
    assert facts(pasted) == []
    assert [fact.text for fact in facts(f"I live in Lisbon.\n\n{pasted}")] == ["ann lives in Lisbon"]
