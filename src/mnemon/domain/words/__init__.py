"""From text to search terms, and from terms to blinded tokens.

Tokenising happens here and not in a database, because each database splits words its own
way. A blinded token is an 8-byte keyed BLAKE2b under a key of the room, so the index holds no
word, and the holder of another room's key can't even form the token.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from hashlib import blake2b

from mnemon.domain.pattern import pattern
from mnemon.domain.words import scripts
from mnemon.domain.words.emoji import MOODS, called, pictures
from mnemon.domain.words.folding import composed, folded, unmarked
from mnemon.domain.words.numbers import MONTHS, days, grouped
from mnemon.domain.words.pieces import MOST, terms_of
from mnemon.domain.words.stop import ASKING, STOP_WORDS
from mnemon.domain.words.umlauts import spelt_out

__all__ = ["STOP_WORDS", "VERSION", "asked", "blind", "contained", "mark", "terms", "words"]

VERSION = "3"
"""Of the analysis: tokens that were made by another can't be compared with those that are made now."""

_ASCII_WORD = pattern(r"[0-9a-z]+(?:'[0-9a-z]+)?")
_WORD = pattern(r"[^\x00-/:-`{-\x7f]+(?:'[^\x00-/:-`{-\x7f]+)?")
_UNASKED = ASKING | MOODS
_MAX_COUNT = 255
_PIECES = 1 << 14
"""How many are kept in mind with their terms: the same few thousand come again and again."""
_LONGEST = 48
"""Longer pieces don't come again, and would fill the mind."""


class _Pieces(dict[str, Sequence[str]]):
    """The terms of each piece of text that was met lately; when there are too many, all are forgotten."""

    def __init__(self, alone: Callable[[str, str], list[str]]) -> None:
        super().__init__()
        self._alone = alone

    def __missing__(self, piece: str) -> Sequence[str]:
        found = tuple(_terms(piece, self._alone))
        if len(piece) < _LONGEST:
            if len(self) >= _PIECES:
                self.clear()
            self[piece] = found
        return found


_IN_LINE = _Pieces(scripts.singles)
_IN_QUESTION = _Pieces(scripts.lone)


def words(text: str) -> list[str]:
    """The text's words in order: case-folded, without accents; unspaced scripts by characters in pairs."""
    plain = text if text.isascii() else folded(text)
    if plain.isascii():
        return [word[:MOST] for word in _ASCII_WORD.findall(plain.lower())]
    return [
        part[:MOST]
        for word in _WORD.findall(plain.casefold())
        for run, shape in scripts.runs(word)
        for part in (scripts.pairs(run, shape) if shape else (run,))
    ]


def terms(text: str) -> dict[str, int]:
    """How often each search term of a line occurs, up to 255; stop words only where there is nothing else."""
    found = _found(text, _IN_LINE) or words(text)
    counted: dict[str, int] = {}
    for term in found:
        counted[term] = counted.get(term, 0) + 1
    if len(found) > _MAX_COUNT:
        return {term: min(count, _MAX_COUNT) for term, count in counted.items()}
    return counted


def asked(question: str) -> list[str]:
    """The search terms of a question, each once, in the order in which they first occur.

    Words that only ask, and faces, are left out as well, unless there is nothing else.
    """
    found = _found(question, _IN_QUESTION)
    return list(dict.fromkeys([term for term in found if term not in _UNASKED] or found or words(question)))


def _found(text: str, pieces: _Pieces) -> list[str]:
    if text.isascii():
        plain, beside = text, []
    else:
        whole = composed(text)
        plain, beside = unmarked(whole), _beside(text, whole, pieces)
    found = [term for piece in plain.split() for term in pieces[piece]]
    if not MONTHS.isdisjoint(found):
        found.extend(days(found))
    if further := grouped(plain):
        known = set(found)
        beside += [term for term in dict.fromkeys(further) if term not in known]
    return found + beside


def _beside(text: str, whole: str, pieces: _Pieces) -> list[str]:
    """The text's emoji and the words for them, and second spellings of its names."""
    shown = pictures(text)
    others = [*spelt_out(whole), *(word for picture in shown for word in called(picture))]
    return [*shown, *(term for word in others for term in pieces[word])]


def _terms(piece: str, alone: Callable[[str, str], list[str]]) -> Iterable[str]:
    return terms_of(piece) if piece.isascii() else _of_scripts(piece, alone)


def _of_scripts(piece: str, alone: Callable[[str, str], list[str]]) -> Iterator[str]:
    for run, shape in scripts.runs(piece):
        if not shape:
            yield from terms_of(run)
            continue
        yield from (pair[:MOST] for pair in scripts.pairs(run, shape))
        if len(run) > 1:
            yield from alone(run, shape)


def mark(what: str, name: str) -> str:
    """A term that no text has: it marks lines of one place among those of a room."""
    return f"\0{what}\0{name}"


def blind(key: bytes, found: Collection[str]) -> array[int]:
    """The blinded token of each term, in the same order: 64-bit numbers, little-endian when stored."""
    if not found:
        return array("Q")
    fresh = blake2b(key=key, digest_size=8).copy
    tokens: list[bytes] = []
    for term in found:
        token = fresh()
        token.update(term.encode())
        tokens.append(token.digest())
    return array("Q", b"".join(tokens))


def contained(needles: Sequence[str], text: str) -> int:
    """How many of the needles, terms of a question, begin or are inside a word of the text."""
    haystack = " ".join(words(text))
    return sum(needle.removesuffix("i") in haystack for needle in needles)
