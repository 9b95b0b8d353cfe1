"""The times that a text speaks of, with the words beside them that change them: early May, since March."""

from __future__ import annotations

from datetime import date
from functools import cache

from souvenance.language.characters import SmallWords
from souvenance.language.terms.languages import ENGLISH, common, likely
from souvenance.language.times import EARLIEST, LATEST, TimeSpan
from souvenance.language.times.almanac import DAY, FramedTime, Time, TimeExpression, day_of, days, lowered
from souvenance.language.times.lexicon import TimeLexicon, either, lexicon, phrases
from souvenance.language.times.reader import UNSPACED, cues_in, eastern_times, reader
from souvenance.patterns import pattern

_FAR = 40
_SHARES = {"early": (0, 2), "mid": (2, 4), "late": (4, 6)}


class Frame:
    """The words of one language that change the time beside them."""

    def __init__(self, language: str) -> None:
        words = lexicon(language)
        the = rf"(?:{either(words.of.split())}\s+)?"

        def before(**some: str) -> str:
            return "|".join(rf"(?P<{name}>{either(phrases(text))})" for name, text in some.items())

        self._share = pattern(
            rf"\b(?:{before(early=words.early, mid=words.mid, late=words.late)})[\s-]+{the}$"
        )
        bounds = before(since=words.since, before=words.before, after=words.after, until=words.until)
        self._bound = pattern(rf"\b(?:{bounds})\s+{the}$")
        self._from = pattern(rf"\b{either(words.from_.split())}\s+{the}$")
        self._to = pattern(rf"\s*(?:[-–—]|\b(?P<word>{either(words.to.split())}))\s*{the}")

    def framed(self, hits: list[FramedTime], said: TimeExpression) -> list[FramedTime]:
        """The times as the words beside them have it, in the order of the text."""
        found: list[FramedTime] = []
        for hit in sorted(hits, key=lambda one: one.begin):
            self._shared(hit, said)
            if not (found and self._joined(found[-1], hit, said)):
                found.append(hit)
        for hit in found:
            self._bounded(hit, said)
        return found

    def _shared(self, hit: FramedTime, said: TimeExpression) -> None:
        """Early, mid or late in a stretch longer than a day."""
        share = self._share.search(said.low[max(0, hit.begin - _FAR) : hit.begin])
        if share is None or hit.time.grain in ("hours", "day"):
            return
        long = (hit.time.stop - hit.time.start) // DAY
        sixths = _SHARES[str(share.lastgroup)]
        start, stop = (hit.time.start + round(long * some / 6) * DAY for some in sixths)
        hit.begin -= len(share[0])
        hit.time = Time(start, stop, "days", hit.time.certainty)

    def _joined(self, one: FramedTime, other: FramedTime, said: TimeExpression) -> bool:
        """Whether two times are the ends of one, which the first then becomes."""
        to = self._to.fullmatch(said.low, one.end, other.begin)
        if to is None:
            return False
        opened = self._from.search(said.low[max(0, one.begin - _FAR) : one.begin])
        start, stop = _in_year_of(one.time, other.time), other.time.stop
        if one.time.grain == other.time.grain == "day" and 0 < day_of(start) - day_of(other.time.start) < 7:
            stop += 7 * DAY
        if start >= stop or (to["word"] and opened is None):
            return False
        one.begin -= len(opened[0]) if opened else 0
        one.end = other.end
        one.time = Time(start, stop, "days", max(one.time.certainty, other.time.certainty))
        return True

    def _bounded(self, hit: FramedTime, said: TimeExpression) -> None:
        """Since, before, after or until a time: up to now if it lies behind, from now on if ahead."""
        bound = self._bound.search(said.low[max(0, hit.begin - _FAR) : hit.begin])
        if bound is None:
            return
        word, time, now = bound.lastgroup, hit.time, (said.at // DAY + 1) * DAY
        if word in ("since", "after"):
            start = time.start if word == "since" else time.stop
            stop = max(now, time.stop) if start < now else LATEST
        else:
            stop = time.start if word == "before" else time.stop
            start = days(said.today, said.today + 1, "day", 1).start if stop > now else EARLIEST
        if start < stop:
            hit.begin -= len(bound[0])
            hit.time = Time(start, stop, "open", time.certainty)


def _in_year_of(one: Time, other: Time) -> int:
    """When the first of two begins; if its year was guessed, it is the other's, or the one before."""
    if not one.certainty < other.certainty == 1.0:
        return one.start
    first, last = (date.fromordinal(day_of(time.start)) for time in (one, other))
    try:
        begun = first.replace(year=last.year)
        begun = begun if begun <= last else first.replace(year=last.year - 1)
    except ValueError:
        return one.start
    return days(begun.toordinal(), begun.toordinal() + 1, "day", 1.0).start


frame = cache(Frame)


_NONE = ""
"""Stands for every language of which no words for times are known."""


@cache
def _every_cue() -> frozenset[str]:
    """The words and signs by which any language speaks of times."""
    languages = {one if lexicon(one).months else _NONE for one in (ENGLISH, *common())}
    return frozenset(cue for language in languages for cue in reader(language).cues)


MOST_CHARACTERS = 8_000
"""How much of a text is read."""


def spans(text: str, at: int, offset: int = 0, met: SmallWords | None = None) -> list[TimeSpan]:
    """The times that a text speaks of, in its order, as of when it was said (milliseconds UTC).

    `offset` is how far the speaker's clock is ahead of UTC, likewise: it decides when their day begins.
    `met` are the words of the text, if they are known.
    """
    low = lowered(text[:MOST_CHARACTERS])
    try:
        if not low.isascii() and UNSPACED.search(low):
            said = TimeExpression(text, low, at + offset, TimeLexicon())
            return [_span(hit, text, offset) for hit in eastern_times(said)]
        cues = cues_in(low, met)
        for language in dict.fromkeys(one if lexicon(one).months else _NONE for one in likely(text, met)):
            if reader(language).cues.isdisjoint(cues):
                continue
            said = TimeExpression(text, low, at + offset, lexicon(language))
            if hits := list(reader(language).read(said, cues)):
                return [_span(hit, text, offset) for hit in frame(language).framed(hits, said)]
    except (ValueError, OverflowError):
        pass
    return []


def may_tell(text: str, met: SmallWords | None) -> bool:
    """Whether the text has a word or a sign without which none speaks of a time. Most have none."""
    low = lowered(text[:MOST_CHARACTERS])
    return not (low.isascii() and _every_cue().isdisjoint(cues_in(low, met)))


def _span(hit: FramedTime, text: str, offset: int) -> TimeSpan:
    start, stop = (
        edge if edge in (EARLIEST, LATEST) else edge - offset for edge in (hit.time.start, hit.time.stop)
    )
    return TimeSpan(start, stop, text[hit.begin : hit.end], hit.begin, hit.time.grain, hit.time.certainty)
