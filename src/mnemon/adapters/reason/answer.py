"""An answer in the words of what was said: the statements that speak to a question, with their days."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from mnemon.adapters.reason.clauses import clauses
from mnemon.adapters.reason.days import dated
from mnemon.adapters.reason.lexicon import ACQUAINTANCES, RELATIVES, base_of_third, word_set
from mnemon.adapters.reason.pointing import names as names_thing
from mnemon.adapters.reason.sentences import prose, split
from mnemon.adapters.reason.span import ASKS_WHEN, span
from mnemon.adapters.reason.statements import as_said, day_of
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.adapters.reason.substance import telling_words
from mnemon.adapters.reason.traits import label_of, single_valued, trait_of
from mnemon.adapters.reason.verbs import ADVERBS
from mnemon.domain.pattern import pattern
from mnemon.domain.words import words
from mnemon.ports.reasoner import Statement, Told

MOST_LINES = 5
MOST_GENERAL_LINES = 8
_MOST_CHARS = 300
_MOST_STATEMENTS = 200
_MOST_SENTENCES = 100
_ENOUGH = 0.33
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
        word_set("live lives living reside home city town country located location based address"),
        frozenset(["lives in"]),
    ),
    (word_set("from hometown origin originally nationality grow grew"), frozenset(["from", "nationality"])),
    (word_set("born birthday birth"), frozenset(["birthday", "born", "from"])),
    (word_set("old age"), frozenset(["age", "birthday", "born"])),
    (word_set("job work works working profession occupation career employer company"), _WORK),
    (
        word_set("study studies studying major degree university college school"),
        frozenset(["studies"]),
    ),
    (word_set("name names called call"), frozenset(["name", "goes by"])),
    (word_set("pronoun pronouns"), frozenset(["pronouns"])),
    (word_set("pet pets animal animals dog dogs cat cats"), frozenset(["pet"])),
    (
        word_set(
            "family sibling siblings kid kids children relatives parent parents spouse partner married"
            " relationship"
        ),
        _KIN,
    ),
    (
        word_set("allergy allergies allergic intolerant intolerance intolerances"),
        frozenset(["allergy"]),
    ),
    (word_set("eat eats food diet dietary drink dinner lunch restaurant"), _FOOD),
    (
        word_set(
            "like likes love loves enjoy enjoys hobby hobbies interest interests interested prefer prefers"
            " preference preferences fun into"
        ),
        frozenset(["likes", "prefers"]),
    ),
    (
        word_set("dislike dislikes hate hates avoid avoids"),
        frozenset(["dislikes", "does not eat", "does not drink"]),
    ),
    (word_set("language languages speak speaks"), frozenset(["speaks"])),
    (word_set("instruction instructions style tone"), frozenset(["instruction"])),
    (word_set("goal goals dream dreams aim aims ambition ambitions"), frozenset(["goal"])),
]
"""The words of a question, and the labels of a card that it is about then."""
_LABEL_WORDS = frozenset(stem(word) for words_asked, _ in _ABOUT for word in words_asked)
_FEW = 2
"""With so many words beside those of a label, a question is about more than the label."""
_DOES = pattern(r"\bdoes \w+ do\b|\bdo for\b")
_HOW_TO_ANSWER = pattern(r"\bshould (?:i|you|we) (?:answer|respond|reply|write|talk)\b")
_STAND = "can't stand"
_TALK = frozenset(
    stem(word)
    for word in word_set(
        """
        hi hey hello hiya yo thanks thank thx ok okay yes yeah yep no nope sure great cool nice good morning
        evening afternoon night bye goodbye cheers lol haha wow welcome sorry please hmm
        """
    )
)
"""Words of greeting and thanks: who says only these asks for nothing."""
_TIME = pattern(
    r"\d{4}|\b(?:today|yesterday|tomorrow|ago|last|next|since|week|month|year|monday|tuesday|wednesday"
    r"|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)\b",
    re.IGNORECASE,
)
_NUMBER = pattern(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|once|both)\b", re.IGNORECASE
)
_PLACE = pattern(r"\b(?:in|at|to|from|near) (?:the )?[A-ZÀ-Þ]")
_SOMEBODY = pattern(
    r"\b[A-ZÀ-Þ][a-z]+\b|\b(?:sister|brother|mother|father|mom|dad|wife|husband|friend|partner|boss)\b"
)
_CUES = [
    (ASKS_WHEN, _TIME),
    (pattern(r"\bhow (?:many|much|old|often)\b"), _NUMBER),
    (pattern(r"\bwhere\b"), _PLACE),
    (pattern(r"\bwho\b|\bwhom\b|\bwhose\b"), _SOMEBODY),
]
_SUBJECT = pattern(r"\b(?:does|did|do|has|was|will)\s+([^\W\d_][\w-]*)(?=\s+\w)|\b([^\W\d_][\w-]*)'s\b")
_NOBODY = frozenset(
    stem(word)
    for word in word_set(
        """
        i you he she they we it me my your his her their the a an this that these those there here what
        who where when how why let user users anyone anything everyone someone one any some ever not
        """
    )
)
_SAID = pattern(r'^\S{1,512} said: "(.*)"$', re.DOTALL)
_DATED = pattern(r"\((?:week of |weekend of |about )?\d{4}(?:-\d\d){0,2}\)")
_TOGETHER = pattern(r"and their (?=\w)")


_OWN = pattern(r"\b(?:i|i'm|i've|i'll|i'd|my|me|mine|we|we're|we've)\b", re.IGNORECASE)
_NAMED = pattern(r"\d|(?<=[a-z,] )[A-ZÀ-Þ]|[^\x00-\x7f]")
_ASKING = word_set("what where when who whom whose which how why tell")
_ANY_LABEL = frozenset(["name"])


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
    terms = frozenset(term for term in content_stems(question) if term not in names) - _TALK
    if _only_greets(question, terms):
        return Told("", ())
    usable = [statement for statement in statements[:_MOST_STATEMENTS] if statement.text.strip()]
    if _is_general(question, terms, names):
        return _told(_newest_first(_everything(usable, about)), MOST_GENERAL_LINES, "", about)
    wanted = _labels(question)
    if not terms and not wanted:
        return Told("", ())
    cited = (_as_cited(at, statement, terms, wanted, about) for at, statement in enumerate(usable))
    candidates = [candidate for candidate in cited if candidate is not None]
    found = _matching(question, terms, wanted, _of_whom(question, names, candidates))
    return _told(_newest_first(found), MOST_LINES, question, about)


def _only_greets(question: str, terms: frozenset[str]) -> bool:
    """Whether it is a greeting or a word of thanks, with or without a name."""
    said = words(question)
    if not said or stem(said[0]) not in _TALK or "?" in question or not _ASKING.isdisjoint(said):
        return False
    return len(terms) <= 1 and terms.isdisjoint(_GENERAL)


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
    cited = (_as_cited(at, statement, frozenset(), _ANY_LABEL, about) for at, statement in enumerate(ordered))
    return [_Found(candidate, 1.0) for candidate in cited if candidate is not None]


def _of_whom(question: str, names: frozenset[str], candidates: Sequence[_Candidate]) -> Sequence[_Candidate]:
    """Those that name whom the question names beside the peer; all, if none does."""
    others = {stem(found[1] or found[2]) for found in _SUBJECT.finditer(question)} - names - _NOBODY
    named = [candidate for candidate in candidates if others & candidate.stems]
    return named or candidates


def _labels(question: str) -> frozenset[str]:
    """The labels of a card that the question is about."""
    asked = frozenset(words(question))
    wanted: set[str] = set()
    for about, labels in _ABOUT:
        if not about.isdisjoint(asked):
            wanted |= labels
    if "do" in asked and _DOES.search(question):
        wanted |= _WORK
    if "should" in asked and _HOW_TO_ANSWER.search(question):
        wanted.add("instruction")
    if "stand" in asked and _STAND in question:
        wanted |= {"dislikes", "does not eat", "does not drink"}
    wanted |= {singular for word in asked if (singular := word.removesuffix("s")) in _KIN}
    return frozenset(wanted)


def _as_cited(
    order: int, statement: Statement, terms: frozenset[str], wanted: frozenset[str], about: str | None
) -> _Candidate | None:
    """A conclusion as it is; of a message the sentence that says most to the question, and no question."""
    if statement.peer is None:
        text = _clipped(as_said(statement.text))
        label = label_of_statement(text, about) if wanted else ""
        return _Candidate(order, statement, text, frozenset(content_stems(text)), label)
    sentences = [sentence for line in prose(statement.text) for sentence in split(line)]
    best = ("", frozenset[str](), "")
    most = -1.0
    for sentence in (sentences or [as_said(statement.text)])[:_MOST_SENTENCES]:
        stems = frozenset(content_stems(sentence))
        if sentence.rstrip(" \"')").endswith(("?", "？")) or stems <= _TALK or _is_saying(sentence, terms):
            continue
        label = _label(sentence) if wanted else ""
        telling = (
            len(terms & stems)
            + (1.0 if label in wanted else 0.0)
            + (0.1 if label else 0.0)
            + min(len(stems), 9) / 100
        )
        if telling > most:
            most, best = telling, (sentence, stems, label)
    if not best[0]:
        return None
    said = _clipped(dated(best[0], statement.said_at, None)).replace('"', "'")
    return _Candidate(order, statement, f'{statement.peer} said: "{said}"', best[1], best[2])


def _is_saying(sentence: str, terms: frozenset[str]) -> bool:
    """Whether it names nobody and nothing, and says next to nothing beside the words of the question."""
    if not terms or _OWN.search(sentence) or _NAMED.search(sentence) or names_thing(sentence):
        return False
    return sum(stem(word) not in terms for word in telling_words(sentence)) < _FEW


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
    beside = terms - _WEAK - _LABEL_WORDS
    found: list[_Found] = []
    for candidate in candidates:
        covered = sum(weights[term] for term in terms & candidate.stems) / total
        related = candidate.label in wanted and (len(beside) < _FEW or not beside.isdisjoint(candidate.stems))
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


def _told(found: Sequence[_Found], most: int, question: str, about: str | None) -> Told:
    """Up to so many lines, before the first what was asked for; an older value is called so.

    What a line before says already is left out.
    """
    lines: list[str] = []
    cited: list[str] = []
    said: list[tuple[frozenset[str], str | None]] = []
    labels: set[str] = set()
    names = frozenset(stem(word) for word in words(about or ""))
    for one in found:
        stems = _plain_stems(one.candidate, names)
        day = day_of(one.candidate.statement.said_at)
        if any(_same(stems, before, same_day=day == on) for before, on in said):
            continue
        earlier = one.label in labels and single_valued(one.label)
        asked_for = None if lines else span(question, one.candidate.text, about)
        opening = "Earlier: " if earlier else f"{asked_for}: " if asked_for else ""
        lines.append(opening + _with_day(one.candidate, about))
        cited.append(one.candidate.statement.id)
        said.append((stems, day))
        labels.add(one.label)
        if len(lines) == most:
            break
    return Told("\n".join(lines), tuple(dict.fromkeys(cited)))


def _plain_stems(candidate: _Candidate, names: frozenset[str]) -> frozenset[str]:
    """What a line says, whoever says it and whichever days are worked out in it."""
    return frozenset(content_stems(_DATED.sub("", candidate.text))) - names - {stem("said")}


def _same(stems: frozenset[str], before: frozenset[str], *, same_day: bool) -> bool:
    """Whether a line says what one before it says, or that and hardly more on the same day."""
    if not stems or not before:
        return False
    return stems <= before or (same_day and before <= stems and len(stems - before) <= _FEW)


def _with_day(candidate: _Candidate, about: str | None) -> str:
    text = candidate.text.rstrip(" .")
    if about and candidate.statement.peer is None and not text.lower().startswith(about.lower()):
        text = text[:1].upper() + text[1:]
    day = day_of(candidate.statement.said_at)
    if day is None:
        return f"{text}."
    return f"{text} (said {day})." if _DATED.search(text) or _TIME.search(text) else f"{text} ({day})."


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
