"""Whom 'he', 'she' and 'they' mean, where it can be only one."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.adapters.reason.referents import meant, pointed_out
from mnemon.ports.reasoner import Statement, Told
from reason.utterances import SAID_AT

NOTHING = Told("", ())


def shown(*sentences, before=""):
    return [
        sentence if who is None else pointed_out(sentence, who)
        for sentence, who in zip(sentences, meant(sentences, before), strict=True)
    ]


@pytest.mark.parametrize(
    ("before", "sentence", "expected"),
    [
        ("My sister Anna moved to Lyon.", "She works as a nurse.", "She [Anna] works as a nurse."),
        ("My mother had an operation.", "She is well.", "She [my mother] is well."),
        ("My brother Paul is back.", "He's staying with us.", "He [Paul]'s staying with us."),
        ("My daughter Noor sings.", "Her teacher is strict.", "Her [Noor's] teacher is strict."),
        ("Jonas plays the cello.", "I hear him at night.", "I hear him [Jonas] at night."),
        ("My partner Kim is a chef.", "They work at night.", "They [Kim] work at night."),
        ("Our parents live in Kiel.", "They have a garden.", "They [our parents] have a garden."),
        ("My dogs hate snow.", "They hide.", "They [my dogs] hide."),
        ("Kim's mother Ruth is here.", "She is 81.", "She [Ruth] is 81."),
        ("We adopted a dog.", "Her name is Pixel.", "Her [dog's] name is Pixel."),
        ("My aunt's name is Eva.", "She taught me to knit.", "She [Eva] taught me to knit."),
    ],
)
def test_a_pronoun_means_the_only_one_who_was_named(before, sentence, expected):
    assert shown(before, sentence)[1] == expected
    assert shown(sentence, before=before) == [expected]


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("My sister Anna met my aunt Eva.", "She works as a nurse."),
        ("Anna met Eva.", "She works as a nurse."),
        ("My brother Paul is back.", "She works as a nurse."),
        ("My sister works at a bank.", "They pay well."),
        ("My sister Anna moved to Lyon.", "Tom says she is tired."),
        ("I moved to Lyon.", "She works as a nurse."),
        ("Kim's mother is here.", "She is 81."),
        ("The Skoda broke down.", "He works as a nurse."),
    ],
)
def test_a_pronoun_that_may_mean_two_or_nobody_means_none(before, sentence):
    assert shown(before, sentence)[1] == sentence


def test_who_is_meant_stays_so_until_somebody_else_is_named():
    told = shown(
        "My sister Anna is here.", "She cooks.", "It is late.", "She sings.", "Tom left.", "He was tired."
    )
    assert told[1] == "She [Anna] cooks."
    assert told[3] == "She [Anna] sings."
    assert told[5] == "He [Tom] was tired."


LYON = "My sister Anna moved to Lyon. She works as a nurse at the children's hospital."


def ask(question, *known, after=""):
    said = [Statement(text, text, SAID_AT, "mira", after=after, after_id=after) for text in known]
    return Extractive().answer(question, said, "mira")


@pytest.mark.parametrize(
    "question", ["What does Anna do?", "what's my sister's job?", "Where does Anna work?"]
)
def test_what_is_told_of_somebody_by_a_pronoun_answers_a_question_about_them(question):
    assert 'mira said: "She [Anna] works as a nurse' in ask(question, LYON).text


def test_the_message_before_may_say_who_is_meant_and_is_cited_with_it():
    told = ask("What does Anna do?", "She works as a nurse.", after="My sister Anna is here.")
    assert "She [Anna] works as a nurse" in told.text
    assert told.cited == ("She works as a nurse.", "My sister Anna is here.")
    assert ask("What does Anna do?", "She works as a nurse.") == NOTHING


@pytest.mark.parametrize(
    "question",
    [
        "What is Anna's salary?",
        "What do I do?",
        "Where do I work?",
        "What does my brother do?",
        "Is Anna married?",
    ],
)
def test_it_answers_no_other_question(question):
    assert ask(question, LYON) == NOTHING


@pytest.mark.parametrize(
    ("question", "opening"),
    [
        ("How old is Ida?", "7: "),
        ("How old is Leo?", "4: "),
        ("How old is Ruth?", ""),
    ],
)
def test_of_two_in_one_sentence_each_has_their_own_number(question, opening):
    told = ask(question, "We have two kids, Leo and Ida. Leo is 4 and Ida is 7.").text
    assert told.startswith(opening) if opening else told == ""


TWO_STEPS = [
    "My sister Anna is here. Her husband Marc cooks.",
    "Marc works at Renault.",
    "My husband works at Shell.",
]


def test_somebody_of_somebody_is_known_by_their_name():
    assert ask("Where does my sister's husband work?", *TWO_STEPS).text.startswith("Renault: ")
    assert ask("Where does my brother's husband work?", *TWO_STEPS) == NOTHING
