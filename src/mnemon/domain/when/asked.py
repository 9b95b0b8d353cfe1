"""What a question asks about time: the latest, the first, an order, how long, when; before or after what."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from mnemon.domain.pattern import pattern
from mnemon.domain.when.finding import spans
from mnemon.domain.when.said import WORDS, lowered

MOST_CHARACTERS = 1_000
"""How much of a question is read."""


_COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_COUNTS |= {"a": 1, "an": 1, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 5}
COUNT = rf"(?:\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"


def count(words: str) -> tuple[float, float]:
    number = float(words) if words.isdecimal() else _COUNTS[" ".join(words.split())]
    return number, number


class Order(Struct, frozen=True):
    """Which end of time a question prefers, and what about time it asks; both None for most questions.

    It asks for the latest or the earliest of something; or is about now or the past, and what is newer, or
    older, is worth a little more.
    """

    prefers: Literal["latest", "earliest", "newer", "older"] | None = None
    asks: Literal["moment", "duration", "order"] | None = None


class Relative(Struct, frozen=True):
    """An event that a question looks before, after or at; `event` is the question's own words for it."""

    direction: Literal["before", "after", "during"]
    event: str
    away: tuple[int, int] | None = None
    """By how many days, at least and at most, where it says so: two weeks before, the day after."""


_UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?)"
_SEVERAL = r"\d{1,3}|few|couple(?:\s+of)?|two|three|four|five|six|seven|eight|nine|ten|several"
_TIMES = (
    rf"(?:(?:(?:{_SEVERAL})\s+)?{_UNIT}"
    r"|weekends?|fortnight|quarter|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter)\b"
)
_ORDER = pattern(
    r"\bbefore\s+or\s+after\b|\b(?:in\s+)?(?:what|which)\s+(?:\w+\s+)?order\b|\bthe\s+order\s+(?:of|in\s+which|from)\b"
    r"|\bchronolog|\bsequence\s+of\b|\bearlier\s+or\s+later\b|\bfrom\s+(?:first|earliest)\s+to\s+la(?:st|test)\b"
    r"|\b(?:which|what|who)\b[^?]{0,160}\b(?:first|earlier|later|last|sooner)\b[^?]{0,160}\bor\b"
    r"|\b(?:which|what|who)\b[^?]{0,160}\b(?:(?:came|happened|occurred|took\s+place|comes)\s+"
    r"(?:(?!the\b|my\b|our\b|your\b|his\b|her\b|their\b)\w+\s+)?|was\s+|were\s+)"
    rf"(?:first|earlier|later|last|sooner)\b(?!\s+(?:{_TIMES}|time\b|names?\b))"
    r"|\b(?:zuerst|d'abord|primero)\b[^?]{0,160}\b(?:oder|ou|o)\b"
)
_AGO = pattern(
    rf"\bhow\s+(?:long|recently|many\s+{_UNIT})\s+(?:is\s+it\s+)?ago\b|\bsince\s+when\b|\bhow\s+recently\b"
)
_DURATION = pattern(
    rf"\bhow\s+long\b|\bhow\s+many\s+(?:\w+\s+)?{_UNIT}\b(?!\s+(?:a|per|each|every)\b)|\bhow\s+much\s+time\b"
    r"|\bfor\s+how\s+long\b|\bwie\s+lange\b|\bcombien\s+de\s+temps\b|\bdepuis\s+combien\b|\bcuánto\s+tiempo\b"
)
_MOMENT = pattern(
    r"(?:^\W*|[,;:]\s*|\b(?:and|so|but|since|until|till|know|remember|exactly|remind\s+me|tell\s+me|recall)\s+)when\b"
    r"(?!\s+(?!(?:did|do|does|is|was|were|are|am|will|have|has|had|can|should|would)\b)[^?]{0,160},\s*\w+)"
    r"|\bwhen(?:'s|\s+(?:did|do|does|is|was|were|are|am|will|have|has|had|can|should|would))\b"
    r"|\b(?:what|which)(?:'s|\s+is|\s+was)?\s+(?:\w+\s+)?(?:the\s+)?(?:exact\s+)?"
    r"(?:date|day|month|year|time|week|weekend|weekday|season|decade)\b(?!\s+(?:zone|off|job|management|travel))"
    r"|\b(?:wann|quand|cuándo|à\s+quelle\s+date|an\s+welchem\s+tag|qué\s+día)\b"
)
_LATEST = pattern(
    r"\b(?:most\s+recent(?:ly)?|mostly\s+recently|latest|newest|last\s+time|zuletzt|neueste[nrs]?|letzte[ns]?\s+mal"
    r"|derni[eè]re\s+fois|plus\s+récente?s?|últim[oa]\s+vez|últim[oa]|más\s+recientes?)\b"
)
_BARE = r"(?<!\bthe\s)(?<!\bmy\s)(?<!\bour\s)(?<!\byour\s)(?<!\bhis\s)(?<!\bher\s)(?<!\btheir\s)(?<!'s\s)"
_LAST = pattern(
    rf"(?:\b(?:the|my|our|your|his|her|their)|'s|s')\s+last\s+(?!(?:{_TIMES}|(?:name|names|of|straw|resort|minute|chance"
    r"|will|word|words|call|supper|stand|mile|one\s+standing|but\s+not\s+least)\b))(?=[^\W_])"
    r"|\bwhen\b[^?]{0,160}?\b(?:did|do|have|has|had|was|were)\s+(?:[\w'-]+\s+){1,4}?"
    rf"{_BARE}last\s+"
    rf"(?!{_TIMES}|(?:long|longer|until|till|forever)\b)(?=[^\W_])"
    r"|\b(?:which|what|where|who|whom|how(?!\s+(?:long|much|many|well)))\b[^?]{0,160}?\b(?:did|have|has|had|was|were)\s+(?:[\w'-]+\s+){1,3}?"
    rf"{_BARE}last\s+"
    rf"(?!{_TIMES}|(?:long|longer|until|till|for|through|forever|more|less|about|around|only|all|the|an?)\b)(?=[^\W\d_])"
)
"""The latest of something, but no time as 'last week' is one, and nothing that lasts."""
_NEWER = pattern(
    r"\b(?:current(?:ly)?|right\s+now|now|nowadays|these\s+days|at\s+the\s+moment|at\s+present|presently|up\s+to\s+date"
    r"|so\s+far|recent(?:ly)?|lately|aktuell|derzeit|momentan|jetzt|dernièrement|actuellement|maintenant|actualmente"
    r"|ahora)\b"
)
_EARLIEST = pattern(
    r"(?<!\bof\s)(?<!\bat\s)\bfirst\b(?!-|'|\s+(?:names?|aid|class|floor|half|of\s+all|lady|language|week|month|quarter"
    r"|responders?|sight|glance|hand|degree|cousins?|grade|grader|gear|base|place|come|nation|nations|world\s+war|edition"
    r"|generation|party|amendment|and\s+foremost|person\s+(?:shooters?|view|perspective|narrat|singular|plural)"
    r"|thing\s+(?:in|on|tomorrow|next|when)\b)\b"
    rf"|\s+(?:{_SEVERAL})\s+{_UNIT}\b)"
    r"|\bat\s+first\b(?!\s+(?:sight|glance|hand|light|blush|base|baptist)\b)|\b(?:earliest|originally|initially|to\s+begin\s+with"
    r"|in\s+the\s+beginning(?!\s+of)|zuerst|ursprünglich|anfangs|als\s+erstes|erste[ns]?\s+mal|d'abord|première\s+fois|al\s+principio"
    r"|primera\s+vez)\b"
)
_OLDER = pattern(r"\b(?:original|initial|used\s+to|premier|première|primer[oa]?)\b")
_EASTERN = pattern(
    r"(?P<latest>最近一次|上一?次|最后一次|最後一次|最新|直近|前回|最後に|마지막|최신|가장\s?최근)"
    r"|(?P<earliest>第一次|首次|最早|最初|初めて|はじめて|처음)|(?P<newer>最近|现在|現在|目前|今は|최근|지금|요즘)"
)
_TITLE = pattern(r"(?<=[\w,] )(?:First|Last)\b(?=\s+(?:of\s+)?[A-Z])")
"""What is part of a name is no order: The Last of Us, First Avenue."""

