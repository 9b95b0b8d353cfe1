"""The benchmark of dreams counts what it says it counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dreams import _bases, repeated, slept
from usermodel import Conversation, Question, Said

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
TALK = [
    ("t1", "s1", "ann", "I like hiking in the Alps."),
    ("t2", "s1", "bob", "Nice."),
    ("t3", "s2", "ann", "I live in Lisbon."),
    ("t4", "s2", "bob", "I'm allergic to nuts."),
]


def conversation():
    said = [
        Said(turn, session, peer, NOON + timedelta(seconds=at), text, "")
        for at, (turn, session, peer, text) in enumerate(TALK)
    ]
    questions = [Question("Where does ann live?", 4, frozenset(["t3"]))]
    return Conversation("x", ["ann", "bob"], said, questions)


def test_who_repeats_themself_does_so_at_the_end_of_the_session_with_a_filler():
    told = [(line.session, line.peer, line.text, line.turn) for line in repeated(conversation()).said]
    assert told == [
        ("s1", "ann", "I like hiking in the Alps.", "t1"),
        ("s1", "bob", "Nice.", "t2"),
        ("s1", "ann", "I really like hiking in the Alps.", "t1"),
        ("s2", "ann", "I live in Lisbon.", "t3"),
        ("s2", "bob", "I'm allergic to nuts.", "t4"),
        ("s2", "ann", "I really live in Lisbon.", "t3"),
        ("s2", "bob", "I'm really allergic to nuts.", "t4"),
    ]


def test_a_conclusion_rests_on_the_turns_of_those_that_it_cites():
    cites = {"pattern": ["one", "two"], "one": ["m1"], "two": ["m2", "gone"]}
    assert _bases("pattern", cites, {"m1": "t1", "m2": "t2"}) == {"t1", "t2"}


def test_a_dream_merges_what_was_repeated_and_loses_no_line(tmp_path):
    night = slept(repeated(conversation()), tmp_path / "house")
    assert night.before.conclusions - night.after.conclusions == night.before.duplicates == 3
    assert (night.after.duplicates, night.after[:3]) == (0, night.again[:3])
    assert night.before.cited == night.after.cited == {"t1", "t3", "t4"}
    assert night.before.recall == night.after.recall == 1.0
