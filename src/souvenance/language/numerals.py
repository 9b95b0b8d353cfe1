"""The numbers in a text: in digits, in signs, and in words."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from souvenance.language.forms import signs
from souvenance.language.times.lexicon import lexicon, numbered
from souvenance.patterns import pattern

NUMBER = pattern(r"\d++(?:[.,:/-]\d++)*+(?:k\b)?", re.IGNORECASE)
"""A number in digits, a date or a time of day."""
_DIGITS = pattern(r"\d+")
_LETTERS = pattern(r"[^\W\d_]+")
_THOUSANDS = pattern(r"(?<=\d)[.,](?=\d{3}(?!\d))")

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
_ABROAD = (
    "uno um uma een один одна jeden jedna bir",
    "due dois duas twee två два две dwa dwie iki",
    "tre três drie три trzy üç",
    "quattro quatro fyra fire четыре cztery dört",
    "cinque vijf fem пять pięć beş",
    "sei zes sex seks шесть sześć altı",
    "sette sete zeven sju syv семь siedem yedi",
    "otto oito åtta otte восемь osiem sekiz",
    "nove negen nio девять dziewięć dokuz",
    "dieci dez tien tio десять dziesięć",
)
"""From one to ten in languages whose times are not read."""
_READ = ("english", "german", "french", "spanish")
_FIRST_COUNTED, _SURE_LETTERS = 2, 5


@cache
def _numerals() -> dict[str, int]:
    """What each word for a number means: the small ones as times have them ("three days ago"), and tens."""
    abroad = numbered(_ABROAD, 1)
    small = {word: value for one in _READ for word, value in numbered(lexicon(one).numbers, 1).items()}
    return abroad | small | {word: 10 * tens for tens, word in enumerate(_TENS.split(), 2)}


@cache
def _counts() -> dict[str, int]:
    """Those that mean a number in whatever language they stand: the English ones, and long ones."""
    english = numbered(lexicon("english").numbers, 1)
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
    """The runs of digits of a number."""
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
