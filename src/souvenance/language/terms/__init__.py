"""From text to search terms, and from terms to blinded tokens.

Tokenising happens here and not in a database, because each database splits words its own
way. A blinded token is an 8-byte keyed BLAKE2b under the key of its compartment, so the index
holds no word, and the holder of another key can't even form the token.

What is made of several words ('well-being', 'userName', 'bob@corp.io', 'src/words.py') gives the terms of its
words and one more for the whole, its words written together; so does each part of an address or a path.
A word of another language than English has its stem in that language beside the English one.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b

from souvenance.language.characters import SmallWords, small_words
from souvenance.language.terms.folding import folded, lone, pairs, runs, singles, spaced, unaccented
from souvenance.language.terms.languages import (
    ASKING,
    ENGLISH,
    STEMMER_VERSION,
    TELLING,
    common,
    language_of,
    of_script,
    stem,
)
from souvenance.language.terms.languages import STOP_WORDS as STOP_WORDS
from souvenance.language.times.lexicon import lexicon
from souvenance.patterns import pattern
from souvenance.pauses import STRETCH, in_stretches, pause

_THOUSANDS = pattern(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_DECIMAL = pattern(r"[Vv]?([0-9]+(?:\.[0-9]+)+)([A-Za-z]{0,3})\Z")
_CLOCK = pattern(r"([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?([A-Za-z]{0,2})\Z")
_DATE = pattern(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:[Tt]([0-9:.]+)[Zz]?)?\Z")
_MEASURE = pattern(r"([0-9]+)([a-z]{1,3})\Z")
_GROUPED = pattern(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+\Z")
_DAY_FIRST = pattern(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})\Z")
_DIGIT_GROUPS = pattern(r"[0-9]++(?:[ ./()-]{1,3}+[0-9]++)*+")
_SPACED = pattern(r"[1-9][0-9]{0,2}(?: [0-9]{3})+\Z")
_DATED = pattern(
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2[0-9]{2,4})(?![0-9])"
)
_SHORTEST = 5
"""Of what is written apart and counts: '5 000'."""
_TELLING = 7
"""Digits at the end of a telephone number or an account's by which it is known, whatever is before them."""
_ORDINAL = ("st", "nd", "rd", "th", "s")


@cache
def _months() -> tuple[str, ...]:
    return tuple(stem(names.split()[0]) for names in lexicon("english").months)


@cache
def _month_terms() -> frozenset[str]:
    return frozenset(_months())


def ungrouped(text: str) -> str:
    """The text with its thousands unparted: '1,200' as '1200'."""
    return _THOUSANDS.sub("", text)


def unpadded(digits: str) -> str:
    """The number without leading zeros."""
    return digits.lstrip("0") or "0"


def number(chunk: str) -> Iterator[str]:
    """The terms of '3.5', 'v1.2.3', '7:05pm', '2023-05-07'; none if it is something else."""
    if date := _DATE.match(chunk):
        yield from _date(date[1], int(date[3]), int(date[4]))
        if date[5]:
            yield from number(date[5])
    elif (date := _DAY_FIRST.match(chunk)) and int(date[2]) <= 12 and int(date[1]) <= 31:
        yield from _date(date[3], int(date[2]), int(date[1]))
    elif decimal := _DECIMAL.match(chunk):
        yield from _decimal(decimal[1], decimal[2].lower())
    elif clock := _CLOCK.match(chunk):
        yield unpadded(clock[1]) if clock[2] == "00" else f"{unpadded(clock[1])}:{clock[2]}"
        yield from filter(None, (clock[3].lower(),))


def measure(word: str) -> Iterator[str]:
    """The terms of '2nd', '1990s' and '5km': the number, and with a unit the whole and the unit as well.

    Of '5k' also '5000'. But a run of 5k is no 5,000 euros, and a question about it looks for '5k' first.
    """
    if found := _MEASURE.match(word):
        yield unpadded(found[1])
        if found[2] not in _ORDINAL:
            yield word
            if found[2] == "k":
                yield unpadded(f"{found[1]}000")
            elif len(found[2]) > 1:
                yield found[2]


