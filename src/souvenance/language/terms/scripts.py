"""Scripts that put no space between words: their text is taken in pairs of neighbouring characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from souvenance.language.terms.characters import ByCharacter
from souvenance.patterns import pattern

_HAN, _HANGUL, _OTHER, _SIGN, _SPACED = "HKOSw"
_RANGES = (
    ("\u0e31", "\u0e31", _SIGN),
    ("\u0e34", "\u0e3a", _SIGN),
    ("\u0e47", "\u0e4e", _SIGN),
    ("\u0e00", "\u0e7f", _OTHER),
    ("\u0eb1", "\u0eb1", _SIGN),
    ("\u0eb4", "\u0ebc", _SIGN),
    ("\u0ec8", "\u0ece", _SIGN),
    ("\u0e80", "\u0eff", _OTHER),
    ("\u102b", "\u103e", _SIGN),
    ("\u1056", "\u1059", _SIGN),
    ("\u1000", "\u109f", _OTHER),
    ("\u17b4", "\u17d3", _SIGN),
    ("\u17dd", "\u17dd", _SIGN),
    ("\u1780", "\u17ff", _OTHER),
    ("\u3005", "\u3007", _HAN),
    ("\u3099", "\u309a", _SIGN),
    ("\u3040", "\u312f", _OTHER),
    ("\u31f0", "\u31ff", _OTHER),
    ("\u3400", "\u4dbf", _HAN),
    ("\u4e00", "\u9fff", _HAN),
    ("\uac00", "\ud7af", _HANGUL),
    ("\uf900", "\ufaff", _HAN),
    ("\U00020000", "\U0003ffff", _HAN),
)
"""With Thai, Lao, Burmese, Khmer, kana and bopomofo. A sign (a vowel, a tone) goes with what is before it."""

_RUN = pattern("[HKOS]+|w+")
_CHARACTER = pattern(".S*")
_WORD = pattern(r"H|\AK")
_LONE = pattern("(?<!H)H(?!H)")


def runs(text: str) -> Iterator[tuple[str, str]]:
    """The runs of characters of one sort, each with its shape: '' for what is written with spaces."""
    shape = text.translate(_SHAPES)
    for found in _RUN.finditer(shape):
        yield text[found.start() : found.end()], "" if found[0][0] == _SPACED else found[0]


def pairs(run: str, shape: str) -> list[str]:
    """The run's neighbouring characters two by two, signs with their character; a lone one as it is."""
    characters = [run[found.start() : found.end()] for found in _CHARACTER.finditer(shape)]
    if len(characters) < 2:
        return characters
    return [one + other for one, other in pairwise(characters)]


def singles(run: str, shape: str) -> list[str]:
    """The characters that may be words by themselves, each once: Han, and Hangul before a particle."""
    return _distinct(run, _WORD.finditer(shape))


def lone(run: str, shape: str) -> list[str]:
    """The Han characters that stand alone among others, each once."""
    return _distinct(run, _LONE.finditer(shape))


def _distinct(run: str, found: Iterator[re.Match[str]]) -> list[str]:
    return list(dict.fromkeys(run[one.start()] for one in found))


def _sort(char: str) -> str:
    return next((sort for first, last, sort in _RANGES if first <= char <= last), _SPACED)


_SHAPES = ByCharacter(_sort)
