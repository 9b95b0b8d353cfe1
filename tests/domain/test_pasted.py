"""What of a message came from elsewhere, and what its author wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.language.pasted_text import unpasted

PASTED = [
    "<memory-context>\nI live in Kiel.\n</memory-context>",
    "<system-reminder>I live in Kiel.",
    "# AGENTS.md\nI live in Kiel.",
    "---\nname: soul\n---\nI live in Kiel.",
    "# Rules\n" + "- I live in Kiel\n" * 20,
    "## Memory\n- I live in Kiel\n- I'm vegan",
    "Saved memories (2):\n1. I live in Kiel\n\n2. I'm vegan",
    "**User profile**\nI live in Kiel.",
    "### What I know about you\n- I live in Kiel\n\n### Food\n- I'm vegan",
    "From: bob@example.org\n\nHi!\nI live in Kiel now.",
    "From: Bob\nTo: Ann\nSubject: news\n\nI live in Kiel now.",
    "Betreff: Neues\nVon: Bob\n\nI live in Kiel now.",
    "On Mon, 4 May 2026, Bob wrote:\nI live in Kiel now.",
]
OWN = [
    "My favourite memories:\n- I lived in Kiel",
    "# Memories of my childhood\nI lived in Kiel.",
    "I have a good memory\nI live in Kiel.",
    "From: Hamburg\nTo: Kiel\nI take the train.",
    "a <b> c: I live in Kiel",
]


@pytest.mark.parametrize("text", PASTED)
def test_what_came_from_elsewhere_is_left_out(text):
    assert "Kiel" not in unpasted(text)


@pytest.mark.parametrize("text", PASTED[:1] + PASTED[5:8])
def test_what_the_author_writes_behind_it_stays(text):
    assert unpasted(f"{text}\n\nI live in Rome.").endswith("I live in Rome.")


@pytest.mark.parametrize("text", PASTED[5:])
def test_what_the_author_writes_before_it_stays(text):
    found = unpasted(f"I live in Rome.\n\n{text}")
    assert "Rome" in found
    assert "Kiel" not in found


@pytest.mark.parametrize("text", OWN)
def test_what_only_looks_a_little_like_it_stays_as_it_is(text):
    assert unpasted(text) == text


@given(st.text())
def test_nothing_is_added_to_a_message(text):
    assert len(unpasted(text)) <= len(text)
