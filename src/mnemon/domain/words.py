"""From text to search terms, and from terms to blinded tokens.

Tokenising happens here and not in a database, because each database splits words its own
way. A blinded token is an 8-byte keyed BLAKE2b under a key of the room, so the index holds no
word, and the holder of another room's key can't even form the token.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from mnemon.domain.pattern import pattern

_ASCII_WORD = pattern(r"[0-9a-z]+(?:'[0-9a-z]+)?")
_WORD = pattern(r"[0-9a-z\x80-\U0010ffff]+(?:'[0-9a-z\x80-\U0010ffff]+)?")
_SCRIPTS = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_UNSPACED = pattern(f"[{_SCRIPTS}]+")
_RUN = pattern(f"[{_SCRIPTS}]+|[^{_SCRIPTS}]+")
_ACCENT = pattern("[\u0300-\u036f]")
_MAX_TERM = 64
_MAX_COUNT = 255

_STOPPED = """
a about am an and are as at be been but by can did do does for from had has have he her him his how i i'm
if in into is it it's its me my of on or our she so than that the their them then there these they this to too
us was we were what when where which who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_STOPPED.split())


def words(text: str) -> list[str]:
    """The text's words in order: case-folded, without accents; unspaced scripts by characters in pairs."""
    if text.isascii():
        return [word[:_MAX_TERM] for word in _ASCII_WORD.findall(text.lower())]
    found: list[str] = []
    for word in _WORD.findall(_folded(text)):
        for run in _RUN.findall(word):
            if _UNSPACED.match(run):
                found.extend(run[i : i + 2] for i in range(max(1, len(run) - 1)))
            else:
                found.append(run[:_MAX_TERM])
    return found


def _folded(text: str) -> str:
    """The text in lower case, without accents, and with a space for whatever is part of no word."""
    plain = _ACCENT.sub("", unicodedata.normalize("NFKD", text).casefold()).replace("’", "'")
    return "".join(
        char if char < "\x80" or unicodedata.category(char)[0] in "LNM" else " "
        for char in unicodedata.normalize("NFC", plain)
    )


def terms(text: str) -> dict[str, int]:
    """How often each search term occurs, up to 255; stop words only where there is nothing else."""
    found = words(text)
    counted: dict[str, int] = {}
    for term in [word for word in found if word not in STOP_WORDS] or found:
        counted[term] = counted.get(term, 0) + 1
    if len(found) > _MAX_COUNT:
        return {term: min(count, _MAX_COUNT) for term, count in counted.items()}
    return counted


def mark(what: str, name: str) -> str:
    """A term that no text has: it marks lines of one place among those of a room."""
    return f"\0{what}\0{name}"


def blind(key: bytes, found: Iterable[str]) -> array[int]:
    """The blinded token of each term, in the same order: 64-bit numbers, little-endian when stored."""
    keyed = blake2b(key=key, digest_size=8)
    tokens = bytearray()
    for term in found:
        token = keyed.copy()
        token.update(term.encode())
        tokens += token.digest()
    return array("Q", bytes(tokens))


def contained(needles: Sequence[str], text: str) -> int:
    """How many of the needles occur anywhere in the text, inside words too."""
    haystack = " ".join(words(text))
    return sum(needle in haystack for needle in needles)
