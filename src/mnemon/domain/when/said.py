"""A text and the day on which it was said, and whether it looks back or ahead."""

from __future__ import annotations

from datetime import date

from msgspec import Struct

from mnemon.domain.pattern import pattern
from mnemon.domain.runs import Runs
from mnemon.domain.when.span import Grain

HOUR = 3_600_000
DAY = 24 * HOUR
_EPOCH = 719_163

WORDS = Runs(r"[^\W\d_]")
"""The words of a text: what announces a phrase is looked for among them."""
UNSPACED = pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A character of the scripts in which words run into each other, or into their endings."""

_NOT_PAST = (
    "need|feed|seed|speed|indeed|exceed|proceed|succeed|bleed|breed|weed|hundred|sacred|naked|wicked|excited"
    "|interested|tired|scheduled|booked|planned|supposed|expected|invited|reserved|confused|worried|embed"
)
_TENSE = pattern(
    r"\b(?:(?P<ahead>will|won't|shall|gonna|going\s+to|plan(?:s|ning|ned)?|upcoming|coming\s+up|tomorrow|soon"
    r"|wait|looking\s+forward|hop(?:e|ing)|excited\s+(?:for|about|to)|booked|scheduled|reserved|invited"
    r"|appointment|deadline|due|supposed\s+to|about\s+to|want\s+to|wanna|would\s+like|let's|need\s+to|have\s+to"
    r"|should|must|could|might|remind|werde|wird|werden|vais|allons|vamos|voy|próximo|nächste[nrs]?"
    r"|(?:am|is|are)\s+(?:(?!was|were)\w+\s+)?\w{2,}ing)"
    r"|(?P<past>was|were|wasn't|weren't|did|didn't|had|hadn't|went|got|came|made|took|saw|met|bought|told|said"
    r"|gave|found|left|felt|thought|knew|began|ran|sat|stood|heard|brought|wrote|spoke|ate|drank|drove|rode|fell"
    r"|held|kept|led|lost|paid|sent|slept|spent|taught|won|wore|broke|built|caught|chose|drew|flew|forgot|grew|hid"
    r"|sang|swam|threw|understood|woke|became|sold|been|gone|done|seen|ago|war|hatten?|habe|haben|wurde"
    r"|ging|gab|avons|avez|était|étais|j'ai|fui|fue|fuimos|estuve|hemos|tuve|hice|hicimos|pasó|s'est"
    rf"|(?!(?:{_NOT_PAST})\b)[a-z]{{2,}}ed))\b|(?P<soon>'(?:ll|m|re)\s+(?:\w+\s+)?\w{{2,}}ing\b|'ll\b)"
)
_SINCE = pattern(r"\b(?:since|seit|depuis|desde)\s+(?:the\s+)?$")
_STOP = pattern(r"[.!?;\n](?!\d)")


class Said:
    """A text in small letters, said at `at` by the speaker's own clock. Days are numbered as by `date`."""

    def __init__(self, text: str, low: str, at: int) -> None:
        """Raises: ValueError or OverflowError for a moment no calendar has."""
        self.text = text
        self.low = low
        self.at = at
        self.today = at // DAY + _EPOCH
        day = date.fromordinal(self.today)
        self.year, self.month, self.weekday = day.year, day.month, day.weekday()
        self.monday = self.today - self.weekday

    def capital(self, position: int) -> bool:
        return self.text[position].isupper()

    def lean(self, begin: int, end: int) -> int:
        """-1 if the sentence looks back from the phrase, 1 if it looks ahead, 0 if it doesn't tell."""
        if _SINCE.search(self.low[max(0, begin - 12) : begin]):
            return -1
        first = max((stop.end() for stop in _STOP.finditer(self.low, max(0, begin - 200), begin)), default=0)
        after = _STOP.search(self.low, end, end + 200)
        found = 0
        for cue in _TENSE.finditer(self.low, max(first, begin - 200), after.start() if after else end + 200):
            if begin <= cue.start() < end:
                continue
            if cue.start() >= end and found:
                break
            found = -1 if cue.lastgroup == "past" else 1
        return found


class Time(Struct, frozen=True):
    """A stretch of the speaker's own time, in milliseconds; `stop` is exclusive."""

    start: int
    stop: int
    grain: Grain
    certainty: float


def days(first: int, past: int, grain: Grain, certainty: float) -> Time:
    """The days from `first` up to but not including `past`, by their numbers."""
    return Time((first - _EPOCH) * DAY, (past - _EPOCH) * DAY, grain, certainty)


def day_of(moment: int) -> int:
    """The number of the day that a moment of local time falls on."""
    return moment // DAY + _EPOCH


def lowered(text: str) -> str:
    """The text in small letters, every character where it was; a line's end is the end of a phrase."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return low.replace("’", "'").replace("‘", "'").replace("\n", ";")
