"""Answers from how people speak: by a word of reply, in lists and fragments, in their own language."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Statement
from reason.utterances import SAID_AT


def ask(question, *said):
    """The answer to a question of ann; what begins with 'ann' is concluded, all else is a message of hers."""
    known = [
        Statement(str(number), text, SAID_AT, None if text.startswith("ann") else "ann")
        for number, text in enumerate(said)
    ]
    return Extractive().answer(question, known, "ann").text


REPLIES = (
    'ann said: "electrician", asked "What do you do for a living?"',
    'ann said: "Ghent", asked "Where are you based?"',
    'ann said: "shellfish", asked "Do you have any allergies?"',
    'ann said: "yes", asked "Are you married?"',
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What's my job?", "electrician"),
        ("Where do I live?", "Ghent"),
        ("What am I allergic to?", "shellfish"),
        ("Am I married?", "yes"),
    ],
)
def test_a_reply_tells_what_it_was_asked_for(question, told):
    assert f'ann said: "{told}"' in ask(question, *REPLIES).partition("\n")[0]


@pytest.mark.parametrize(
    ("question", "said", "told"),
    [
        ("How old is my son?", "My son Leo (6) is allergic to peanuts.", "Leo (6)"),
        ("How old is my daughter?", "I picked up my 4-year-old daughter Ida.", "4-year-old"),
        ("What are my cats called?", "ann has two cats, Miso and Nori", "Miso and Nori"),
        ("Where did we buy a house?", "We bought a house! Three bedrooms, in Stirling.", "Stirling"),
        ("What is on my list?", "Add to my list:\n- eggs\n- cat litter", "eggs"),
        ("Où est-ce que j'habite ?", 'ann said: "j\'habite à Lyon"', "Lyon"),
        ("Wo wohne ich denn eigentlich?", 'ann said: "ich wohne in Ulm"', "Ulm"),
    ],
)
def test_what_is_asked_for_is_found_as_it_was_said(question, said, told):
    assert told in ask(question, said)


def test_how_old_another_is_answers_nothing_of_this_one():
    assert "(6)" not in ask("How old is my daughter?", "My son Leo (6) and my daughter came by.")


def test_a_sentence_with_a_subject_of_its_own_is_not_told_with_the_one_before():
    said = "We bought a house! My sister lives in Stirling."
    assert "Stirling" not in ask("Where did we buy a house?", said)


def test_who_has_what_the_question_names_comes_before_who_has_only_its_label():
    known = ("ann speaks Polish and English", "Now learning Japanese with an app.")
    assert "Japanese" in ask("What language am I learning?", *known).partition("\n")[0]
    assert "Polish" in ask("What languages do I speak?", *known).partition("\n")[0]


def test_a_time_is_told_where_one_is_asked_for():
    said = "Having Nina and Paul over on Saturday. Nina is vegan and Paul hates peas."
    assert "Saturday" in ask("When are Nina and Paul coming?", said)


def test_who_is_called_by_what_they_are_at_home_is_meant_by_a_pronoun():
    said = "Mum was at the doctor's. She's 71 and lives alone in Cork."
    assert "Cork" in ask("Where does my mum live?", said)


@pytest.mark.parametrize(
    ("question", "said", "told"),
    [
        ("¿Cómo se llama mi gato?", "Tengo un gato que se llama Goya.", "Goya"),
        ("Comment s'appelle notre chienne ?", "On a adopté une chienne, Prune.", "Prune"),
        ("Wie heißt unser Hund?", "Der Dackel heißt Waldi, ganz klassisch.", "Waldi"),
        ("犬の名前は何ですか。", "犬の名前はハナです。", "ハナ"),
        ("¿A qué se dedica mi novia?", "Mi novia se llama Pilar y es farmacéutica.", "farmac"),
        ("妻の仕事は何ですか。", "妻の名前は由美で、小学校の先生です。", "先生"),
        ("Welche Nüsse vertrage ich nicht?", "Ich vertrage keine Haselnüsse.", "Haselnüsse"),
        ("¿Qué instrumento toco?", "Toco el bajo en un grupo.", "bajo"),
        ("Quelle pièce ai-je vue au théâtre ?", "J'ai vu une pièce de Molière au théâtre.", "Molière"),
        ("何のアレルギーがありますか。", "そばアレルギーがあるので気をつけています。", "そば"),
        ("Wann hat meine Mutter Geburtstag?", "Meine Mutter hat am 4. März Geburtstag.", "4. März"),
        ("Quel âge a notre chat ?", "Notre chat Moustache a huit ans.", "huit"),
    ],
)
def test_a_line_that_speaks_of_nearly_all_that_is_asked_answers_in_any_language(question, said, told):
    assert told in ask(question, said)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Wie alt ist Lena?", "Unsere Tochter Lena studiert in Graz."),
        ("¿Cómo se llama mi hermana?", "Vivo en Torrero con mi hermana."),
        ("¿Cuánto cuesta el dentista?", "Mi dentista es el doctor Arenas."),
        ("Combien coûte le cours de poterie ?", "Mon cours de poterie est le mardi soir."),
        ("Wo wohnt mein Bruder?", "Meine Schwester wohnt in Wien."),
        ("Was ist meine Schwester von Beruf?", "Meine Schwester wohnt in Wien."),
        ("猫の名前は何ですか。", "犬の名前はハナです。"),
        ("妻の誕生日はいつですか。", "妻の名前は由美で、小学校の先生です。"),
    ],
)
def test_who_is_only_named_in_another_language_is_no_answer(question, said):
    assert ask(question, said) == ""