_ORDER_CUES = frozenset(
    {"order", "first", "earlier", "later", "last", "sooner", "before", "chronological", "chronologically"}
    | {"chronology", "sequence", "earliest", "zuerst", "abord", "primero"}
)
_ORDER_BESIDE = frozenset(
    {"which", "what", "who", "or", "order", "from", "chronological", "chronologically", "chronology"}
    | {"sequence", "oder", "ou", "o"}
)
_AGO_CUES = frozenset({"ago", "since", "recently"})
_DURATION_CUES = frozenset({"long", "many", "much", "lange", "combien", "cuánto"})
_DURATION_BESIDE = frozenset({"how", "lange", "combien", "cuánto"})
_MOMENT_CUES = frozenset(
    {"when", "date", "day", "month", "year", "time", "week", "weekend", "weekday", "season", "decade"}
    | {"wann", "tag", "quand", "cuándo", "día"}
)
_MOMENT_BESIDE = frozenset({"when", "what", "which", "wann", "quand", "cuándo", "quelle", "welchem", "qué"})
_OF_LATEST = (
    "recent recently latest newest time zuletzt neueste neuesten neuester neuestes mal fois récent récente"
    " récents récentes vez último última reciente recientes"
)
_OF_NEWER = (
    "current currently now nowadays these moment present presently date far recent recently lately aktuell"
    " derzeit momentan jetzt dernièrement actuellement maintenant actualmente ahora"
)
_OF_EARLIEST = (
    "first earliest originally initially begin beginning zuerst ursprünglich anfangs erstes mal abord fois"
    " principio vez"
)
_OF_OLDER = "original initial used premier première primer primero primera"
_LATEST_CUES = frozenset(_OF_LATEST.split())
_LAST_CUES = frozenset({"last"})
_NEWER_CUES = frozenset(_OF_NEWER.split())
_EARLIEST_CUES = frozenset(_OF_EARLIEST.split())
_OLDER_CUES = frozenset(_OF_OLDER.split())

_EVENT = pattern(
    r"\b(?P<way>before|prior\s+to|after|following|since|until|during|while|by\s+the\s+time"
    r"|when(?=\s+(?:i|we|he|she|they)\s)"
    r"|vor(?=\s+(?:de[mrn]|meine[mrn]?|unsere[mrn]?)\b)|nach(?=\s+(?:de[mrn]|meine[mrn]?|unsere[mrn]?)\b)|bevor|nachdem"
    r"|während|avant|après|pendant|antes\s+del?|después\s+del?|durante)\s+"
    r"(?P<event>[^?.!,;:\n]{2,120}?)\s*"
    r"(?=$|[?.!,;:\n]|\s(?:did|do|does|and\s+(?:what|where|who|how|when)|what|where|who|how|which)\b)"
)
_WAYS: dict[str, Literal["before", "after", "during"]] = {
    "before": "before",
    "prior": "before",
    "until": "before",
    "by": "before",
    "vor": "before",
    "bevor": "before",
    "avant": "before",
    "antes": "before",
    "during": "during",
    "while": "during",
    "when": "during",
    "während": "during",
    "pendant": "during",
    "durante": "during",
}
_NO_EVENT = pattern(
    r"(?:or\b|all$|long$|that$|this$|then$|it$|me$|him$|her$|us$|them$|you$|now$|noon$|school$|work$|when$|last$|next$"
    r"|ever$|bed$|before$|after$)"
)
_EVENT_CUES = frozenset(
    {
        "before",
        "prior",
        "after",
        "following",
        "since",
        "until",
        "during",
        "while",
        "by",
        "when",
        "vor",
        "nach",
    }
    | {"bevor", "nachdem", "während", "avant", "après", "pendant", "antes", "después", "durante"}
)
_HABITUAL = frozenset({"during", "while", "when"})
"""What these announce happened once only if the past is spoken of: 'what do I do when I am sad'."""
_PAST = pattern(r"\b(?:did|was|were|had)\b")
_IDIOM = pattern(r"\b(?:look(?:s|ed|ing)?|nam(?:ed?|ing)|tak(?:es?|ing)|took|run(?:s|ning)?)\s+$")
_AWAY = pattern(
    rf"(?:\b(?P<count>{COUNT})|\bthe(?:\s+very)?)\s+(?P<unit>(?:day|night|evening|morning|week|weekend|fortnight|month"
    r"|year)s?)\s+(?:right\s+|just\s+|immediately\s+)?$"
)
_DAYS_LONG = {
    **dict.fromkeys(("day", "night", "evening", "morning"), (1, 0)),
    **dict.fromkeys(("week", "weekend"), (7, 3)),
    "fortnight": (14, 3),
    "month": (30, 15),
    "year": (365, 60),
}
"""How many days each has, and by how many a number of them may be off."""
_ARTICLE = pattern(r"(?:the|a|an|my|our|about|around|late|early|mid)[\s-]+")


