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
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from operator import mul
from typing import NamedTuple

from souvenance.domain.timestamps import to_datetime
from souvenance.errors import SouvenanceError
from souvenance.language import terms, times
from souvenance.language.forms import (
    NUMBER,
    clauses,
    content,
    counts,
    denies,
    forms,
    has,
    names,
    numbers,
    runs,
    same_name,
    sentences,
    signs,
    supposes,
    tell_names,
    whole,
)
from souvenance.patterns import pattern
from souvenance.ports.embedder import MOST_AT_ONCE

SHARE = 0.33
"""The share of a statement that must be found in its sources."""
_WITHOUT_NAMES = 0.5
"""The same where capitals don't tell names: those are words like others then."""
_LITTLE = 0.2
"""The share that is enough where the statement is near to a source by meaning."""
NEAR = 0.5
"""The cosine from which it is near."""
_DAY_MS = 86_400_000
_WEEK_MS = 8 * _DAY_MS
_YEAR_MS = 400 * _DAY_MS
_SURE = 0.9
"""From which certainty on a weekday is not that of the week before or after."""
_LONGEST = 1000
"""How much of a text is compared by meaning."""

_ADDRESS = pattern(
    r"\b(?:https?://|www\.)[^\s<>\"')\]]*[\w/]|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", re.IGNORECASE
)
_REACH = 4
"""How many words before what it denies such a word may stand; behind it, one."""

Embed = Callable[[Sequence[str]], Sequence[bytes]]
"""The vectors of texts, of length 1. Raises: SouvenanceError."""


class GroundingSource(NamedTuple):
    """A text, and when it was said, as clocks on the wall showed it."""

    text: str
    at: int


