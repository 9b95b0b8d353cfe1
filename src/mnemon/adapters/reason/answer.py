"""An answer in the words of what was said: the statements that speak to a question, with their days."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from mnemon.adapters.reason.clauses import clauses
from mnemon.adapters.reason.lexicon import ACQUAINTANCES, RELATIVES, base_of_third, word_set
from mnemon.adapters.reason.sentences import prose, split
from mnemon.adapters.reason.shapes import Shape
from mnemon.adapters.reason.statements import as_said, day_of
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.adapters.reason.traits import label_of, single_valued, trait_of
from mnemon.adapters.reason.verbs import ADVERBS
from mnemon.domain.words import words
from mnemon.ports.reasoner import Statement, Told

MOST_LINES = 5
MOST_GENERAL_LINES = 8
_MOST_CHARS = 300
_MOST_STATEMENTS = 200
_MOST_SENTENCES = 100
_ENOUGH = 0.3
_NEAR_BEST = 0.5
_NEAR_RELATED = 0.75
_RELATED = 0.6
_CUED = 0.15

_GENERAL = frozenset(
    stem(word)
    for word in word_set(
        """
        know known remember recall everything anything user person peer human describe summary summarize
        summarise overview profile info information facts learn learned far conversation context detail
        details background guy him her them someone talk history memory memories briefly short introduce
        who's
        """
    )
)
_WEAK = frozenset(
    stem(word)
    for word in word_set(
        """
        go make take thing kind type sort time year day week month way lot people come use good new name
        like want do done favorite
        """
    )
)
_KIN = frozenset(name.lower() for name in RELATIVES | ACQUAINTANCES) | {
    "children",
    "partner",
    "relationship",
    "best friend",
}
_FOOD = frozenset(["diet", "does not eat", "does not drink", "allergy"])
_WORK = frozenset(["works as", "works at", "works in"])
_ABOUT = [
    (
        Shape(r"\b(?:live|lives|living|reside|home|city|town|country|located|location|based|address)\b"),
        frozenset(["lives in"]),
    ),
    (
        Shape(r"\b(?:from|hometown|origin|originally|nationality|grow up|grew up)\b"),
        frozenset(["from", "nationality"]),
    ),
    (Shape(r"\b(?:born|birthday|birth)\b"), frozenset(["birthday", "born", "from"])),
    (Shape(r"\bhow old\b|\bage\b"), frozenset(["age", "birthday", "born"])),
    (
        Shape(
            r"\b(?:job|work|works|working|profession|occupation|career|employer|company|for a living)\b"
            r"|\bdoes \w+ do\b|\bdo for\b"
        ),
        _WORK,
    ),
    (
        Shape(r"\b(?:stud(?:y|ies|ying)|major|degree|university|college|school)\b"),
        frozenset(["studies"]),
    ),
    (Shape(r"\bnames?\b|\bcall(?:ed)?\b|\bwho am i\b"), frozenset(["name", "goes by"])),
    (Shape(r"\bpronouns?\b"), frozenset(["pronouns"])),
    (Shape(r"\b(?:pets?|animals?|dogs?|cats?)\b"), frozenset(["pet"])),
    (
        Shape(
            r"\b(?:family|siblings?|kids?|children|relatives|parents?|spouse|partner|married|relationship)\b"
        ),
        _KIN,
    ),
    (Shape(r"\b(?:allerg\w*|intoleran\w*)\b"), frozenset(["allergy"])),
    (Shape(r"\b(?:eat|eats|food|diet|dietary|drink|dinner|lunch|restaurant|cook for)\b"), _FOOD),
    (
        Shape(
            r"\b(?:likes?|loves?|enjoys?|hobby|hobbies|interests?|interested|prefers?|preferences?|fun"
            r"|free time|into)\b"
        ),
        frozenset(["likes", "prefers"]),
    ),
    (
        Shape(r"\b(?:dislikes?|hates?|avoids?|can't stand)\b"),
        frozenset(["dislikes", "does not eat", "does not drink"]),
    ),
    (Shape(r"\b(?:languages?|speaks?)\b"), frozenset(["speaks"])),
    (
        Shape(r"\b(?:instructions?|should (?:i|you|we) (?:answer|respond|reply|write|talk)|style|tone)\b"),
        frozenset(["instruction"]),
    ),
    (Shape(r"\b(?:goals?|dreams?|aims?|ambitions?)\b"), frozenset(["goal"])),
]
_TIME = Shape(
    r"\d{4}|\b(?:today|yesterday|tomorrow|ago|last|next|since|week|month|year|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)\b",
    re.IGNORECASE,
)
_NUMBER = Shape(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|once|both)\b", re.IGNORECASE)
_PLACE = Shape(r"\b(?:in|at|to|from|near) (?:the )?[A-ZÀ-Þ]")
_SOMEBODY = Shape(
    r"\b[A-ZÀ-Þ][a-z]+\b|\b(?:sister|brother|mother|father|mom|dad|wife|husband|friend|partner|boss)\b"
)
_CUES = [
    (Shape(r"\bwhen\b|\bwhat (?:date|day|time|year)\b|\bhow long\b"), _TIME),
    (Shape(r"\bhow (?:many|much|old|often)\b"), _NUMBER),
    (Shape(r"\bwhere\b"), _PLACE),
    (Shape(r"\bwho\b|\bwhom\b|\bwhose\b"), _SOMEBODY),
]
_SUBJECT = Shape(r"\b(?:does|did|do|has|was|will)\s+([^\W\d_][\w-]*)(?=\s+\w)|\b([^\W\d_][\w-]*)'s\b")
_NOBODY = frozenset(
    stem(word)
    for word in word_set(
        """
        i you he she they we it me my your his her their the a an this that these those there here what
        who where when how why let user users anyone anything everyone someone one any some ever not
        """
    )
)
_SAID = Shape(r'^\S{1,512} said: "(.*)"$', re.DOTALL)
_DATED = Shape(r"\((?:week of |weekend of |about )?\d{4}(?:-\d\d){0,2}\)")
_TOGETHER = Shape(r"and their (?=\w)")


class _Candidate(NamedTuple):
    """A statement as it would be cited."""

    order: int
    statement: Statement
    text: str
    stems: frozenset[str]
    label: str


class _Found(NamedTuple):
    candidate: _Candidate
    score: float

    @property
    def label(self) -> str:
        return self.candidate.label


def answer(question: str, statements: Sequence[Statement], about: str | None) -> Told:
    """The statements that speak to the question, as short sentences; nothing if none does."""
    question = question.lower().replace("for a living", "for a job")
    names = frozenset(stem(word) for word in words(about or ""))
    terms = frozenset(term for term in content_stems(question) if term not in names)
    usable = [statement for statement in statements[:_MOST_STATEMENTS] if statement.text.strip()]
    if _is_general(question, terms, names):
        return _told(_newest_first(_everything(usable, about)), MOST_GENERAL_LINES)
    wanted = _labels(question)
    if not terms and not wanted:
        return Told("", ())
    candidates = [_as_cited(at, statement, terms, wanted, about) for at, statement in enumerate(usable)]
    found = _matching(question, terms, wanted, _of_whom(question, names, candidates))
    return _told(_newest_first(found), MOST_LINES)


def _is_general(question: str, terms: frozenset[str], names: frozenset[str]) -> bool:
    """Whether it asks about somebody as such: 'who is ann', 'what do you know about me'."""
    if terms:
        return terms <= _GENERAL
    plain = set(words(question))
    if "who" in plain or {"about", "what"} <= plain:
        return True
    return not names.isdisjoint(map(stem, plain)) and not _labels(question)


def _everything(statements: Sequence[Statement], about: str | None) -> list[_Found]:
    """Conclusions before messages, each in the order given."""
    ordered = sorted(statements, key=lambda statement: statement.peer is not None)
    return [
        _Found(_as_cited(at, statement, frozenset(), frozenset(), about), 1.0)
        for at, statement in enumerate(ordered)
    ]


def _of_whom(question: str, names: frozenset[str], candidates: Sequence[_Candidate]) -> Sequence[_Candidate]:
    """Those that name whom the question names beside the peer; all, if none does."""
    others = {stem(found[1] or found[2]) for found in _SUBJECT.finditer(question)} - names - _NOBODY
    named = [candidate for candidate in candidates if others & candidate.stems]
    return named or candidates


def _labels(question: str) -> frozenset[str]:
    """The labels of a card that the question is about."""
    wanted: set[str] = set()
    for asks, labels in _ABOUT:
        if asks.search(question):
            wanted |= labels
    for word in words(question):
        if (singular := word.removesuffix("s")) in _KIN:
            wanted.add(singular)
    return frozenset(wanted)


def _as_cited(
    order: int, statement: Statement, terms: frozenset[str], wanted: frozenset[str], about: str | None
) -> _Candidate:
    """A conclusion as it is; of a message the sentence that has most to do with the question."""
    if statement.peer is None:
        text = _clipped(as_said(statement.text))
        return _Candidate(
            order, statement, text, frozenset(content_stems(text)), label_of_statement(text, about)
        )
    sentences = [sentence for line in prose(statement.text) for sentence in split(line)] or [
        as_said(statement.text)
    ]
    best = ("", frozenset[str](), "")
    most = -1.0
    for sentence in sentences[:_MOST_SENTENCES]:
        stems = frozenset(content_stems(sentence))
        label = _label(sentence)
        telling = (
            len(terms & stems)
            + (1.0 if label in wanted else 0.0)
            + (0.1 if label else 0.0)
            + min(len(stems), 9) / 100
        )
        if telling > most:
            most, best = telling, (sentence, stems, label)
    said = _clipped(best[0]).replace('"', "'")
    return _Candidate(order, statement, f'{statement.peer} said: "{said}"', best[1], best[2])


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else text[:_MOST_CHARS].rpartition(" ")[0] + " …"


def _matching(
    question: str, terms: frozenset[str], wanted: frozenset[str], candidates: Sequence[_Candidate]
) -> list[_Found]:
    """What has enough to do with the question, best first."""
    known = Counter(term for candidate in candidates for term in candidate.stems & terms)
    weights = {
        term: math.log(2 + len(candidates) / (1 + known[term])) * (0.3 if term in _WEAK else 1.0)
        for term in terms
    }
    total = sum(weights.values()) or 1.0
    cues = [cue for asks, cue in _CUES if asks.search(question)]
    found: list[_Found] = []
    for candidate in candidates:
        covered = sum(weights[term] for term in terms & candidate.stems) / total
        related = candidate.label in wanted
        if covered >= _ENOUGH or related:
            cued = sum(cue.search(candidate.text) is not None for cue in cues)
            found.append(_Found(candidate, covered + (_RELATED if related else 0.0) + _CUED * cued))
    if not found:
        return []
    found.sort(key=lambda one: (-one.score, one.candidate.order))
    near = (_NEAR_RELATED if found[0].candidate.label in wanted else _NEAR_BEST) * found[0].score
    return [one for one in found if one.score >= near]


def _newest_first(found: Sequence[_Found]) -> list[_Found]:
    """The same with the values of one label from the newest to the oldest."""
    ordered = list(found)
    for label in {one.label for one in found if single_valued(one.label)}:
        places = [at for at, one in enumerate(ordered) if one.label == label]
        values = sorted((ordered[at] for at in places), key=lambda one: -one.candidate.statement.said_at)
        for at, value in zip(places, values, strict=True):
            ordered[at] = value
    return ordered


def _told(found: Sequence[_Found], most: int) -> Told:
    """Up to so many lines; what a line before says already is left out, an older value is called so."""
    lines: list[str] = []
    cited: list[str] = []
    said: list[frozenset[str]] = []
    labels: set[str] = set()
    for one in found:
        stems = one.candidate.stems - {stem("said")}
        if any(_same(stems, before) for before in said):
            continue
        earlier = one.label in labels and single_valued(one.label)
        lines.append(("Earlier: " if earlier else "") + _with_day(one.candidate))
        cited.append(one.candidate.statement.id)
        said.append(stems)
        labels.add(one.label)
        if len(lines) == most:
            break
    return Told("\n".join(lines), tuple(dict.fromkeys(cited)))


def _same(stems: frozenset[str], before: frozenset[str]) -> bool:
    return bool(stems) and stems <= before


def _with_day(candidate: _Candidate) -> str:
    text = candidate.text.rstrip(" .")
    day = day_of(candidate.statement.said_at)
    if day is None:
        return f"{text}."
    return f"{text} (said {day})." if _DATED.search(text) else f"{text} ({day})."


def label_of_statement(text: str, about: str | None) -> str:
    """The card's label that a conclusion would have; nothing for what has none."""
    said = _SAID.match(text)
    return _label(said[1] if said else _first_person(text, about))


def _label(sentence: str) -> str:
    for clause in clauses(sentence[:_MOST_CHARS]):
        if trait := trait_of(clause):
            return label_of(trait)
    return ""


def _first_person(text: str, about: str | None) -> str:
    """'ann lives in Lisbon' as ann would say it."""
    name = (
        about
        if about and text.startswith((f"{about} ", f"{about}'s "))
        else text.partition(" ")[0].removesuffix("'s")
    )
    rest = text[len(name) :]
    if rest.startswith("'s "):
        return "My " + rest[3:]
    rest = rest.strip()
    if together := _TOGETHER.match(rest):
        who, _, did = rest[together.end() :].partition(" ")
        return f"My {who} and I {did}"
    told = rest.split(" ")
    for at, word in enumerate(told):
        if word not in ADVERBS:
            told[at] = {"is": "am", "has": "have", "does": "do"}.get(word) or base_of_third(word) or word
            break
    return "I " + " ".join(told)
