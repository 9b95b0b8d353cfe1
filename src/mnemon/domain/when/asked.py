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


class Order(Struct, frozen=True):
    """Which end of time a question prefers, and what about time it asks; both None for most questions."""

    prefers: Literal["latest", "earliest"] | None = None
    asks: Literal["moment", "duration", "order"] | None = None


class Relative(Struct, frozen=True):
    """An event that a question looks before, after or at; `event` is the question's own words for it."""

    direction: Literal["before", "after", "during"]
    event: str


_UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?)"
_TIMES = (
    r"(?:week|weekend|month|year|night|day|hour|minute|decade|few|couple|two|three|four|five|six|\d|spring|summer"
    r"|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|christmas|easter|name)"
)
_ORDER = pattern(
    r"\bbefore\s+or\s+after\b|\b(?:in\s+)?(?:what|which)\s+(?:\w+\s+)?order\b|\bthe\s+order\s+(?:of|in\s+which|from)\b"
    r"|\bchronolog|\bsequence\s+of\b|\bearlier\s+or\s+later\b|\bfrom\s+(?:first|earliest)\s+to\s+la(?:st|test)\b"
    r"|\b(?:which|what|who)\b[^?]{0,160}\b(?:first|earlier|later|last|sooner)\b[^?]{0,160}\bor\b"
    r"|\b(?:which|what|who)\b[^?]{0,160}\b(?:(?:came|happened|occurred|took\s+place|comes)\s+(?:\w+\s+)?|was\s+|were\s+)"
    r"(?:first|earlier|later|last|sooner)\b|\b(?:zuerst|d'abord|primero)\b[^?]{0,160}\b(?:oder|ou|o)\b"
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
    r"\b(?:most\s+recent(?:ly)?|mostly\s+recently|latest|newest|current(?:ly)?|right\s+now|now|nowadays|these\s+days"
    r"|at\s+the\s+moment|at\s+present|presently|up\s+to\s+date|so\s+far|recent(?:ly)?|lately"
    r"|zuletzt|aktuell|derzeit|momentan|jetzt|neueste[nrs]?|dernièrement|actuellement|maintenant|últim[oa]|actualmente"
    r"|ahora)\b"
)
_LAST = pattern(
    r"\blast\s+time\b|(?:\b(?:the|my|our|your|his|her|their|'s)\s+last(?=\s+\w)"
    rf"|\b(?:did|have|has|had|was|were)\s+(?:\w+\s+){{1,3}}last\b)(?!\s+{_TIMES})"
)
"""The latest of something, but no time as 'last week' is one."""
_EARLIEST = pattern(
    r"(?<!\bat\s)(?<!\bof\s)\b(?:first(?!\s+(?:name|names|aid|class|floor|half|of\s+all|thing|lady|person|language|week"
    r"|month|responders?))|earliest|originally|original|initial(?:ly)?|in\s+the\s+beginning(?!\s+of)|to\s+begin\s+with"
    r"|used\s+to|zuerst|ursprünglich|anfangs|d'abord|premier|première|al\s+principio|primer[oa]?)\b"
)

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
_LATEST_CUES = frozenset(
    {
        "recent",
        "recently",
        "latest",
        "newest",
        "current",
        "currently",
        "now",
        "nowadays",
        "these",
        "moment",
        "present",
    }
    | {
        "presently",
        "date",
        "far",
        "lately",
        "zuletzt",
        "aktuell",
        "derzeit",
        "momentan",
        "jetzt",
        "neueste",
    }
    | {"neuesten", "neuester", "neuestes", "dernièrement", "actuellement", "maintenant", "último", "última"}
    | {"actualmente", "ahora"}
)
_LAST_CUES = frozenset({"last"})
_EARLIEST_CUES = frozenset(
    {
        "first",
        "earliest",
        "originally",
        "original",
        "initial",
        "initially",
        "beginning",
        "begin",
        "used",
        "zuerst",
    }
    | {"ursprünglich", "anfangs", "abord", "premier", "première", "principio", "primer", "primero", "primera"}
)

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
    if says(_LATEST_CUES, _LATEST) or says(_LAST_CUES, _LAST):
        return Order("latest", asks)
    return Order("earliest" if says(_EARLIEST_CUES, _EARLIEST) else None, asks)


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
        return Relative(_WAYS.get(way, "after"), question[begin:end].strip())
    return None
