"""How well a line answers a question: signals between 0 and about 1, weighed and added up.

Every index computes the same signals and takes the weights from here, so that they agree on every
score, and an answer can say why it came. What each is worth was measured, not felt: see
docs/explanation/recall.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from souvenance.language.times import TimeSpan

AROUND = "around"
"""How much of the question's terms the line holds with the two lines before it and the one after it, each by
how telling it is."""
SESSION = "session"
"""The same of its whole session."""
KIN = "kin"
"""The same of the line alone, but what is close to a term counts too, for as much as it is close."""
KIN_SESSION = "kin_session"
"""The same of its whole session."""
MEANING = "meaning"
"""How near the line lies to the question in meaning."""
GIST = "gist"
"""How near the nearest line of its session does."""
NEARBY = "nearby"
"""How near the nearer of the two lines beside it does."""
TWICE = "twice"
"""As `KIN`, by how near its session lies: what terms and meaning both tell is not told twice."""
STRAY = "stray"
"""As `KIN_SESSION`, where the session is not half as near in meaning as the nearest, by how far from that."""
SPEAKER = "speaker"
"""The question is about one speaker, and it is this one."""
MOMENT = "moment"
"""The question asks when, and the line speaks of time."""
COUNT = "count"
"""The question asks how many, and the line has a number."""
WHO = "who"
"""The question asks for a name or a place, and the line has a name."""
SELDOM = "seldom"
"""The line was said in, or soon after, the time that the question speaks of, by how few lines were."""
THEN = "then"
"""The line speaks of a day or month that the question speaks of; half, if of a day close to it."""
DURING = "during"
"""The question asks by a time alone, and the line is of it: was said then, or speaks of it. Half, if it was
said close to it, or speaks of a day close to it: it may be about anything."""
UPDATE = "update"
"""This line says newer what an older one says too: what it lacked to come before that."""
ASKS = "asks"
SELF = "self"
"""The line's signs: see `souvenance.language.signs`."""
RICH = "rich"
"""How much the line tells: its terms, each by how rare it is in its room."""

WEIGHTS: Mapping[str, float] = {
    AROUND: 3.95,
    SESSION: 0.7,
    KIN: 5.2,
    KIN_SESSION: 0.7,
    MEANING: 6.55,
    GIST: 9.1,
    NEARBY: 2.4,
    TWICE: -3.1,
    STRAY: -5.8,
    SPEAKER: 3.5,
    MOMENT: 2.2,
    COUNT: 1.65,
    WHO: 0.8,
    SELDOM: 17.15,
    THEN: 4.05,
    DURING: 12.0,
    UPDATE: 1.0,
    ASKS: -0.4,
    SELF: 1.2,
    RICH: 0.4,
}

LEAST_MEANING = 0.1
"""Meaning that is further away than this says nothing."""

NEAR_DAY = 0.5
CLOSE_BY = 0.5
"""How much of `DURING` a line has that is only close to the time."""
NEAR_ENOUGH = 0.5
"""Terms stand where they are meant if their session is this near, beside the nearest."""
DOCUMENT = 6.5
"""What is longer, some 660 terms (this is the logarithm), says nothing of the lines beside it: it is pasted
in between."""
FEW = 20
"""Of fewer lines, how many hold a term says little: it counts as if the rest of so many did not."""
LEAST_NEARNESS = 0.34
LEAST_COVERAGE = 0.2
"""What the best line must reach for anything to be worth showing unasked: in meaning, with a little for its
terms, or where there are no vectors in terms."""
BY_KIN = 0.1
"""How much of `KIN` counts as nearness for that."""
FAR_BELOW = 0.4
"""What has less than this of the best score is not shown unasked beside it, unless it would be alone."""
TIMELY = 0.25
"""A line is of a time in which it was said, or so soon after that it is worth this much of it."""
FEW_ALIKE = 5
USUAL = 0.35
"""How near two lines of one owner lie in meaning that tell of different things, where fewer could tell."""
TOLD_APART = 9
"""To how many digits what a signal adds is told apart where lines are ranked by it."""
ROUNDED = 6
"""To how many digits meaning is told apart."""

HALF_A_DAY_MS = 43_200_000.0

_DAY_MS = 86_400_000
_LONGEST_SLACK_MS = 30 * _DAY_MS
_REPORTED_MS = 3 * _DAY_MS
"""How soon what happened is told."""


def idf(lines: int, holding: Any) -> float:
    """How telling a term is that `holding` of `lines` lines hold."""
    return log(1 + (max(lines, FEW) - holding + 0.5) / (holding + 0.5))


def usual(nearness: Sequence[float]) -> float:
    """How near most lines lie, as in this sorted sample of them."""
    return nearness[len(nearness) // 4] if len(nearness) >= FEW_ALIKE else USUAL


def seldom(lines: int, in_time: float) -> float:
    """How telling a time is that so many of the lines are of: 1 if it is next to none, 0 if all are."""
    return log((lines + 1) / (in_time + 1)) / log(lines + 1) if lines else 0.0


def worth_showing(signals: Mapping[str, float], *, by_meaning: bool, by_time: bool = False) -> bool:
    """Whether a line with these signals answers the question well enough to be shown to who did not ask.

    A question that asks by a time alone (`by_time`) is answered by what is of that time.
    """
    if by_time:
        return signals.get(DURING, 0.0) > 0
    if by_meaning:
        near = signals.get(MEANING, 0.0) + BY_KIN * signals.get(KIN, 0.0)
        return near >= LEAST_NEARNESS or signals.get(THEN, 0.0) > 0
    return signals.get(AROUND, 0.0) >= LEAST_COVERAGE or signals.get(THEN, 0.0) > 0


def slack(span: TimeSpan) -> tuple[float, float]:
    """By how many milliseconds before and after a span a line may be said until it counts only a third."""
    width = max(span.end_ms - span.start_ms, _DAY_MS)
    return 0.5 * width + _DAY_MS, min(width, _LONGEST_SLACK_MS) + _DAY_MS


def close(span: TimeSpan) -> tuple[float, float]:
    """The same where a time is all that is asked by: what is said much later may be about anything."""
    return HALF_A_DAY_MS, min(max(span.end_ms - span.start_ms, _DAY_MS), _REPORTED_MS)
