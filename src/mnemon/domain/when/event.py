"""When something happened, as a line tells it that was said at a known time."""

from __future__ import annotations

from collections.abc import Collection

from mnemon.domain import words
from mnemon.domain.pattern import pattern
from mnemon.domain.when.asked import relative
from mnemon.domain.when.finding import MOST_CHARACTERS, spans
from mnemon.domain.when.lexicon import lexicon
from mnemon.domain.when.said import DAY, Said, lowered
from mnemon.domain.when.span import EARLIEST, LATEST, Span
from mnemon.domain.words.languages import ENGLISH

_SENTENCE = pattern(r"[^.!?;\n]+(?:\.\d[^.!?;\n]*)*[.!?;]*")
_WORD = pattern(r"\w+")
_GOING_ON = pattern(r"(?:\b(?:am|is|are)|'(?:m|re|s))\s+(?:\w+\s+)?\w{2,}ing\b(?!\s+to\b)")
"""What is going on has no need of a time; 'going to' looks ahead."""
_LEAST_CERTAINTY = 0.5
_LONGEST = 62 * DAY
TEN_YEARS = 3_660 * DAY
"""The longest stretch that tells when something was, next to others that are ordered by it."""


def happened(
    text: str, at: int, event: Collection[str], offset: int = 0, longest: int = _LONGEST
) -> Span | None:
    """When that happened which these terms name: when the line says it did, else when the line was said.

    None if the line only asks about it, looks ahead to it without a date, or knows it from before ("since
    the move"). A stretch of time longer than `longest` does not tell.
    """
    told = max(_SENTENCE.findall(text[:MOST_CHARACTERS]), key=lambda one: _holds(one, event), default="")
    if not _holds(told, event) or told.rstrip().endswith("?"):
        return None
    known = relative(told)
    if known is not None and _holds(known.event, event):
        return None
    for span in spans(told, at, offset):
        if span.certainty >= _LEAST_CERTAINTY and _tells(span, longest):
            return span
    try:
        ahead = _looks_ahead(Said(told, lowered(told), at + offset, lexicon(ENGLISH)), event)
    except (ValueError, OverflowError):
        return None
    began = at - (at + offset) % DAY
    return None if ahead else Span(began, began + DAY, certainty=_LEAST_CERTAINTY)


def ahead(text: str, at: int, offset: int = 0) -> bool:
    """Whether all that a line tells which was said at that time was yet to come then: a plan, not a deed."""
    told = [one for one in _SENTENCE.findall(text[:MOST_CHARACTERS]) if len(words.terms(one)) > 1]
    return bool(told) and all(_is_plan(one, at, offset) for one in told)


def _is_plan(sentence: str, at: int, offset: int) -> bool:
    """Whether the times that it names are all ahead; without any, whether it looks ahead itself."""
    times = [span for span in spans(sentence, at, offset) if span.certainty >= _LEAST_CERTAINTY]
    if times:
        return all(span.start_ms > at for span in times)
    if _GOING_ON.search(low := lowered(sentence)):
        return False
    end = len(low.rstrip(" .!;"))
    try:
        return Said(sentence, low, at + offset, lexicon(ENGLISH)).lean(end, end) > 0
    except (ValueError, OverflowError):
        return False


def _looks_ahead(said: Said, event: Collection[str]) -> bool:
    """Whether the sentence looks ahead, both where it ends and where it first names the event."""
    end = len(said.low.rstrip(" .!;"))
    if said.lean(end, end) <= 0:
        return False
    named = next((word.end() for word in _WORD.finditer(said.low) if _holds(word[0], event)), end)
    return said.lean(named, named) > 0


def _holds(text: str, event: Collection[str]) -> int:
    return len(set(words.terms(text)).intersection(event))


def _tells(span: Span, longest: int) -> bool:
    return span.start_ms > EARLIEST and span.end_ms < LATEST and span.end_ms - span.start_ms <= longest
