"""What supports a statement: the published rule by which what a model says is kept or dropped.

1. Every name in it (a word with a capital) and every number in it occurs in its sources.
2. At least `SHARE` of its content words do, in any form.
3. The clause of the sources that it shares most with is no question, denies what it denies, and is no less
   certain than it.

`docs/howto/use-a-model.md` says the same for readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.domain.moments import to_datetime
from mnemon.domain.pattern import pattern
from mnemon.domain.words import STOP_WORDS, words

SHARE = 0.6

_WORD = pattern(r"(?<![\w'’])[^\W\d_][\w'’-]*")
_NUMBER = pattern(r"\d+")
_CLAUSE = pattern(
    r"[,;:.!?…。！？、，\n]+|\b(?:but|and|because|so|although|though|while|which)\b", re.IGNORECASE
)
_SENTENCE = pattern(r"[^.!?…。！？\n]*[.!?…。！？]?")
_DENIES = pattern(
    r"n['’]t\b|\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|stopped|quit)\b",
    re.IGNORECASE,
)
_UNSURE = pattern(
    r"\b(?:if|would|could|might|may|maybe|perhaps|wish|wishes|wished|hope|hopes|hoped|unless|pretend|imagine"
    r"|suppose|thinking about|considering)\b|['’]d (?:like|love|rather)\b",
    re.IGNORECASE,
)
_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve"
_DIGITS = {word: str(number) for number, word in enumerate(_COUNTS.split())}
_ALWAYS = frozenset(["i", "i'm", "i've", "i'd", "i'll"])


class Ground:
    """Texts that something may rest on; `also` may be named without being said in them."""

    def __init__(self, texts: Iterable[str], also: str = "") -> None:
        self.texts = list(texts)
        told = [*self.texts, also]
        self._words = frozenset(stem(word) for text in told for word in words(text)) | _ALWAYS
        self._stems = frozenset(one for text in told for one in content_stems(text))
        self._numbers = frozenset(number for text in told for number in _numbers(text))

    def names(self, text: str, *, first: bool = False) -> bool:
        """Whether each name in the text occurs here; the words that sentences begin with only if asked."""
        return not any(self._strange(name) for name in _names(text, first=first))

    def numbers(self, text: str) -> bool:
        return all(number in self._numbers for number in _numbers(text))

    def share(self, text: str, but: str = "") -> float:
        """Which share of the text's content words occurs here; nothing if it has none."""
        said = _content(text, but)
        return sum(one in self._stems for one in said) / len(said) if said else 0.0

    def shared(self, text: str, but: str = "") -> int:
        """How many of the text's content words occur here."""
        return len(self._stems.intersection(_content(text, but)))

    def _strange(self, name: str) -> bool:
        return any(stem(word) not in self._words and word not in STOP_WORDS for word in words(name))


def _content(text: str, but: str) -> list[str]:
    left_out = {stem(word) for word in words(but)}
    return [one for one in content_stems(text) if one not in left_out]


def _names(text: str, *, first: bool) -> list[str]:
    """The words with a capital; those that have it for beginning a sentence only if `first`."""
    found = []
    for word in _WORD.finditer(text):
        before = text[: word.start()].rstrip(" \"'“‘(*[")
        if word[0][0].isupper() and (first or (before and before[-1] not in ".!?:…\n")):
            found.append(word[0])
    return found


def _numbers(text: str) -> list[str]:
    written = [_DIGITS[word] for word in words(text) if word in _DIGITS]
    return [number.lstrip("0") or "0" for number in (*_NUMBER.findall(text), *written)]


def supports(sources: Sequence[str], text: str, about: str, *, also: str = "") -> bool:
    """Whether a statement about a peer follows from what the sources say."""
    ground = Ground(sources, f"{about} {also}")
    if not (ground.names(text, first=True) and ground.numbers(text) and ground.share(text, about) >= SHARE):
        return False
    clause, asked = _nearest(sources, text, about)
    if asked or _holds(_DENIES, clause) != _holds(_DENIES, text):
        return False
    return _holds(_UNSURE, text) or not _holds(_UNSURE, clause)


def _nearest(sources: Sequence[str], text: str, about: str) -> tuple[str, bool]:
    """The clause that shares most with the text, and whether it is asked and not said."""
    best, most, asked = "", -1.0, False
    wanted = set(content_stems(text)) - {stem(word) for word in words(about)}
    for source in sources:
        for sentence in _SENTENCE.findall(source):
            for clause in _CLAUSE.split(sentence):
                stems = content_stems(clause)
                shared = len(wanted.intersection(stems)) - 0.01 * len(stems)
                if stems and shared > most:
                    best, most, asked = clause, shared, sentence.rstrip().endswith(("?", "？"))
    return best, asked


def _holds(what: re.Pattern[str], text: str) -> bool:
    return what.search(text) is not None


def days(moments: Iterable[int]) -> str:
    """The days of these moments in words and numbers, as they may be named."""
    found: dict[str, None] = {}
    for moment in moments:
        try:
            day = to_datetime(moment)
        except (OverflowError, ValueError):
            continue
        found[day.strftime("%Y %m %d %B %A")] = None
    return " ".join(found)


def day(moment: int) -> str:
    """The day of a moment as a line of a prompt shows it; nothing for one that no calendar has."""
    try:
        return to_datetime(moment).strftime("%Y-%m-%d (%A)")
    except (OverflowError, ValueError):
        return ""
