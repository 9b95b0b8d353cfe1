"""What a line is marked with before any question is asked: signs, and the days and months that it speaks of.

A line that tells something of its speaker, dated and counted, answers more questions than one that
asks. Signs and days are stored as blinded marks, like words.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache

from msgspec.structs import replace

from souvenance.language.characters import SmallWords, small_words
from souvenance.language.times import EARLIEST, LATEST, TimeSpan
from souvenance.language.times.lexicon import lexicon
from souvenance.patterns import pattern

ASKS = "asks"
SELF = "self"
NUMBER = "number"
TIME = "time"
EVERY = (ASKS, SELF, NUMBER, TIME)

_MOST = 4000
"""How much of a text is looked at."""

_SPEAKER = "i my me mine we our us"
_SELVES = frozenset(_SPEAKER.split())
_COUNTED = "dozen hundred twice once"
_SEVERAL = "day week weekend month year morning evening"
_CALENDAR = "yesterday today tomorrow tonight last next ago christmas birthday"
_YEAR = pattern(r"\b(?:19|20)\d\d\b")


@cache
def _sign_words() -> tuple[frozenset[str], frozenset[str]]:
    """The words by which a line tells a number, and those by which it tells a time."""
    english = lexicon("english")
    weekdays, once_a_year, counted = (
        [names.split()[0] for names in rows]
        for rows in (english.weekdays, (*english.months, *english.seasons), english.numbers[:10])
    )
    several = [*_SEVERAL.split(), *weekdays]
    numbers = frozenset([*counted, *_COUNTED.split()])
    times = frozenset([*_CALENDAR.split(), *once_a_year, *several, *(f"{name}s" for name in several)])
    return numbers, times


def signs(text: str, met: SmallWords | None = None) -> list[str]:
    """The signs of a line, in the order of `EVERY`. `met` are its words, if they are known."""
    words, digits = met or small_words(text[:_MOST])
    numbers, times = _sign_words()
    seen = (
        text.rstrip().endswith(("?", "？", "؟")),
        not _SELVES.isdisjoint(words),
        digits or not numbers.isdisjoint(words),
        not times.isdisjoint(words) or (digits and _YEAR.search(text[:_MOST])),
    )
    return [sign for sign, is_there in zip(EVERY, seen, strict=True) if is_there]


_DAY_MS = 86_400_000
MOST_DAYS = 14
"""A longer stretch of time is told by its months."""
MOST_MONTHS = 12
_LEAST_CERTAINTY = 0.5
_CLOSE_DAYS = 2


def days(spans: Iterable[TimeSpan], offset: int) -> list[str]:
    """The days of the short spans, each once, like '2026-05-16'.

    They are those of a clock that is so many milliseconds ahead of UTC.
    """
    found: dict[str, None] = {}
    for span in _settled(spans, offset):
        if span.end_ms - span.start_ms <= MOST_DAYS * _DAY_MS:
            day = _moment(span.start_ms)
            while day.timestamp() * 1000 < span.end_ms:
                found[day.strftime("%Y-%m-%d")] = None
                day = day.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return list(found)


def months(spans: Iterable[TimeSpan], offset: int, *, long_only: bool = False) -> list[str]:
    """The months that the spans touch by that clock, each once, like '2026-05'; of a span of years, none."""
    found: dict[str, None] = {}
    for span in _settled(spans, offset):
        if long_only and span.end_ms - span.start_ms <= MOST_DAYS * _DAY_MS:
            continue
        first, last = _moment(span.start_ms), _moment(span.end_ms - 1)
        count = (last.year - first.year) * 12 + last.month - first.month + 1
        if count <= MOST_MONTHS:
            for step in range(first.month - 1, first.month - 1 + count):
                found[f"{first.year + step // 12:04}-{step % 12 + 1:02}"] = None
    return list(found)


def widened(span: TimeSpan) -> TimeSpan:
    close = _CLOSE_DAYS * _DAY_MS
    return replace(span, start_ms=span.start_ms - close, end_ms=span.end_ms + close)


def _settled(spans: Iterable[TimeSpan], offset: int) -> list[TimeSpan]:
    """The spans that are certain enough, in the time of that clock."""
    return [
        replace(span, start_ms=span.start_ms + offset, end_ms=span.end_ms + offset)
        for span in spans
        if span.certainty >= _LEAST_CERTAINTY and span.start_ms > EARLIEST and span.end_ms < LATEST
    ]


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