def preference(question: str) -> Order:
    """Whether a question is about the latest or the first of something, an order, a duration or a moment."""
    low = lowered(question[:MOST_CHARACTERS])
    words = frozenset(WORDS.of(low))

    def says(cues: frozenset[str], shape: re.Pattern[str], beside: frozenset[str] = words) -> bool:
        return not (cues.isdisjoint(words) or beside.isdisjoint(words)) and shape.search(low) is not None

    if says(_ORDER_CUES, _ORDER, _ORDER_BESIDE):
        return Order(None, "order")
    asks: Literal["moment", "duration"] | None = None
    if says(_AGO_CUES, _AGO):
        asks = "moment"
    elif says(_DURATION_CUES, _DURATION, _DURATION_BESIDE):
        asks = "duration"
    elif says(_MOMENT_CUES, _MOMENT, _MOMENT_BESIDE):
        asks = "moment"
    return Order(_preferred(_untitled(question, low), words), asks)


def _preferred(low: str, words: frozenset[str]) -> Literal["latest", "earliest", "newer", "older"] | None:
    def says(cues: frozenset[str], shape: re.Pattern[str]) -> bool:
        return not cues.isdisjoint(words) and shape.search(low) is not None

    if not low.isascii() and (found := _EASTERN.search(low)):
        return "latest" if found["latest"] else "earliest" if found["earliest"] else "newer"
    if says(_LATEST_CUES, _LATEST) or says(_LAST_CUES, _LAST):
        return "latest"
    if says(_EARLIEST_CUES, _EARLIEST):
        return "earliest"
    return "newer" if says(_NEWER_CUES, _NEWER) else "older" if says(_OLDER_CUES, _OLDER) else None


def _untitled(question: str, low: str) -> str:
    """The question in small letters without the words of names that would tell an order."""
    for name in _TITLE.finditer(question[:MOST_CHARACTERS]):
        low = low[: name.start()] + "-" * len(name[0]) + low[name.end() :]
    return low


def _away(left: str) -> tuple[int, int] | None:
    """How far from an event that is looked at which stands right before 'before' or 'after', in days."""
    found = _AWAY.search(left)
    if found is None:
        return None
    long, loose = _DAYS_LONG[found["unit"].rstrip("s")]
    if not found["count"]:
        return 1, long
    least, most = count(found["count"])
    return max(1, round(least * long) - loose), round(most * long) + loose


def relative(question: str) -> Relative | None:
    """The event that a question or a line looks before, after or at, unless it is a time on the calendar."""
    low = lowered(question[:MOST_CHARACTERS])
    if _EVENT_CUES.isdisjoint(WORDS.of(low)):
        return None
    for found in _EVENT.finditer(low):
        event, way = found["event"], found["way"].split()[0]
        if way in _HABITUAL and _PAST.search(low) is None:
            continue
        if _NO_EVENT.match(event) or _IDIOM.search(low[max(0, found.start() - 20) : found.start()]):
            continue
        article = _ARTICLE.match(event)
        head = article.end() if article else 0
        if any(span.position <= head + 3 for span in spans(f"in {event}", 0)):
            continue
        begin, end = found.span("event")
        direction = _WAYS.get(way, "after")
        away = None if direction == "during" else _away(low[max(0, found.start() - 60) : found.start()])
        return Relative(direction, question[begin:end].strip(), away)
    return None
