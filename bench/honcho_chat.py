"""Made conversations: what people and their assistants write, the same every time.

A message is a pure function of its number, so that every client process can tell again what was
stored. About 40 tokens each: things people say of themselves, everyday remarks, questions. Most
words are common; some are names out of a long tail with Zipf's frequencies, as in real chats.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate

SLOTS = {
    "city": "Lisbon Porto Leeds Utrecht Bergen Kyoto Austin Nairobi Lima Ghent Turin Lyon Cork Riga",
    "name": "Ana Tom Priya Joon Lena Omar Ines Karl Mei Sara Paul Noor Hugo Vera Iris Emil Rosa Adam Zoe",
    "food": "ramen paella lentils sourdough mango pierogi tofu risotto plums falafel oysters curry",
    "job": "nurse teacher welder lawyer baker gardener pilot chemist tailor surveyor editor plumber",
    "skill": "pottery chess climbing Welsh piano sailing archery Rust knitting photography juggling",
    "thing": "budget garden kitchen thesis bicycle visa website wedding camera contract heating insurance",
    "kin": "sister brother mother father cousin partner neighbour daughter son aunt colleague flatmate",
    "pet": "dog cat rabbit parrot tortoise hamster",
    "month": "January February March April May June July August September October November December",
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "feel": "tired happy nervous relieved curious annoyed proud calm worried excited",
}
FACTS = (
    "I live in {city} with my {kin} {name}.",
    "I work as a {job} at {rare} and I like it.",
    "I'm allergic to {food}.",
    "My {kin} {name} is moving to {city} in {month}.",
    "I've been learning {skill} since {month}.",
    "I moved from {city} to {city} for a job at {rare}.",
    "I have a {pet} called {name}.",
    "My favourite place is {rare}, near {city}.",
    "I always read about {rare} before I go to sleep.",
    "I prefer {food} to {food}, by the way.",
)
REMARKS = (
    "Last {day} we went to {rare} and talked about the {thing} for hours.",
    "The {thing} took longer than planned because {name} was in {city} again.",
    "It rained the whole {day}, so the trip to {rare} was cancelled.",
    "{name} said the {thing} would be ready by {month}, which sounds late to me.",
    "There was a long queue at {rare} and everyone was {feel}.",
    "Somebody recommended {rare} for {food}, and it turned out better than expected.",
    "The new {thing} arrived on {day}, but two parts were missing and the shop is closed.",
    "That made everybody rather {feel} about the {thing}.",
)
QUESTIONS = (
    "Do you know a good place for {food} near {rare}?",
    "Could you help me plan the {thing} for {month}?",
    "What would you do about the {thing}?",
    "Is {rare} open on {day}?",
    "Can you remind me of the {thing} on {day}?",
)
ANSWERS = (
    "Here is a short plan for the {thing}: start on {day}, keep a list, and ask {name} before {month}.",
    "For {food} near {rare} there are several good places, most of them closed on {day}.",
    "Sure, the {thing} can wait until {month} if {name} agrees.",
    "In {city} the usual way is to call {rare} first and to bring the papers.",
    "That sounds reasonable; people who feel {feel} about it often start with {skill}.",
    "Would you like a reminder on {day}, or shall the {thing} stay on the list?",
)
_TAIL = 4000
_WORDS = 27
_ENOUGH_FACTS = 0.45


@cache
def _values(slot: str) -> list[str]:
    return SLOTS[slot].split()


@cache
def _tail() -> tuple[list[str], list[float]]:
    """Names that nobody has heard of, and how often each turns up."""
    chance = random.Random(41)
    made: dict[str, None] = {}
    while len(made) < _TAIL:
        syllables = ("".join(chance.choice(part) for part in ("bdfgklmnprstv", "aeiou")) for _ in range(3))
        made["".join(syllables).capitalize() + chance.choice(("", "n", "s", "ton", "field", " House"))] = None
    return list(made), list(accumulate(1 / (rank + 2) for rank in range(_TAIL)))


def _filled(chance: random.Random, pattern: str) -> str:
    parts = pattern.split("{")
    text = parts[0]
    for part in parts[1:]:
        slot, _, rest = part.partition("}")
        if slot == "rare":
            names, cumulative = _tail()
            text += chance.choices(names, cum_weights=cumulative)[0]
        else:
            text += chance.choice(_values(slot))
        text += rest
    return text


def message(number: int, *, assistant: bool) -> str:
    """The message of that number."""
    chance = random.Random(number)
    said: list[str] = []
    if not assistant and chance.random() < _ENOUGH_FACTS:
        said.append(_filled(chance, chance.choice(FACTS)))
    patterns = ANSWERS if assistant else REMARKS
    while sum(len(one.split()) for one in said) < _WORDS:
        said.append(_filled(chance, chance.choice(patterns)))
    if not assistant and chance.random() < 1 / 3:
        said[-1] = _filled(chance, chance.choice(QUESTIONS))
    return " ".join(said)


def statement(number: int) -> str:
    """A conclusion of that number, as a client would state it."""
    chance = random.Random(-number - 1)
    return _filled(chance, chance.choice(FACTS)).replace("I'm", "The user is").replace("I ", "The user ")


def question(number: int, about: str) -> str:
    """Some words of a stored text among common ones, as people ask."""
    chance = random.Random(number)
    words = sorted({word.strip(".,;:?") for word in about.split() if len(word) > 4})
    return f"what did I say about {' and '.join(chance.sample(words, min(3, len(words))))}"
