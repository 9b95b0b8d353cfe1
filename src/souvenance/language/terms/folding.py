"""One form for the many ways of writing a character, and scripts that put no space between words.

Width, accents, digits, apostrophes and dashes are folded; letters keep their case, and whatever is part of no
word becomes a space. Text without spaces is taken in pairs of neighbouring characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from souvenance.language.characters import ByCharacter
from souvenance.patterns import pattern

_PILE = "M" * 16
"""More marks than any language puts on a character."""
_RUN = pattern("M+|-+")
_PLAIN = str.maketrans("łŁøØđĐðÐħĦıىیةک", "lLoOdDdDhHiييهك") | {
    ord(char): to for char, to in zip("æÆœŒþÞ", ("ae", "AE", "oe", "OE", "th", "TH"), strict=True)
}
_ALIKE = {
    "'": "‘’ʼʹ′`´",
    "-": "‐‑−",
    "": "\u00ad\u034f\u0640\u200c\u200d\u2060\ufeff",
}
_EMOJI = "\U0001f1e6"
"""From here on symbols are pictures, each a word of its own."""
_OF = {char: to for to, chars in _ALIKE.items() for char in chars}
_ACCENTS = (
    ("\u0300", "\u036f"), ("\u0591", "\u05c7"), ("\u0610", "\u061a"), ("\u064b", "\u065f"),
    ("\u0670", "\u0670"), ("\u06d6", "\u06ed"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"),
)  # fmt: skip
"""Marks without which a word is the same: accents, points, harakat; not vowel signs."""


def folded(text: str) -> str:
    """The text without what makes equal words look different; case is left as it is."""
    return unaccented(spaced(text))


def spaced(text: str) -> str:
    """The text with one form for each character that has several, and nothing that is part of no word."""
    return unicodedata.normalize("NFKC", thinned(text)).translate(_SPACED)


def unaccented(text: str) -> str:
    return text if text.isascii() else text.translate(_UNACCENTED)


def thinned(text: str) -> str:
    """The text with only a few of the marks piled on a character; normalising sorts them, slowly."""
    shape = text.translate(_MARKS)
    if _PILE not in shape:
        return text
    return "".join(
        text[run.start() : min(run.end(), run.start() + len(_PILE))]
        if run[0][0] == "M"
        else text[slice(*run.span())]
        for run in _RUN.finditer(shape)
    )


def _space(char: str) -> str:
    if char < "\x80":
        return char
    if char in _OF:
        return _OF[char]
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category == "So" and char >= _EMOJI:
        return f" {char} "
    return char if category[0] in "LNM" else " "


def _unaccent(char: str) -> str:
    if char < "\x80":
        return char
    parts = unicodedata.normalize("NFKD", char).translate(_PLAIN)
    return unicodedata.normalize("NFC", "".join(part for part in parts if not _is_accent(part)))


def _is_accent(char: str) -> bool:
    return any(first <= char <= last for first, last in _ACCENTS) or unicodedata.category(char) == "Me"


def _mark(char: str) -> str:
    """M for a mark that is sorted among its neighbours, - for anything else."""
    return "M" if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else "-"


_SPACED = ByCharacter(_space)
_UNACCENTED = ByCharacter(_unaccent)
_MARKS = ByCharacter(_mark)


_HAN, _HANGUL, _OTHER, _SIGN, _WITH_SPACES = "HKOSw"
_RANGES = {
    _SIGN: "\u0e31 \u0e34-\u0e3a \u0e47-\u0e4e \u0eb1 \u0eb4-\u0ebc \u0ec8-\u0ece \u102b-\u103e \u1056-\u1059"
    " \u17b4-\u17d3 \u17dd \u3099-\u309a",
    _HAN: "\u3005-\u3007 \u3400-\u4dbf \u4e00-\u9fff \uf900-\ufaff \U00020000-\U0003ffff",
    _HANGUL: "\uac00-\ud7af",
    _OTHER: "\u0e00-\u0e7f \u0e80-\u0eff \u1000-\u109f \u1780-\u17ff \u3040-\u312f \u31f0-\u31ff",
}
"""With Thai, Lao, Burmese, Khmer, kana and bopomofo. A sign (a vowel, a tone) goes with what is before it."""

_SHAPE_RUN = pattern("[HKOS]+|w+")
_CHARACTER = pattern(".S*")
_WORD = pattern(r"H|\AK")
_LONE = pattern("(?<!H)H(?!H)")


def runs(text: str) -> Iterator[tuple[str, str]]:
    """The runs of characters of one sort, each with its shape: '' for what is written with spaces."""
    for found in _SHAPE_RUN.finditer(text.translate(_SHAPES)):
        yield text[found.start() : found.end()], "" if found[0][0] == _WITH_SPACES else found[0]


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


def _shape(char: str) -> str:
    spans = ((sort, span) for sort, spans in _RANGES.items() for span in spans.split())
    return next((sort for sort, span in spans if span[0] <= char <= span[-1]), _WITH_SPACES)


_SHAPES = ByCharacter(_shape)
