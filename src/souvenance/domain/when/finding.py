"""The times that a text speaks of."""

from __future__ import annotations

from souvenance.domain.when import eastern
from souvenance.domain.when.framing import Hit, frame
from souvenance.domain.when.lexicon import Lexicon, lexicon
from souvenance.domain.when.reader import reader
from souvenance.domain.when.said import Said, lowered
from souvenance.domain.when.span import EARLIEST, LATEST, Span
from souvenance.domain.words.languages import likely

MOST_CHARACTERS = 8_000
"""How much of a text is read."""


def spans(text: str, at: int, offset: int = 0) -> list[Span]:
    """The times that a text speaks of, in its order, as of when it was said (milliseconds UTC).

    `offset` is how far the speaker's clock is ahead of UTC, likewise: it decides when their day begins.
    """
    low = lowered(text[:MOST_CHARACTERS])
    try:
        if not low.isascii() and eastern.UNSPACED.search(low):
            return [
                _span(hit, text, offset) for hit in eastern.times(Said(text, low, at + offset, Lexicon()))
            ]
        for language in likely(low):
            said = Said(text, low, at + offset, lexicon(language))
            if hits := [Hit(*found) for found in reader(language).read(said)]:
                return [_span(hit, text, offset) for hit in frame(language).framed(hits, said)]
    except (ValueError, OverflowError):
        pass
    return []


def _span(hit: Hit, text: str, offset: int) -> Span:
    start, stop = (
        edge if edge in (EARLIEST, LATEST) else edge - offset for edge in (hit.time.start, hit.time.stop)
    )
    return Span(start, stop, text[hit.begin : hit.end], hit.begin, hit.time.grain, hit.time.certainty)
