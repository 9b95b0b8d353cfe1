"""From a message to the sentences its author says for themselves."""

from __future__ import annotations

import pytest

from mnemon.adapters.reason.sentences import MOST_SENTENCES, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith came at 5 p.m. today. Good.", ["Dr. Smith came at 5 p.m. today.", "Good."]),
        ("See you at 5 p.m. I'll wait.", ["See you at 5 p.m.", "I'll wait."]),
        ("J. R. R. Tolkien wrote it.", ["J. R. R. Tolkien wrote it."]),
        ("It costs 3.50 on example.com/a.b?c=d now.", ["It costs 3.50 on example.com/a.b?c=d now."]),
        ("Wait... what?!", ["Wait...", "what?!"]),
        ("No space.I live here.", ["No space.", "I live here."]),
        ("Hello 😀 world", ["Hello.", "world"]),
        ("Hello! 😀 World 🎉!", ["Hello!", "World."]),
        ("😀 Hello", ["Hello"]),
        ("Nice :) I like it", ["Nice .", "I like it"]),
        ("- one\n* two\n3. three\n\nfour", ["one", "two", "three", "four"]),
        ("a line that goes\non here. And ends", ["a line that goes on here.", "And ends"]),
        ("**Bold** text", ["Bold text"]),
        ("before\n```\ncode here\n```\nafter", ["before", "after"]),
        ("before\n```\nnever closed", ["before"]),
        ("> quoted\nmine", ["mine"]),
        ("x = y + 1;\nprose", ["prose"]),
        ("| a | b |\nprose", ["prose"]),
        ("User: I am here\nmine", ["mine"]),
        ("Note: this is mine", ["this is mine"]),
        ("Look at this text:\nnot mine. At all.", ["Look at this text:"]),
        ("Please translate this: not mine", ["Please translate this:"]),
        ("Pretend you are a cat. I purr.", []),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_only_the_authors_own_sentences_are_read(text, expected):
    assert sentences(text) == expected


def test_a_message_has_a_bounded_number_of_sentences():
    assert len(sentences("Go. " * 9_000)) == MOST_SENTENCES
    assert len(sentences("Go.\n" * 9_000)) == MOST_SENTENCES
