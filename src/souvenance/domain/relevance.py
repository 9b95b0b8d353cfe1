"""How well a line answers a question: signals, most between 0 and about 1, weighed and added up.

A signal is declared here once: its name, its weight, what it tells, and how it follows from what an index
measures of a line. Every index takes them from here, so that all agree on every score, and an answer can say
why it came. What each is worth was measured: see docs/explanation/recall.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Any, NamedTuple

from msgspec import Struct

from souvenance.language.questions import Wants
from souvenance.language.times import TimeSpan

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
LEAST_ANSWER = 6.2
LEAST_COVERAGE = 0.2
"""What the best line must reach for anything to be worth showing unasked: in how well it answers or, where
there are no vectors, in terms."""
BY_CROWD = 0.75
"""How much better a line must score for it where `CROWD` is 1 more, which is 2.7 times as many lines."""
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


class LineMeasures(Struct, frozen=True, eq=False):
    """What an index measures of a line, or of many at once: then an array has a number for each of them.

    0 stands for what can't be known: there are no vectors, or the question speaks of no time.
    """

    lines: int
    """How many lines are looked at."""
    wants: Wants
    """What the question asks for."""
    around: Any = 0.0
    """How much of the question's terms it holds with the two lines before it and the one after it, each by
    how telling it is; what is longer than `DOCUMENT` says nothing of the lines beside it."""
    session: Any = 0.0
    """The same of its whole session."""
    kin: Any = 0.0
    """The same of the line alone, but what is close to a term counts too, for as much as it is close."""
    kin_session: Any = 0.0
    """The same of its whole session."""
    nearness: Any = 0.0
    """How near it lies to the question in meaning."""
    gist: Any = 0.0
    """How near the nearest line of its session does."""
    nearby: Any = 0.0
    """How near the nearer of the two lines beside it does."""
    nearest: float = 0.0
    """The highest `gist` of all lines that come into question."""
    speaks: Any = 0.0
    """1 for a line of whoever the question means."""
    asks: Any = 0.0
    of_self: Any = 0.0
    has_number: Any = 0.0
    has_time: Any = 0.0
    """1 for a line with that sign (`souvenance.language.signs`)."""
    then: Any = 0.0
    """1 if it speaks of a day or month that the question speaks of, `NEAR_DAY` if of a day close to it."""
    during: Any = 0.0
    """1 if a time is all that is asked by, and it is of that time; `CLOSE_BY` if it is close to it."""
    in_time: Any = 0.0
    """1 if it was said in a time that the question speaks of; less, the longer before or after."""
    few_in_time: float = 0.0
    """How telling such a time is: `seldom`."""


class Signal(NamedTuple):
    """A reason for or against a line."""

    name: str
    weight: float
    tells: str
    value: Callable[[LineMeasures], Any] | None
    """None for what is told only once lines are ranked."""


SIGNALS: list[Signal] = []
"""All signals, in the order in which they are declared below. To add one is to add a declaration."""


def _signal(name: str, weight: float, tells: str, value: Callable[[LineMeasures], Any] | None = None) -> str:
    SIGNALS.append(Signal(name, weight, tells, value))
    return name


def _astray(line: LineMeasures) -> Any:
    """How far its session is from being half as near as the nearest, of 1."""
    far = 1 - line.gist / (NEAR_ENOUGH * line.nearest) if line.nearest else 0.0
    return far * (far > 0)


AROUND = _signal(
    "around",
    3.95,
    "how much of the question's terms the line holds, with the two lines before it and the one after it, "
    "each term by how rare it is; a line of more than some 660 terms says nothing of the lines beside it",
    lambda line: line.around,
)
SESSION = _signal("session", 0.7, "the same of the whole session", lambda line: line.session)
KIN = _signal(
    "kin",
    5.2,
    "the same of the line alone, but what is close to a term counts too, by how close",
    lambda line: line.kin,
)
KIN_SESSION = _signal("kin_session", 0.7, "the same of the whole session", lambda line: line.kin_session)
MEANING = _signal(
    "meaning",
    6.55,
    "how near the line lies to the question (cosine of the vectors)",
    lambda line: line.nearness,
)
GIST = _signal("gist", 9.1, "how near the nearest line of its session does", lambda line: line.gist)
NEARBY = _signal(
    "nearby", 2.4, "how near the nearer of the two lines beside it does", lambda line: line.nearby
)
TWICE = _signal(
    "twice",
    -3.1,
    "`kin` times `gist`: what terms and meaning both tell is not told twice",
    lambda line: line.kin * line.gist,
)
STRAY = _signal(
    "stray",
    -5.8,
    "as `kin_session`, where the session's `gist` is less than half of the best, by how much it is",
    lambda line: line.kin_session * _astray(line),
)
SPEAKER = _signal(
    "speaker", 3.5, "the question is about one speaker, and it is this one", lambda line: line.speaks
)
MOMENT = _signal(
    "moment", 2.2, "a time is asked for, and the line has one", lambda line: line.has_time * line.wants.moment
)
COUNT = _signal(
    "count",
    1.65,
    "a number is asked for, and the line has one",
    lambda line: line.has_number * line.wants.count,
)
SELDOM = _signal(
    "seldom",
    17.15,
    "the line was said in, or soon after, the time that the question speaks of, by how few lines were",
    lambda line: line.few_in_time * line.in_time,
)
THEN = _signal(
    "then",
    4.05,
    "the line speaks of a day or month that the question speaks of; half, if of a day close to it",
    lambda line: line.then,
)
DURING = _signal(
    "during",
    12.0,
    "a time is all that is asked by, and the line is of it: was said then, or speaks of it; half, if close "
    "to it",
    lambda line: line.during,
)
UPDATE = _signal(
    "update", 1.0, "the line says newer what an older one says too: what it lacked to come before that"
)
ASKS = _signal("asks", -0.4, "the line ends with a question mark", lambda line: line.asks)
SELF = _signal("self", 1.2, "the line speaks in the first person", lambda line: line.of_self)
CROWD = _signal(
    "crowd",
    0.0,
    "how many lines were looked at: the best of many lies near by chance. It ranks nothing, and only counts "
    "for whether anything is worth showing",
    lambda line: log(line.lines),
)

WEIGHTS: Mapping[str, float] = {signal.name: signal.weight for signal in SIGNALS}


def signals_of(line: LineMeasures) -> dict[str, Any]:
    """What each signal is, by its name."""
    return {signal.name: signal.value(line) for signal in SIGNALS if signal.value is not None}


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


def answers(signals: Mapping[str, float]) -> float:
    """How well a line with these signals answers the question, by how much it was compared with.

    Whose line it is says nothing of that.
    """
    score = sum(WEIGHTS[name] * value for name, value in signals.items() if name != SPEAKER)
    return score - BY_CROWD * signals.get(CROWD, 0.0)


def worth_showing(signals: Mapping[str, float], *, by_meaning: bool, by_time: bool = False) -> bool:
    """Whether a line with these signals answers the question well enough to be shown to who did not ask.

    A line that lies far in meaning does not, whatever words it holds. A question that asks by a time alone
    (`by_time`) is answered by what is of that time.
    """
    if by_time:
        return signals.get(DURING, 0.0) > 0
    if by_meaning:
        return signals.get(MEANING, 0.0) >= LEAST_MEANING and answers(signals) >= LEAST_ANSWER
    return signals.get(AROUND, 0.0) >= LEAST_COVERAGE or signals.get(THEN, 0.0) > 0


def slack(span: TimeSpan) -> tuple[float, float]:
    """By how many milliseconds before and after a span a line may be said until it counts only a third."""
    width = max(span.end_ms - span.start_ms, _DAY_MS)
    return 0.5 * width + _DAY_MS, min(width, _LONGEST_SLACK_MS) + _DAY_MS


def close(span: TimeSpan) -> tuple[float, float]:
    """The same where a time is all that is asked by: what is said much later may be about anything."""
    return HALF_A_DAY_MS, min(max(span.end_ms - span.start_ms, _DAY_MS), _REPORTED_MS)
