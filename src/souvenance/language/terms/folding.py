"""One form for the many ways of writing a character: width, accents, digits, apostrophes and dashes.

Letters keep their case. Whatever is part of no word becomes a space.
"""

from __future__ import annotations

import unicodedata

from souvenance.language.terms.characters import ByCharacter
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


def _sort(char: str) -> str:
    """M for a mark that is sorted among its neighbours, - for anything else."""
    return "M" if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else "-"


_SPACED = ByCharacter(_space)
_UNACCENTED = ByCharacter(_unaccent)
_MARKS = ByCharacter(_sort)
