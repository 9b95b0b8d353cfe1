"""Citations in a model's words: taken out as the words come, and kept for the end.

A mark is `[s3]`, or several in one: `[s1, s4]`. What might still become a mark, the beginning of thoughts
that are not for the reader, or the words for knowing nothing, is held back until it is clear what it is.
"""

from __future__ import annotations

import re

from souvenance.patterns import pattern

NOTHING = "NOTHING KNOWN"
"""What a model says that has no answer."""

_MARK = pattern(r"[ \t]*\[\s*([sc]\d{1,4}(?:\s*[,;]\s*[sc]?\d{1,4})*)\s*\]", re.IGNORECASE)
_OPEN = pattern(r"[ \t]*(?:\[[^\]\n]{0,60})?\Z")
_LABEL = pattern(r"([sc])?(\d+)", re.IGNORECASE)
_THINKS = pattern(r"\s*<think(?:ing)?>", re.IGNORECASE)
_THOUGHT = pattern(r"</think(?:ing)?>", re.IGNORECASE)
_HELD = 16


class CitationMarks:
    """Words in, words out, and the labels that were marked, in their order."""

    def __init__(self) -> None:
        self.labels: dict[str, None] = {}
        self._held = ""
        self._begun = False

    def add(self, words: str) -> str:
        """The words that can be told by now."""
        self._held += words
        if not self._begun and not self._begins():
            return ""
        opened = _OPEN.search(self._held)
        cut = opened.start() if opened else len(self._held)
        told, self._held = self._held[:cut], self._held[cut:]
        return self._without(told)

    def end(self) -> str:
        """What is left to be told."""
        if not self._begun and _THINKS.match(self._held):
            self._held = ""
        left, self._held = self._held, ""
        text = self._without(left)
        return text.rstrip() if self._begun else _known(text)

    def _begins(self) -> bool:
        """Whether it is clear that words for the reader have come."""
        text = self._held
        if _THINKS.match(text):
            thought = _THOUGHT.search(text)
            if thought is None:
                return False
            text = self._held = text[thought.end() :]
        text = text.lstrip()
        folded = text.upper().lstrip("*\"' ")
        if len(text) < _HELD or folded.startswith(NOTHING):
            return False
        self._held, self._begun = text, True
        return True

    def _without(self, text: str) -> str:
        return _MARK.sub(self._marked, text)

    def _marked(self, mark: re.Match[str]) -> str:
        kind = "s"
        for label in _LABEL.finditer(mark[1]):
            kind = (label[1] or kind).lower()
            self.labels[f"{kind}{label[2]}"] = None
        return ""


def _known(text: str) -> str:
    """A short text, or nothing if it says that nothing is known."""
    text = text.strip()
    return "" if text.upper().lstrip("*\"' ").startswith(NOTHING) else text
