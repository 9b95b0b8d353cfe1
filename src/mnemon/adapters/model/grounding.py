"""Grounding: whether what a model says rests on the lines that it names.

1. Every number, date, name and address in it is found in the lines, however they write it: digits or words,
   'tomorrow' or the day that was meant, capitals or none, another ending, a slip of the pen.
2. Enough of what else it says is found there, by stems, or the whole comes near by meaning where there is an
   embedder.
3. It does not say in the same words the opposite of what a clause says.

Who said it, and whether it was meant, is not read from words here: callers look at the speakers, and prompts
ask for what is meant. `docs/howto/use-a-model.md` says the same for readers.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from operator import mul
from typing import NamedTuple

from mnemon.domain import when, words
from mnemon.domain.moments import to_datetime
from mnemon.domain.pattern import pattern
from mnemon.errors import MnemonError
from mnemon.language.doubt import denies, supposes
from mnemon.language.numerals import COUNTS, NUMERALS

SHARE = 0.33
"""The share of a statement that must be found in its sources."""
_LITTLE = 0.2
"""The share that is enough where the statement is near to a source by meaning."""
NEAR = 0.5
"""The cosine from which it is near."""
_LEAST = 3
"""Shorter words are articles and the like in most languages that write spaces."""
_SHORT = 4
"""From how many letters on words are compared by how they begin."""
_DAY_MS = 86_400_000
_WEEK_MS = 8 * _DAY_MS
_YEAR_MS = 400 * _DAY_MS
_LONGEST = 1000
"""How much of a text is compared by meaning."""

_SENTENCE = pattern(r"(?<=[.!?…。！？؟\n])\s*")
_CLAUSE = pattern(r"[,;:.!?…、。，；！？؟،\n()—–]+")
_WORD = pattern(r"[^\W_]+")
_LETTERS = pattern(r"[^\W\d_]+")
_ADDRESS = pattern(
    r"\b(?:https?://|www\.)[^\s<>\"')\]]*[\w/]|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", re.IGNORECASE
)
_NUMBER = pattern(r"\d++(?:[.,:/-]\d++)*+(?:k\b)?", re.IGNORECASE)
_DIGITS = pattern(r"\d+")
_THOUSANDS = pattern(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_SIGNS = pattern(r"[\u3400-\u9fff]|[\u30a1-\u30ff]{2,}")
"""What says something in Chinese and Japanese: each ideograph, and words from abroad."""
_KANA = pattern(r"[\u3041-\u30ff\u3400-\u9fff]")
_NOUNS_HAVE_CAPITALS = pattern(
    r"\b(?:der|die|das|und|ist|hat|mit|eine[nmrs]?|seit|nicht|dem|von|zum|zur|sich|auf|bei|für|ich)\b"
)
"""German: a capital tells no name there."""
_REACH = 4
"""How many words before what it denies such a word may stand; behind it, one."""

Embed = Callable[[Sequence[str]], Sequence[bytes]]
"""The vectors of texts, of length 1. Raises: MnemonError."""


class Source(NamedTuple):
    """A text, and when it was said, as clocks on the wall showed it."""

    text: str
    at: int


class Ground:
    """Texts that a statement about somebody may rest on, or an answer to what is asked."""

    def __init__(
        self,
        sources: Iterable[Source],
        about: str = "",
        embed: Embed | None = None,
        asked: str = "",
        counts: int = 0,
        context: str = "",
    ) -> None:
        """Numbers up to `counts` may be counted; words, but no names, may be those of a context."""
        self._sources = list(sources)
        texts, also = [source.text for source in self._sources], f"{about} {asked}"
        self._embed = embed
        self._counts = counts
        self._about = frozenset(words.words(about))
        self._asked = frozenset(words.words(asked))
        self._words = frozenset(
            word for text in (*texts, also) for word in (*words.words(text), *_signs(text))
        )
        self._stems = frozenset(term for text in (*texts, also) for term in words.terms(text))
        self._nearby = frozenset((*words.words(context), *_signs(context), *words.terms(context)))
        self._numbers = frozenset(number for text in (*texts, also) for number in _numbers(text))
        self._told = [span for source in self._sources for span in _times(source)]
        self._whole = "\n".join([*texts, also]).casefold()
        self._known: dict[str, bool] = {}

    def bears(self, statement: str) -> bool:
        """Whether the statement rests on the texts."""
        if not self.names_all(statement) or self.denied(statement) or self._supposed(statement):
            return False
        share = self.share(statement)
        return share >= SHARE or (share >= _LITTLE and self.is_near(statement))

    def names_all(self, statement: str) -> bool:
        """Whether each number, date, name and address is found."""
        if not all(found[0].casefold() in self._whole for found in _ADDRESS.finditer(statement)):
            return False
        rest, _ = self._without_dates(_ADDRESS.sub(" ", statement))
        names, numbers = self._names(rest), _NUMBER.findall(rest)
        listed = {len(names), len(numbers)}
        counted = {COUNTS[word] for word in _LETTERS.findall(rest.lower()) if word in COUNTS} - listed
        return (
            all(map(self._has_name, names))
            and all(map(self._has_number, numbers))
            and self._numbers.issuperset(map(str, counted))
        )

    def share(self, statement: str) -> float:
        """The share of its words, numbers and dates that is found, but for what is asked; 1 without any."""
        rest, dates = self._without_dates(statement)
        said, numbers = [one for one in self._said(rest) if one not in self._asked], _NUMBER.findall(rest)
        found = dates + sum(map(self._has_word, said)) + sum(self._has_number(one) for one in numbers)
        every = dates + len(said) + len(numbers)
        return found / every if every else 1.0

    def found(self, statement: str) -> list[str]:
        """The words of the statement that the texts have."""
        return [word for word in self._said(statement) if self._has_word(word)]

    def has_all(self, said: Iterable[str]) -> bool:
        return all(map(self._has_word, said))

    def has_part(self, statement: str) -> bool:
        """Whether a word, a number or a date of the statement is found."""
        return self.share(statement) > 0

    def is_near(self, statement: str) -> bool:
        """Whether it comes near to a text, or a sentence of one, by meaning."""
        parts = [part[:_LONGEST] for one in self._sources for part in (one.text, *sentences(one.text))]
        if self._embed is None or not parts:
            return False
        try:
            first, *others = self._embed([statement, *dict.fromkeys(parts)])
        except MnemonError:
            return False
        return max(_cosine(first, other) for other in others) >= NEAR

    def _said(self, text: str) -> list[str]:
        return [word for word in _content(text) if word.partition("'")[0] not in self._about]

    def _has_word(self, word: str) -> bool:
        if word not in self._known:
            self._known[word] = _has(word, self._words, self._stems) or _has(word, self._nearby, self._nearby)
        return self._known[word]

    def _names(self, text: str) -> list[str]:
        """The words with a capital, but for those that begin a sentence; none in German."""
        if _NOUNS_HAVE_CAPITALS.search(f"{text} {self._whole}"):
            return []
        found = [list(_WORD.findall(sentence))[1:] for sentence in sentences(text)]
        return [word for some in found for word in some if word[0].isupper()]

    def _has_name(self, name: str) -> bool:
        """Names are strict: the same word in another form, or with a slip of the pen."""
        return all(
            part in self._words
            or not self._stems.isdisjoint(words.terms(part))
            or any(_same_name(part, other) for other in self._words)
            for part in words.words(name)
        )

    def _has_number(self, number: str) -> bool:
        if _whole(number) in self._numbers:
            return True
        near = {near for source in self._sources for near in _years(source.at)}
        runs = [int(run) for run in _DIGITS.findall(number)]
        return all(
            str(run) in self._numbers
            or run in near
            or run <= self._counts
            or (12 < run < 24 and str(run - 12) in self._numbers)
            for run in runs
        )

    def _without_dates(self, statement: str) -> tuple[str, int]:
        """The statement without the dates that its sources speak of, and how many those are."""
        found = 0
        at = max((source.at for source in self._sources), default=0)
        for span in reversed(when.spans(statement, at)):
            if self._has_time(span):
                end = span.position + len(span.phrase)
                statement, found = f"{statement[: span.position]} {statement[end:]}", found + 1
        return statement, found

    def _has_time(self, span: when.Span) -> bool:
        """Whether the texts speak of that time, were said then, or speak of a time that can't be read."""
        width = max(span.end_ms - span.start_ms, _DAY_MS)
        for told in (*self._told, *(_day_of(source.at) for source in self._sources)):
            overlap = told.start_ms < span.end_ms and span.start_ms < told.end_ms
            if overlap and told.end_ms - told.start_ms <= width:
                return True
        if span.end_ms - span.start_ms > _DAY_MS:
            return False
        away = min((abs(span.start_ms - source.at) for source in self._sources), default=_YEAR_MS)
        if str(to_datetime(span.start_ms).day) in self._numbers:
            return away < _YEAR_MS
        return not self._told and not _DIGITS.search(self._whole) and away < _WEEK_MS

    def _supposed(self, statement: str) -> bool:
        """Whether the sentence that has most of its words only supposes what it says to be so."""
        if supposes(statement):
            return False
        said = self._said(statement)
        told = [one for source in self._sources for one in sentences(source.text)]
        best = max(told, key=lambda one: sum(map(_forms(one), said)), default="")
        before = takewhile(lambda word: not any(map(_forms(word), said)), best.split())
        return supposes(" ".join(before))

    def denied(self, statement: str) -> bool:
        """Whether the clauses that have its words deny what it says, or say what it denies."""
        said = self._said(statement)
        if not said:
            return False
        told = [clause for source in self._sources for clause in clauses(source.text)]
        alike = [denied for clause in told if (denied := _denies_in(clause, said)) is not None]
        return bool(alike) and denies(statement) not in alike


