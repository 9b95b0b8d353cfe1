"""One form for the forms of a word: the stem that the Snowball stemmer of its language gives it."""

from __future__ import annotations

from functools import cache
from threading import Lock

import Stemmer  # type: ignore[import-not-found]

from souvenance.language.terms.languages import ENGLISH

VERSION = Stemmer.version()
_lock = Lock()
"""A stemmer is for one thread at a time."""


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language, 0)


def stem(word: str, language: str = ENGLISH) -> str:
    """The stem of a word in lower case."""
    with _lock:
        return str(_stemmer(language).stemWord(word))
