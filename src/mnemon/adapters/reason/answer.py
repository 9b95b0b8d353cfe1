"""An answer in the words of what was said: the statements that speak to a question, with their days."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from mnemon.adapters.reason.asked import (
    TIME,
    WEAK,
    Asked,
    asks_how_long_ago,
    asks_nothing,
    is_general,
    read,
    stems_of,
    with_their_names,
)
from mnemon.adapters.reason.asked_labels import KIN
from mnemon.adapters.reason.candidates import (
    BRACKETED,
    FEW,
    MOST_STATEMENTS,
    Candidate,
    gathered,
    plain_stems,
    sentences_of,
)
from mnemon.adapters.reason.changes import as_begun, as_changed
from mnemon.adapters.reason.conditions import only_possible
from mnemon.adapters.reason.days import ago
from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.order import by_time, end_asked
from mnemon.adapters.reason.relations import put_by_id, put_by_name, two_steps
from mnemon.adapters.reason.sequence import alternatives, in_order
from mnemon.adapters.reason.span import span
from mnemon.adapters.reason.statements import day_of
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.adapters.reason.timely import in_time, of_then, on_its_side
from mnemon.adapters.reason.whom import speaks_of_self, tells_of_another, tells_of_them
from mnemon.domain import when, words
from mnemon.domain.denial import is_denial
from mnemon.domain.pattern import pattern
from mnemon.domain.standing import one_at_a_time
from mnemon.ports.reasoner import Effort, Statement, Told

_MORE_IN_GENERAL = 3
_NEAR_BEST = 0.5
_NEAR_RELATED = 0.75
_RELATED = 0.6
_RELATED_AT_ALL = 0.3
"""What the label counts of a line without what the question names beside it, where another has that."""
_CUED = 0.15
_HALF, _BEST_FEW = 0.5, 3
"""What holds less of the question than this answers it only if it is among so many that were found first."""
_IN_CONTEXT = 0.5
"""What a word counts that stands in the sentence before."""
_ANYBODY = pattern(r"\b(?:who|whom|anyone|anybody|someone|somebody)\b")
_ONLY_DOING = pattern(r"\b(?:do|does|am) \w+ \w+\W*$")
"""What asks for no thing by its name: 'how much do I weigh', 'where do we live'."""
_NAMES = frozenset(["name", "goes by"])
_FROM = pattern(r"\bfrom [A-ZÀ-Þ]")
"""What a line has that tells what was so before, too."""
_TELLS_HOW_OFTEN = pattern(r"\((?:said )?\d+ times\b[^()]*\d{4}[^()]*\)$")
"""What a dream tells has its days in it."""
_ANY_LABEL = frozenset(["name"])
_NONE = frozenset[str]()
_AS_GOOD_AS = {
    "lives in": frozenset(map(stem, word_set("move relocate stay settle based home flat apartment house"))),
    "works at": frozenset(map(stem, word_set("start join hire employ job run own manage teach office"))),
}
"""Words of lines that may tell what has a label, without its form."""
_FAVORITE = stem("favorite")
_TASTE = pattern(
    r"\b(?:favou?rites?|lov(?:e[ds]?|ing)|like[ds]?|prefer\w*|best|ador(?:e[ds]?|ing)|enjoy\w*|fan|into|top"
    r"|obsessed|beats)\b",
    re.IGNORECASE,
)
"""What a line has that tells what somebody likes best."""
_DENYING = frozenset(map(stem, word_set("actually after any anymore longer more never really turn turned")))
"""Words by which something is denied, beside 'not'."""
_ONE_OF_MANY = frozenset(["likes", "prefers", "dislikes", "speaks", "pet", "goal"])
"""Labels of which one value says nothing of another: who likes tea may like coffee or not."""


class _Found(NamedTuple):
    candidate: Candidate
    score: float

    @property
    def label(self) -> str:
        return self.candidate.label

    @property
    def alone(self) -> bool:
        """Whether it is the value of something of which the peer has one at a time."""
        return one_at_a_time(self.label) and not self.candidate.of_another


def answer(
    question: str, statements: Sequence[Statement], about: str | None, effort: Effort, at: int | None = None
) -> Told:
    """The statements that speak to the question, as short sentences; nothing if none does.

    `at` is what clocks show when it is asked, if times are to be compared.
    """
    if about is not None:
        question = put_by_id(question, statements, about)
    if two_steps(question):
        by_name = put_by_name(question, [statement.text for statement in statements])
        if by_name is None:
            return Told("", ())
        question = by_name
    if either := alternatives(question):
        one_line = replace(effort, lines=1)
        return in_order(either, lambda part: answer(part, statements, about, one_line, at), statements)
    asked, names = read(question, about), stems_of(about)
    if asks_nothing(asked, about):
        return Told("", ())
    if is_general(asked, about):
        found = _newest_first(_everything(statements, names, about))
        return _told(found, effort.lines + _MORE_IN_GENERAL, Asked("", asked.terms, _ANY_LABEL), about)
    if not asked.terms and not asked.wanted:
        return Told("", ())
    if asks_how_long_ago(question):
        asked = asked._replace(since=at)
    asked = with_their_names(asked, statements)
    candidates = gathered(statements, asked, names, about)
    if not asked.asks_back:
        candidates = as_begun(as_changed(candidates), at)
    then = of_then(candidates, question, at, about)
    if then is not None and not asked.cues:
        return _told([_Found(one, 1.0) for one in then], effort.lines, asked, about)
    candidates = in_time(on_its_side(candidates, asked, question), question, at, asked)
    found = _matching(asked, _of_whom(asked, about, candidates), history=effort.history)
    found = found or _found_changed(asked, candidates)
    found = _newest_first(_as_it_stands(asked, found, candidates))
    found = _with_denials(asked, found, candidates, names)
    if end := end_asked(question):
        found = by_time(
            found, question, end, lambda one: one.score - _CUED * asked.cued(one.candidate.text), _when_told
        )
    return _told(found, effort.lines, asked, about)


def _when_told(one: _Found) -> tuple[str, int]:
    return one.candidate.said, one.candidate.statement.said_at


def _everything(statements: Sequence[Statement], names: frozenset[str], about: str | None) -> list[_Found]:
    """What stands: conclusions before messages, quotations last, each in the order given."""
    usable = [statement for statement in statements if statement.text.strip()][:MOST_STATEMENTS]
    ordered = sorted(usable, key=lambda statement: (statement.carried, statement.peer is not None))
    anything = Asked("", frozenset(), _ANY_LABEL)
    candidates = gathered(ordered, anything, names, about)
    return [_Found(candidate, 1.0) for candidate in candidates if candidate.stands]


def _of_whom(asked: Asked, about: str | None, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Those that tell of whom the question is about: somebody of the peer's or with a name, or the peer."""
    if asked.theirs:
        return _of_theirs(asked, candidates)
    if of_them := [one for one in candidates if (asked.others | asked.named) & one.stems]:
        return of_them
    if about is None or not (asked.wanted or asked.of_peer):
        return candidates
    if asked.named and asked.wanted and _has_a_name(about, candidates):
        return []
    if _ANYBODY.search(asked.question):
        return candidates
    return [one for one in candidates if not _tells_of_another(asked, one)]


