"""The second spelling of names with umlauts: Zürich is also written Zuerich, Søren Soeren, Århus Aarhus.

Only what begins with a capital letter has one: it is names that people spell either way, and where every
other word has an umlaut a line would be half as long again.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemon.domain.pattern import pattern
from mnemon.domain.words.folding import folded

_SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_UMLAUT = pattern("[äöüøåÄÖÜØÅ]")
_WORD = pattern(r"\w+")


def spelt_out(text: str) -> Iterator[str]:
    """The names of a composed text that have umlauts, in small letters and without these."""
    if _UMLAUT.search(text):
        for word in _WORD.findall(text):
            if word[0].isupper() and _UMLAUT.search(word):
                yield folded(word.lower().translate(_SPELT))
