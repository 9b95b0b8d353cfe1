"""Short answers to plain questions: 'Where do you live?' 'Lisbon.', 'Are you a vegan?' 'Yes.'"""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemon.adapters.reason import values
from mnemon.adapters.reason.clauses import Clause, clauses
from mnemon.adapters.reason.consent import NO, YES
from mnemon.adapters.reason.edges import SELVES, opened
from mnemon.adapters.reason.household import MANY
from mnemon.adapters.reason.lexicon import TRADES, word_set
from mnemon.adapters.reason.sentences import sentences
from mnemon.adapters.reason.traits import label_of, trait_of
from mnemon.adapters.reason.values import line
from mnemon.domain.pattern import pattern

_IN = pattern(r"in ", re.IGNORECASE)
_ARTICLE = pattern(r"an? ", re.IGNORECASE)
_JUST = pattern(r"(?:(?:you can|please|just|everyone calls me|call me) )+", re.IGNORECASE)
_WILL_DO = pattern(
    r",? (?:is (?:fine|good|ok|okay|great)|will do|works|please|is all right)(?: (?:for|by|with) me)?$"
)
_MOST_WORDS = 6
_MOST_QUESTION = 200
_NO_ANSWER = word_set(
    """
    no none nope nah why not guess idk nothing nowhere secret later skip ok okay yes yeah yep sure maybe
    anything whatever either anyone hi hello hey thanks what who you your it that this depends sorry pass stop
    help please
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


def _called(reply: str) -> str | None:
    """The name of 'Just Harold is fine.'"""
    told = _JUST.sub("", _WILL_DO.sub("", reply), 1)
    found = values.name(told)
    return found if found and told[len(found) :][:1] in ("", ",") and "'" not in found else None


_YOUR_NAME = r"what(?:'s| is) your (?:first |full )?name"
_QUESTIONS: list[tuple[str, str, Callable[[str], str | None]]] = [
    (_YOUR_NAME, "Name", _called),
    (r"(?:what|how) (?:should|can|may|shall|do) i (?:call|address) you", "Goes by", _called),
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
_TO_YOU = pattern(r"\byour?\b|\bany\b")
_HAVE = pattern(
    r"(?:do you have|have you got|got|any) (?:any )?"
    r"(?:kids|children|pets|siblings|brothers (?:or|and) sisters)\?+$"
)
_BOYS_AND_GIRLS = pattern(
    rf"{MANY} (?:little |small |young )?(?:girls?|boys?)(?:(?:,| and) {MANY} (?:little )?(?:girls?|boys?))?"
)
_ASKS_WHETHER = pattern(
    r"(?P<asks>are you|do you|have you got) (?:currently |actually |also |still )?(?P<rest>[^?]{3,80}?)"
    r"(?: (?:at all|too|as well|by any chance|then|right now|currently))?\?+$"
)
_SAYS_I = {"are you": "I am", "do you": "I", "have you got": "I have"}
_SAYS_I_NOT = {"are you": "I am not", "do you": "I don't", "have you got": "I don't have"}
_YES = pattern(
    rf"(?:oh |haha )?(?:{YES}|sure am|sure do)"
    r"(?:[,.! ]+(?:i am|i do|i have|we do|absolutely|definitely|of course|always|for sure"
    r"|sir|ma'am|thanks|please|since .{2,30}|for .{2,30}))*[.!]*$",
    re.IGNORECASE,
)
_NO = pattern(
    rf"(?:{NO})(?:[,.! ]+(?:i'm not|i am not|i don't|i do not|never|not at all|not any ?more"
    r"|not since .{2,30}|thanks|sorry))*[.!]*$",
    re.IGNORECASE,
)
_UNFIT = pattern(r"\b(?:or|i|me|my|us|our|you)\b", re.IGNORECASE)
"""What a question has to which a yes says little, or that speaks of who asks it."""
_AT_HAND = pattern(r"(?:Likes|Dislikes|Prefers): (?:the|an?|their new|how|what|where) ")
_YOUR = pattern(r"\byour\b", re.IGNORECASE)
_LEAD = pattern(r"(?:yes|yeah|yep|yup),? ", re.IGNORECASE)


def replied(question: str, reply: str) -> tuple[str, str, str] | None:
    """The question, the reply and the card's line; None if either is more than plain."""
    exchange = _exchange(question, reply)
    if exchange is None:
        return None
    asked, said = exchange
    question, told = opened(asked), opened(said[0]).rstrip(" .!")
    if len(said) == 1 and (whole := _whether(question, reply.strip())) and (trait := _lasting(whole)):
        return asked, reply.strip(), trait
    value = _I_AM.sub("", told, 1) if _WHO.match(question.lower()) else told
    words = value.lower().replace(",", "").split()
    if not words or len(words) > _MOST_WORDS or told.endswith("?"):
        return None
    if not SELVES.isdisjoint(words) or words[0] in _NO_ANSWER:
        return None
    trait = _trait(question, value)
    return (asked, told, trait) if trait else None


def named(question: str, reply: str) -> tuple[str, str, str] | None:
    """The same of how somebody is called, told first in a reply that goes on: 'Harold is fine. I have ...'"""
    first = next(iter(sentences(reply)), "")
    found = replied(question, first) if first else None
    return found if found and label_of(found[2]) in ("name", "goes by") else None


def denied(question: str, reply: str) -> Clause | None:
    """What is not so by a plain no, where it would be on a card: 'Do you still live in Berlin?' 'No.'"""
    exchange = _exchange(question, reply)
    if exchange is None or len(exchange[1]) > 1 or not _NO.match(reply.strip()):
        return None
    asked = opened(exchange[0])
    whole, otherwise = _whether(asked, reply.strip()), _whether(asked, "yes")
    return next(iter(clauses(whole)), None) if whole and otherwise and _said(otherwise) else None


def _exchange(question: str, reply: str) -> tuple[str, list[str]] | None:
    """The question at the end of what was asked, and the sentences of the reply; None if either is none."""
    if len(reply) > 80 or not _TO_YOU.search(question[-_MOST_QUESTION:].lower()):
        return None
    said, asked = sentences(reply), sentences(question[-_MOST_QUESTION:])
    return (asked[-1], said) if said and asked else None


def label_replied(question: str, reply: str) -> str:
    """The label of a card that a reply as it is told is about; nothing if it is about none."""
    found = replied(question, reply)
    return label_of(found[2]) if found else ""


def _trait(question: str, told: str) -> str | None:
    question = question.lower()
    if _HAVE.match(question):
        told = _LEAD.sub("", told, 1)
        boys = _BOYS_AND_GIRLS.match(told) if "pets" not in question else None
        return line("Children", boys[0]) if boys else _said(f"I have {told}")
    for asks, label, value in _PLAIN:
        if found := asks.match(question):
            return line(label or found[1].capitalize(), value(told))
    return None


def _whether(question: str, reply: str) -> str | None:
    """What is so by a plain yes, or by a plain no, as a whole sentence: 'Do you eat meat?' 'No.'"""
    asked = _ASKS_WHETHER.match(question[:1].lower() + question[1:])
    if asked is None or _UNFIT.search(asked["rest"]):
        return None
    says = _SAYS_I if _YES.match(reply) else _SAYS_I_NOT if _NO.match(reply) else None
    return f"{says[asked['asks']]} {_YOUR.sub('my', asked['rest'])}" if says else None


def _lasting(sentence: str) -> str | None:
    """The card's line, unless it is a liking of what is being looked at: 'Do you like the new page?'"""
    trait = _said(sentence)
    return None if trait and _AT_HAND.match(trait) else trait


def _said(sentence: str) -> str | None:
    """The card's line of what a reply says as a whole sentence."""
    return next((trait for clause in clauses(sentence) if (trait := trait_of(clause))), None)
