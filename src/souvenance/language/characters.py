"""Characters: a text without what nobody sees in it, and what a text looks like.

`visible` is for every text that is shown. `outline` and `skeleton` are for judging a text. What is stored
stays as it was said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from souvenance.language.lexicon import lists
from souvenance.patterns import pattern


class Runs:
    def __init__(self, character: str) -> None:
        """Of what `character` matches, a regular expression of one character that is no white space."""
        self._run = pattern(f"(?:{character})+")

    def of(self, text: str) -> list[str]:
        """The runs of the text, in its order, each as long as can be."""
        if text.isascii():
            return text.encode().translate(self._spaced).decode().split()
        return self._run.findall(text)

    @cached_property
    def _spaced(self) -> bytes:
        """Each byte, or a space for one that is in no run."""
        within = "".join(self._run.findall(bytes(range(128)).decode())).encode()
        return bytes(byte if byte in within else ord(" ") for byte in range(256))


WORDS = Runs(r"\w")
_DIGITS = Runs(r"\d")


class SmallWords(NamedTuple):
    """The words of a text, in small letters, and whether it has digits."""

    words: frozenset[str]
    digits: bool


def small_words(text: str) -> SmallWords:
    low = text.lower()
    return SmallWords(frozenset(WORDS.of(low)), bool(_DIGITS.of(low)))


_MOST = 1 << 14
"""How many characters are kept in mind; more than most texts have."""


class ByCharacter(dict[int, str]):
    """What a function makes of each character."""

    def __init__(self, made_of: Callable[[str], str]) -> None:
        super().__init__()
        self._made_of = made_of

    def __missing__(self, point: int) -> str:
        found = self._made_of(chr(point))
        if len(self) < _MOST:
            self[point] = found
        return found


BLANK_LETTERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters that are there and look like nothing."""

