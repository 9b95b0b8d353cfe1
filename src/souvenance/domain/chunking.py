"""Long text in pieces that each fit into a message.

A cut is made at the last paragraph in the second half of what fits, else at the last line there,
else at the last sentence, else at the last space anywhere, else between two characters that
don't belong together. Nothing is lost but white space where a cut is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import takewhile

from msgspec import Struct

from souvenance.patterns import pattern

MOST_CHARACTERS = 25_000

_BOUNDARY = pattern(r"\s+|[。！？｡]+[」』”’）]*")
_SENTENCE_END = pattern(r"""[.!?…。！？｡]["'”’»)\]」』）]*""")
_LONGEST_CHARACTER = 64
_JOINERS = frozenset("\u200c\u200d")
_EXTENDS = pattern("[\u200c\u200d\u1160-\u11ff\udc00-\udfff\U0001f3fb-\U0001f3ff]")
"""Joiners, the later parts of a Hangul syllable, low surrogates, skin tones."""


class _Cut(Struct, frozen=True):
    """The piece ends before `stop`; the next one begins at `resume`. A lower rank is better."""

    rank: int
    stop: int
    resume: int


def chunks(text: str, most: int = MOST_CHARACTERS) -> list[str]:
    """The text in order, in pieces of 1 to `most` characters, none of them blank."""
    if most < 1:
        raise ValueError("a piece has at least one character")
    found: list[str] = []
    start = 0
    while len(text) - start > most:
        cut = best_cut(text, start, start + most)
        found.append(text[start : cut.stop])
        start = cut.resume
    found.append(text[start:])
    return [piece for piece in found if piece.strip()]


def best_cut(text: str, start: int, limit: int) -> _Cut:
    """The best cut after `start` that leaves nothing beyond `limit` in the piece."""
    middle = (start + limit) // 2
    while middle > start and text[middle - 1].isspace():
        middle -= 1
    for first in (middle, start):
        cuts = list(_cuts(text, first, limit))
        if cuts:
            return min(cuts, key=lambda cut: (cut.rank, -cut.stop))
    nearest = range(limit, max(start, limit - _LONGEST_CHARACTER), -1)
    at = next((at for at in nearest if not is_one_character(text, at)), limit)
    return _Cut(4, at, at)


def _cuts(text: str, first: int, limit: int) -> Iterator[_Cut]:
    for match in _BOUNDARY.finditer(text, first, limit + 1):
        space = match[0].isspace()
        stop, resume = match.start() if space else match.end(), match.end()
        while space and resume < len(text) and text[resume].isspace():
            resume += 1
        if stop <= limit and not is_one_character(text, resume):
            yield _Cut(_rank(text, stop, text[stop:resume]) if space else 2, stop, resume)


def _rank(text: str, stop: int, space: str) -> int:
    """0: between paragraphs, 1: between lines, 2: after a sentence, 3: between words."""
    breaks = space.count("\n")
    if breaks:
        return 0 if breaks > 1 else 1
    ends = _SENTENCE_END.finditer(text, max(0, stop - 4), stop)
    return 2 if any(match.end() == stop for match in ends) else 3


def is_one_character(text: str, at: int) -> bool:
    """Whether what stands before and after this place is read as one character."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before in _JOINERS or _EXTENDS.match(after) or unicodedata.category(after)[0] == "M":
        return True
    if _is_flag_half(before) and _is_flag_half(after):
        recent = reversed(text[max(0, at - _LONGEST_CHARACTER) : at])
        return sum(1 for _ in takewhile(_is_flag_half, recent)) % 2 == 1
    return before == "\r" and after == "\n"


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