def days(found: Sequence[str]) -> list[str]:
    """A term for each day of the year among a text's terms: '7 May' and 'May 7th' are the same."""
    months = _month_terms()
    if months.isdisjoint(found):
        return []
    return [
        f"{term} {beside}"
        for at, term in enumerate(found)
        if term in months
        for beside in found[max(0, at - 1) : at + 2]
        if beside.isdecimal() and len(beside) <= 2 and 1 <= int(beside) <= 31
    ]


def grouped(text: str) -> list[str]:
    """The terms of digits that are written apart: '5 000' as a number, and of a long one how it ends.

    A telephone number is told by its last digits, with a prefix and without; so is that of an account.
    """
    found = []
    for number, match in enumerate(_DIGIT_GROUPS.finditer(text)):
        if number % STRETCH == 0:
            pause()
        run = match[0]
        if len(run) < _SHORTEST:
            continue
        if _SPACED.match(run):
            found.append(run.replace(" ", ""))
        if len(run) >= _TELLING and not _DATED.match(run):
            digits = "".join(filter(str.isdigit, run))
            if len(digits) >= _TELLING:
                found.append(unpadded(digits[-_TELLING:]))
    return found


def _decimal(value: str, unit: str) -> Iterator[str]:
    yield value.removesuffix(".00") if value.count(".") == 1 else value
    if _GROUPED.match(value):
        yield value.replace(".", "")
    whole, _, part = value.partition(".")
    if unit == "k" and part.isdigit():
        yield unpadded(whole + part.ljust(3, "0"))
    elif unit:
        yield unit


def _date(year: str, month: int, day: int) -> Iterator[str]:
    yield from (year, _months()[month - 1] if 1 <= month <= 12 else str(month), str(day))


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
        self._stopped = STOP_WORDS | common().get(language, frozenset())

    def terms_of(self, piece: str) -> list[str]:
        """The terms of spaced text of scripts with spaces, in order, without stop words."""
        if piece.isascii() and piece.isalpha() and piece.islower() and len(piece) <= MOST:
            return self._stems(piece)
        bare = piece.rstrip(_AFTER).lstrip(_BEFORE)
        if bare.isalnum():
            found = self._of_word(bare)
        else:
            chunks = _CHUNK.findall(ungrouped(piece) if "," in piece else piece)
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
            found = [term for term in number(chunk) if term not in STOP_WORDS]
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
            return [unpadded(small)]
        return list(measure(small)) or [*self._stems(small), *self._lettered(word)]

    def _lettered(self, word: str) -> Iterator[str]:
        """Of 'iPhone15' also 'iphone' and '15', which may be written apart; so of '100mbps'."""
        before, after = word.rstrip(_DIGITS), word.lstrip(_DIGITS)
        letters = min(before, after, key=len)
        if len(letters) > 1 and letters.isalpha() and 0 < len(word) - len(letters) <= _MOST_DIGITS:
            yield from self._of_word(letters)
            yield unpadded(word.strip(letters))

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
        latin = word.isascii()
        plain = word if latin else unaccented(word)
        if not plain or word in self._stopped or plain in STOP_WORDS:
            return []
        script = None if latin else of_script(word)
        language = script or self._language
        found = unaccented(stem(word, language)) if language != ENGLISH else stem(plain)
        if found in STOP_WORDS:
            return []
        if language in (ENGLISH, script) or self._asked:
            return [found]
        return list(dict.fromkeys((found, stem(plain))))


def _joined(chunk: str) -> str:
    return unaccented("".join(filter(str.isalnum, chunk)).casefold())


VERSION = f"4.{STEMMER_VERSION}"
"""Of the analysis: tokens that were made by another can't be compared with those that are made now."""

_ASCII_WORD = pattern(r"[0-9a-z]+(?:'[0-9a-z]+)?")
_WORD = pattern(r"[^\x00-/:-`{-\x7f]+(?:'[^\x00-/:-`{-\x7f]+)?")
_MAX_COUNT = 255
_PIECES = 1 << 14
"""How many are kept in mind with their terms: the same few thousand come again and again."""
_TEXTS = 1024
"""How many short texts are kept in mind with their terms."""
_LONGEST = 48
"""Longer pieces don't come again, and would fill the mind."""


