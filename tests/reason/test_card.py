"""The card: what stays, what is replaced, what goes first."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.ports.reasoner import Entry


def card(entries, *news, most=40):
    """The card's lines after news with sources of their own; lines without a source are written by hand."""
    known = [
        entry if isinstance(entry, Entry) else Entry(entry, f"old{at}") for at, entry in enumerate(entries)
    ]
    fresh = [Entry(text, f"new{at}") for at, text in enumerate(news)]
    return [entry.text for entry in Extractive().card(known, fresh, most)]


@pytest.mark.parametrize(
    "label",
    [
        "Name",
        "Goes by",
        "Lives in",
        "Works as",
        "Works at",
        "Age",
        "Birthday",
        "Pronouns",
        "Diet",
        "Partner",
        "Phone",
        "Time zone",
        "Job",
        "Favorite color",
    ],
)
def test_there_is_one_value_of_what_there_is_only_one_of(label):
    assert card([f"{label}: old"], f"{label}: new") == [f"{label}: new"]
    assert card([], f"{label}: old", f"{label}: new") == [f"{label}: new"]


@pytest.mark.parametrize("label", ["Likes", "Dislikes", "Allergy", "Pet", "Sister", "Speaks", "Instruction"])
def test_there_are_many_values_of_what_there_may_be_many_of(label):
    assert card([f"{label}: one"], f"{label}: two", f"{label}:  ONE ") == [f"{label}: one", f"{label}: two"]


def test_labels_that_mean_the_same_are_one():
    assert card(["Job: cook"], "Works as: nurse") == ["Works as: nurse"]
    assert card(["Mom: Ann"], "Mother: Anna") == ["Mother: Anna"]
    assert card([Entry("Location: Oslo")], "Lives in: Rome") == ["Location: Oslo"]


def test_a_partner_is_told_once_and_as_closely_as_known():
    assert card(["Boyfriend: Tom"], "Husband: Tom") == ["Husband: Tom"]
    assert card(["Wife: Ana"], "Partner: Ana") == ["Wife: Ana"]
    assert card(["Wife: Ana"], "Girlfriend: Eva") == ["Girlfriend: Eva"]


def test_a_named_son_takes_the_place_of_a_son():
    assert card(["Son: a son"], "Son: Leo") == ["Son: Leo"]


def test_a_new_value_stands_where_the_old_one_stood():
    assert card(["Lives in: Porto", "Likes: tea"], "Lives in: Lisbon") == ["Lives in: Lisbon", "Likes: tea"]


def test_a_new_value_comes_from_the_new_conclusion():
    assert Extractive().card([Entry("Age: 31", "a")], [Entry("Age: 32", "b")], 40) == [Entry("Age: 32", "b")]


def test_what_is_liked_is_no_longer_disliked():
    assert card(["Dislikes: tea"], "Likes: tea") == ["Likes: tea"]
    assert card(["Likes: tea"], "Dislikes: Tea") == ["Dislikes: Tea"]


def test_a_dog_is_nothing_new_beside_one_with_a_name():
    assert card(["Pet: Rex (dog)", "Pet: two cats"], "Pet: a dog", "Pet: a cat", "Pet: a fish") == [
        "Pet: Rex (dog)",
        "Pet: two cats",
        "Pet: a fish",
    ]


def test_a_named_dog_takes_the_place_of_a_dog():
    assert card(["Pet: a dog", "Pet: a cat"], "Pet: Rex (dog)") == ["Pet: Rex (dog)", "Pet: a cat"]


def test_what_is_written_by_hand_is_not_contradicted():
    assert card([Entry("Name: Ann"), "Likes: tea"], "Name: Anna", "likes: tea") == ["Name: Ann", "Likes: tea"]
    assert card([Entry("Likes: tea")], "Likes: Tea") == ["Likes: tea"]


def test_the_oldest_of_what_is_the_least_useful_goes_first():
    lines = ["Name: Ann", "Allergy: nuts", "Instruction: Always answer in French", "Likes: a", "Likes: b"]
    assert card(lines, "Likes: c", most=5) == [line for line in lines if line != "Likes: a"] + ["Likes: c"]
    assert card(["Pet: a dog", "Likes: a", "Likes: b"], "Likes: c", most=2) == ["Pet: a dog", "Likes: c"]
    assert card(lines, most=2) == ["Name: Ann", "Allergy: nuts"]
    assert card(lines, most=1) == ["Name: Ann"]
    assert card(lines, most=0) == []


def test_the_most_useful_stands_first_and_all_else_in_the_order_of_its_coming():
    likes = [f"Likes: thing {number}" for number in range(30)]
    told = ["is kind", "Pet: Rex (dog)", "Sister: Ana", "Works as: nurse", "Lives in: Oslo", "Allergy: nuts"]
    assert card(likes, *told, "Brother: Tom", "Name: Ann") == [
        *("Name: Ann", "Allergy: nuts", "Lives in: Oslo", "Works as: nurse", "Sister: Ana", "Brother: Tom"),
        *("Pet: Rex (dog)", "is kind", *likes),
    ]
    assert card([*likes, Entry("Likes: opera")], "Name: Ann")[:2] == ["Likes: opera", "Name: Ann"]


def test_a_line_is_never_longer_than_200_characters():
    assert len(card([], "Likes: " + "x" * 500)[0]) == 200
    assert card([Entry("y" * 500)]) == ["y" * 500]


def test_a_line_without_a_label_is_kept_once():
    assert card(["is kind"], "is  Kind", "is tall") == ["is kind", "is tall"]
