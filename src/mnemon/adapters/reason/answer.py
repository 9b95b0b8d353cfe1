"""An answer in the words of what was said: the statements that speak to a question, with their days."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from mnemon.adapters.reason.asked_labels import KIN, LABEL_WORDS, labels_asked
from mnemon.adapters.reason.clauses import clauses
from mnemon.adapters.reason.days import dated
from mnemon.adapters.reason.lexicon import base_of_third, word_set
from mnemon.adapters.reason.pointing import names as names_thing
from mnemon.adapters.reason.sentences import prose, split
from mnemon.adapters.reason.span import ASKS_WHEN, span
from mnemon.adapters.reason.statements import as_said, day_of
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.adapters.reason.substance import telling_words
from mnemon.adapters.reason.traits import label_of, trait_of
from mnemon.adapters.reason.verbs import ADVERBS
from mnemon.adapters.reason.whom import (
    named_in,
    somebody_of_theirs,
    speaks_of_self,
    tells_of_another,
    tells_of_them,
)
from mnemon.domain.denial import is_denial
from mnemon.domain.pattern import pattern
from mnemon.domain.standing import one_at_a_time
from mnemon.domain.trust import Trust, own_words, quoted
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
_FEW = 2
"""With so many words beside those of a label, a question is about more than the label."""
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
_TELLING = frozenset(map(stem, ("said", "quoted")))
_SAID = pattern(r'^\S{1,512} said: "(.*)"$', re.DOTALL)
_DATED = pattern(r"\((?:week of |weekend of |about )?\d{4}(?:-\d\d){0,2}\)")
_TOGETHER = pattern(r"and their (?=\w)")
_OF_SELF = pattern(r"\b(?:i|i'm|i've|i'll|i'd|my|me|mine|we|we're|we've)\b", re.IGNORECASE)
"""Not 'us': what is a joy to us all is said of everyone."""
_NAMED = pattern(r"\d|(?<=[a-z,] )[A-ZÀ-Þ]|[^\x00-\x7f]")
_ASKING = word_set("what where when who whom whose which how why tell")
_ANYBODY = pattern(r"\b(?:who|whom|anyone|anybody|someone|somebody)\b")
_NAMES = frozenset(["name", "goes by"])
_ANY_LABEL = frozenset(["name"])
_BEFORE = pattern(
    r"\b(?:before(?: (?:the |i )?\w+)?\W*$|used? to\b|previous(?:ly)?\b|former(?:ly)?\b|in the past\b"
    r"|back then\b)"
)
"""Whether a question in small letters asks for what is no longer so."""
_OF_BEFORE = frozenset(map(stem, word_set("before use used previous previously former formerly past back")))
_PAST = pattern(r"\b(?:did|was|were|had|ever)\b")


class _Candidate(NamedTuple):
    """A statement as it would be cited."""

    order: int
    statement: Statement
    text: str
    said: str
    """What it says in the words of the peer."""
    stems: frozenset[str]
    label: str
    outdated_by: str | None
    carried: bool

    @property
    def stands(self) -> bool:
        return self.outdated_by is None


class _Asked(NamedTuple):
    """A question in small letters, the words that matter in it, and what it is about."""

    question: str
    terms: frozenset[str]
    wanted: frozenset[str]
    """The labels of a card."""
    theirs: frozenset[str] = frozenset()
    """What somebody of the peer's whom it is about may be called."""

    @property
    def beside(self) -> frozenset[str]:
        """The words beside those of a label."""
        return self.terms - _WEAK - LABEL_WORDS


class _Found(NamedTuple):
    candidate: _Candidate
    score: float

    @property
    def label(self) -> str:
        return self.candidate.label