class _Pieces(dict[str, Sequence[str]]):
    """The terms of each piece of text that was met lately; when there are too many, all are forgotten."""

    def __init__(self, language: str, *, asked: bool) -> None:
        super().__init__()
        self._reader = TokenReader(language, asked=asked)
        self._alone = lone if asked else singles

    def __missing__(self, piece: str) -> Sequence[str]:
        found = tuple(self._reader.terms_of(piece) if piece.isascii() else self._terms(piece))
        if len(piece) < _LONGEST:
            if len(self) >= _PIECES:
                self.clear()
            self[piece] = found
        return found

    def _terms(self, piece: str) -> Iterator[str]:
        for run, shape in runs(piece):
            if not shape:
                yield from self._reader.terms_of(run)
                continue
            yield from (pair[:MOST] for pair in pairs(run, shape))
            if len(run) > 1:
                yield from self._alone(run, shape)


@cache
def _pieces(language: str, asked: bool) -> _Pieces:
    return _Pieces(language, asked=asked)


@cache
def _asking() -> frozenset[str]:
    return frozenset(map(stem, ASKING))


def words(text: str) -> list[str]:
    """The text's words in order: case-folded, without accents; unspaced scripts by characters in pairs."""
    plain = text if text.isascii() else folded(text)
    if plain.isascii():
        return [word[:MOST] for word in _ASCII_WORD.findall(plain.lower())]
    return [
        part[:MOST]
        for word in _WORD.findall(plain.casefold())
        for run, shape in runs(word)
        for part in (pairs(run, shape) if shape else (run,))
    ]


def terms(text: str) -> Mapping[str, int]:
    """How often each search term of a line occurs, up to 255; stop words only where there is nothing else.

    A question meets the same few lines again and again, so those of short texts are kept in mind.
    """
    return of_short(text) if len(text) <= TELLING else terms_of(text, None)


@lru_cache(_TEXTS)
def of_short(text: str) -> Mapping[str, int]:
    return terms_of(text, small_words(text))


def terms_of(text: str, met: SmallWords | None) -> dict[str, int]:
    """As `terms`, of a text that is not met again soon. `met` are its words, if they are known."""
    found = _found(text, met, asked=False) or words(text)
    counted: dict[str, int] = {}
    for some in in_stretches(found):
        for term in some:
            counted[term] = counted.get(term, 0) + 1
    if len(found) > _MAX_COUNT:
        return {term: min(count, _MAX_COUNT) for term, count in counted.items()}
    return counted


def asked(question: str) -> list[str]:
    """The search terms of a question, each once, in the order in which they first occur.

    Words that only ask are left out as well, unless there is nothing else.
    """
    found = _found(question, None, asked=True)
    telling = [term for term in found if term not in _asking()]
    return list(dict.fromkeys(telling or found or words(question)))


def _found(text: str, met: SmallWords | None, *, asked: bool) -> list[str]:
    plain = text if text.isascii() else spaced(text)
    met = met if plain is text else None
    pieces = _pieces(language_of(plain, met), asked)
    found: list[str] = []
    for some in in_stretches(plain.split()):
        found += [term for piece in some for term in pieces[piece]]
    found += days(found)
    if (met is None or met.digits) and (apart := grouped(plain)):
        known = set(found)
        found += [term for term in dict.fromkeys(apart) if term not in known]
    return found


def mark(what: str, name: str) -> str:
    """A term that no text has: it marks some of the lines of a compartment."""
    return f"\0{what}\0{name}"


def blind(key: bytes, found: Collection[str]) -> array[int]:
    """The blinded token of each term, in the same order: 64-bit numbers, little-endian when stored."""
    if not found:
        return array("Q")
    fresh = blake2b(key=key, digest_size=8).copy
    tokens: list[bytes] = []
    for some in in_stretches(list(found)):
        for term in some:
            token = fresh()
            token.update(term.encode())
            tokens.append(token.digest())
    return array("Q", b"".join(tokens))


def contained(needles: Sequence[str], text: str) -> int:
    """How many of the needles, terms of a question, begin or are inside a word of the text."""
    haystack = " ".join(words(text))
    return sum(needle.removesuffix("i") in haystack for needle in needles)
