"""One form for the many ways of writing a character: width, accents, digits, apostrophes and dashes.

Letters keep their case. Whatever is part of no word becomes a space.
"""

from __future__ import annotations

import unicodedata

from mnemon.domain.pattern import pattern
from mnemon.domain.words.characters import ByCharacter

_PILE = "M" * 16
"""More marks than any language puts on a character."""
_RUN = pattern("M+|-+")

_ALIKE = {
    "'": "‘’ʼʹ′`´",
    "-": "‐‑−",
    "l": "ł",
    "L": "Ł",
    "o": "ø",
    "O": "Ø",
    "d": "đð",
    "D": "ĐÐ",
    "h": "ħ",
    "H": "Ħ",
    "i": "ı",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "th": "þ",
    "TH": "Þ",
    "ي": "ىی",
    "ه": "ة",
    "ك": "ک",
    "": "\u00ad\u034f\u0640\u200c\u200d\u2060\ufeff",
}
_OF = {char: to for to, chars in _ALIKE.items() for char in chars}


def folded(text: str) -> str:
    """The text without what makes equal words look different; case is left as it is."""
    return unmarked(composed(text))


def composed(text: str) -> str:
    """The text with one form for each character that has several, as for those of full width."""
    return unicodedata.normalize("NFKC", thinned(text))


def unmarked(text: str) -> str:
    """Composed text without accents and whatever is part of no word."""
    return text.translate(_FOLDING)


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


def _fold(char: str) -> str:
    if char < "\x80":
        return char
    if char in _OF:
        return _OF[char]
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.digit(char))
    if category[0] == "M":
        return "" if _is_accent(char) else char
    if category[0] not in "LN":
        return " "
    parts = unicodedata.normalize("NFKD", char)
    return unicodedata.normalize(
        "NFC", "".join(_OF.get(part, part) for part in parts if not _is_accent(part))
    )


def _is_accent(char: str) -> bool:
    """Whether the word is the same without it: an accent, a point, a harakah; not a vowel sign."""
    return (
        "\u0300" <= char <= "\u036f"
        or "\u0591" <= char <= "\u05c7"
        or "\u0610" <= char <= "\u061a"
        or "\u064b" <= char <= "\u065f"
        or char == "\u0670"
        or "\u06d6" <= char <= "\u06ed"
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
        or unicodedata.category(char) == "Me"
    )


def _sort(char: str) -> str:
    """M for a mark that is sorted among its neighbours, - for anything else."""
    return "M" if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else "-"


_FOLDING = ByCharacter(_fold)
_MARKS = ByCharacter(_sort)