def sentences(text: str) -> list[str]:
    return [one.strip() for one in _SENTENCE.split(text) if one.strip()]


def clauses(text: str) -> list[str]:
    return [one.strip() for one in _CLAUSE.split(text) if one.strip()]


def _denies_in(clause: str, said: Sequence[str]) -> bool | None:
    """Whether a clause that has all these words denies them; None if it does not have them."""
    if _KANA.search(clause):
        return denies(clause) if all(word in clause for word in said) else None
    told = clause.split()
    at = [place for place, one in enumerate(told) if any(map(_forms(one), said))]
    if not at or not all(any(_forms(one)(word) for one in told) for word in said):
        return None
    near = told[max(0, at[0] - _REACH) : at[-1] + 2]
    return denies(" ".join(near))


def _forms(one: str) -> Callable[[str], bool]:
    """Tells whether a word is a form of that one."""
    known, stems = words.words(one), words.terms(one)
    return lambda word: _has(word, known, stems)


def _has(word: str, known: Collection[str], stems: Collection[str]) -> bool:
    """Whether one of the known words is a form of that word."""
    return (
        word in known
        or any(term in stems for term in words.terms(word))
        or any(_akin(word, other) for other in known)
    )


def _content(text: str) -> list[str]:
    """The words that say something, as far as their length and English stop words tell."""
    plain = _KANA.sub(" ", text)
    found = (word for word in words.words(plain) if not word.isdecimal() and word not in words.STOP_WORDS)
    said = (word for word in found if len(word) >= _LEAST and not denies(word))
    return [*said, *_signs(text)]


