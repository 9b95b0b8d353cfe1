"""The terms of a piece of text in which no space stands: a word, a number, or what is made of several.

What is made of several words ('well-being', 'userName', 'bob@corp.io', 'src/words.py') gives the terms of its
words and one more for the whole, its words written together; so does each part of an address or a path.
A word of another language than English has its stem in that language beside the English one.
"""

from __future__ import annotations

from collections.abc import Iterator

from souvenance.language.terms import languages, numbers
from souvenance.language.terms.folding import unaccented
from souvenance.language.terms.stems import stem
from souvenance.language.terms.stop_words import STOP_WORDS
from souvenance.patterns import pattern

MOST = 64
"""Characters of a term."""

_BEFORE = "\"'([{*<"
_AFTER = ".,;:!?\"')]}*>"
_LETTER = r"[^\x00-/:-@\[-`{-\x7f]"
_CHUNK = pattern(rf"[A-Za-z](?:\+\+|#)(?!{_LETTER})|\.?{_LETTER}+(?:(?:://|::|[-._/\\@:+&']){_LETTER}+)*")
_SCHEME = pattern(r"\A[A-Za-z]+://(?:[Ww]{3}\.)?|\A[Ww]{3}\.")
_SEGMENT = pattern(r"[^/\\@:]+")
_PART = pattern(r"[^-._+&]+")
_HUMP = pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_LEAST_OF_A_HUMP = 3
_CLITICS = frozenset(("s", "ll", "ve", "re", "d", "m"))
_DIGITS = "0123456789"
_MOST_DIGITS = 6
"""Of a model or a flight; longer numbers after letters are told by how they end."""
_ACRONYMS = frozenset(("US", "IT", "WHO"))
"""Stop words in small letters, and none in capitals."""


class TokenReader:
    """Reads the pieces of texts of one language, of lines or of questions."""

    def __init__(self, language: str, *, asked: bool) -> None:
        self._language = language
        self._asked = asked
        """In a question a word of another language is meant in that language alone."""
        self._stopped = STOP_WORDS | languages.common().get(language, frozenset())

    def terms_of(self, piece: str) -> list[str]:
        """The terms of spaced text of scripts with spaces, in order, without stop words."""
        bare = piece.rstrip(_AFTER).lstrip(_BEFORE)
        if bare.isalnum():
            found = self._of_word(bare)
        else:
            chunks = _CHUNK.findall(numbers.ungrouped(piece) if "," in piece else piece)
            found = [term for chunk in chunks for term in self._of_chunk(chunk)]
        return [term[:MOST] for term in found]

    def _of_chunk(self, chunk: str) -> Iterator[str]:
        if chunk.replace("'", "").isalnum():
            yield from self._of_word(chunk)
        elif chunk[-1] in "+#":
            yield chunk.lower()
        elif chunk[0] == ".":
            yield "dot" + _joined(chunk)
            yield from self._of_chunk(chunk[1:])
        else:
            found = [term for term in numbers.number(chunk) if term not in STOP_WORDS]
            yield from found or self._of_compound(_SCHEME.sub("", chunk))

    def _of_compound(self, chunk: str) -> Iterator[str]:
        segments = _SEGMENT.findall(chunk)
        for segment in segments:
            parts = _PART.findall(segment)
            for part in parts:
                if len(parts) == 1 or len(part) > 1 or part.isdigit():
                    yield from self._of_word(part)
            if len(parts) > 1:
                yield stem(_joined(segment))
        if len(segments) > 1:
            yield _joined(chunk)

    def _of_word(self, word: str) -> list[str]:
        """The term of a word, and of those that it is made of."""
        if "'" in word:
            word, *rest = word.split("'")
            if rest[-1].lower() in _CLITICS:
                rest.pop()
            if rest:
                return list(self._elided(word, rest))
        small = word.casefold()
        if small.isalpha():
            found = [small] if word in _ACRONYMS else self._stems(small)
            if small != word and not word[1:].islower() and not word.isupper():
                found += self._humps(word)
            return found
        if small.isdigit():
            return [numbers.plain(small)]
        return list(numbers.measure(small)) or [*self._stems(small), *self._lettered(word)]

    def _lettered(self, word: str) -> Iterator[str]:
        """Of 'iPhone15' also 'iphone' and '15', which may be written apart; so of '100mbps'."""
        before, after = word.rstrip(_DIGITS), word.lstrip(_DIGITS)
        letters = min(before, after, key=len)
        if len(letters) > 1 and letters.isalpha() and 0 < len(word) - len(letters) <= _MOST_DIGITS:
            yield from self._of_word(letters)
            yield numbers.plain(word.strip(letters))

    def _elided(self, word: str, rest: list[str]) -> Iterator[str]:
        """Of "don't" "dont"; of "l'amour" and "O'Brien" also what follows, for it may stand alone."""
        yield stem(unaccented("".join((word, *rest)).casefold()))
        if rest != ["t"]:
            for part in (word, *rest):
                if len(part) > 2:
                    yield from self._stems(part.casefold())

    def _humps(self, word: str) -> Iterator[str]:
        parts = _HUMP.split(word)
        if len(parts) > 1:
            for part in parts:
                if len(part) >= _LEAST_OF_A_HUMP:
                    yield from self._stems(part.casefold())

    def _stems(self, word: str) -> list[str]:
        """The word's stems, unless it is a stop word."""
        plain = unaccented(word)
        if not plain or word in self._stopped or plain in STOP_WORDS:
            return []
        language = languages.of_script(word) or self._language
        found = unaccented(stem(word, language)) if language != languages.ENGLISH else stem(plain)
        if found in STOP_WORDS:
            return []
        if language in (languages.ENGLISH, languages.of_script(word)) or self._asked:
            return [found]
        return list(dict.fromkeys((found, stem(plain))))


def _joined(chunk: str) -> str:
    return unaccented("".join(filter(str.isalnum, chunk)).casefold())
