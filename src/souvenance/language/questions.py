"""What a question asks for: its terms, the names in it, its times, and the kind of answer it wants.

Courtesies are here too: greetings, thanks and nods, which ask memory for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from msgspec import Struct
from msgspec.structs import replace

from souvenance.language import terms as words
from souvenance.language import times
from souvenance.language.lexicon import lists
from souvenance.language.times import TimeSpan
from souvenance.patterns import pattern

_COUNT = pattern(r"\bhow (?:many|much|often|long|old|far|tall|big)\b|\bnumber of\b|\btotal\b")
_MOMENT = pattern(
    r"^\W*(?:since |until |and |so )?(?:when|wann|quand|cuándo|quando)\b"
    r"|\b(?:when(?:'s| (?:did|do|does|is|was|were|are|will|have|has|had))|since when|how (?:long|recently))\b"
    r"|\bhow many (?:\w+ )?(?:days|weeks|months|years)\b"
    r"|\b(?:what|which) (?:\w+ )?(?:date|day|month|year|time|week)\b"
    r"|\bfirst\b[^?]*\bor\b|\bthe order\b|什么时候|何时|いつ|언제"
)
"""How questions ask when something was, how long it took, or what came first."""
_ASKING = pattern(
    r"^\W*(?:(?:what|which|who|whom|whose|where|when|why|how)(?:\s+(?:many|much|long|often|old|far))?"
    r"|did|do|does|is|are|was|were|can|could|would|has|have|had)\b\s*"
    r"(?:(?:did|do|does|is|are|was|were|has|have|had|kind of|type of)\b\s*)?",
    re.IGNORECASE,
)
_SETTLED = 0.5
"""A time less certain than this can't be all that is asked by."""
_FRAMING = "ago different earliest latest newest past total"
"""Words that say how the answer is to be reckoned, and not what it is about; so are those that follow."""
_RECENT = "recent"
"""After 'most'; what was done 'recently' may well be said so."""
_JOINING = frozenset({"and", "or", "s"})
"""Words between two names that are asked about as one."""
_WORDS = lists().questions
_ASKED = pattern(r"\W*(?:what|which|who|where|how|did|tell me|show me|list|summari[sz]e)\b")
_MARK = pattern("[?\u061f](?:[\\s\"'”’»)\\]*_]|\\Z)|[\uff1f\u037e\u055e\u2047-\u2049]")
"""A question mark that is none of an address's."""
_OF_LISTENER = pattern(r"\byour\b|\b(?:did|do|are|were|have|will|would|can|could) you\b")
_OVER = pattern(r"\b(?:did|was|were|had|have|has|been|happened)\b")
_PLAIN = pattern(r"(?<![\w'’-])[a-z]+(?![\w'’-])")
_MOST_TERMS = 64
_MOST_NAMES = 1 << 12
"""Of how many the terms that name them are kept in mind: each question is held against all who speak."""


class Wants(Struct, frozen=True):
    """What kind of thing a question asks for."""

    moment: bool = False
    count: bool = False


class Question(Struct, frozen=True):
    text: str
    terms: Sequence[str]
    wants: Wants = Wants()
    spans: Sequence[TimeSpan] = ()
    past: bool = False
    """Whether it speaks of a time, and all that it speaks of is over."""
    present: bool = False
    """Whether it speaks of no time and not of the past: of what was said of it, the newest holds."""
    at: int = 0
    """When it is asked, in milliseconds."""
    offset: int = 0
    """How far the asker's clock is ahead of UTC, in milliseconds."""


def read(text: str, at: int, offset: int = 0) -> Question:
    """The question, as it is understood when it is asked at that time (in milliseconds).

    `offset` is how far the asker's clock is ahead of UTC.
    """
    low = text.lower()
    wants = Wants(moment=_MOMENT.search(low) is not None, count=_COUNT.search(low) is not None)
    framing = _terms_of(_FRAMING) | _terms_of(_RECENT if "most recent" in low else "")
    terms = words.asked(text)
    terms = [term for term in terms if term not in framing] or terms
    terms = terms[:_MOST_TERMS]
    spans = tuple(times.spans(text, at, offset))
    past = bool(spans) and all(span.end_ms <= at for span in spans)
    present = not spans and _OVER.search(low) is None
    return Question(text, terms, wants, spans, past, present, at, offset)


def asks(text: str) -> bool:
    """Whether the text asks for something: it has a question mark, or begins as a question does."""
    return _MARK.search(text) is not None or _ASKED.match(text.lower()) is not None


