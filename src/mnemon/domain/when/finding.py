"""The times that a text speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from mnemon.domain.runs import Runs
from mnemon.domain.when import dates, eastern, feasts, reckoning, tongues
from mnemon.domain.when.framing import Hit, framed, narrowed
from mnemon.domain.when.rule import NUMBER, SCRIPT, Rule
from mnemon.domain.when.said import UNSPACED, WORDS, Said, lowered
from mnemon.domain.when.span import EARLIEST, LATEST, Span

MOST_CHARACTERS = 8_000
"""How much of a text is read."""

_DIGITS = Runs(r"\d")
_RULES = (*eastern.RULES, *feasts.RULES, *dates.RULES, *tongues.RULES, *reckoning.RULES)
_CUES = frozenset().union(*(rule.cues for rule in _RULES))
_TELLING = _CUES.union(*(rule.beside for rule in _RULES))


def spans(text: str, at: int, offset: int = 0) -> list[Span]:
    """The times that a text speaks of, in its order, as of when it was said (milliseconds UTC).

    `offset` is how far the speaker's clock is ahead of UTC, likewise: it decides when their day begins.
    """
    low = lowered(text[:MOST_CHARACTERS])
    words = _TELLING.intersection(WORDS.of(low))
    if _DIGITS.of(low):
        words |= {NUMBER}
    if not low.isascii() and UNSPACED.search(low):
        words |= {SCRIPT}
    if _CUES.isdisjoint(words):
        return []
    try:
        said = Said(text, low, at + offset)
    except (ValueError, OverflowError):
        return []
    hits: list[Hit] = []
    taken = bytearray(len(low))
    for rule in _RULES:
        if rule.announced(words):
            hits += _read(rule, said, taken)
    return [_span(hit, text, offset) for hit in framed(hits, said)] if hits else []


def _read(rule: Rule, said: Said, taken: bytearray) -> Iterator[Hit]:
    """What the rule finds where no rule before it found anything; the characters become taken."""
    for match in rule.shape.finditer(said.low):
        begin, end = match.span("core" if "core" in match.re.groupindex else 0)
        if 1 in taken[begin:end]:
            continue
        try:
            time = rule.read(match, said)
        except (ValueError, OverflowError):
            continue
        if time is not None:
            hit = Hit(begin, end, time)
            narrowed(hit, said, taken)
            taken[hit.begin : hit.end] = b"\1" * (hit.end - hit.begin)
            yield hit


def _span(hit: Hit, text: str, offset: int) -> Span:
    start, stop = (
        edge if edge in (EARLIEST, LATEST) else edge - offset for edge in (hit.time.start, hit.time.stop)
    )
    return Span(start, stop, text[hit.begin : hit.end], hit.begin, hit.time.grain, hit.time.certainty)