_CONTROL = pattern("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_FLAG = "\U0001f3f4\U000e0067\U000e0062(?:{})\U000e007f".format(
    "|".join("".join(chr(0xE0000 + ord(letter)) for letter in name) for name in ("eng", "sct", "wls"))
)
"""England, Scotland and Wales: the flags that are spelt with tags."""
_JOINERS = "\u200c\u200d"
_PRESENTED_AND_JOINED = "\ufe0f\u200d"
"""What stands between the parts of some emoji; no other run of two is needed by anything."""
_SELECTORS = "\ufe0e\ufe0f"
_MONGOLIAN_SELECTORS = "\u180b-\u180d\u180f"
_UNSEEN = pattern(
    f"{_FLAG}|[{_JOINERS}{_SELECTORS}{_MONGOLIAN_SELECTORS}"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Everything that is not seen, in runs."""
_JOINED = pattern(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1b00-\u1bff\ua840-\ua87f\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff]"
)
"""Scripts whose letters are joined, or kept apart, by characters that are not seen."""
_MONGOLIAN = pattern("[\u1820-\u18aa]")
_EMOJI_OF_WORDS = frozenset("‼⁉〰〽ℹ")
_KEYCAP = "\u20e3"
_SKIN_TONES = range(0x1F3FB, 0x1F400)

_LOOKALIKES: dict[str, str] = {
    like: plain for plain, likes in vars(lists().characters).items() for like in likes
}
"""Characters that look like plain ones; a capital counts for itself where it looks like another letter."""
_SIGNS = {first + at: chr(65 + at) for first in (0x1F150, 0x1F170, 0x1F1E6) for at in range(26)}
"""The alphabet in circles, in squares and as halves of flags."""
_STYLED = {point: letter for point, letter in _SIGNS.items() if point < 0x1F1E6} | {
    point: unicodedata.normalize("NFKC", chr(point)).strip("()")
    for point in (*range(0x1D400, 0x1D800), *range(0x249C, 0x24EA), *range(0x1F110, 0x1F14A))
}
"""Letters in the styles of formulas, in brackets, in circles and in squares, but for flags."""
_WORD = pattern(r"[^\W\d_]{4,}")


def visible(text: str) -> str:
    """The text without what nobody sees in it; kept is what an emoji or a script is made of.

    A word that mixes Latin letters with letters of another script that look like Latin ones is Latin, and
    so are letters in a style, a circle or a square. Line breaks stay. What is visible stays as it is.
    """
    if text.isascii():
        return _CONTROL.sub("", text)
    text = _UNSEEN.sub(_needed, _CONTROL.sub("", text.translate(_STYLED)))
    return _WORD.sub(_in_one_script, text)


def outline(text: str) -> str:
    """What the text looks like, character by character: plain, in lower case, NUL for what is not seen."""
    if not text.isascii():
        text = text.translate(_LOOKS)
    return _CONTROL.sub("\0", text).lower().replace("_", "-")


def skeleton(text: str) -> str:
    """What the text looks like, for judging it: plain letters in lower case, nothing that is not seen."""
    text = _CONTROL.sub("", text)
    if text.isascii():
        return text.lower()
    return _UNSEEN.sub("", text).translate(_LOOKS_IN_FULL).replace("\0", "").lower()


def _needed(found: re.Match[str]) -> str:
    """What is kept of a run: nothing, unless it belongs to the characters around it."""
    text, unseen = found.string, found[0]
    if unseen[0] == "\U0001f3f4":
        return unseen
    if len(unseen) > len(_PRESENTED_AND_JOINED):
        return ""
    before = text[found.start() - 1] if found.start() else " "
    after = text[found.end()] if found.end() < len(text) else " "
    if unseen[0] in _SELECTORS and unseen[1:] in ("", _PRESENTED_AND_JOINED[1]):
        if unseen[1:] and not _joins(before, after):
            unseen = unseen[0]
        return unseen if _is_symbol(before) or (len(unseen) == 1 and after == _KEYCAP) else ""
    if unseen in tuple(_JOINERS):
        return unseen if _joins(before, after) else ""
    return unseen if _MONGOLIAN.match(before) and len(unseen) == 1 and unseen in "\u180b\u180c\u180d" else ""


def _joins(before: str, after: str) -> bool:
    if _JOINED.match(before):
        return bool(_JOINED.match(after))
    return _is_symbol(before) and _is_symbol(after)


def _is_symbol(character: str) -> bool:
    return character in _EMOJI_OF_WORDS or (
        not character.isascii()
        and (unicodedata.category(character) == "So" or ord(character) in _SKIN_TONES or character in "↔↕⤴⤵")
    )


def _in_one_script(found: re.Match[str]) -> str:
    word = found[0]
    if word.isascii() or not any(map(str.isascii, word)):
        return word
    letters = [letter if letter.isascii() else _plain_letter(letter) for letter in word]
    return "".join(letters) if all(letters) else word


def _plain_letter(letter: str) -> str:
    """The Latin letter that a letter looks like; itself if it is Latin, and empty if neither."""
    plain = _LOOKALIKES.get(letter) or _LOOKALIKES.get(letter.lower(), "")
    if plain.isalpha():
        return plain.upper() if letter.isupper() else plain
    return letter if unicodedata.name(letter, "").startswith("LATIN ") else ""


def _looks(character: str) -> str:
    if character in BLANK_LETTERS or unicodedata.category(character) in ("Cf", "Cs"):
        return "\0"
    parts = unicodedata.normalize("NFKD", _SIGNS.get(ord(character), character))
    return "".join(_plain(part) for part in parts if unicodedata.category(part)[0] != "M") or "\0"


def _plain(part: str) -> str:
    plain = part.lower()[0]
    return _LOOKALIKES.get(part) or _LOOKALIKES.get(plain, plain)


_LOOKS = ByCharacter(lambda character: _looks(character)[0])
_LOOKS_IN_FULL = ByCharacter(lambda character: _looks(character)[:4])
"""A ligature is told as its first letter, or as the first four."""
