"""What supports a statement: the published rule by which what a model says is kept or dropped.

1. Every name in it (a word with a capital) and every number in it occurs in its sources.
2. At least `SHARE` of its content words do, in any form.
3. The clause of the sources that it shares most with is no question, denies what it denies, is no less
   certain than it, and is meant by its author: no quotation, no jest, no story.
4. That clause tells of the same somebody, and of the same time, as far as rules can read it.

`docs/howto/use-a-model.md` says the same for readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mnemon.adapters.model.denying import denies
from mnemon.adapters.model.subject import Claim, Subject, claimed, is_another, subjects
from mnemon.adapters.model.tense import fits, tokens
from mnemon.adapters.reason.clauses import MOST_SENTENCE
from mnemon.adapters.reason.cues import tells_when
from mnemon.adapters.reason.edges import opened, quotes_somebody, unreal
from mnemon.adapters.reason.lexicon import base_of_past
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.adapters.reason.voices import not_meant
from mnemon.domain.moments import to_datetime
from mnemon.domain.pattern import pattern
from mnemon.domain.words import STOP_WORDS, words

SHARE = 0.6

_WORD = pattern(r"(?<![\w'’])[^\W\d_][\w'’-]*")
_NUMBER = pattern(r"\d+")
_CLAUSE = pattern(
    r"[,;:.!?…。！？、，\n]+|\b(?:but|and|because|so|although|though|while|which)\b", re.IGNORECASE
)
_SENTENCE = pattern(r"[^.!?…。！？\n]*[.!?…。！？]?")
_UNSURE = pattern(
    r"\b(?:if|(?:would|could)(?! you\b)|might|(?-i:may)|maybe|perhaps|wish|wishes|wished|hope|hopes|hoped"
    r"|unless|pretend|imagine|suppose|thinking about|considering)\b|['’]d (?:like|love|rather)\b"
    r"|\b(?:i|we) (?:almost|nearly) [a-z]",
    re.IGNORECASE,
)
_TELLS_OF_WORDS = pattern(
    r"\b(?:told|tells?|sa(?:id|ys?)|asked|heard|jok(?:ed|es|ing)|quot\w+|dream\w*|story|novel|game|character|role"
    r"|song|book|film|movie|play(?:s|ed|ing)?)\b|[\"“”«»「」]",
    re.IGNORECASE,
)
"""What a statement has that says itself that it is another's words, or so in a story."""
_THOUGHT_OF = pattern(
    r"\b(?!(?:i|we)\b)\w+ (?:thinks?|thought|believe[sd]?|claim(?:s|ed)?|assume[sd]?|insist(?:s|ed)?"
    r"|reckons?) (?:that )?(?:i|i['’]m|we|we['’]re|my)\b",
    re.IGNORECASE,
)
"""What another believes of the author: 'my boss thinks I'm lazy'."""
_IMAGINED = pattern(r"(?:if|were|had) (?:i|we|my \w+)\b ?(?P<verb>[\w']*)", re.IGNORECASE)
_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve"
_DIGITS = {word: str(number) for number, word in enumerate(_COUNTS.split())}
_ALWAYS = frozenset(["i", "i'm", "i've", "i'd", "i'll"])


class Ground:
    """Texts that something may rest on; `also` may be named without being said in them."""

    def __init__(self, texts: Iterable[str], also: str = "") -> None:
        self.texts = list(texts)
        told = [*self.texts, also]
        self._words = frozenset(stem(word) for text in told for word in words(text)) | _ALWAYS
        self._stems = frozenset(one for text in told for one in content_stems(text))
        self._numbers = frozenset(number for text in told for number in numbers_in(text))

    def names(self, text: str, *, first: bool = False) -> bool:
        """Whether each name in the text occurs here; the words that sentences begin with only if asked."""
        return not any(self._strange(name) for name in _names(text, first=first))

    def numbers(self, text: str) -> bool:
        return all(number in self._numbers for number in numbers_in(text))

    def share(self, text: str, but: str = "") -> float:
        """Which share of the text's content words occurs here; nothing if it has none."""
        said = _content(text, but)
        return sum(one in self._stems for one in said) / len(said) if said else 0.0

    def shared(self, text: str, but: str = "") -> int:
        """How many of the text's content words occur here."""
        return len(self._stems.intersection(_content(text, but)))

    def _strange(self, name: str) -> bool:
        return any(stem(word) not in self._words and word not in STOP_WORDS for word in words(name))


