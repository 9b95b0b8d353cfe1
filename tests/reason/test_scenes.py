"""A scene that somebody sets holds until somebody ends it, or for as long as people play in one go."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.adapters.reason.scenes import LASTS, LASTS_ANYHOW, PAUSE_MS
from mnemon.ports.reasoner import Turn
from reason.utterances import SAID_AT

HERO = "I live in Camelot."


def concluded(*said, before=()):
    """What is concluded of ann; what begins with 'bot: ' is another's."""

    def turns(texts, name):
        for number, text in enumerate(texts):
            _, _, what = text.rpartition("bot: ")
            yield Turn(f"{name}{number}", "bot" if what != text else "ann", what, SAID_AT)

    found = Extractive().derive(list(turns(said, "t")), "ann", list(turns(before, "b")))
    return [fact.text for fact in found]


@pytest.mark.parametrize(
    "scene",
    [
        "Let's roleplay a fantasy story.",
        "bot: Sure, let's play D&D!",
        "Do you want to start an adventure?",
        "Be my dungeon master.",
        "Please stay in character.",
        "You are a pirate and I am the captain.",
        "You be the waiter, I'll be the guest.",
        "Can you act as an interviewer? I'll be the candidate.",
        "I'll play the king and you play the queen.",
    ],
)
def test_what_is_said_in_a_scene_holds_of_nobody(scene):
    assert concluded(scene, "bot: Who are you?", HERO) == []
    assert concluded(HERO, before=[scene, "bot: Who are you?"]) == []


@pytest.mark.parametrize(
    "said",
    [
        "I want to play D&D more.",
        "bot: Do you want to hear about my D&D group?",
        "Let's play chess!",
        "My children role-play a lot.",
        "Let's pretend nothing happened.",
        "You are a nutritionist. I am a runner.",
        "You're the best and I'm the luckiest!",
        "You're an angel and I'll be the godmother of your son.",
        "Act as my doctor.",
        "I'll be the driver tonight.",
    ],
)
def test_what_only_speaks_of_play_sets_no_scene(said):
    assert "ann lives in Camelot" in concluded(said, "bot: Oh?", HERO)


def test_a_scene_ends_when_somebody_ends_it():
    said = ["Let's roleplay.", "bot: Who are you?", "OK, stop the roleplay. I live in Ghent."]
    assert concluded(*said) == ["ann lives in Ghent"]


@pytest.mark.parametrize(
    "end", ["Ok, back to reality.", "ok stop.", "Stop playing now.", "Enough!", "Joking aside.", "Game over."]
)
def test_a_scene_ends_in_whatever_words(end):
    assert concluded("Let's roleplay.", "bot: Who are you?", f"{end} I live in Ghent.") == [
        "ann lives in Ghent"
    ]


def test_a_scene_ends_when_people_came_back_to_it_after_hours():
    def told(after_ms, turns):
        said = ["Let's roleplay.", *["bot: Hm."] * turns]
        talk = [Turn(str(at), "bot", text, SAID_AT) for at, text in enumerate(said)]
        last = Turn("last", "ann", HERO, SAID_AT + after_ms)
        return [fact.text for fact in Extractive().derive([*talk, last], "ann")]

    assert told(PAUSE_MS - 1, LASTS_ANYHOW) == []
    assert told(PAUSE_MS, LASTS_ANYHOW) == ["ann lives in Camelot"]
    assert told(PAUSE_MS, LASTS_ANYHOW - 1) == []


def test_nobody_is_in_a_scene_for_ever():
    small = ["bot: Hm."] * LASTS
    assert concluded("Let's roleplay.", *small, HERO) == ["ann lives in Camelot"]
    assert concluded("Let's roleplay.", *small[1:], HERO) == []


@pytest.mark.parametrize(
    "dream",
    [
        "I dreamt of a farm. In it, I live in Rome.",
        "My D&D character is called Brannor. I'm a dwarf from the Iron Hills.",
    ],
)
def test_what_is_so_in_a_dream_or_of_a_figure_is_not_so_of_who_tells_it(dream):
    assert not any(text.startswith(("ann lives", "ann is")) for text in concluded(dream))
