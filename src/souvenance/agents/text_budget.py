"""How much text fits: tokens as characters, and cuts that leave every word whole."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from souvenance.patterns import pattern

CHARACTERS_PER_TOKEN = 4
MORE = " …"
"""What shows that there was more."""
_BEFORE = "… "
_LEAD = 6
"""A sixth of an excerpt is what comes before the words that were looked for."""
_MOST_HITS = 500

_UNSPACED = pattern("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts that put no space between words, and their punctuation."""


def cut(text: str, most: int) -> str:
    """The beginning of the text with whole words only, of at most so many characters; empty if none fits."""
    if len(text) <= most:
        return text
    for end in range(most - len(MORE), 0, -1):
        if _ends_word(text, end):
            kept = text[:end].rstrip()
            return kept + MORE if kept else ""
    return ""


def excerpt(text: str, about: Sequence[str], most: int) -> str:
    """The text if it is short enough, or else the part of it that has most of what it is looked up for.

    `about` holds search terms.
    """
    if len(text) <= most:
        return text
    start = _densest(text, about, most) - most // _LEAD
    while 0 < start < len(text) and not _ends_word(text, start):
        start += 1
    if start <= 0:
        return cut(text, most)
    part = cut(text[start:], most - len(_BEFORE))
    return _BEFORE + part if part else cut(text, most)


def _densest(text: str, about: Sequence[str], most: int) -> int:
    """Where the stretch begins that has most of the terms; the first of those."""
    plain = text.lower()
    if not about or len(plain) != len(text):
        return 0
    found = re.finditer("|".join(map(re.escape, about)), plain)
    hits = [(hit.start(), hit[0]) for hit in islice(found, _MOST_HITS)]
    held: Counter[str] = Counter()
    best, at, end = 0, 0, 0
    for start, term in hits:
        while end < len(hits) and hits[end][0] < start + most // 2:
            held[hits[end][1]] += 1
            end += 1
        if len(held) > best:
            best, at = len(held), start
        held[term] -= 1
        if not held[term]:
            del held[term]
    return at


def _ends_word(text: str, end: int) -> bool:
    """Whether no word goes on at this place."""
    before, after = text[end - 1], text[end]
    if after.isspace() or before.isspace():
        return True
    goes_on = unicodedata.category(after)[0] == "M" or after == "\u200d"
    return not before.isascii() and bool(_UNSPACED.match(before)) and not goes_on
