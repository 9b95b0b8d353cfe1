"""How well a line answers a question: signals between 0 and about 1, weighed and added up.

Every index computes the same signals and takes the weights from here, so that they agree on every
score, and an answer can say why it came. What each is worth was measured, not felt: see
docs/explanation/recall.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

from msgspec import Struct

from mnemon.domain.when import Span

WORDS = "words"
"""How much of the question's terms the line holds, each by how telling it is."""
BEFORE = "before"
"""The same of the line together with the one before it in its session."""
AROUND = "around"
"""The same with the two before it and the one after it."""
SESSION = "session"
"""The same of its whole session."""
KIN = "kin"
"""As `WORDS`, but what is close to a term counts too, for as much as it is close."""
KIN_AROUND = "kin_around"
"""The same of the line with the two before it and the one after it."""
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
SPEAKER = "speaker"
"""The question is about one speaker, and it is this one."""
MOMENT = "moment"
"""The question asks when, and the line speaks of time."""
COUNT = "count"
"""The question asks how many, and the line has a number."""
WHO = "who"
"""The question asks for a name or a place, and the line has a name."""
WHEN = "when"
"""The line was said in, or soon after, the time that the question speaks of."""
SELDOM = "seldom"
"""The same, by how few lines were: a time that half of all lines are of says little of any."""
ASTRAY = "astray"
"""That, but the line's session has little of what is asked, beside the best."""
STRAY = "stray"
"""As `KIN_SESSION`, where the session is not half as near in meaning as the nearest, by how far from that."""
DURING = "during"
"""The question asks by a time alone, and the line is of it: was said then, or speaks of it. Half, if it was
said close to it, or speaks of a day close to it: it may be about anything."""
THEN = "then"
"""The line speaks of a day or month that the question speaks of; half, if of a day close to it."""
NAMED = "named"
"""The line's session speaks of someone or something that the question names."""
ORDER = "order"
"""The question asks for the latest or the first of something, or for how things are now: how late or early
the line was said among those that answer it about as well, by how much of the question's terms it holds."""
UPDATE = "update"
"""This line says newer what an older one says too: what it lacked to come before that."""
ASKS = "asks"
SELF = "self"
NUMBER = "number"
TIME = "time"
"""The line's signs: see `mnemon.domain.signs`."""
RICH = "rich"
"""How much the line tells: its terms, each by how rare it is in its room."""
LONG = "long"
"""How many terms the line has."""
SPRAWL = "sprawl"
"""By how much the line is longer than what people say to each other: in a pasted text any word may stand."""

WEIGHTS: Mapping[str, float] = {
    WORDS: 0.1,
    BEFORE: 0.85,
    AROUND: 3.45,
    SESSION: 0.6,
    KIN: 4.8,
    KIN_AROUND: 0.8,
    KIN_SESSION: 0.65,
    MEANING: 6.2,
    GIST: 8.95,
    NEARBY: 1.8,
    TWICE: -3.7,
    SPEAKER: 3.5,
    MOMENT: 1.45,
    COUNT: 0.75,
    WHO: 0.65,
    WHEN: 0.1,
    SELDOM: 12.35,
    ASTRAY: -9.7,
    STRAY: -3.15,
    DURING: 12.0,
    THEN: 3.15,
    NAMED: 0.5,
    ORDER: 1.0,
    UPDATE: 1.0,
    ASKS: -0.25,
    SELF: 1.25,
    NUMBER: 0.15,
    TIME: 0.15,
    RICH: 0.45,
    LONG: -0.1,
    SPRAWL: -2.05,
}

LEAST_MEANING = 0.1
"""Meaning that is further away than this says nothing."""

NEAR_DAY = 0.5
CLOSE_BY = 0.5
"""How much of `DURING` a line has that is only close to the time."""
APT = 0.4
"""A session has enough of what is asked if it has this much of what the one that has most of it has."""
NEAR_ENOUGH = 0.5
"""Terms stand where they are meant if their session is this near, beside the nearest."""
RIVAL = 0.5
"""Lines answer a question about as well if they hold this much of what the best holds of its terms."""
TALK = 4.5
"""As long as this is nothing that is said in a talk; in the measure of `LONG`, some ninety terms."""
DOCUMENT = 6.5
"""What is longer than this, some 660 terms, says nothing of the lines beside it: it is pasted in between."""
FEW = 20
"""Of fewer lines, how many hold a term says little: it counts as if the rest of so many did not."""
LEAST_NEARNESS = 0.32
LEAST_COVERAGE = 0.2
"""What the best line must reach for anything to be worth showing unasked: in meaning, with a little for its
terms, or where there are no vectors in terms."""
BY_KIN = 0.1
"""How much of `KIN` counts as nearness for that."""
FAR_BELOW = 0.4
"""What has less than this of the best score is not shown unasked beside it, unless it would be alone."""
LEAST_IN_TIME = 0.1
"""What a line must reach that is of the time that is asked about."""
TIMELY = 0.25
"""A line is of a time in which it was said, or so soon after that it has this much of `WHEN`."""
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


class Wants(Struct, frozen=True):
    """What kind of thing a question asks for."""

    moment: bool = False
    count: bool = False
    name: bool = False
    latest: float = 0.0
    """How much it asks for what is newest; below 0, for what is oldest."""


def idf(lines: int, holding: Any) -> float:
    """How telling a term is that `holding` of `lines` lines hold."""
    return log(1 + (max(lines, FEW) - holding + 0.5) / (holding + 0.5))


def usual(nearness: Sequence[float]) -> float:
    """How near most lines lie, as in this sorted sample of them."""
    return nearness[len(nearness) // 4] if len(nearness) >= FEW_ALIKE else USUAL


def seldom(lines: int, in_time: float) -> float:
    """How telling a time is that so many of the lines are of: 1 if it is next to none, 0 if all are."""
    return log((lines + 1) / (in_time + 1)) / log(lines + 1) if lines else 0.0


def worth_showing(
    signals: Iterable[Mapping[str, float]],
    *,
    by_meaning: bool,
    named: bool = False,
    past: bool = False,
    by_time: bool = False,
) -> bool:
    """Whether lines with these signals answer the question well enough to be shown to who did not ask.

    A question that names someone or something (`named`) is answered where that is spoken of, or nowhere; one
    about a time that is over (`past`), by what was said then or speaks of it. That alone is enough for one
    that asks for nothing else (`by_time`).
    """
    for one in signals:
        then = one.get(THEN, 0.0) > 0
        near = one.get(MEANING, 0.0) + BY_KIN * one.get(KIN, 0.0) if by_meaning else one.get(AROUND, 0.0)
        if by_time:
            enough = one.get(DURING, 0.0) > 0
        elif past:
            enough = near >= LEAST_IN_TIME and (then or one.get(WHEN, 0.0) >= TIMELY)
        else:
            enough = then or near >= (LEAST_NEARNESS if by_meaning else LEAST_COVERAGE)
        if enough and (not named or one.get(NAMED, 0.0) > 0):
            return True
    return False


def slack(span: Span) -> tuple[float, float]:
    """By how many milliseconds before and after a span a line may be said until it counts only a third."""
    width = max(span.end_ms - span.start_ms, _DAY_MS)
    return 0.5 * width + _DAY_MS, min(width, _LONGEST_SLACK_MS) + _DAY_MS


def close(span: Span) -> tuple[float, float]:
    """The same where a time is all that is asked by: what is said much later may be about anything."""
    return HALF_A_DAY_MS, min(max(span.end_ms - span.start_ms, _DAY_MS), _REPORTED_MS)
