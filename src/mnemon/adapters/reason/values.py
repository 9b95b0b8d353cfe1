"""What a card's line holds after its label: a phrase, a place, a name, a day."""

from __future__ import annotations

import re

from mnemon.adapters.reason.lexicon import LANGUAGES, NATIONALITIES, word_set
from mnemon.adapters.reason.person import they
from mnemon.adapters.reason.shapes import either
from mnemon.domain.pattern import pattern

MOST_TRAIT = 200
_MOST_VALUE = 90
_MOST_WORDS = 10

_SUBORDINATE = either(
    """
    because, since, so, but, when, while, which, who, whose, where, although, though, if, unless, until,
    after, before, whenever, as, than
    """
)
_NEXT_CLAUSE = either(
    """
    i, i'm, they, we, it, my, have, has, am, work, works, live, lives, love, loves, is, was, our, then,
    also, do, don't, that, this, want, need, like
    """
)
_HOW_LONG = either(
    """
    an?, the, over, about, almost, nearly, many, some, years, months, most, now, two, three, four, five,
    six, seven, eight, nine, ten, quite
    """
)
_ENDS = pattern(
    rf"\s*[,;:(\[…]|\s+[-–—]+\s|\s+(?:{_SUBORDINATE})\b|\s+and\s+(?:{_NEXT_CLAUSE})\b|\s+for\s+(?:\d"
    rf"|(?:{_HOW_LONG})\b)"
    r"|\s+(?:with|near) (?:my|a |two|three|our|their)",
    re.IGNORECASE,
)
_ADDED = either(
    """
    now, currently, right now, these days, at the moment, at present, a lot, so much, very much, too,
    as well, anymore, any more, already, again, here, more than anything, the most, lately, recently,
    today, nowadays, full-time, part-time, myself, and, or, in, at, to, of, the, a, on, really, best,
    most, by, from, ever, actually, every day, though
    """
)
_TRAILING = pattern(rf"(?:\s+(?:{_ADDED}))+$", re.IGNORECASE)
_ITEM = r"(?!(?:and|but|so|which|who|my|it)\b)[\w'-]+(?: [\w'-]+){0,3}"
_LIST = pattern(rf"{_ITEM}(?:, {_ITEM}){{1,4}},? (?:and|or) {_ITEM}$")
_HALF = pattern(r"\ban? [\w-]+$")
_CAPITAL = "[A-ZÀ-Þ]"
_PLACE = pattern(
    rf"(?:the )?{_CAPITAL}[\w'’.-]*"
    rf"(?:(?: (?:of|de|da|do|del|la|le|the|upon|am|an der|in|and|sur)\b)*,? {_CAPITAL}[\w'’.-]*)*"
)
_TOWN = pattern(
    r"an? (?:\w+ ){0,3}(?:town|village|city|suburb|farm|island|cabin|houseboat|dorm|van)\b"
    r"(?: (?:in|near|outside(?: of)?|called|of) [A-Z]\w+(?: [A-Z]\w+)*)?"
)
_LOWER_PLACE = pattern(r"[a-z][a-z'-]+(?: [a-z][a-z'-]+)?(?=$|,| and | with | for | since | near )")
_NAME = pattern(
    rf"{_CAPITAL}[\w'’-]*(?: (?:de|da|van|von|der|el|al|bin|la|le|di|dos)\b)*(?: {_CAPITAL}[\w'’-]*){{0,3}}"
)
_LOWER_NAME = pattern(rf"[^\W\d_][\w'’-]*(?: {_CAPITAL}[\w'’-]*){{0,3}}")
_AFTER_A_NAME = pattern(
    r"$|[,.;(!:–—-]|(?:and|but|from|with an?|by the way|btw|here|so|because|not|as in|like|now|i|i'm|im)\b",
    re.IGNORECASE,
)
_NO_NAME_AT_ALL = word_set(
    "mud none secret private confidential irrelevant unimportant unknown classified on in spelled not nobody"
)
_LONE_NAME = pattern(r"[^\W\d_][\w'’-]+(?=$|,)")
_MONTH = either(
    """
    january, february, march, april, may, june, july, august, september, october, november, december,
    jan, feb, mar, apr, jun, jul, aug, sept, sep, oct, nov, dec
    """
)
_IN_A_MONTH = pattern(rf" in (?:{_MONTH})\b.*$", re.IGNORECASE)
_CALENDAR = pattern(
    rf"(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\.?"
    rf"|(?:{_MONTH})\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?)(?:,? \d{{4}})?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}",
    re.IGNORECASE,
)
_YEAR = pattern(rf"(?:(?:{_MONTH}) )?(?:19|20)\d\d\b", re.IGNORECASE)
_AGE = pattern(
    r"(\d{1,3})(?: ?(?:years? old|years? of age|yo|y/o))?"
    r"(?=$|[,.;!]| and | now| today| yesterday| last (?:week|month|\w+day)\b| this (?:week|month|\w+day)\b"
    r"| on \w+day\b)"
)
_PRONOUNS = pattern(r"(?:the )?((?:she|he|they|it|xe|ze|fae|any)\s?/\s?\w+(?:\s?/\s?\w+)?)\b", re.IGNORECASE)
NOT_A_NAME = (
    NATIONALITIES
    | LANGUAGES
    | word_set(
        """
        i monday tuesday wednesday thursday friday saturday sunday january february march april may june
        july august september october november december christian catholic muslim jewish hindu buddhist
        gemini leo virgo libra scorpio aries taurus sagittarius capricorn aquarius pisces cancer team
        god ok christmas easter halloween just so not very really back here sorry happy glad sure afraid
        good fine great dr mr mrs ms the a an gen adhd asd sparta down mac
        """
    )
)


