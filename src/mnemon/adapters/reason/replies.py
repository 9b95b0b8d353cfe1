"""Short answers to plain questions: 'Where do you live?' 'Lisbon.'"""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemon.adapters.reason import values
from mnemon.adapters.reason.edges import SELVES, opened
from mnemon.adapters.reason.lexicon import TRADES, word_set
from mnemon.adapters.reason.sentences import sentences
from mnemon.adapters.reason.values import line
from mnemon.domain.pattern import pattern

_IN = pattern(r"in ", re.IGNORECASE)
_ARTICLE = pattern(r"an? ", re.IGNORECASE)
_MOST_WORDS = 6
_MOST_QUESTION = 200
_NO_ANSWER = word_set(
    """
    no none nope nah why not guess idk nothing nowhere secret later skip ok okay yes yeah yep sure maybe
    hi hello hey thanks what who you your it that this depends sorry pass stop help please
    """
)


def _place(reply: str) -> str | None:
    where = _IN.sub("", reply, 1)
    return values.place(where) or values.lower_place(where)


def _trade(reply: str) -> str | None:
    value = values.phrase(reply)
    if value is None:
        return None
    return _ARTICLE.sub("", value, 1) if value.split()[-1].lower() in TRADES else None


_YOUR_NAME = r"what(?:'s| is) your (?:first |full )?name"
_QUESTIONS: list[tuple[str, str, Callable[[str], str | None]]] = [
    (_YOUR_NAME, "Name", values.name),
    (r"what (?:should|can|may|do) i call you", "Goes by", values.name),
    (r"where (?:do you live|are you (?:based|located|living))|which city do you live in", "Lives in", _place),
    (r"where (?:are you (?:originally )?from|do you come from)", "From", _place),
    (r"how old are you", "Age", values.age),
    (r"what do you do(?: for (?:a living|work))?", "Works as", _trade),
    (r"what(?:'s| is) your (?:job|profession|occupation)", "Works as", _trade),
    (r"when(?:'s| is) your birthday", "Birthday", values.calendar_day),
    (r"what are you allergic to|are you allergic to anything", "Allergy", values.phrase),
    (r"(?:do you have )?any (?:food )?allergies", "Allergy", values.phrase),
    (r"what(?:'s| is) your (favou?rite [\w -]{2,30})", "", values.phrase),
]
_NOW = r"(?: (?:now|currently|these days|at the moment))?\?+$"
_PLAIN = [(pattern(rf"(?:{asks}){_NOW}"), label, value) for asks, label, value in _QUESTIONS]
_WHO = pattern(_YOUR_NAME)
_I_AM = pattern(r"(?:i'm|i am|it's) ", re.IGNORECASE)
_TO_YOU = pattern(r"\byour?\b")


def replied(question: str, reply: str) -> tuple[str, str, str] | None:
    """The question, the reply and the card's line; None if either is more than plain."""
    if len(reply) > 80 or not _TO_YOU.search(question[-_MOST_QUESTION:].lower()):
        return None
    said = sentences(reply)
    asked = sentences(question[-_MOST_QUESTION:])
    if not said or not asked:
        return None
    question, told = opened(asked[-1]), opened(said[0]).rstrip(" .!")
    value = _I_AM.sub("", told, 1) if _WHO.match(question.lower()) else told
    words = value.lower().replace(",", "").split()
    if not words or len(words) > _MOST_WORDS or told.endswith("?"):
        return None
    if not SELVES.isdisjoint(words) or words[0] in _NO_ANSWER:
        return None
    trait = _trait(question, value)
    return (asked[-1], told, trait) if trait else None


def _trait(question: str, told: str) -> str | None:
    for asks, label, value in _PLAIN:
        if found := asks.match(question.lower()):
            return line(label or found[1].capitalize(), value(told))
    return None
