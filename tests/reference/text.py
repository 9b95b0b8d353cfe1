"""What knows no words and no time zone: searches and days as they are without it."""

from __future__ import annotations


class NoSpelling:
    def meant(self, word):
        return None


class NoThesaurus:
    def similar(self, term):
        return ()


class UniversalTime:
    def offset(self, at):
        return 0


PLAIN = {"thesaurus": NoThesaurus(), "spelling": NoSpelling(), "zone": UniversalTime()}
"""What `Services` need of this kind."""
