"""From text to search terms, and from terms to blinded tokens.

Tokenising happens here and not in a database, because each database splits words its own
way. A blinded token is an 8-byte keyed BLAKE2b under the key of its compartment, so the index
holds no word, and the holder of another key can't even form the token.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b

from souvenance.language.characters import SmallWords, small_words
from souvenance.language.terms.folding import folded, lone, pairs, runs, singles, spaced
from souvenance.language.terms.languages import (
    ASKING,
    STEMMER_VERSION,
    TELLING,
    language_of,
    stem,
)
from souvenance.language.terms.languages import STOP_WORDS as STOP_WORDS
from souvenance.language.terms.tokens import MOST, TokenReader, days, grouped
from souvenance.patterns import pattern
from souvenance.pauses import in_stretches

VERSION = f"4.{STEMMER_VERSION}"
"""Of the analysis: tokens that were made by another can't be compared with those that are made now."""

_ASCII_WORD = pattern(r"[0-9a-z]+(?:'[0-9a-z]+)?")
_WORD = pattern(r"[^\x00-/:-`{-\x7f]+(?:'[^\x00-/:-`{-\x7f]+)?")
_MAX_COUNT = 255
_PIECES = 1 << 14
"""How many are kept in mind with their terms: the same few thousand come again and again."""
_TEXTS = 1024
"""How many short texts are kept in mind with their terms."""
_LONGEST = 48
"""Longer pieces don't come again, and would fill the mind."""


class _Pieces(dict[str, Sequence[str]]):
    """The terms of each piece of text that was met lately; when there are too many, all are forgotten."""

    def __init__(self, language: str, *, asked: bool) -> None:
        super().__init__()
        self._reader = TokenReader(language, asked=asked)
        self._alone = lone if asked else singles

    def __missing__(self, piece: str) -> Sequence[str]:
        found = tuple(self._reader.terms_of(piece) if piece.isascii() else self._terms(piece))
        if len(piece) < _LONGEST:
            if len(self) >= _PIECES:
                self.clear()
            self[piece] = found
        return found

    def _terms(self, piece: str) -> Iterator[str]:
        for run, shape in runs(piece):
            if not shape:
                yield from self._reader.terms_of(run)
                continue
            yield from (pair[:MOST] for pair in pairs(run, shape))
            if len(run) > 1:
                yield from self._alone(run, shape)


@cache
def _pieces(language: str, asked: bool) -> _Pieces:
    return _Pieces(language, asked=asked)


@cache
def _asking() -> frozenset[str]:
    return frozenset(map(stem, ASKING))


def words(text: str) -> list[str]:
    """The text's words in order: case-folded, without accents; unspaced scripts by characters in pairs."""
    plain = text if text.isascii() else folded(text)
    if plain.isascii():
        return [word[:MOST] for word in _ASCII_WORD.findall(plain.lower())]
    return [
        part[:MOST]
        for word in _WORD.findall(plain.casefold())
        for run, shape in runs(word)
        for part in (pairs(run, shape) if shape else (run,))
    ]


def terms(text: str) -> Mapping[str, int]:
    """How often each search term of a line occurs, up to 255; stop words only where there is nothing else.

    A question meets the same few lines again and again, so those of short texts are kept in mind.
    """
    return of_short(text) if len(text) <= TELLING else terms_of(text, None)


@lru_cache(_TEXTS)
def of_short(text: str) -> Mapping[str, int]:
    return terms_of(text, small_words(text))


def terms_of(text: str, met: SmallWords | None) -> dict[str, int]:
    """As `terms`, of a text that is not met again soon. `met` are its words, if they are known."""
    found = _found(text, met, asked=False) or words(text)
    counted: dict[str, int] = {}
    for some in in_stretches(found):
        for term in some:
            counted[term] = counted.get(term, 0) + 1
    if len(found) > _MAX_COUNT:
        return {term: min(count, _MAX_COUNT) for term, count in counted.items()}
    return counted


def asked(question: str) -> list[str]:
    """The search terms of a question, each once, in the order in which they first occur.

    Words that only ask are left out as well, unless there is nothing else.
    """
    found = _found(question, None, asked=True)
    telling = [term for term in found if term not in _asking()]
    return list(dict.fromkeys(telling or found or words(question)))


def _found(text: str, met: SmallWords | None, *, asked: bool) -> list[str]:
    plain = text if text.isascii() else spaced(text)
    met = met if plain is text else None
    pieces = _pieces(language_of(plain, met), asked)
    found: list[str] = []
    for some in in_stretches(plain.split()):
        found += [term for piece in some for term in pieces[piece]]
    found += days(found)
    if (met is None or met.digits) and (apart := grouped(plain)):
        known = set(found)
        found += [term for term in dict.fromkeys(apart) if term not in known]
    return found


def mark(what: str, name: str) -> str:
    """A term that no text has: it marks some of the lines of a compartment."""
    return f"\0{what}\0{name}"


def blind(key: bytes, found: Collection[str]) -> array[int]:
    """The blinded token of each term, in the same order: 64-bit numbers, little-endian when stored."""
    if not found:
        return array("Q")
    fresh = blake2b(key=key, digest_size=8).copy
    tokens: list[bytes] = []
    for some in in_stretches(list(found)):
        for term in some:
            token = fresh()
            token.update(term.encode())
            tokens.append(token.digest())
    return array("Q", b"".join(tokens))


def contained(needles: Sequence[str], text: str) -> int:
    """How many of the needles, terms of a question, begin or are inside a word of the text."""
    haystack = " ".join(words(text))
    return sum(needle.removesuffix("i") in haystack for needle in needles)