def _of_theirs(asked: Asked, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that tell of somebody of the peer's, each as if it named them as the question does."""
    theirs = tells_of_them(asked.theirs, (one.text for one in candidates))
    meant = asked.terms & frozenset(map(stem, asked.theirs))

    def tells(one: Candidate) -> bool:
        if theirs & one.stems or one.label in asked.theirs & KIN:
            return True
        if theirs & one.context and not speaks_of_self(one.said):
            return True
        if one.statement.peer is None or speaks_of_self(one.said) or tells_of_another(one.said, ""):
            return False
        return not theirs.isdisjoint(content_stems(one.statement.text))

    return [one._replace(stems=one.stems | meant) for one in candidates if tells(one)]


def _tells_of_another(asked: Asked, one: Candidate) -> bool:
    """Whether it would be taken for an answer about the peer, and tells of somebody else."""
    if one.carried and (one.label in asked.wanted or speaks_of_self(one.said)):
        return True
    if one.label in asked.wanted or asked.terms.isdisjoint(one.stems):
        return False
    return tells_of_another(one.said, asked.question)


def _has_a_name(about: str, candidates: Sequence[Candidate]) -> bool:
    """Whether it is known what the peer is called, so that another name is another's."""
    return about.isalpha() or any(one.label in _NAMES for one in candidates)


def _matching(asked: Asked, candidates: Sequence[Candidate], *, history: bool) -> list[_Found]:
    """What has enough to do with the question, best first."""
    known = Counter(term for candidate in candidates for term in candidate.stems & asked.terms)
    weights = {
        term: math.log(2 + len(candidates) / (1 + known[term])) * (0.3 if term in WEAK else 1.0)
        for term in asked.terms
    }
    total = sum(weights.values()) or 1.0
    beside = asked.beside - asked.whom
    named = bool(beside) and any(beside <= candidate.stems for candidate in candidates)
    foremost = _foremost(candidates)
    found: list[_Found] = []
    for candidate in candidates:
        if not _is_of_the_kind(asked, candidate):
            continue
        own = sum(weights[term] for term in asked.terms & candidate.stems)
        nearby = sum(weights[term] for term in asked.terms & candidate.context - candidate.stems)
        covered = (own + _IN_CONTEXT * nearby) / total
        related, cued = _is_related(asked, candidate), asked.cued(candidate.text)
        named_so = _names_it(asked, candidate) and _says_more(asked, candidate, cued)
        if covered < _HALF and candidate.order not in foremost:
            named_so = False
        if related or (named_so and covered >= asked.enough):
            cued += candidate.tells_of_them
            at_all = named and beside.isdisjoint(candidate.stems | candidate.context)
            telling = (_RELATED_AT_ALL if at_all else _RELATED) if related else 0.0
            found.append(_Found(candidate, covered + telling + _CUED * cued))
    if asked.asks_before:
        found = [one for one in found if not _holds(asked, one, found)]
    return _best(asked, _own_before_carried(asked, found), history=history) if found else []


def _foremost(candidates: Sequence[Candidate]) -> set[int]:
    """The best few of the conclusions and of the messages, by the order in which they were found."""
    told = [one.order for one in candidates if one.statement.peer is None]
    said = [one.order for one in candidates if one.statement.peer is not None]
    return {*told[:_BEST_FEW], *said[:_BEST_FEW]}


def _found_changed(asked: Asked, candidates: Sequence[Candidate]) -> list[_Found]:
    """The best message found, if it outdates another, and that: the search has seen that it tells what is
    asked. The older one only if they speak of the same.
    """
    said = [one for one in candidates if one.statement.peer is not None]
    best = said[0] if said else None
    older = [one for one in said if best and one.statement.outdated_by == best.statement.id]
    if best is None or not older or not (_names_it(asked, best) and _is_of_the_kind(asked, best)):
        return []
    told_of = best.stems.union(*(one.stems for one in older))
    names_nothing = not (asked.things or asked.whom) and _ONLY_DOING.search(asked.question) is not None
    if not names_nothing and (asked.rest | asked.whom).isdisjoint(told_of):
        return []
    known = best.stems | asked.terms
    return [_Found(one, 1.0) for one in (best, *older) if not known.isdisjoint(one.stems)]


def _is_of_the_kind(asked: Asked, candidate: Candidate) -> bool:
    return all(has(candidate.said, candidate.stems | candidate.context) for has in asked.kinds)


def _is_related(asked: Asked, candidate: Candidate) -> bool:
    """Whether it tells what the question wants, and of the thing that it names, if it names one."""
    if candidate.label not in asked.wanted:
        return False
    beside = asked.beside - asked.whom
    if not beside or not beside.isdisjoint(candidate.stems | candidate.context):
        return True
    return len(beside) < FEW and not (asked.yes_or_no and candidate.label in _ONE_OF_MANY)


def _names_it(asked: Asked, candidate: Candidate) -> bool:
    """Whether it holds a name that is asked about; and what a time, a place or a number is asked of.

    'I sold my bike in May' is no answer to when the car was sold.
    """
    held = candidate.stems | candidate.context
    if asked.proper and asked.proper.isdisjoint(held):
        return False
    if not asked.may_tell(candidate.text, held):
        return False
    if _FAVORITE in asked.terms and not _TASTE.search(candidate.text):
        return False
    return not asked.cues or not asked.things or not asked.things.isdisjoint(held)


def _says_more(asked: Asked, candidate: Candidate, cued: int) -> bool:
    """Whether it speaks, beside of whom is asked about, of something that is asked."""
    rest, stems = asked.rest, candidate.stems | candidate.context
    if not rest or asked.terms.isdisjoint(asked.whom) or not rest.isdisjoint(stems):
        return True
    if asked.wanted:
        return any(not _AS_GOOD_AS.get(label, _NONE).isdisjoint(stems) for label in asked.wanted)
    return cued > 0


def _own_before_carried(asked: Asked, found: Sequence[_Found]) -> list[_Found]:
    """Without what the peer only carried, where their own word on what is asked for is there."""
    if all(one.candidate.carried or one.label not in asked.wanted for one in found):
        return list(found)
    return [one for one in found if not one.candidate.carried or asked.beside & one.candidate.stems]


def _best(asked: Asked, found: list[_Found], *, history: bool) -> list[_Found]:
    """Those near the best, and the newer values of what these say, or with its history all of them."""
    found.sort(key=lambda one: (-one.score, one.candidate.order))
    near = (_NEAR_RELATED if found[0].label in asked.wanted else _NEAR_BEST) * found[0].score
    oldest: dict[str, int] = {}
    for one in found:
        if one.score >= near and one.label in asked.wanted and one.alone:
            said_at = one.candidate.statement.said_at
            oldest[one.label] = -1 if history else min(said_at, oldest.get(one.label, said_at))
    return [
        one
        for one in found
        if one.score >= near or one.candidate.statement.said_at > oldest.get(one.label, math.inf)
    ]


def _as_it_stands(asked: Asked, found: Sequence[_Found], candidates: Sequence[Candidate]) -> list[_Found]:
    """With what outdates something before it, unless the past is asked for."""
    if asked.asks_back:
        return list(found)
    by_id = {one.statement.id: one for one in candidates}
    whole = {one.statement.said_at: one for one in candidates if _tells_more(one)}
    standing: dict[str, _Found] = {}
    for one in found:
        latest, seen = one.candidate, set[str]()
        while (after := by_id.get(latest.outdated_by or "")) and after.statement.id not in seen:
            latest = after
            seen.add(after.statement.id)
        if seen and latest.statement.peer is None and is_denial(latest.said):
            latest = whole.get(latest.statement.said_at, latest)
        if latest.stands:
            standing.setdefault(latest.statement.id, _Found(latest, one.score))
    return [*standing.values(), *(one for one in found if not one.candidate.stands)]


def _tells_more(one: Candidate) -> bool:
    """Whether it says in several sentences what has ended and what has come of it."""
    return one.whole and one.statement.peer is not None and len(sentences_of(one.statement)) > 1


def _holds(asked: Asked, one: _Found, found: Sequence[_Found]) -> bool:
    """Whether it is the value by now of something that has one at a time."""
    if not one.candidate.stands or one.label not in asked.wanted or not one.alone:
        return False
    if _FROM.search(one.candidate.text):
        return False
    rivals = (other.candidate for other in found if other.label == one.label and other.candidate.stands)
    return not any(other.statement.said_at > one.candidate.statement.said_at for other in rivals)


def _newest_first(found: Sequence[_Found]) -> list[_Found]:
    """The same with the values of one label from the newest to the oldest."""
    ordered = list(found)
    for label in {one.label for one in found if one.alone}:
        places = [at for at, one in enumerate(ordered) if one.label == label and one.alone]
        values = sorted(
            (ordered[at] for at in places),
            key=lambda one: (not one.candidate.stands, -one.candidate.statement.said_at),
        )
        for at, value in zip(places, values, strict=True):
            ordered[at] = value
    return ordered


def _with_denials(
    asked: Asked, found: Sequence[_Found], candidates: Sequence[Candidate], names: frozenset[str]
) -> list[_Found]:
    """With what was denied of something since: before it, where the question is whether just that is so."""
    if asked.asks_back:
        return list(found)
    denials = [
        (one, denied)
        for one in candidates
        if one.stands and is_denial(one.said) and (denied := plain_stems(one, names) - _DENYING)
    ]
    told: dict[tuple[str, str], _Found] = {}
    for one in found if denials else ():
        said_at, stems = one.candidate.statement.said_at, plain_stems(one.candidate, names)
        since = [each for each in denials if each[0].statement.said_at > said_at and each[1] <= stems]
        asked_for = [other for other, denied in since if asked.yes_or_no and denied & asked.beside]
        for other in (*asked_for, one.candidate, *(other for other, _ in since)):
            told.setdefault((other.statement.id, other.said), _Found(other, one.score))
    return list(told.values()) if denials else list(found)


def _told(found: Sequence[_Found], most: int, asked: Asked, about: str | None) -> Told:
    """Up to so many lines, before the first what was asked for; an older value is called so.

    What a line before says already is left out.
    """
    lines: list[str] = []
    cited: list[str] = []
    said: list[tuple[frozenset[str], bool, str | None]] = []
    labels: set[str] = set()
    names = stems_of(about)
    for one in found:
        stems = plain_stems(one.candidate, names)
        denies, day = is_denial(one.candidate.said), day_of(one.candidate.statement.said_at)
        if any(denies == denied and _same(stems, before, same_day=day == on) for before, denied, on in said):
            continue
        earlier = one.label in labels and one.alone
        opening = _opening(one, asked, about, first=not lines, earlier=earlier)
        lines.append(opening + _with_day(one.candidate, about))
        cited += filter(None, (one.candidate.statement.id, one.candidate.owing))
        said.append((stems, denies, day))
        labels.add(one.label)
        if len(lines) == most:
            break
    return Told("\n".join(lines), tuple(dict.fromkeys(cited)))


def _opening(one: _Found, asked: Asked, about: str | None, *, first: bool, earlier: bool) -> str:
    """What a line begins with: that it was so before, or what was asked for."""
    candidate = one.candidate
    if not candidate.stands and first and not asked.asks_back:
        return "No longer so: "
    if earlier or not candidate.stands:
        return "Earlier: "
    if not first or candidate.carried or _tells_more(candidate):
        return ""
    if asked.wanted and not one.label and is_denial(candidate.said) and not asked.asks_back:
        return ""
    asked_for = span(asked.question, candidate.text, about)
    if not asked_for and asked.since is not None:
        return _how_long_ago(candidate, asked.question, asked.since)
    if not asked_for or only_possible(asked_for, candidate.text, asked.question):
        return ""
    return f"{asked_for}: "


def _how_long_ago(candidate: Candidate, question: str, now: int) -> str:
    said_at = candidate.statement.said_at
    then = when.happened(candidate.said, said_at, words.asked(question))
    return f"{ago(said_at if then is None else then.start_ms, now)}: "


def _same(stems: frozenset[str], before: frozenset[str], *, same_day: bool) -> bool:
    """Whether a line says what one before it says, or that and hardly more on the same day."""
    if not stems or not before:
        return False
    return stems <= before or (same_day and before <= stems and len(stems - before) <= FEW)


def _with_day(candidate: Candidate, about: str | None) -> str:
    text = candidate.text.rstrip(" .")
    if about and candidate.statement.peer is None and not text.lower().startswith(about.lower()):
        text = text[:1].upper() + text[1:]
    day = day_of(candidate.statement.said_at)
    if day is None or _TELLS_HOW_OFTEN.search(text):
        return f"{text}."
    return f"{text} (said {day})." if BRACKETED.search(text) or TIME.search(text) else f"{text} ({day})."