def answer(question: str, statements: Sequence[Statement], about: str | None) -> Told:
    """The statements that speak to the question, as short sentences; nothing if none does."""
    named = named_in(question)
    question = question.lower().replace("for a living", "for a job")
    names = frozenset(stem(word) for word in words(about or ""))
    terms = frozenset(term for term in content_stems(question) if term not in names) - _TALK
    if _only_greets(question, terms):
        return Told("", ())
    usable = [statement for statement in statements[:_MOST_STATEMENTS] if statement.text.strip()]
    if _is_general(question, terms, names):
        found = _newest_first(_everything(usable, names, about))
        return _told(found, MOST_GENERAL_LINES, _Asked("", terms, _ANY_LABEL), about)
    if _BEFORE.search(question):
        terms -= _OF_BEFORE
    asked = _Asked(question, terms, labels_asked(question), somebody_of_theirs(question, about))
    if not asked.terms and not asked.wanted:
        return Told("", ())
    cited = (_as_cited(at, statement, asked, about) for at, statement in enumerate(usable))
    candidates = _dated_back([candidate for candidate in cited if candidate is not None], names)
    found = _matching(asked, _of_whom(asked, named, names, about, candidates))
    return _told(_newest_first(_as_it_stands(asked, found, candidates)), MOST_LINES, asked, about)


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
    return not names.isdisjoint(map(stem, plain)) and not labels_asked(question)


def _everything(statements: Sequence[Statement], names: frozenset[str], about: str | None) -> list[_Found]:
    """What stands: conclusions before messages, quotations last, each in the order given."""
    ordered = sorted(statements, key=lambda statement: (statement.carried, statement.peer is not None))
    anything = _Asked("", frozenset(), _ANY_LABEL)
    cited = (_as_cited(at, statement, anything, about) for at, statement in enumerate(ordered))
    candidates = _dated_back([candidate for candidate in cited if candidate is not None], names)
    return [_Found(candidate, 1.0) for candidate in candidates if candidate.stands]


def _of_whom(
    asked: _Asked,
    named: frozenset[str],
    names: frozenset[str],
    about: str | None,
    candidates: Sequence[_Candidate],
) -> Sequence[_Candidate]:
    """Those that tell of whom the question is about: somebody of the peer's or with a name, or the peer."""
    if asked.theirs:
        return _of_theirs(asked, candidates)
    others = {stem(found[1] or found[2]) for found in _SUBJECT.finditer(asked.question)} - names - _NOBODY
    if of_them := [one for one in candidates if (others | named - names) & one.stems]:
        return of_them
    if about is None or not asked.wanted:
        return candidates
    if named - names and _has_a_name(about, candidates):
        return []
    if not asked.wanted.isdisjoint(KIN) or _ANYBODY.search(asked.question):
        return candidates
    return [one for one in candidates if not _tells_of_another(asked, one)]


