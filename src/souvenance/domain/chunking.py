"""Long text in pieces that each fit into a message.

A cut is made at the last paragraph in the second half of what fits, else at the last line there, else at the
last sentence, else at the last space anywhere, else between two characters. Nothing is lost but white space
where a cut is.
"""

from __future__ import annotations

import re

from souvenance.patterns import pattern

MOST_CHARACTERS = 25_000

_PARAGRAPH = pattern(r"\s*\n\s*\n\s*")
_LINE = pattern(r"\s*\n\s*")
_SENTENCE = pattern(r"""(?<=[.!?…])["'”’»)\]]*\s+|[。！？｡]+[」』”’）]*\s*""")
_SPACE = pattern(r"\s+")


def chunks(text: str, most: int = MOST_CHARACTERS) -> list[str]:
    """The text in order, in pieces of 1 to `most` characters, none of them blank."""
    if most < 1:
        raise ValueError("a piece has at least one character")
    found: list[str] = []
    text = text.strip() if len(text) > most else text
    while len(text) > most:
        stop = _best_cut(text, most)
        found.append(text[:stop].rstrip())
        text = text[stop:].lstrip()
    found.append(text)
    return [piece for piece in found if piece.strip()]


def _best_cut(text: str, most: int) -> int:
    """Where the first piece ends."""
    for shape, first in ((_PARAGRAPH, most // 2), (_LINE, most // 2), (_SENTENCE, most // 2), (_SPACE, 1)):
        ends = [_end(match) for match in shape.finditer(text, max(first, 1), most + 1)]
        if fitting := [end for end in ends if 0 < end <= most]:
            return fitting[-1]
    return most


def _end(match: re.Match[str]) -> int:
    """Where what stands before the white space of a match ends."""
    return match.start() + len(match[0].rstrip())
