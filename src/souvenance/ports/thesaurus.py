"""The thesaurus: which search terms are close to one another, so that 'pet' finds what was said of a dog.

It knows terms as `souvenance.language.terms` makes them, in languages of its choice; any other has no kin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Thesaurus(Protocol):
    def kin(self, term: str) -> Sequence[tuple[str, float]]:
        """Other terms, each with how close it is: above 0 and below 1, the closest first."""
        ...


class NoThesaurus:
    def kin(self, term: str) -> Sequence[tuple[str, float]]:
        return ()