NO_GIVEN_NAME = NOT_A_NAME - word_set("leo april june august christian")
"""What is no name even where one is sure to follow, as after 'my son'."""


def line(label: str, value: str | None) -> str | None:
    """The card's line, cut to what an entry may hold; None without a value."""
    return f"{label}: {value}"[:MOST_TRAIT] if value else None


def phrase(text: str) -> str | None:
    """The noun phrase that a text begins with; None if it goes on for too long or is cut in its middle."""
    if "," in text and len(text) <= _MOST_VALUE and _LIST.match(text):
        return they(text)
    end = _ENDS.search(text)
    if end and end[0].strip() == "," and _HALF.search(text[: end.start()]):
        return None
    value = they(_TRAILING.sub("", (text[: end.start()] if end else text).strip(" .!,'*")))
    return value if 1 < len(value) <= _MOST_VALUE and len(value.split()) <= _MOST_WORDS else None


def named_place(text: str) -> str | None:
    """The place with a name of its own that a text begins with."""
    found = _PLACE.match(text)
    return _IN_A_MONTH.sub("", found[0]).rstrip(".'") if found else None


def place(text: str) -> str | None:
    """The same, or a small town near one."""
    found = _TOWN.match(text)
    return named_place(text) or (found[0] if found else None)


def lower_place(text: str) -> str | None:
    """The place, where nothing is written in capitals."""
    found = _LOWER_PLACE.match(text)
    return found[0] if found else None


def name(text: str, unlike: frozenset[str] = NOT_A_NAME) -> str | None:
    """The capitalised name that a text begins with; None for a weekday, a people, a mood."""
    found = _NAME.match(text)
    return found[0] if found and found[0].split()[0].lower() not in unlike else None


def any_name(text: str) -> str | None:
    """The same where it is sure that a name follows, capitalised or not, and nothing else is said of it."""
    found = _NAME.match(text) or _LOWER_NAME.match(text)
    if found is None or found[0].lower() in NO_GIVEN_NAME | _NO_NAME_AT_ALL:
        return None
    return found[0] if _AFTER_A_NAME.match(text[found.end() :].lstrip()) else None


def lone_name(text: str) -> str | None:
    """A name in small letters, where nothing else is said."""
    found = _LONE_NAME.match(text)
    return found[0] if found and found[0] not in NO_GIVEN_NAME else None


def calendar_day(text: str) -> str | None:
    found = _CALENDAR.match(text)
    return found[0] if found else None


def year(text: str) -> str | None:
    found = _YEAR.match(text)
    return found[0] if found else None


def age(text: str) -> str | None:
    found = _AGE.match(text)
    return found[1] if found and 2 < int(found[1]) < 121 else None


def pronouns(text: str) -> str | None:
    found = _PRONOUNS.match(text)
    return found[1] if found else None
