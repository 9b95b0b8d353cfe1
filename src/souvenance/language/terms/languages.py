"""Which language a text is in, as far as its words are stemmed by it; its common words are data beside this.

A text in Latin letters is English unless it has more common words of another language than of English. Other
scripts stand for one language each.
"""

from __future__ import annotations

import json
from functools import cache
from pkgutil import get_data
from threading import Lock

import Stemmer  # type: ignore[import-not-found]

from souvenance.language.characters import WORDS, SmallWords
from souvenance.language.lexicon import lists

STOP_WORDS = frozenset(lists().languages.stop.split())
"""Left out of lines and questions alike."""
ASKING = frozenset(lists().languages.asking.split())
"""Words that are left out of questions only: a line may be about them."""

ENGLISH = "english"
_SCRIPTS = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0620", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
_LAST_LATIN = "\u024f"
TELLING = 2_000
"""Characters of a text by which its language is told."""


@cache
def common() -> dict[str, frozenset[str]]:
    """The common words of each language but English."""
    read = json.loads(get_data(__name__, "languages.json") or b"{}")
    return {language: frozenset(words.split()) for language, words in read.items()}


@cache
def _languages() -> dict[str, list[str]]:
    """Of each common word of more than one letter, the languages that have it."""
    found: dict[str, list[str]] = {}
    for language, words in {ENGLISH: STOP_WORDS, **common()}.items():
        for word in words:
            if len(word) > 1:
                found.setdefault(word, []).append(language)
    return found


@cache
def _every() -> frozenset[str]:
    return frozenset(_languages())


def _common(text: str, met: SmallWords | None) -> frozenset[str]:
    return _every().intersection(WORDS.of(text[:TELLING].lower()) if met is None else met.words)


def likely(text: str, met: SmallWords | None = None) -> list[str]:
    """The languages of most of the text's common words, English first; every one if it has none.

    `met` are the words of the text, if they are known.
    """
    return _likely(_common(text, met))


def _likely(met: frozenset[str]) -> list[str]:
    if met and met <= STOP_WORDS:
        return [ENGLISH]
    counts = dict.fromkeys((ENGLISH, *common()), 0)
    for word in met:
        for language in _languages()[word]:
            counts[language] += 1
    most = max(counts.values())
    return [language for language, count in counts.items() if count == most]


def language_of(text: str, met: SmallWords | None = None) -> str:
    """The language of most of the text's common words; of a single one, English may have it too ('mine')."""
    common = _common(text, met)
    return ENGLISH if len(common) < 2 and text.isascii() else _likely(common)[0]


def is_english(text: str) -> bool:
    """Whether the text may be English: in Latin letters, and not known to be of another language."""
    if language_of(text) != ENGLISH:
        return False
    return text.isascii() or not any(char > _LAST_LATIN and char.isalpha() for char in text)


def of_script(word: str) -> str | None:
    """The language that a word's script stands for; None for Latin letters and unknown scripts."""
    if word[0] < _SCRIPTS[0][0]:
        return None
    return next((language for first, last, language in _SCRIPTS if first <= word[0] <= last), None)


STEMMER_VERSION = Stemmer.version()
_lock = Lock()
"""A stemmer is for one thread at a time."""


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language, 0)


def stem(word: str, language: str = ENGLISH) -> str:
    """The stem of a word in lower case."""
    with _lock:
        return str(_stemmer(language).stemWord(word))