def _signs(text: str) -> list[str]:
    return _SIGNS.findall(text)


def _akin(one: str, other: str) -> bool:
    """Whether two words are forms of one, as far as their beginnings tell, or one is a part of the other."""
    shorter, shared = min(len(one), len(other)), _begin_alike(one, other)
    if shared >= 3 and shared >= (0.6 if shared >= _SHORT else 0.75) * shorter:
        return True
    return shorter > _SHORT and (one in other or other in one)


def _same_name(name: str, other: str) -> bool:
    if len(name) <= _SHORT:
        return len(name) > 2 and other.startswith(name) and len(other) <= len(name) + 3
    shared = _begin_alike(name, other)
    if shared >= max(_SHORT, len(name) - 2) and abs(len(name) - len(other)) <= 3:
        return True
    return name[0] == other[0] and SequenceMatcher(None, name, other).ratio() >= 0.8


def _begin_alike(one: str, other: str) -> int:
    """How many characters two words have in common from their beginning."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in pairs)


def _whole(number: str) -> str:
    """A number that is written with points or commas between thousands, or with a k, in digits alone."""
    plain = _THOUSANDS.sub("", number.lower())
    return f"{plain[:-1]}000" if plain.endswith("k") else plain


def _numbers(text: str) -> set[str]:
    """The numbers of a text in digits: whole, each run of digits of one, and those written as words."""
    found: set[str] = set()
    for number in _NUMBER.findall(text):
        found.update((_whole(number), *(str(int(run)) for run in _DIGITS.findall(number))))
    before = 0
    for word in _LETTERS.findall(text.lower()):
        value = NUMERALS.get(word)
        if value is not None:
            found.update((str(value), str(before + value)))
        before = value if value is not None and value >= 20 else 0
    signs = (unicodedata.numeric(sign, 0.5) for sign in _signs(text) if len(sign) == 1)
    return found | {str(int(value)) for value in signs if value % 1 == 0}


def _times(source: Source) -> list[when.Span]:
    """The times that a text speaks of, as far as they are sure."""
    return [span for span in when.spans(source.text, source.at) if span.certainty >= 0.5]


def _day_of(moment: int) -> when.Span:
    began = moment - moment % _DAY_MS
    return when.Span(began, began + _DAY_MS)


def _years(moment: int) -> tuple[int, ...]:
    """The years that a date without one may mean, said then."""
    try:
        year = to_datetime(moment).year
    except (OverflowError, ValueError):
        return ()
    return year - 1, year, year + 1


def _cosine(one: bytes, other: bytes) -> float:
    left, right = (struct.unpack(f"<{len(vector) // 4}f", vector) for vector in (one, other))
    return float(sum(map(mul, left, right)))
