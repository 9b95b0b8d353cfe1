"""What comes near a question and does not answer it is not told; what is only possible is told as such."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement
from reason.utterances import SAID_AT


def ask(question, *said, about="ann"):
    known = [Statement(str(at), text, SAID_AT, about) for at, text in enumerate(said)]
    return Extractive().answer(question, known, about, at=SAID_AT).text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When did I break my leg?", "I broke my wrist in January."),
        ("When did I start at Arup?", "I'm a civil engineer at Arup."),
        ("When did I meet Dana?", "My cofounder Dana handles marketing."),
        ("How old is Tomas?", "My brother Tomas works at a bakery in Antwerp."),
        ("How old am I?", "I gave my old piano to my niece Clara."),
        ("How long is my commute?", "My commute is awful."),
        ("What is my favourite book?", "I booked a cabin in the Ardennes."),
        ("Who is my dentist?", "My doctor is Dr. Halvorsen."),
        ("How many users do we have?", "We launch on 3 June."),
        ("What instrument do I play?", "My colleague Femi plays the trumpet in a band."),
        ("When am I going to Peru?", "Noor wants to go to Peru next year."),
        ("What am I studying?", "Mei is from Taipei and studies architecture."),
        ("How much did the Kona cost?", "I picked up a used Kona on Saturday."),
        ("What's my salary at Arup?", "I'm a civil engineer at Arup."),
        ("What mark did I get in stats?", "The stats exam is on the 24th of June."),
        ("What are Ellen's boys called?", "My daughter Ellen lives in Boise with her two boys."),
        ("What's my cousin's name?", "I moved in with my cousin in Coburg."),
        ("What's my plant called?", "I work at a bank called Ledgerly."),
        ("Who is Rohan marrying?", "My brother Rohan is getting married in Jaipur."),
        ("Did I pass the exam?", "I have an exam for the certificate in July."),
        ("Did I take the job in Leeds?", "I'm a stage carpenter in Sheffield."),
        ("Am I in a relationship?", "It's amazing how intricate these relationships are in nature."),
        ("What gym do I go to?", "If I go to the gym without a mask, that's my choice."),
        ("What model of laptop do I use?", "Write a data model for the loyalty program."),
        ("What is my name?", "Let's role-play: you be the cop and I'll be the driver. I'm Hank."),
        ("Am I diabetic?", "Callum's a diabetic, type 1."),
        ("Am I diabetic?", "The doctor asked if I was diabetic."),
        ("Am I vegan?", "Dev's wife is a vegan, so the barbecue will be interesting."),
        ("Am I vegan?", "The lead in the show told me 'I'm vegan'."),
    ],
)
def test_what_only_comes_near_the_question_is_no_answer(question, said):
    assert ask(question, said) == ""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("When did I break my wrist?", "I broke my wrist in January."),
        ("When did I start at Arup?", "I started at Arup."),
        ("When did I adopt the dog?", "We adopted the dog after the wedding."),
        ("How old is Ida?", "My daughter Ida turned six in March."),
        ("How old is my daughter?", "My daughter Ida turned six in March."),
        ("How long is my commute?", "My commute takes about forty minutes by train."),
        ("How far do I run?", "I run five kilometres every morning."),
        ("What is my favourite book?", "I'm really into this book called Sapiens."),
        ("Who is my dentist?", "My dentist is Dr. Moss."),
        ("How many users do we have?", "We have 300 users by now."),
        ("What instrument do I play?", "I play the trumpet."),
        ("What did I get from my brother?", "My brother gave me a watch."),
        ("Where did I go with Noor?", "Noor and I went to Peru."),
        ("What is Lena allergic to?", "Lena is allergic to walnuts."),
        ("Who looks after the garden?", "Lena looks after the garden."),
    ],
)
def test_what_answers_it_is_told(question, said):
    assert said.rstrip(".") in ask(question, said)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What do I know about pottery?", "Can't wait to see your pottery project."),
        ("Where did I go on a road trip?", "That road trip sounds great!"),
        ("Did I win the tournament?", "Congrats on winning the tournament!"),
    ],
)
def test_what_is_said_of_the_listener_tells_nothing_of_the_speaker(question, said):
    assert ask(question, said) == ""


def test_what_another_says_to_the_peer_tells_of_the_peer():
    known = [Statement("1", "Your flight leaves at nine on Monday.", SAID_AT, "bot")]
    assert "nine" in Extractive().answer("When does my flight leave?", known, "ann", at=SAID_AT).text


@pytest.mark.parametrize(
    "said",
    [
        "deploy it",
        "can you refactor this loop in Go?",
        "write a cover letter for a bookshop job",
        "please run the tests again",
        "how many kilometres are in a mile?",
        "when should I plant tomatoes?",
        "how do I write a loop in Go?",
    ],
)
def test_what_asks_nothing_of_memory_is_answered_with_nothing(said):
    lines = (
        "The backend is in Go, deployed on Fly.io.",
        "I work at a bookshop on Saturdays.",
        "I run five kilometres every morning.",
        "I grow tomatoes.",
        "Please always write tests with pytest.",
    )
    assert ask(said, *lines) == ""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What should I cook for my sister?", "My sister is allergic to peanuts."),
        ("When should I take my pills?", "I take my pills at eight."),
        ("How do I take my coffee?", "I take my coffee black."),
        ("write a note on ann's garden tomatoes", "I grow tomatoes in my garden."),
        ("Who does the marketing?", "My cofounder Dana handles the marketing."),
        ("test suite", "The test suite takes nine minutes."),
    ],
)
def test_what_asks_for_something_of_theirs_is_answered(question, said):
    assert said.rstrip(".") in ask(question, said)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where am I moving?", "If I get the job I'll move to Oslo."),
        ("Where do I live?", "When I retire I'm going to live in Crete."),
        ("Where am I moving?", "I might move to Oslo."),
        ("How many children do I have?", "I hope to have two children some day."),
        ("Where am I moving?", "I almost moved to Oslo."),
    ],
)
def test_what_is_only_possible_is_told_in_its_own_words_and_not_as_the_answer(question, said):
    told = ask(question, said)
    assert told == "" or told.startswith(("ann said: ", "ann "))


@pytest.mark.parametrize(
    ("question", "said", "first"),
    [
        ("Where do I live?", "I live in Turin, but I might move to Oslo.", "Turin: "),
        ("Where do I want to go?", "I want to go to Peru.", "Peru: "),
        ("Where did I live?", "When I was six I lived in Rome.", "Rome: "),
    ],
)
def test_what_is_so_comes_first_beside_what_is_possible(question, said, first):
    assert ask(question, said).startswith(first)


@pytest.mark.parametrize(
    "text", ["wow " * 25_000, "a" * 100_000, "when i will " * 8_000, "how old " * 12_000]
)
def test_a_question_of_any_length_is_read(text):
    assert isinstance(ask(text[:10_000], text), str)


@pytest.mark.parametrize(
    ("question", "said", "told"),
    [
        ("How much did the Kona cost?", "The Kona cost us 14,000.", "14,000"),
        ("What mark did I get in stats?", "I got a 78 in stats.", "78"),
        ("What's my cousin's name?", "My cousin Wei lives in Coburg.", "Wei"),
        ("Who do I report to?", "I report to Graham, he's the CPO.", "Graham"),
        ("Who is my dentist?", "My new dentist is Dr. Claes.", "Claes"),
        ("Did I pass the exam?", "I passed the exam!", "passed"),
        ("Did I take the job in Leeds?", "I haven't taken the job in Leeds.", "haven't"),
        ("Am I diabetic?", "The doctor asked if I was diabetic. I'm not.", "I'm not"),
        ("What's wrong with my back?", "Gosh, my back. I have a slipped disc.", "slipped disc"),
        ("How old am I?", "My birthday's the 3rd of December, I'll be 42.", "42"),
    ],
)
def test_what_has_the_kind_of_thing_that_is_asked_for_is_an_answer(question, said, told):
    assert told in ask(question, said)
