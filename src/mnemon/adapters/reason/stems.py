"""The terms of a text by their stems, so that 'lives' is found by 'living' and 'went' by 'go'."""

from __future__ import annotations

from functools import lru_cache

from mnemon.adapters.reason.lexicon import base_of_participle, base_of_past, word_set
from mnemon.domain.pattern import pattern
from mnemon.domain.words import STOP_WORDS, words

_MORE_STOP_WORDS = word_set(
    """
    all also an any anything been being both could didn't doesn't don't each else ever every get got
    he's i'd i'll i've isn't just let many me mine more most much myself no nor not now off only other
    ours out over own please really said same say says shall she's should some something still such tell
    that's they'd they'll they're they've thing things though through up very wasn't we'd we'll we're
    we've were weren't what's where's while who's won't yes yet you'd you'll you're you've yours
    """
)


_SPELLINGS = {
    "favourite": "favorite",
    "favourites": "favorite",
    "colour": "color",
    "colours": "color",
    "neighbour": "neighbor",
    "mum": "mom",
    "hobbies": "hobby",
    "born": "birth",
    "newborn": "birth",
}

_MADE = pattern(r"(?:(?<=[ts])ion|ment)$")
"""How nouns end that are made of verbs, so that the 'engagement' is found by 'engaged'."""
_NOT_MADE = word_set("apartment department basement question")
_LONG = 7

_WORDS = 1 << 14
"""How many are kept in mind: the same few thousand come again and again."""


@lru_cache(_WORDS)
def stem(word: str) -> str:
    """A light stem of a folded word; the same for the forms of one verb or noun."""
    if word.endswith("'s"):
        word = word[:-2]
    word = _SPELLINGS.get(word, word)
    if not word.isascii():
        return word
    base = base_of_past(word) or base_of_participle(word)
    if base is None and len(word) < 4:
        return word
    if base is not None:
        word = base
    elif word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    elif word.endswith("ing") and len(word) > 5:
        word = word[:-3]
    elif len(word) > _LONG and (made := _MADE.search(word)) and word not in _NOT_MADE:
        word = word[: made.start()]
    return _trimmed(word)


def _trimmed(word: str) -> str:
    """Without a silent e or a doubled letter, so that 'hiking', 'hike' and 'running', 'run' meet."""
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def content_stems(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS and word not in _MORE_STOP_WORDS]
