"""From the first person to the third, where the rule is safe."""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.lexicon import VERBS, noun_too, third, word_set
from mnemon.adapters.reason.verbs import ADVERBS
from mnemon.domain.pattern import pattern

_SELF = pattern(
    r"\"[^\"]*\"|“[^”]*”"
    r"|\b(?:[Ii]'m|[Ii] am|[Ii] was|[Ii] wasn't|[Ii]'(?:ve|ll|d)|I|i(?!\.)|me|[Mm]y|of mine|myself|[Ww]e"
    r"|us|[Oo]ur|ours|ourselves)"
    r"\b(?!-)"
)
_THEY = {
    "i'm": "they're",
    "i am": "they are",
    "i was": "they were",
    "i wasn't": "they weren't",
    "i": "they",
    "me": "them",
    "my": "their",
    "of mine": "of theirs",
    "myself": "themselves",
    "we": "they",
    "us": "them",
    "our": "their",
    "ours": "theirs",
    "ourselves": "themselves",
}
_OTHERS = pattern(r"\b(?:they|them|they're|they've)\b", re.IGNORECASE)
_SINGULAR = pattern(r"\b(?:they|them|they're|they've|they'll|they'd)\b")
_COORDINATED = pattern(
    r"(, (?:and|but|or|then)|,|\band|\bbut|\bor|\bthen)\s+((?:[a-z]+ly |just |also |never |always |often "
    r"|still )?)([a-z']+)\b(?: (\w+))?"
)
_SURE = {"am": "is", "have": "has", "haven't": "has not", "don't": "does not", "live": "lives"}
_OBJECT = word_set("as at in for from with on a an the my to every two three about")
_INFINITIVE = pattern(r"\bto [a-z]+")
_QUOTES = pattern(r"[\"“”]")


def quoted(text: str, about: str) -> str:
    """What the peer said, word for word."""
    return f'{about} said: "{unquoted(text)}"'


def unquoted(text: str) -> str:
    """The text with its own double quotes made single, so that it can stand in quotes."""
    return _QUOTES.sub("'", text)


def they(text: str) -> str:
    """The text with its author as 'they'; quoted titles stay as they are."""

    def instead(found: re.Match[str]) -> str:
        word = found[0]
        if word[0] in '"“':
            return word
        lower = word.lower()
        return _THEY[lower] if lower in _THEY else "they" + lower[1:]

    return _SELF.sub(instead, text)


def rewritten(clause: Clause, about: str, dated: Callable[[str], str]) -> str | None:
    """The clause with the peer's name for its author, and its days dated; None where that could go wrong."""
    if clause.subject in ("we", "our") or clause.tense == "told":
        return None
    rest = clause.rest if clause.subject == "both" else _agreeing(clause)
    if rest is None:
        return None
    prefix, rest = dated(they(clause.prefix)), dated(they(rest))
    if _OTHERS.search(clause.rest) and _SINGULAR.search(they(_OTHERS.sub("", clause.rest))):
        return None
    if prefix:
        prefix = prefix[:1].lower() + prefix[1:] + " "
    return f"{prefix}{_subject(clause, about)} {rest}".strip()


def _subject(clause: Clause, about: str) -> str:
    """The subject and its verb."""
    if clause.subject == "my":
        return f"{about}'s {they(clause.owned)} {clause.group.said}"
    if clause.subject == "both":
        return f"{about} and their {they(clause.owned)} {clause.group.said}"
    return f"{about} {clause.group.said}"


def _agreeing(clause: Clause) -> str | None:
    """What follows the verb, with further verbs of the same subject; None if a word may be one or not."""
    rest = clause.rest
    if clause.subject == "my" or clause.tense in ("future", "wish", "can", "used", "owed"):
        return rest
    unsure = False

    def agree(found: re.Match[str]) -> str:
        nonlocal unsure
        joint, adverb, word, following = found.groups()
        if _INFINITIVE.search(rest[: found.start()]) and word not in ("am", "don't", "haven't"):
            return found[0]
        said = _SURE.get(word)
        if said is None and joint != "," and word in VERBS and word not in ADVERBS and clause.tense != "past":
            if noun_too(word) and not (following and (following in _OBJECT or following.endswith("ing"))):
                unsure = unsure or following is not None or clause.tense == "now"
                return found[0]
            said = third(word)
        if said is None:
            return found[0]
        return f"{joint} {adverb}{said}" + (f" {following}" if following else "")

    agreed = _COORDINATED.sub(agree, rest)
    return None if unsure else agreed
