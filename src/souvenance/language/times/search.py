"""The times that a text speaks of."""

from __future__ import annotations

from souvenance.language.terms.languages import likely
from souvenance.language.times import eastern
from souvenance.language.times.expressions import TimeExpression, lowered
from souvenance.language.times.frames import FramedTime, frame
from souvenance.language.times.lexicon import TimeLexicon, lexicon
from souvenance.language.times.reader import reader
from souvenance.language.times.span import EARLIEST, LATEST, TimeSpan

MOST_CHARACTERS = 8_000
"""How much of a text is read."""


def spans(text: str, at: int, offset: int = 0) -> list[TimeSpan]:
    """The times that a text speaks of, in its order, as of when it was said (milliseconds UTC).

    `offset` is how far the speaker's clock is ahead of UTC, likewise: it decides when their day begins.
    """
    low = lowered(text[:MOST_CHARACTERS])
    try:
        if not low.isascii() and eastern.UNSPACED.search(low):
            return [
                _span(hit, text, offset)
                for hit in eastern.times(TimeExpression(text, low, at + offset, TimeLexicon()))
            ]
        for language in likely(low):
            said = TimeExpression(text, low, at + offset, lexicon(language))
            if hits := [FramedTime(*found) for found in reader(language).read(said)]:
                return [_span(hit, text, offset) for hit in frame(language).framed(hits, said)]
    except (ValueError, OverflowError):
        pass
    return []


def _span(hit: FramedTime, text: str, offset: int) -> TimeSpan:
    start, stop = (
        edge if edge in (EARLIEST, LATEST) else edge - offset for edge in (hit.time.start, hit.time.stop)
    )
    return TimeSpan(start, stop, text[hit.begin : hit.end], hit.begin, hit.time.grain, hit.time.certainty)
