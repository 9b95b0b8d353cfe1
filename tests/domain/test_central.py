"""Which messages are current and central."""

from __future__ import annotations

from souvenance.domain.centrality import central


def best(*texts):
    return [texts[number] for number in central(texts)]


def test_what_one_says_of_oneself_comes_before_what_one_says_of_the_world():
    assert best("Ferns need shade and water.", "I need shade and rest.")[0] == "I need shade and rest."


def test_what_is_returned_to_comes_before_what_was_said_once():
    said = ("I ran the marathon.", "I ate some soup.", "I liked the marathon crowd.", "I sold my bicycle.")
    assert best(*said)[0] == "I liked the marathon crowd."


def test_of_what_is_alike_otherwise_the_newest_comes_first():
    assert best("I own a heron.", "I own a parrot.", "I own a canary.") == [
        "I own a canary.",
        "I own a parrot.",
        "I own a heron.",
    ]


def test_of_messages_about_the_same_thing_the_older_ones_come_last():
    said = ["I rent a flat in Porto.", "I rent a flat in Lisbon.", "My sister Dora is a nurse."]
    assert best(*said)[-1] == said[0]


def test_questions_courtesies_and_pasted_texts_are_left_out():
    mail = "From: carl@example.com\nSubject: invoice\n\nI demand to be paid."
    assert (
        best(
            "Where is my towel?",
            "thanks a lot!",
            mail,
            "```\nI = my + me\n```",
            " ".join(f"my{number}" for number in range(200)),
        )
        == []
    )


def test_of_nothing_nothing_is_central():
    assert central([]) == central(["", "?!"]) == []
