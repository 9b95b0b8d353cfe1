"""When something happened, as a line tells it that was said at a known time."""

from __future__ import annotations

from collections.abc import Collection

from mnemon.domain import words
from mnemon.domain.pattern import pattern
from mnemon.domain.when.asked import relative
from mnemon.domain.when.finding import MOST_CHARACTERS, spans
from mnemon.domain.when.said import DAY, Said, lowered
from mnemon.domain.when.span import EARLIEST, LATEST, Span

_SENTENCE = pattern(r"[^.!?;\n]+(?:\.\d[^.!?;\n]*)*[.!?;]*")
_WORD = pattern(r"\w+")
_LEAST_CERTAINTY = 0.5
_LONGEST = 62 * DAY


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
        ahead = _looks_ahead(Said(told, lowered(told), at + offset), event)
    except (ValueError, OverflowError):
        return None
    began = at - (at + offset) % DAY
    return None if ahead else Span(began, began + DAY, certainty=_LEAST_CERTAINTY)


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
