"""From a piece of text between spaces to its terms: a word, a number, a name of code, an address.

A compound ('well-being', 'user_name', 'userName', 'bob@corp.io', 'src/words.py') gives the terms of its
words and one more for the whole, its words written together; so does each part of an address or a path.
A line is so at most half as long again as its words are many.
"""

from __future__ import annotations

from collections.abc import Iterator

from mnemon.domain.pattern import pattern
from mnemon.domain.words import numbers
from mnemon.domain.words.stems import stem, unprefixed
from mnemon.domain.words.stop import STOP_WORDS

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


def terms_of(piece: str) -> list[str]:
    """The terms of folded text of scripts with spaces, in order, without stop words."""
    bare = piece.rstrip(_AFTER).lstrip(_BEFORE)
    if bare.isalnum():
        found = _of_word(bare)
    else:
        chunks = _CHUNK.findall(numbers.ungrouped(piece) if "," in piece else piece)
        found = [term for chunk in chunks for term in _of_chunk(chunk)]
    return [term[:MOST] for term in found]


def _of_chunk(chunk: str) -> Iterator[str]:
    if chunk.replace("'", "").isalnum():
        yield from _of_word(chunk)
    elif chunk[-1] in "+#":
        yield chunk.lower()
    elif chunk[0] == ".":
        yield "dot" + _joined(chunk)
        yield from _of_chunk(chunk[1:])
    else:
        found = [term for term in numbers.number(chunk) if term not in STOP_WORDS]
        yield from found or _of_compound(_SCHEME.sub("", chunk))


def _of_compound(chunk: str) -> Iterator[str]:
    segments = _SEGMENT.findall(chunk)
    for segment in segments:
        parts = _PART.findall(segment)
        for part in parts:
            if len(parts) == 1 or len(part) > 1 or part.isdigit():
                yield from _of_word(part)
        if len(parts) > 1:
            yield stem(_joined(segment))
    if len(segments) > 1:
        yield _joined(chunk)


def _joined(chunk: str) -> str:
    return "".join(filter(str.isalnum, chunk)).casefold()


def _of_word(word: str) -> list[str]:
    """The term of a word, and of those that it is made of."""
    if "'" in word:
        word, *rest = word.split("'")
        if rest[-1].lower() in _CLITICS:
            rest.pop()
        if rest:
            return list(_elided(word, rest))
    folded = word.casefold()
    if folded.isalpha():
        found = [folded] if word in _ACRONYMS else _unless_stopped(folded)
        if folded != word and not word[1:].islower() and not word.isupper():
            found += _humps(word)
        if found and (bare := unprefixed(folded)):
            found.append(bare)
        return found
    if folded.isdigit():
        return [numbers.plain(folded)]
    return list(numbers.measure(folded)) or [*_unless_stopped(folded), *_lettered(word)]


def _lettered(word: str) -> Iterator[str]:
    """Of 'iPhone15' also 'iphone' and '15', which may be written apart; so of '100mbps'."""
    before, after = word.rstrip(_DIGITS), word.lstrip(_DIGITS)
    letters = min(before, after, key=len)
    if len(letters) > 1 and letters.isalpha() and 0 < len(word) - len(letters) <= _MOST_DIGITS:
        yield from _of_word(letters)
        yield numbers.plain(word.strip(letters))


def _elided(word: str, rest: list[str]) -> Iterator[str]:
    """Of "don't" "dont"; of "l'amour" and "O'Brien" also what follows, for it may stand alone."""
    yield stem("".join((word, *rest)).casefold())
    if rest != ["t"]:
        for part in (word, *rest):
            if len(part) > 2:
                yield from _unless_stopped(part.casefold())


def _humps(word: str) -> Iterator[str]:
    parts = _HUMP.split(word)
    if len(parts) > 1:
        for part in parts:
            if len(part) >= _LEAST_OF_A_HUMP:
                yield from _unless_stopped(part.casefold())


def _unless_stopped(word: str) -> list[str]:
    if word and word not in STOP_WORDS and (found := stem(word)) not in STOP_WORDS:
        return [found]
    return []
