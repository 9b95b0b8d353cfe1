"""Whether a line says that what it names is over, or what has come in its place."""

from __future__ import annotations

import pytest

from mnemon.domain import words
from mnemon.domain.succession import names, over, replaced, told


def terms(text):
    return words.terms(text).keys()


@pytest.mark.parametrize(
    ("line", "gone"),
    [
        ("I sold the Skoda and drive a Kia now", "skoda"),
        ("I quit Google, I'm with Fern now", "google"),
        ("We gave Momo away", "momo"),
        ("I dropped Vim, VS Code instead", "vim"),
        ("We no longer deploy on Fridays, Tuesdays only", "friday"),
        ("We migrated from Heroku to Hetzner", "heroku"),
        ("I replaced the Pixel 6 with another", "pixel"),
        ("Keller retired, Dr. Amsel sees me instead", "keller"),
        ("Moira has left. It's Tess from today", "moira"),
        ("the toaster finally died", "toaster"),
        ("The Fiesta's gone to the scrapyard", "fiesta"),
        ("Ola's on parental leave", "ola"),
        ("Piet handed in his notice", "piet"),
        ("Nadia and I called it quits", "nadia"),
        ("Den Golf haben wir verkauft", "golf"),
        ("Mi dentista Ortega se ha jubilado", "ortega"),
        ("J'ai quitté Bouygues", "bouygues"),
        ("スポーツジムを解約しました", "ジム"),
    ],
)
def test_a_line_says_what_is_over(line, gone):
    assert over(line, terms(gone)) is not None


@pytest.mark.parametrize(
    "line",
    [
        "I dropped my Pixel on the floor",
        "I replaced the Skoda's tyres",
        "I sold the Skoda tyres",
        "I left my Pixel at home",
        "Have I sold the Skoda?",
        "I moved the walnuts to the cellar",
        "Keller left a note on the door",
        "Keller moved my appointment",
        "Keller's brother retired",
        "If the Skoda died I'd walk",
        "Wenn wir den Skoda verkauft hätten",
        "Hat jemand den Skoda verkauft?",
        "",
    ],
)
def test_what_only_happened_to_a_thing_is_no_end_of_it(line):
    assert over(line, {"skoda", "pixel", "walnut", "keller"}) is None


@pytest.mark.parametrize(
    ("line", "clause"),
    [
        ("Keller got too dear, so it's Amsel now", "it's Amsel now"),
        ("Keller has no time. Since Monday Dr. Amsel treats me", "Since Monday Dr Amsel treats me"),
        ("Keller is busy, I go to Amsel these days", "I go to Amsel these days"),
        ("Keller is ill, Amsel has taken over", "Amsel has taken over"),
        ("Keller ist krank, ich gehe nun zu Amsel", "ich gehe nun zu Amsel"),
        ("Keller now works with Amsel", None),
        ("Saw Keller and Amsel", None),
        ("It's Amsel now", None),
        ("Keller is busy, now I'm tired", None),
        ("If Keller is busy, I go to Amsel now", None),
    ],
)
def test_another_name_behind_the_old_one_takes_its_place(line, clause):
    assert replaced(line, {"keller"}, {"keller", "doctor"}) == clause


def test_what_a_line_tells_stands_where_it_holds_what_is_asked():
    line = "My favourite café is the Oak, I go there with Moira"
    assert told(line, words.asked("Which café is my favourite?")) == ["oak"]
    assert {"oak", "moira"} <= set(told(line, ["tea"]))
    assert told("", ["tea"]) == []


def test_names_have_a_capital_letter_where_no_sentence_begins_and_are_no_times_and_titles():
    assert names("Our vet is Dr. Keller. Mornings only, on Mondays, says Frau Amsel") == ["keller", "amsel"]
    assert names("we order from Fern & Sons") == ["fern", "son"]
    assert names("") == []
