"""When two statements say the same: what of their wording makes no difference."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from mnemon.domain.pattern import pattern

_OPENING = "\"'“”‘’«»([{*_"
_CLOSING = "\"'“”‘’«»)]}*_.,;:!?…"
_ARTICLES = frozenset(["a", "an", "the"])
_EMPHASIS = "really very just also so too quite actually definitely totally absolutely"
_FILLERS = frozenset(_EMPHASIS.split())
_DAY = pattern(r"\d{4}-\d\d-\d\d")
_DATED = pattern(r"\s*\((?:[\w ,]* )?\d{4}-\d\d(?:-\d\d)?(?: (?:to|–) \d{4}-\d\d-\d\d)?\)")
_SHORTEST_PLURAL = 4
_TOKENS = 1 << 13
"""How many are kept in mind: the same few thousand come again and again."""


def plain(text: str) -> str:
    """The text without case, spacing, articles, and the marks around its words."""
    return " ".join(_words(text))


def gist(text: str) -> str:
    """What is left of a statement without fillers and the s of plurals and third persons.

    The words stay in their order, and tenses, negations, numbers and dates stay as they are: whatever
    differs in one of these says something else.
    """
    kept = [word for word in _words(text) if word not in _FILLERS]
    return " ".join(map(_stem, kept)) or plain(text)


def undated(text: str) -> str:
    """The statement without the days that it names in brackets."""
    return _DATED.sub("", text)


def days(text: str) -> list[str]:
    """The days that a statement names, each once, in its order."""
    return list(dict.fromkeys(_DAY.findall(text)))


def _words(text: str) -> list[str]:
    shown = text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")
    bare = list(map(_bare, shown.split()))
    last = len(bare) - 1
    return [word.casefold() for at, word in enumerate(bare) if not _is_article(word, at, last)]


@lru_cache(_TOKENS)
def _bare(token: str) -> str:
    return token.lstrip(_OPENING).rstrip(_CLOSING) or token


def _is_article(word: str, at: int, last: int) -> bool:
    """Not the last word and, but for the first, in lower case: 'vitamin A' and 'plan A' have none."""
    return at != last and (word in _ARTICLES or (at == 0 and word.lower() in _ARTICLES))


@lru_cache(_TOKENS)
def _stem(word: str) -> str:
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]
