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
_LEAST_CERTAINTY = 0.5
_LONGEST = 62 * DAY
"""A longer stretch of time does not tell when something happened."""


def happened(text: str, at: int, event: Collection[str], offset: int = 0) -> Span | None:
    """When that happened which these terms name: when the line says it did, else when the line was said.

    None if the line only asks about it, looks ahead to it without a date, or knows it from before ("since
    the move").
    """
    told = max(_SENTENCE.findall(text[:MOST_CHARACTERS]), key=lambda one: _holds(one, event), default="")
    if not _holds(told, event) or told.rstrip().endswith("?"):
        return None
    known = relative(told)
    if known is not None and _holds(known.event, event):
        return None
    for span in spans(told, at, offset):
        if span.certainty >= _LEAST_CERTAINTY and _tells(span):
            return span
    end = len(told.rstrip(" .!;"))
    try:
        ahead = Said(told, lowered(told), at + offset).lean(end, end) > 0
    except (ValueError, OverflowError):
        return None
    began = at - (at + offset) % DAY
    return None if ahead else Span(began, began + DAY, certainty=_LEAST_CERTAINTY)


def _holds(text: str, event: Collection[str]) -> int:
    return len(set(words.terms(text)).intersection(event))


def _tells(span: Span) -> bool:
    return span.start_ms > EARLIEST and span.end_ms < LATEST and span.end_ms - span.start_ms <= _LONGEST
