"""Parts of a text, and whether two words are forms of one, in any language."""

from __future__ import annotations

from collections.abc import Callable, Collection
from difflib import SequenceMatcher
from itertools import takewhile

from souvenance.language import terms
from souvenance.language.doubt import denies
from souvenance.patterns import pattern

_LEAST = 3
"""Shorter words are articles and the like in most languages that write spaces."""
_SHORT = 4
"""From how many letters on words are compared by how they begin."""
_SENTENCE = pattern(r"(?<=[.!?…。！？؟\n])\s*")
_CLAUSE = pattern(r"[,;:.!?…、。，；！？؟،\n()—–]+")
_WORD = pattern(r"[^\W_]+")
_SIGNS = pattern(r"[\u3400-\u9fff]|[\u30a1-\u30ff]{2,}")
_KANA = pattern(r"[\u3041-\u30ff\u3400-\u9fff]")
_GERMAN = pattern(r"\b(?:und|ist|der|die|das|mit|eine[nmrs]?|nicht|für|ich|zum|zur|sich|auf|seit)\b")
_SURE = 3
"""How many German words tell that a text is German."""


def sentences(text: str) -> list[str]:
    return [one.strip() for one in _SENTENCE.split(text) if one.strip()]


def clauses(text: str) -> list[str]:
    return [one.strip() for one in _CLAUSE.split(text) if one.strip()]


def signs(text: str) -> list[str]:
    """What says something in Chinese and Japanese: each ideograph, and words from abroad."""
    return _SIGNS.findall(text)


def content(text: str) -> list[str]:
    """The words that say something, as far as their length and English stop words tell."""
    plain = _KANA.sub(" ", text)
    found = (word for word in terms.words(plain) if not word.isdecimal() and word not in terms.STOP_WORDS)
    said = (word for word in found if len(word) >= _LEAST and not denies(word))
    return [*said, *signs(text)]


def tell_names(text: str) -> bool:
    """Whether capitals tell names in the language of a text: not in German, where every noun has one, and not
    in scripts without any."""
    if len(set(_GERMAN.findall(text.lower()))) >= _SURE:
        return False
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(letter.islower() or letter.isupper() for letter in letters) >= len(letters)


def names(text: str) -> list[str]:
    """The words with a capital, but for those that begin a sentence."""
    found = (_WORD.findall(sentence)[1:] for sentence in sentences(text))
    return [word for some in found for word in some if word[0].isupper()]


def has(word: str, known: Collection[str], stems: Collection[str]) -> bool:
    """Whether one of the known words is a form of that word."""
    return (
        word in known
        or any(term in stems for term in terms.terms(word))
        or any(_akin(word, other) for other in known)
    )


def forms(text: str) -> Callable[[str], bool]:
    """Tells whether a text has a form of a word."""
    known, stems = [*terms.words(text), *signs(text)], terms.terms(text)
    return lambda word: has(word, known, stems)


def same_name(name: str, other: str) -> bool:
    """Whether two words may be one name: with another ending, or a slip of the pen."""
    if len(name) <= _SHORT:
        return len(name) > 2 and other.startswith(name) and len(other) <= len(name) + 3
    shared = _begin_alike(name, other)
    if shared >= max(_SHORT, len(name) - 2) and abs(len(name) - len(other)) <= 3:
        return True
    return name[0] == other[0] and SequenceMatcher(None, name, other).ratio() >= 0.8


def _akin(one: str, other: str) -> bool:
    """Whether two words are forms of one, as far as their beginnings tell, or one is a part of the other."""
    shorter, shared = min(len(one), len(other)), _begin_alike(one, other)
    if shared >= 3 and shared >= (0.6 if shared >= _SHORT else 0.75) * shorter:
        return True
    return shorter > _SHORT and (one in other or other in one)


def _begin_alike(one: str, other: str) -> int:
    """How many characters two words have in common from their beginning."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in pairs)