def _of_theirs(asked: _Asked, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Those that tell of somebody of the peer's, each as if it named them as the question does."""
    theirs = tells_of_them(asked.theirs, (one.text for one in candidates))
    meant = asked.terms & frozenset(map(stem, asked.theirs))

    def tells(one: _Candidate) -> bool:
        if theirs & one.stems or one.label in asked.theirs & KIN:
            return True
        if one.statement.peer is None or speaks_of_self(one.said) or tells_of_another(one.said, ""):
            return False
        return not theirs.isdisjoint(content_stems(one.statement.text))

    return [one._replace(stems=one.stems | meant) for one in candidates if tells(one)]


def _tells_of_another(asked: _Asked, one: _Candidate) -> bool:
    """Whether it would be taken for an answer about the peer, and tells of somebody else."""
    if one.label in asked.wanted or asked.terms.isdisjoint(one.stems):
        return False
    return tells_of_another(one.said, asked.question)


def _has_a_name(about: str, candidates: Sequence[_Candidate]) -> bool:
    """Whether it is known what the peer is called, so that another name is another's."""
    return about.isalpha() or any(one.label in _NAMES for one in candidates)


def _as_cited(order: int, statement: Statement, asked: _Asked, about: str | None) -> _Candidate | None:
    """A conclusion as it is; of a message the sentence that says most to the question, and no question."""
    if statement.peer is None:
        text = _clipped(as_said(statement.text))
        said = _in_own_words(text, about)
        label = _label(said) if asked.wanted else ""
        stems = frozenset(content_stems(text))
        return _Candidate(
            order, statement, text, said, stems, label, statement.outdated_by, statement.carried
        )
    sentences = [sentence for line in prose(statement.text) for sentence in split(line)]
    theirs = frozenset(map(stem, asked.theirs))
    best = ("", frozenset[str](), "")
    most = -1.0
    for sentence in (sentences or [as_said(statement.text)])[:_MOST_SENTENCES]:
        stems = frozenset(content_stems(sentence))
        asks = sentence.rstrip(" \"')").endswith(("?", "？"))
        if asks or stems <= _TALK or _is_saying(sentence, asked.terms):
            continue
        label = _label(sentence) if asked.wanted else ""
        telling = (
            len(asked.terms & stems)
            + (1.0 if label in asked.wanted else 0.0)
            + (1.0 if theirs & stems else 0.0)
            + (0.1 if label else 0.0)
            + min(len(stems), 9) / 100
        )
        if telling > most:
            most, best = telling, (sentence, stems, label)
    if not best[0]:
        return None
    text = _clipped(dated(best[0], statement.said_at, None)).replace('"', "'")
    carried = statement.carried or _is_quoted(best[1], statement.text)
    told = quoted(Trust.QUOTED, text) if carried else f'{statement.peer} said: "{text}"'
    return _Candidate(order, statement, told, *best, statement.outdated_by, carried)


def _is_quoted(stems: frozenset[str], message: str) -> bool:
    """Whether a sentence with these words is one that the message only pastes or quotes."""
    own = own_words(message)
    return own != message and 2 * len(stems & frozenset(content_stems(own))) < len(stems)


def _dated_back(candidates: Sequence[_Candidate], names: frozenset[str]) -> list[_Candidate]:
    """The same; a message that says what a conclusion says which no longer stands is outdated with it."""
    by_id = {one.statement.id: one for one in candidates}
    old = [(one, _plain_stems(one, names)) for one in candidates if not one.stands]
    if not old:
        return list(candidates)

    def outdated_by(message: _Candidate) -> str | None:
        stems = _plain_stems(message, names)
        for one, before in old:
            latest = by_id.get(one.outdated_by or "")
            if (
                before
                and before <= stems
                and is_denial(message.said) == is_denial(one.said)
                and (latest is None or not _says(message, stems, latest, names))
            ):
                return one.outdated_by
        return None

    return [
        one if one.statement.peer is None else one._replace(outdated_by=outdated_by(one))
        for one in candidates
    ]


def _says(message: _Candidate, stems: frozenset[str], latest: _Candidate, names: frozenset[str]) -> bool:
    """Whether a message says what holds by now, or was said after that."""
    if message.statement.said_at > latest.statement.said_at:
        return True
    return _plain_stems(latest, names) <= stems and is_denial(message.said) == is_denial(latest.said)


def _is_saying(sentence: str, terms: frozenset[str]) -> bool:
    """Whether it names nobody and nothing, and says next to nothing beside the words of the question."""
    if not terms or _OF_SELF.search(sentence) or _NAMED.search(sentence) or names_thing(sentence):
        return False
    return sum(stem(word) not in terms for word in telling_words(sentence)) < _FEW


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else text[:_MOST_CHARS].rpartition(" ")[0] + " …"


def _matching(asked: _Asked, candidates: Sequence[_Candidate]) -> list[_Found]:
    """What has enough to do with the question, best first."""
    question, terms, wanted, _ = asked
    known = Counter(term for candidate in candidates for term in candidate.stems & terms)
    weights = {
        term: math.log(2 + len(candidates) / (1 + known[term])) * (0.3 if term in _WEAK else 1.0)
        for term in terms
    }
    total = sum(weights.values()) or 1.0
    cues = [cue for asks, cue in _CUES if asks.search(question)]
    beside = asked.beside
    found: list[_Found] = []
    for candidate in candidates:
        covered = sum(weights[term] for term in terms & candidate.stems) / total
        related = candidate.label in wanted and (len(beside) < _FEW or not beside.isdisjoint(candidate.stems))
        if covered >= _ENOUGH or related:
            cued = sum(cue.search(candidate.text) is not None for cue in cues)
            found.append(_Found(candidate, covered + (_RELATED if related else 0.0) + _CUED * cued))
    if _BEFORE.search(question):
        found = [one for one in found if not _holds(asked, one, found)]
    return _best(asked, _own_before_carried(asked, found)) if found else []


def _own_before_carried(asked: _Asked, found: Sequence[_Found]) -> list[_Found]:
    """Without what the peer only carried, where their own word on what is asked for is there."""
    if all(one.candidate.carried or one.label not in asked.wanted for one in found):
        return list(found)
    return [one for one in found if not one.candidate.carried or asked.beside & one.candidate.stems]


def _best(asked: _Asked, found: list[_Found]) -> list[_Found]:
    """Those near the best, and the newer values of what these say."""
    found.sort(key=lambda one: (-one.score, one.candidate.order))
    near = (_NEAR_RELATED if found[0].label in asked.wanted else _NEAR_BEST) * found[0].score
    oldest: dict[str, int] = {}
    for one in found:
        if one.score >= near and one.label in asked.wanted and one_at_a_time(one.label):
            said_at = one.candidate.statement.said_at
            oldest[one.label] = min(said_at, oldest.get(one.label, said_at))
    return [
        one
        for one in found
        if one.score >= near or one.candidate.statement.said_at > oldest.get(one.label, math.inf)
    ]


def _as_it_stands(asked: _Asked, found: Sequence[_Found], candidates: Sequence[_Candidate]) -> list[_Found]:
    """With what outdates something before it, unless the past is asked for."""
    if _asks_back(asked.question):
        return list(found)
    by_id = {one.statement.id: one for one in candidates}
    standing: dict[str, _Found] = {}
    for one in found:
        latest, seen = one.candidate, set[str]()
        while (after := by_id.get(latest.outdated_by or "")) and after.statement.id not in seen:
            latest = after
            seen.add(after.statement.id)
        if latest.stands:
            standing.setdefault(latest.statement.id, _Found(latest, one.score))
    return [*standing.values(), *(one for one in found if not one.candidate.stands)]


def _holds(asked: _Asked, one: _Found, found: Sequence[_Found]) -> bool:
    """Whether it is the value by now of something that has one at a time."""
    if not one.candidate.stands or one.label not in asked.wanted or not one_at_a_time(one.label):
        return False
    rivals = (other.candidate for other in found if other.label == one.label and other.candidate.stands)
    return not any(other.statement.said_at > one.candidate.statement.said_at for other in rivals)


def _newest_first(found: Sequence[_Found]) -> list[_Found]:
    """The same with the values of one label from the newest to the oldest."""
    ordered = list(found)
    for label in {one.label for one in found if one_at_a_time(one.label)}:
        places = [at for at, one in enumerate(ordered) if one.label == label]
        values = sorted(
            (ordered[at] for at in places),
            key=lambda one: (not one.candidate.stands, -one.candidate.statement.said_at),
        )
        for at, value in zip(places, values, strict=True):
            ordered[at] = value
    return ordered


def _told(found: Sequence[_Found], most: int, asked: _Asked, about: str | None) -> Told:
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
        earlier = one.label in labels and one_at_a_time(one.label)
        opening = _opening(one, asked, about, first=not lines, earlier=earlier)
        lines.append(opening + _with_day(one.candidate, about))
        cited.append(one.candidate.statement.id)
        said.append((stems, day))
        labels.add(one.label)
        if len(lines) == most:
            break
    return Told("\n".join(lines), tuple(dict.fromkeys(cited)))


def _opening(one: _Found, asked: _Asked, about: str | None, *, first: bool, earlier: bool) -> str:
    """What a line begins with: that it was so before, or what was asked for."""
    candidate = one.candidate
    if not candidate.stands and first and not _asks_back(asked.question):
        return "No longer so: "
    if earlier or not candidate.stands:
        return "Earlier: "
    if not first or candidate.carried:
        return ""
    if asked.wanted and not one.label and is_denial(candidate.said) and not _asks_back(asked.question):
        return ""
    asked_for = span(asked.question, candidate.text, about)
    return f"{asked_for}: " if asked_for else ""


def _asks_back(question: str) -> bool:
    return _BEFORE.search(question) is not None or _PAST.search(question) is not None


def _plain_stems(candidate: _Candidate, names: frozenset[str]) -> frozenset[str]:
    """What a line says, whoever says it and whichever days are worked out in it."""
    return frozenset(content_stems(_DATED.sub("", candidate.text))) - names - _TELLING


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


def _in_own_words(text: str, about: str | None) -> str:
    """A conclusion as its peer would say it."""
    said = _SAID.match(text)
    return said[1] if said else _first_person(text, about)


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
