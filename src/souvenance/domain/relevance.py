"""How well a line answers a question: signals, most between 0 and about 1, weighed and added up.

A signal is declared here once: its name, its weight, what it tells, and how it follows from what an index
measures of a line. Every index takes them from here, so that all agree on every score, and an answer can say
why it came. What each is worth was measured: see docs/explanation/recall.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log
from operator import attrgetter
from typing import Any, NamedTuple

from msgspec import Struct

from souvenance.language.questions import Wants
from souvenance.language.times import TimeSpan

LEAST_MEANING = 0.1
"""Meaning that is further away than this says nothing."""

NEAR_DAY = 0.5
CLOSE_BY = 0.5
"""How much of `MATCHES_TIME` a line has that is only close to the time."""
DOCUMENT = 6.5
"""What is longer, some 660 terms (this is the logarithm), says nothing of the lines beside it: it is pasted
in between."""
SAID_AT_ONCE = 40
"""How many terms a line has that is said at once, more or less."""
FEW = 20
"""Of fewer lines, how many hold a term says little: it counts as if the rest of so many did not."""
LEAST_ANSWER = 6.2
LEAST_COVERAGE = 0.2
"""What the best line must reach for anything to be worth showing unasked: in how well it answers or, where
there are no vectors, in terms."""
BY_LINES_SEARCHED = 0.75
"""How much more a line must score where `LINES_SEARCHED` is 1 more, that is 2.7 times as many lines."""
FAR_BELOW = 0.4
"""What has less than this of the best score is not shown unasked beside it, unless it would be alone."""
TIMELY = 0.25
"""A line is of a time in which it was said, or so soon after that it is worth this much of it."""
FEW_ALIKE = 5
USUAL = 0.35
"""How near two lines of one owner lie in meaning that tell of different things, where fewer could tell."""
ROUNDED = 6
"""To how many digits meaning is told apart."""


class LineMeasures(Struct, frozen=True, eq=False):
    """What an index measures of a line, or of many at once: then an array has a number for each of them.

    0 stands for what can't be known: there are no vectors, or the question names no time. What a measure is
    that a signal is named after, the signal tells.
    """

    lines: int
    """How many lines are searched."""
    wants: Wants
    """What the question asks for."""
    length: Any = 0.0
    """How many terms the line has, each as often as it stands there."""
    words_around: Any = 0.0
    words_in_session: Any = 0.0
    similar_words: Any = 0.0
    similar_words_in_session: Any = 0.0
    meaning: Any = 0.0
    meaning_in_session: Any = 0.0
    meaning_nearby: Any = 0.0
    speaker: Any = 0.0
    is_question: Any = 0.0
    first_person: Any = 0.0
    has_number: Any = 0.0
    has_time: Any = 0.0
    """1 for a line with that sign (`souvenance.language.signs`)."""
    mentions_date: Any = 0.0
    """1 if the line mentions a day or month that the question names, `NEAR_DAY` for a day close to it."""
    matches_time: Any = 0.0
    """1 if the question names nothing but a time and the line is of that time; `CLOSE_BY` if close to it."""
    in_time: Any = 0.0
    """1 if the line was said in a time that the question names; less, the longer before or after."""
    few_in_time: float = 0.0
    """How few lines are of such a time: `seldom`."""


class Signal(NamedTuple):
    """A reason for or against a line."""

    name: str
    weight: float
    tells: str
    value: Callable[[LineMeasures], Any] | None
    """None for what is known only after ranking."""


SIGNALS: list[Signal] = []
"""All signals, in the order in which they are declared below. To add one is to add a declaration."""


def _signal(name: str, weight: float, tells: str, value: Callable[[LineMeasures], Any] | None = None) -> str:
    """Declare a signal. Without `value` it is the measure of the same name."""
    if value is None and name in LineMeasures.__struct_fields__:
        value = attrgetter(name)
    SIGNALS.append(Signal(name, weight, tells, value))
    return name


WORDS_AROUND = _signal(
    "words_around",
    3.95,
    "the share of the question's terms in the line, the two lines before it and the one after it; a rare "
    "term counts more; a neighbour of more than some 660 terms does not count",
)
WORDS_IN_SESSION = _signal("words_in_session", 0.7, "the same share in the whole session")
SIMILAR_WORDS = _signal(
    "similar_words",
    5.2,
    "the same share in the line alone, where a similar term counts too, by how similar it is",
)
SIMILAR_WORDS_IN_SESSION = _signal("similar_words_in_session", 0.7, "the same, in the whole session")
MEANING = _signal("meaning", 6.55, "how near the line is to the question in meaning (cosine of the vectors)")
MEANING_IN_SESSION = _signal("meaning_in_session", 9.1, "the highest `meaning` in the line's session")
MEANING_NEARBY = _signal("meaning_nearby", 2.4, "the higher `meaning` of the two lines beside it")
WORDS_AND_MEANING = _signal(
    "words_and_meaning",
    -3.1,
    "`similar_words` times `meaning_in_session`: what both show counts once",
    lambda line: line.similar_words * line.meaning_in_session,
)
SPEAKER = _signal("speaker", 3.5, "the question is about one person, and that person said the line")
GIVES_TIME = _signal(
    "gives_time",
    2.2,
    "the question asks for a time, and the line has one",
    lambda line: line.has_time * line.wants.moment,
)
GIVES_NUMBER = _signal(
    "gives_number",
    1.65,
    "the question asks for a number, and the line has one",
    lambda line: line.has_number * line.wants.count,
)
SAID_THEN = _signal(
    "said_then",
    17.15,
    "the line was said in, or soon after, the time that the question names; the fewer such lines, the more",
    lambda line: line.few_in_time * line.in_time,
)
MENTIONS_DATE = _signal(
    "mentions_date",
    4.05,
    "the line mentions a day or month that the question names; half for a day close to it",
)
MATCHES_TIME = _signal(
    "matches_time",
    12.0,
    "the question names nothing but a time, and the line was said then or mentions it; half if close to it",
)
REPLACES_OLDER = _signal(
    "replaces_older", 1.0, "the line is newer than one that says the same: the points it needs to come first"
)
FADES = _signal(
    "fades_with_age", 1.0, "a retention rule lets lines like this one fade: the points that its age costs it"
)
IS_QUESTION = _signal("is_question", -0.4, "the line ends with a question mark")
FIRST_PERSON = _signal("first_person", 1.2, "the line is in the first person")
LONG = _signal(
    "long",
    -5.0,
    "the share of the line beyond its first 40 terms or so: what says much holds any word, and lies near any "
    "question on its subject",
    lambda line: (line.length > SAID_AT_ONCE) * (line.length - SAID_AT_ONCE) / (line.length + 1),
)
LINES_SEARCHED = _signal(
    "lines_searched",
    0.0,
    "the logarithm of the number of lines searched. It does not change the order: it raises the score that a "
    "line needs to be shown with `floor`, since the best of many is near by chance",
    lambda line: log(line.lines),
)

WEIGHTS: Mapping[str, float] = {signal.name: signal.weight for signal in SIGNALS}


def signals_of(line: LineMeasures) -> dict[str, Any]:
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
    return score - BY_LINES_SEARCHED * signals.get(LINES_SEARCHED, 0.0)


def worth_showing(signals: Mapping[str, float], *, by_meaning: bool, by_time: bool = False) -> bool:
    """Whether a line with these signals answers the question well enough to be shown to who did not ask.

    A line that lies far in meaning does not, whatever words it holds. A question that asks by a time alone
    (`by_time`) is answered by what is of that time.
    """
    if by_time:
        return signals.get(MATCHES_TIME, 0.0) > 0
    if by_meaning:
        return signals.get(MEANING, 0.0) >= LEAST_MEANING and answers(signals) >= LEAST_ANSWER
    return signals.get(WORDS_AROUND, 0.0) >= LEAST_COVERAGE or signals.get(MENTIONS_DATE, 0.0) > 0


def slack(span: TimeSpan) -> tuple[float, float]:
    """By how many milliseconds before and after a span a line may be said until it counts only a third."""
    width = max(span.end_ms - span.start_ms, _DAY_MS)
    return 0.5 * width + _DAY_MS, min(width, _LONGEST_SLACK_MS) + _DAY_MS


def close(span: TimeSpan) -> tuple[float, float]:
    """The same where a time is all that is asked by: what is said much later may be about anything."""
    return HALF_A_DAY_MS, min(max(span.end_ms - span.start_ms, _DAY_MS), _REPORTED_MS)
