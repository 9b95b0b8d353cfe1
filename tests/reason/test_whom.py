"""A question about somebody is answered from what tells of them, or not at all."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement, Told
from reason.utterances import SAID_AT

NOTHING = Told("", ())


def ask(question, *known, about="mira"):
    said = [Statement(text, text, SAID_AT, None if text.startswith("mira") else "mira") for text in known]
    return Extractive().answer(question, said, about)


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("Where do I live?", "mira's sister Anna lives in Rome"),
        ("Where do I live?", "My sister Anna lives in Rome."),
        ("Where do I live?", "Anna lives in Rome."),
        ("Where do I live?", "She lives in Rome now."),
        ("Where does she live?", "mira's sister Anna lives in Rome"),
        ("Where do I work?", "mira's brother works at Google in Berlin"),
        ("Am I allergic to peanuts?", "mira's brother is allergic to peanuts"),
        ("What is my name?", "mira's dog's name is Rex"),
        ("Do I have a dog?", "mira's sister has a dog"),
        ("Do I like opera?", "mira's wife likes opera"),
        ("Where does my mother live?", "mira lives in Oslo"),
        ("Where does my mother live?", "I live in Oslo."),
        ("Where does my brother live?", "mira's sister Anna lives in Rome"),
        ("Where does mira's mother live?", "mira lives in Oslo"),
        ("What is my mother's name?", "mira's name is Mira"),
        ("What does my cat eat?", "mira has a dog named Rex"),
        ("Where does Tom live?", "mira lives in Oslo"),
        ("What is Tom's job?", "mira works as a nurse"),
    ],
)
def test_what_tells_of_somebody_else_is_no_answer(question, known):
    assert ask(question, known) == NOTHING


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("Where does my sister live?", "mira's sister Anna lives in Rome"),
        ("Where does Anna live?", "mira's sister Anna lives in Rome"),
        ("Where does my mother live?", "My mum lives in Rome."),
        ("Where does my mother live?", "mira's parents live in Kiel"),
        ("Where does my mother live?", "mira lives in Oslo with their mother"),
        ("Where do I live?", "mira and their wife live in Hamburg"),
        ("Where do I live?", "mira's sister lives with them in Oslo"),
        ("Where does Mira live?", "mira lives in Oslo"),
        ("How old is Leo?", "mira's son Leo is 4"),
        ("What am I allergic to?", "mira's cat allergy is bad, and mira is allergic to cats"),
        ("Do I have a dog?", "mira's dog is lazy"),
        ("Who do I know that works at Google?", "mira's brother works at Google in Berlin"),
        ("When did I visit my mother?", "mira visited their mother in May"),
        ("Who is my boyfriend?", "mira has a boyfriend, Jonas"),
    ],
)
def test_what_tells_of_whom_is_asked_about_answers(question, known):
    assert ask(question, known).cited == (known,)


def test_each_of_several_is_asked_about_alone():
    known = ("mira lives in Oslo", "mira's mum lives in Rome", "mira's sister lives in Kiel")
    assert ask("Where do I live?", *known).cited == known[:1]
    assert ask("Where does my mother live?", *known).cited == known[1:2]
    assert ask("Where does my sister live?", *known).cited == known[2:]


def test_somebody_of_theirs_is_known_by_name_too():
    told = ask("Where does my mother live?", "mira's mother is called Eva", "Eva lives in Rome.")
    assert told.text.startswith('Rome: mira said: "Eva lives in Rome."')


def test_a_name_may_be_the_peers_where_none_is_known():
    known = "I live in Oslo."
    assert ask("Where does Mira live?", known, about="tg-4711").cited == (known,)
    named = "My name is Mira."
    assert ask("Where does Tom live?", known, named, about="tg-4711").cited == ()


def test_asked_of_nobody_in_particular_everybody_answers():
    known = "mira's sister Anna lives in Rome"
    assert ask("Where do they live?", known, about=None).cited == (known,)
