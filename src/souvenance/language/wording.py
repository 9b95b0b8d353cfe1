"""When two statements say the same: what of their wording makes no difference."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, filterfalse

_OPENING = "\"'“”‘’«»([{*_"
_CLOSING = "\"'“”‘’«»)]}*_.,;:!?…"
_ARTICLES = frozenset(["a", "an", "the"])
_EMPHASIS = "really very just also so too quite actually definitely totally absolutely"
_FILLERS = frozenset(_EMPHASIS.split())
_SHORTEST_PLURAL = 4
_TOKENS = 1 << 13
"""How many are kept in mind: the same few thousand come again and again."""


def plain(text: str) -> str:
    """The text without case, spacing, articles, and the marks around its words."""
    return " ".join(_kept(text, _bare))


def gist(text: str) -> str:
    """What is left of a statement without fillers and the s of plurals and third persons.

    The words stay in their order, and tenses, negations, numbers and dates stay as they are: whatever
    differs in one of these says something else.
    """
    return " ".join(_kept(text, _stem)) or plain(text)


def _kept(text: str, of: Callable[[str], str]) -> Iterator[str]:
    """What becomes of each word; without articles, but 'vitamin A' and 'plan A' have none."""
    shown = text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")
    pieces = shown.split()
    before, last = pieces[:-1], pieces[-1:]
    if before and _bare(before[0]) in _ARTICLES:
        del before[0]
    return filter(None, map(of, chain(filterfalse(_is_article, before), last)))


@lru_cache(_TOKENS)
def _is_article(token: str) -> bool:
    """Beyond the first word, one in capitals is none."""
    return _marked_off(token) in _ARTICLES


def _marked_off(token: str) -> str:
    return token.lstrip(_OPENING).rstrip(_CLOSING) or token


@lru_cache(_TOKENS)
def _bare(token: str) -> str:
    return _marked_off(token).casefold()


@lru_cache(_TOKENS)
def _stem(token: str) -> str:
    word = _bare(token)
    if word in _FILLERS:
        return ""
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]
