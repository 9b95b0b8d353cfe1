"""The times that a text means, in short: what tests of phrases compare."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from souvenance.language.characters import small_words
from souvenance.language.times import EARLIEST, LATEST, may_tell, spans

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WEDNESDAY = datetime(2026, 5, 13, 12, tzinfo=UTC)
"""When every sentence here was said."""


def at(moment):
    return (moment - EPOCH) // timedelta(milliseconds=1)


def edge(ms, back):
    if ms in (EARLIEST, LATEST):
        return ".."
    moment = EPOCH + timedelta(milliseconds=ms)
    if moment.hour or moment.minute:
        return moment.strftime("%Y-%m-%dT%H:%M")
    return (moment - timedelta(days=back)).strftime("%Y-%m-%d")


def meant(text, said=WEDNESDAY):
    """The first and the last day of each time, or its edges to the minute."""
    told, found = [], spans(text, at(said))
    assert may_tell(text, small_words(text)) or not found
    for span in found:
        first, last = edge(span.start_ms, 0), edge(span.end_ms, 1)
        told.append(first if first == last else f"{first}/{last}")
    return told
