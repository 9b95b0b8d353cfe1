"""What is remembered, as notes of one line each: dated, ranked by a message, and shown once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from functools import cache

from msgspec import Struct

from souvenance.agents.text_budget import cut, excerpt
from souvenance.agents.transcript import clean
from souvenance.domain.frame import defuse
from souvenance.domain.trust import Trust, of_part, quoted
from souvenance.language.terms import asked, terms, words
from souvenance.patterns import pattern

_DATED = pattern(r"\s*(?:\d+[.)]\s*)?\[(\d{4}-\d\d-\d\d)[^\]]{0,40}\]\s*(.*)")
_PREMISE = pattern(r"\s+[-*•]\s")
_BULLET = pattern(r"\A(?:\s*(?:[#>]+|[-*•]+|\d{1,3}[.)])(?:\s+|$))+")
_HEADING = pattern(r"#+\s*(\w*)|([A-Z]{4,}):\s*$")
_ORIGINS = {"deductive": "inferred", "inductive": "inferred", "contradictions": "contradictory"}
"""By how the headings of `souvenance.domain.representation` begin."""
MOST_OF_A_REMARK = 300
"""Two or three sentences: one long remark must not push out all others."""
_LEAST = 24
"""Of less than this, a reader makes nothing."""
_MOST_TERMS = 32
"""A long message is about what its first words are about, and ranking stays cheap."""


class TextReader:
    """Reads each text once: it is compared with the message, the notes and what was shown."""

    def __init__(self) -> None:
        self.terms = cache(terms)
        self.plain = cache(_plain)


class Remark(Struct, frozen=True):
    """One thing that is known, safe to show, and where it is from."""

    text: str
    day: str = ""
    origin: str = ""
    id: str = ""
    """Of the message that it is, if it is one."""

    def __str__(self) -> str:
        return self._label + self.text

    def within(self, most: int) -> Remark | None:
        """The remark with its label in at most so many characters; None if too little of it fits."""
        room = most - len(self._label)
        text = cut(self.text, min(room, MOST_OF_A_REMARK))
        if not text or (room < _LEAST and text != self.text):
            return None
        return self if text == self.text else Remark(text, self.day, self.origin, self.id)

    @property
    def _label(self) -> str:
        parts = [part for part in (self.day, self.origin) if part]
        return ", ".join(parts) + ": " if parts else ""


class AlreadyTold:
    """What was shown already, so that nothing is shown twice."""

    def __init__(self, *texts: str, reader: TextReader | None = None) -> None:
        self.reader = reader or TextReader()
        self._said = "\n".join(map(self.reader.plain, texts))
        self._taken: list[str] = []
        self._terms: list[frozenset[str]] = []
        """Of the first of what was taken: they are found out when they are asked for."""

    def take(self, text: str, part: str | None = None) -> bool:
        """Whether the text is new. If so, it counts as shown from now on, or that part of it."""
        plain = self.reader.plain(text)
        if self._has(plain):
            return False
        self._said = f"{self._said}\n{plain if part in (None, text) else self.reader.plain(part)}"
        self._taken.append(text if part is None else part)
        return True

    def covers(self, text: str) -> bool:
        """Whether something that was taken has all that the text says, in whatever words around it."""
        self._terms += (frozenset(self.reader.terms(known)) for known in self._taken[len(self._terms) :])
        said = frozenset(self.reader.terms(text))
        return bool(said) and any(map(said.issubset, self._terms))

    def __contains__(self, text: str) -> bool:
        """Also true of what has no word."""
        return self._has(self.reader.plain(text))

    def _has(self, plain: str) -> bool:
        return plain.isspace() or plain in self._said


def remarks(view: str, about: Sequence[str] = (), reader: TextReader | None = None) -> Iterator[Remark]:
    """What a rendered representation says, without what it was inferred from.

    What has most of the search terms comes first; of those that have as many, the newest.
    """
    terms_of = (reader or TextReader()).terms

    def place(one: Remark) -> tuple[int, str]:
        return sum(map(terms_of(one.text).__contains__, about)) if about else 0, one.day

    for one in sorted(_parsed(view), key=place, reverse=True):
        if text := defuse(clean(one.text)):
            yield Remark(text, one.day, one.origin)


def _parsed(view: str) -> list[Remark]:
    """The statements of the view as they are stored.

    A line that is neither dated nor a heading goes on with the dated one before, if there is one.
    """
    found: list[Remark] = []
    origin = ""
    for line in view.splitlines():
        dated, heading = _DATED.match(line), _HEADING.match(line)
        if dated:
            found.append(Remark(dated[2], dated[1], origin))
        elif heading:
            origin = _ORIGINS.get((heading[1] or heading[2] or "").casefold(), "")
        elif found and found[-1].day and line.strip():
            if not _PREMISE.match(line):
                last = found.pop()
                found.append(Remark(f"{last.text} {line}", last.day, last.origin))
        elif line.strip():
            found.append(Remark(_BULLET.sub("", line), "", origin))
    return found


def lines(text: str) -> Iterator[Remark]:
    """The lines of a text without the bullets and marks they began with."""
    for line in clean(text).splitlines():
        if shown := defuse(_BULLET.sub("", line)):
            yield Remark(shown)


def entries(card: Iterable[str]) -> Iterator[Remark]:
    for entry in card:
        if shown := defuse(clean(entry)):
            yield Remark(shown)


def quotation(stored: str, trust: Trust, about: Sequence[str] = (), most: int | None = None) -> str:
    """A stored text for a prompt, on one line, marked if it is not the word of whose line it is.

    Of more than `most` characters it is the part that has most of the search terms.
    """
    text = defuse(excerpt(clean(stored), about, most or len(stored)))
    return quoted(of_part(text, stored, trust), text) if text else ""


def search_terms(message: str) -> list[str]:
    return asked(message)[:_MOST_TERMS]


def day(moment: datetime, now: datetime) -> date:
    """The day of the moment where `now` was read."""
    if moment.tzinfo is None or now.tzinfo is None:
        return moment.date()
    return moment.astimezone(now.tzinfo).date()


def _plain(text: str) -> str:
    return f" {' '.join(words(text))} "
