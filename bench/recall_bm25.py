"""Plain BM25, the baseline of the recall benchmark: k1 1.2, b 0.75, nothing left out of the text.

The document of a turn is who said it and what was said, that of a session all its turns. Words are
runs of letters and digits in lower case; the stemming variant cuts the endings of English words off.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from math import log

K1 = 1.2
B = 0.75

_WORD = re.compile(r"\w+")
_ENDINGS = ("ments", "ment", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s")
_SHORTEST_STEM = 3


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def stems(text: str) -> list[str]:
    """The words without the endings that English ones change; a stem has at least three letters."""
    return [_stem(word) for word in words(text)]


def _stem(word: str) -> str:
    if word.endswith("ss"):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            stem = word[: -len(ending)]
            if ending in ("ies", "ied"):
                return f"{stem}i"
            doubled = len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2] and stem[-1] not in "aeiouls"
            return stem[:-1] if doubled else _bare(stem)
    return _bare(word)


def _bare(stem: str) -> str:
    """Without a last `e`, and with `i` for a last `y`: `hope` meets `hoping`, and `try` meets `tried`."""
    if len(stem) <= _SHORTEST_STEM:
        return stem[:-1] + "i" if stem.endswith("y") else stem
    return stem[:-1] if stem.endswith("e") else stem[:-1] + "i" if stem.endswith("y") else stem


class Bm25:
    """The documents of one corpus by id; the ranking is of those that share a word with the question."""

    def __init__(self, documents: Mapping[str, str], terms: Callable[[str], list[str]]) -> None:
        self._terms = terms
        self._postings: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._lengths: dict[str, int] = {}
        for name, text in documents.items():
            counted = Counter(terms(text))
            self._lengths[name] = counted.total()
            for term, count in counted.items():
                self._postings[term].append((name, count))
        self._average = sum(self._lengths.values()) / len(documents)

    def scores(self, question: str) -> dict[str, float]:
        """What each document scores that has any of the question's words."""
        found: dict[str, float] = defaultdict(float)
        for term in dict.fromkeys(self._terms(question)):
            holding = self._postings.get(term, ())
            telling = log(1 + (len(self._lengths) - len(holding) + 0.5) / (len(holding) + 0.5))
            for name, count in holding:
                damping = K1 * (1 - B + B * self._lengths[name] / self._average)
                found[name] += telling * count * (K1 + 1) / (count + damping)
        return found

    def ranked(self, question: str, most: int) -> list[str]:
        found = self.scores(question)
        return sorted(found, key=lambda name: -found[name])[:most]
