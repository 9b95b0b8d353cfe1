"""Courtesies: whether somebody only greets, thanks or agrees."""

from __future__ import annotations

import unicodedata

from souvenance.language.lexicon import lists

_MOST_WORDS = 4
_WORDS = frozenset(lists().courtesies.words.split())
_PHRASES = frozenset(lists().courtesies.phrases.split(", "))


def is_courtesy(text: str) -> bool:
    """Whether the text is a word or two of courtesy, or has no word at all."""
    spaced = "".join(letter if _belongs(letter) else " " for letter in text.casefold())
    words = [word for word in spaced.split() if any(map(str.isalnum, word))]
    return " ".join(words) in _PHRASES or (len(words) <= _MOST_WORDS and _WORDS.issuperset(words))


def _belongs(letter: str) -> bool:
    """Whether it is part of a word."""
    return letter.isalnum() or unicodedata.category(letter)[0] == "M"