def _content(text: str, but: str) -> list[str]:
    left_out = {stem(word) for word in words(but)}
    return [one for one in content_stems(text) if one not in left_out]


def _names(text: str, *, first: bool) -> list[str]:
    """The words with a capital; those that have it for beginning a sentence only if `first`."""
    found = []
    for word in _WORD.finditer(text):
        before = text[: word.start()].rstrip(" \"'“‘(*[")
        if word[0][0].isupper() and (first or (before and before[-1] not in ".!?:…\n")):
            found.append(word[0])
    return found


def numbers_in(text: str) -> list[str]:
    """The numbers in a text, in digits and in words."""
    written = [_DIGITS[word] for word in words(text) if word in _DIGITS]
    return [number.lstrip("0") or "0" for number in (*_NUMBER.findall(text), *written)]


def supports(sources: Sequence[str], text: str, about: str, *, also: str = "") -> bool:
    """Whether a statement about a peer follows from what the sources say."""
    ground = Ground(sources, f"{about} {also}")
    if not (ground.names(text, first=True) and ground.numbers(text) and ground.share(text, about) >= SHARE):
        return False
    claim = claimed(text, about)
    every = frozenset(one for source in sources for one in content_stems(source))
    return any(_bears(clause, text, claim, every) for clause in _nearest(sources, text, about))


class _Clause(NamedTuple):
    """A part of a sentence that says one thing, with whom it is about."""

    text: str
    sentence: str
    subject: Subject
    stems: frozenset[str]


def _bears(clause: _Clause, text: str, claim: Claim | None, every: frozenset[str]) -> bool:
    """Whether a clause says what the text says, and not the contrary, of another, or of another time."""
    if clause.sentence.endswith(("?", "？")) or denies(clause.text) != denies(text):
        return False
    if _holds(_UNSURE, clause.text) and not _holds(_UNSURE, text):
        return False
    if not (_meant(clause.sentence) or _holds(_TELLS_OF_WORDS, text) or _holds(_UNSURE, text)):
        return False
    if claim is None or claim.verb is None:
        return True
    if is_another(claim, clause.subject, clause.text, every):
        return False
    return fits(claim.verb, tokens(clause.text), dated=tells_when(text))


def _meant(sentence: str) -> bool:
    """Whether a sentence is its author's own, said in earnest and of the real world."""
    if len(sentence) > MOST_SENTENCE:
        return True
    text = opened(sentence.strip())
    if imagined := _IMAGINED.match(text):
        return base_of_past(imagined["verb"].lower()) is None
    if not_meant(sentence) or quotes_somebody(text) or _holds(_THOUGHT_OF, text):
        return False
    return text[:2].lower() == "if" or not unreal(text)


def _nearest(sources: Sequence[str], text: str, about: str) -> list[_Clause]:
    """The clause that shares most with the text; all of them that share as much as there is to share."""
    wanted = frozenset(content_stems(text)) - {stem(word) for word in words(about)}
    whole: list[_Clause] = []
    best: list[_Clause] = []
    most = -1.0
    for clause in (one for source in sources for one in _clauses(source, about)):
        shared = len(wanted & clause.stems) - 0.01 * len(clause.stems)
        if wanted <= clause.stems:
            whole.append(clause)
        if shared > most:
            best, most = [clause], shared
    return whole or best


def parts(sentence: str) -> list[str]:
    """What a sentence says one after the other."""
    return _CLAUSE.split(sentence)


def _clauses(source: str, about: str) -> Iterator[_Clause]:
    for sentence in _SENTENCE.findall(source):
        said = parts(sentence)
        for part, subject in zip(said, subjects(said, about), strict=True):
            if stems := frozenset(content_stems(part)):
                yield _Clause(part, sentence.rstrip(), subject, stems)


def _holds(what: re.Pattern[str], text: str) -> bool:
    return what.search(text) is not None


def days(moments: Iterable[int]) -> str:
    """The days of these moments in words and numbers, as they may be named."""
    found: dict[str, None] = {}
    for moment in moments:
        try:
            day = to_datetime(moment)
        except (OverflowError, ValueError):
            continue
        found[day.strftime("%Y %m %d %B %A")] = None
    return " ".join(found)


def day(moment: int) -> str:
    """The day of a moment as a line of a prompt shows it; nothing for one that no calendar has."""
    try:
        return to_datetime(moment).strftime("%Y-%m-%d (%A)")
    except (OverflowError, ValueError):
        return ""
