"""Parts of a text, its numbers and its doubts, and whether two words are forms of one, in any language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from difflib import SequenceMatcher
from functools import cache
from itertools import takewhile

from souvenance.language import terms
from souvenance.language.lexicon import any_holds, lists
from souvenance.language.terms.languages import ENGLISH, common
from souvenance.language.times.lexicon import lexicon, numbered
from souvenance.patterns import pattern

_DENIES = pattern(
    r"n['’]t\b|\b(?:not?|nope|nah|never|none|nobody|nothing|neither|nor|without|cannot|dont|doesnt|didnt|isnt"
    r"|cant|wont|nein|nee|nicht|nie|kein(?:e[nmrs]?)?|ohne|nunca|jamás|sin|não|sem|ne|pas|jamais|sans|non"
    r"|senza|mai|niet|geen|nooit|zonder|inte|ikke|не|нет|никогда|без|değil|yok|لا|ليس|לא|नहीं)\b"
    r"|[不没沒]|ません|ない|なかった|않|없|아니|못",
    re.IGNORECASE,
)
_SUPPOSES = pattern(
    r"\b(?:should i|если|бы|gdyby|keşke|لو|אם)\b|如果|要是|もし|たら|만약|라면", re.IGNORECASE
)


def denies(text: str) -> bool:
    """Whether a text has a word by which something is said not to be so."""
    return _DENIES.search(text) is not None


def supposes(text: str) -> bool:
    """Whether a text has a word by which something is only imagined, wished or thought possible."""
    return any_holds(("unsure",), text) or _SUPPOSES.search(text) is not None


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
    """What says something in Chinese and Japanese: each ideograph, and words written in katakana."""
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


NUMBER = pattern(r"\d++(?:[.,:/-]\d++)*+(?:k\b)?", re.IGNORECASE)
"""A number in digits, a date or a time of day."""
_DIGITS = pattern(r"\d+")
_LETTERS = pattern(r"[^\W\d_]+")
_THOUSANDS = pattern(r"(?<=\d)[.,](?=\d{3}(?!\d))")

_FIRST_COUNTED, _SURE_LETTERS = 2, 5


@cache
def _numerals() -> dict[str, int]:
    """What each word for a number means: the small ones as times have them ("three days ago"), and tens."""
    listed = lists().forms  # From one to ten in languages whose times are not read, and English tens.
    others = numbered(listed.numerals, 1)
    small = {
        word: value
        for one in (ENGLISH, *common())
        for word, value in numbered(lexicon(one).numbers, 1).items()
    }
    return others | small | {word: 10 * tens for tens, word in enumerate(listed.tens.split(), 2)}


@cache
def _counts() -> dict[str, int]:
    """Those that mean a number in whatever language they stand: the English ones, and long ones."""
    english = numbered(lexicon(ENGLISH).numbers, 1)
    return {
        word: value
        for word, value in _numerals().items()
        if value >= _FIRST_COUNTED and (word in english or len(word) >= _SURE_LETTERS)
    }


def whole(number: str) -> str:
    """A number that is written with points or commas between thousands, or with a k, in digits alone."""
    plain = _THOUSANDS.sub("", number.lower())
    return f"{plain[:-1]}000" if plain.endswith("k") else plain


def runs(number: str) -> list[int]:
    return [int(run) for run in _DIGITS.findall(number)]


def counts(text: str) -> set[int]:
    """The numbers from two on that are written as words, where they can mean nothing else."""
    known = _counts()
    return {known[word] for word in _LETTERS.findall(text.lower()) if word in known}


def numbers(text: str) -> set[str]:
    """The numbers of a text in digits: whole, each run of digits of one, and those written as words."""
    found: set[str] = set()
    for number in NUMBER.findall(text):
        found.update((whole(number), *map(str, runs(number))))
    before, known = 0, _numerals()
    for word in _LETTERS.findall(text.lower()):
        value = known.get(word)
        if value is not None:
            found.update((str(value), str(before + value)))
        before = value if value is not None and value >= 20 else 0
    values = (unicodedata.numeric(sign, 0.5) for sign in signs(text) if len(sign) == 1)
    return found | {str(int(value)) for value in values if value % 1 == 0}