@cache
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(words.asked(text))


def by_time(question: Question, naming: Collection[str] = ()) -> bool:
    """Whether its times are all that it asks by; `naming` are terms that name who speaks."""
    if not question.spans or any(span.certainty < _SETTLED for span in question.spans):
        return False
    low, wants = question.text.lower(), question.wants
    asked = low.rstrip().endswith(("?", "？", "か", "か。")) or _ASKED.match(low)
    if not asked or wants.moment or wants.count or _OF_LISTENER.search(low):
        return False
    known = _terms_of(_WORDS.anything) | _terms_of(_WORDS.whenever)  # How one asks for whatever a time had.
    beside = _beside_times(question)
    return all(term in known or term in naming for term in question.terms if term in beside)


def looks_back(question: Question) -> bool:
    """Whether it asks for what was so, and not for what is ahead."""
    return question.past or _OVER.search(question.text.lower()) is not None


def of_times(question: Question) -> frozenset[str]:
    return frozenset(term for span in question.spans for term in words.asked(span.phrase))


def _beside_times(question: Question) -> frozenset[str]:
    """The terms of the question without the phrases of its times."""
    text = question.text
    for span in question.spans:
        text = text.replace(span.phrase, " ")
    return frozenset(words.asked(text))


def plain(text: str) -> list[str]:
    """Its words in small letters, which name nobody, each once; of a long text the first."""
    return list(dict.fromkeys(_PLAIN.findall(text)))[:_MOST_TERMS]


def respelt(question: Question, meant: Mapping[str, str]) -> Question:
    """The question with what was meant in the place of some of its plain words."""
    text = _PLAIN.sub(lambda word: meant.get(word[0], word[0]), question.text)
    spelt = {term: words.asked(other) for word, other in meant.items() for term in words.asked(word)}
    terms = dict.fromkeys(one for term in question.terms for one in spelt.get(term, (term,)))
    return replace(question, text=text, terms=list(terms))


def as_told(text: str, speaker: str | None = None) -> str:
    """The question as its answer may be put, for the comparison of meanings.

    Who tells something does not ask, and says "I" and not their own name; embedders mind such words most.
    """
    if name := _spelt(speaker or ""):
        text = re.sub(rf"\b{name}(?:'s|’s)(?!\w)", "my", text, flags=re.IGNORECASE)
        text = re.sub(rf"\b{name}\b", "I", text, flags=re.IGNORECASE)
    return _ASKING.sub("", text, count=1).rstrip(" ?") or text


def speakers(question: Question, owners: Iterable[str]) -> dict[str, frozenset[str]]:
    """Those of the owners that the question names, each with the terms that name it."""
    asked = frozenset(question.terms)
    found = {owner: name for owner in owners if (name := _naming(owner)) and name <= asked}
    return {owner: name for owner, name in found.items() if not any(name < other for other in found.values())}


@lru_cache(_MOST_NAMES)
def _naming(owner: str) -> frozenset[str]:
    return frozenset(words.asked(" ".join(words.words(owner))))


def subject(question: Question, named: Collection[str]) -> str | None:
    """Whose lines are meant, of the owners that the question names: who is named first is asked about.

    None where two are asked about as one ("Ann and Ben").
    """
    if len(named) < 2:
        return next(iter(named), None)
    found = ((re.search(rf"\b{_spelt(owner)}\b", question.text, re.IGNORECASE), owner) for owner in named)
    places = sorted((*name.span(), owner) for name, owner in found if name)
    if len(places) < 2:
        return None
    (_, end, first), (start, _, _) = places[:2]
    return first if set(words.words(question.text[end:start])) - _JOINING else None


def _spelt(owner: str) -> str:
    """A pattern of the owner's name, as a text may spell it."""
    return r"[\W_]+".join(map(re.escape, words.words(owner)))


_MOST_WORDS = 10

_COURTEOUS = frozenset(_WORDS.courtesies.split())
"""As words are compared: in lower case and without accents."""
_UNSPACED = tuple(_WORDS.unspaced.split())
_SHORT = 12


def is_courtesy(text: str) -> bool:
    """Whether the text is nothing but a courtesy, a nod or a word to go on."""
    plain = text.strip().strip("!?.,;:。！？、~ ")
    if len(plain) <= _SHORT and plain.startswith(_UNSPACED):
        return True
    said = words.words(text)
    spelt = (word for word in said if any(map(str.isalnum, word)))  # An emoji is not.
    return len(said) <= _MOST_WORDS and _COURTEOUS.issuperset(spelt)
