"""Spelling: which word was meant by one that nobody knows, so that 'buisiness' finds a business."""

from __future__ import annotations

from typing import Protocol


class Spelling(Protocol):
    def meant(self, word: str) -> str | None:
        """The known word one slip away, the commonest of several; None for one that is known or like none."""
        ...


class NoSpelling:
    def meant(self, word: str) -> str | None:
        return None