class Ground:
    """Texts that a statement about somebody may rest on, or an answer to what is asked."""

    def __init__(
        self,
        sources: Iterable[GroundingSource],
        about: str = "",
        embed: Embed | None = None,
        asked: str = "",
        counts: int = 0,
        context: str = "",
        beside: str = "",
    ) -> None:
        """Numbers up to `counts` may be counted; words, but no names, may be those of a context.

        What was said `beside` them only tells the language.
        """
        self._sources = list(sources)
        texts, also = [source.text for source in self._sources], f"{about} {asked}"
        self._embed = embed
        self._counts = counts
        self._about = frozenset(terms.words(about))
        self._asked = frozenset(terms.words(asked))
        self._words = frozenset(
            word for text in (*texts, also) for word in (*terms.words(text), *signs(text))
        )
        self._stems = frozenset(term for text in (*texts, also) for term in terms.terms(text))
        self._nearby = frozenset((*terms.words(context), *signs(context), *terms.terms(context)))
        self._numbers = frozenset(number for text in (*texts, also) for number in numbers(text))
        self._times = [span for source in self._sources for span in _times(source)]
        self._whole = "\n".join([*texts, also]).casefold()
        self._capitals = tell_names(f"{self._whole} {beside}")
        self._known: dict[str, bool] = {}
        self._vectors: Sequence[bytes] = ()

    def bears(self, statement: str) -> bool:
        """Whether the statement rests on the texts."""
        if not self.names_all(statement) or self.denied(statement) or self._supposed(statement):
            return False
        share, least = self.share(statement), SHARE if self._capitals else _WITHOUT_NAMES
        return share >= least or (share >= _LITTLE and self.is_near(statement))

    def names_all(self, statement: str) -> bool:
        """Whether each number, date, name and address is found."""
        if not all(found[0].casefold() in self._whole for found in _ADDRESS.finditer(statement)):
            return False
        rest, _ = self._without_dates(_ADDRESS.sub(" ", statement))
        named, numbered = (names(rest) if self._capitals else []), NUMBER.findall(rest)
        counted = counts(rest) - {len(named), len(numbered)}
        return (
            all(map(self._has_name, named))
            and all(map(self._has_number, numbered))
            and self._numbers.issuperset(map(str, counted))
        )

    def share(self, statement: str) -> float:
        """The share of its words, numbers and dates that is found, but for what is asked; 1 without any."""
        rest, dates = self._without_dates(statement)
        said, numbered = [one for one in self._said(rest) if one not in self._asked], NUMBER.findall(rest)
        found = dates + sum(map(self._has_word, said)) + sum(map(self._has_number, numbered))
        every = dates + len(said) + len(numbered)
        return found / every if every else 1.0

    def found(self, statement: str) -> list[str]:
        return [word for word in self._said(statement) if self._has_word(word)]

    def has_all(self, said: Iterable[str]) -> bool:
        return all(map(self._has_word, said))

    def is_near(self, statement: str) -> bool:
        """Whether it comes near to a text, or a sentence of one, by meaning."""
        if self._embed is None or not self._sources:
            return False
        parts = dict.fromkeys(
            part[:_LONGEST] for one in self._sources for part in (one.text, *sentences(one.text))
        )
        try:
            self._vectors = self._vectors or self._embed(list(parts)[:MOST_AT_ONCE])
            [said] = self._embed([statement])
        except SouvenanceError:
            return False
        one, *others = (struct.unpack(f"<{len(vector) // 4}f", vector) for vector in (said, *self._vectors))
        return any(sum(map(mul, one, other)) >= NEAR for other in others)

    def _said(self, text: str) -> list[str]:
        return [word for word in content(text) if word.partition("'")[0] not in self._about]

    def _has_word(self, word: str) -> bool:
        if word not in self._known:
            self._known[word] = has(word, self._words, self._stems) or has(word, self._nearby, self._nearby)
        return self._known[word]

    def _has_name(self, name: str) -> bool:
        """Names are strict: the same word in another form, or with a slip of the pen."""
        return all(
            part in self._words
            or not self._stems.isdisjoint(terms.terms(part))
            or any(same_name(part, other) for other in self._words)
            for part in terms.words(name)
        )

    def _has_number(self, number: str) -> bool:
        if whole(number) in self._numbers:
            return True
        near = {near for source in self._sources for near in _years(source.at)}
        return all(
            str(run) in self._numbers
            or run in near
            or run <= self._counts
            or (12 < run < 24 and str(run - 12) in self._numbers)
            for run in runs(number)
        )

    def _without_dates(self, statement: str) -> tuple[str, int]:
        """The statement without the dates that its sources speak of, and how many those are."""
        found = 0
        at = max((source.at for source in self._sources), default=0)
        for span in reversed(times.spans(statement, at)):
            if self._has_time(span):
                end = span.position + len(span.phrase)
                statement, found = f"{statement[: span.position]} {statement[end:]}", found + 1
        return statement, found

    def _has_time(self, span: times.TimeSpan) -> bool:
        """Whether the texts speak of that time, were said then, or speak of a time that can't be read."""
        width = max(span.end_ms - span.start_ms, _DAY_MS)
        days = (source.at - source.at % _DAY_MS for source in self._sources)
        for known in (*self._times, *(times.TimeSpan(day, day + _DAY_MS) for day in days)):
            doubtful = known.certainty < _SURE and not any(map(str.isdecimal, known.phrase))
            for weeks in (0, 1, -1) if doubtful else (0,):
                later = weeks * 7 * _DAY_MS
                overlap = known.start_ms + later < span.end_ms and span.start_ms < known.end_ms + later
                if overlap and known.end_ms - known.start_ms <= width:
                    return True
        if span.end_ms - span.start_ms > _DAY_MS:
            return False
        away = min((abs(span.start_ms - source.at) for source in self._sources), default=_YEAR_MS)
        if str(to_datetime(span.start_ms).day) in self._numbers:
            return away < _YEAR_MS
        return not self._times and not any(map(str.isdecimal, self._whole)) and away < _WEEK_MS

    def _supposed(self, statement: str) -> bool:
        """Whether the sentence that has most of its words only supposes what it says to be so."""
        if supposes(statement) or not supposes(self._whole):
            return False
        said = self._said(statement)
        every = [one for source in self._sources for one in sentences(source.text)]
        best = max(every, key=lambda one: sum(map(forms(one), said)), default="")
        before = takewhile(lambda word: not any(map(forms(word), said)), best.split())
        return supposes(" ".join(before))

    def denied(self, statement: str) -> bool:
        """Whether the clauses that have its words deny what it says, or say what it denies."""
        said = self._said(statement)
        if not said or not self.has_all(said):
            return False
        every = [clause for source in self._sources for clause in clauses(source.text)]
        alike = [denied for clause in every if (denied := _denies_in(clause, said)) is not None]
        return bool(alike) and denies(statement) not in alike


def _denies_in(clause: str, said: Sequence[str]) -> bool | None:
    """Whether a clause that has all these words denies them; None if it does not have them."""
    if not all(map(forms(clause), said)):
        return None
    words = clause.split()
    at = [place for place, one in enumerate(words) if any(map(forms(one), said))]
    return denies(" ".join(words[max(0, at[0] - _REACH) : at[-1] + 2]) if at else clause)


def _times(source: GroundingSource) -> list[times.TimeSpan]:
    """The times that a text speaks of, as far as they are sure."""
    return [span for span in times.spans(source.text, source.at) if span.certainty >= 0.5]


def _years(moment: int) -> tuple[int, ...]:
    """The years that a date without one may mean, said then."""
    try:
        year = to_datetime(moment).year
    except (OverflowError, ValueError):
        return ()
    return year - 1, year, year + 1
