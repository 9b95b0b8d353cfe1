"""An answer that is looked for further: for whom and what it names, and for each part of a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mnemon.adapters.reason.answer import answer
from mnemon.adapters.reason.asked import Asked, is_general, read
from mnemon.adapters.reason.relations import put_by_name
from mnemon.adapters.reason.stems import stem
from mnemon.adapters.reason.values import NOT_A_NAME
from mnemon.adapters.reason.whom import names_beside
from mnemon.domain import relayed
from mnemon.domain.pattern import pattern
from mnemon.domain.words import words
from mnemon.ports.reasoner import Effort, Statement, Told

_JOINT = pattern(
    r"\? (?=\w)|; |,? and (?=(?:what|where|when|who|whom|whose|which|how|why|do|does|did|is|are|was)\b)",
    re.IGNORECASE,
)
_NAME = pattern(r"(?<=[a-z,'] )[A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)*")
_SHORTEST_PART = 3
_MOST_PARTS = 4
_MOST_BESIDE = 6
"""Who writes more than so many words beside a name tells something: the name leads nowhere."""
_TOLD_DAYS = pattern(r"\s*\((?:said )?\d{4}-\d\d-\d\d\)")


class Pursuit(NamedTuple):
    """Of whom is asked, how hard, with what, and when."""

    about: str | None
    effort: Effort
    search: Callable[[str], Sequence[Statement]]
    at: int | None

    def told(self, question: str, statements: Sequence[Statement]) -> Told:
        return answer(question, statements, self.about, self.effort, self.at)


def pursued(question: str, statements: Sequence[Statement], pursuit: Pursuit) -> Told:
    """What the statements say, and what further searches find, as far as the effort goes.

    To what an agent relays: what answers the person, or else, if the agent wants to know it, who they are.
    """
    wanted, wrote = relayed.taken_apart(question)
    told = _in_parts(wrote, statements, pursuit)
    if told.text or not wanted:
        return told
    about = pursuit.about
    who = (part for part in taken_apart(wanted) if is_general(read(part, about), about))
    return next((pursuit.told(part, statements) for part in who), told)


def _in_parts(question: str, statements: Sequence[Statement], pursuit: Pursuit) -> Told:
    parts = taken_apart(question)
    if len(parts) < 2:
        return _followed(question, statements, pursuit)
    answers = []
    for number, part in enumerate(parts):
        alone = number < pursuit.effort.parts
        known = _together(pursuit.search(part), statements) if alone else statements
        told = _followed(part, known, pursuit)
        answers.append(Told(told.text, told.cited, searched=(*([part] if alone else []), *told.searched)))
    lines = dict.fromkeys(line for told in answers for line in told.text.split("\n") if line)
    cited = dict.fromkeys(one for told in answers for one in told.cited)
    searched = dict.fromkeys(one for told in answers for one in told.searched)
    return Told("\n".join(lines), tuple(cited), searched=tuple(searched))


def taken_apart(question: str) -> list[str]:
    """The questions that one is made of: 'where does Ann live and what does Ben do'."""
    parts = [part.strip(" ?") for part in _JOINT.split(" ".join(question.split()))]
    if len(parts) < 2 or any(len(part.split()) < _SHORTEST_PART for part in parts):
        return [question]
    return [f"{part}?" for part in parts[:_MOST_PARTS]]


def _followed(question: str, statements: Sequence[Statement], pursuit: Pursuit) -> Told:
    known, searched = list(statements), list[str]()
    told = pursuit.told(question, known)
    while len(searched) < pursuit.effort.leads:
        leads = _leads(question, told, known, pursuit.about)
        lead = next((one for one in leads if one not in searched), None)
        if lead is None:
            break
        searched.append(lead)
        found = _together(pursuit.search(lead), known)
        if len(found) > len(known):
            known, told = found, pursuit.told(question, found)
    return Told(told.text, told.cited, searched=tuple(searched))


def _together(found: Sequence[Statement], known: Sequence[Statement]) -> list[Statement]:
    """All of them, each once."""
    return list({one.id: one for one in (*found, *known)}.values())


def _leads(question: str, told: Told, statements: Sequence[Statement], about: str | None) -> Iterator[str]:
    """What to search for next: whom the question means by what they are called, and what the answer names."""
    texts = [one.text for one in statements]
    meant = put_by_name(question, texts)
    if meant and meant != question:
        yield meant
    asked = read(meant or question, about)
    if len(asked.rest) > _MOST_BESIDE:
        return
    beside = " ".join(word for word in words(asked.question) if stem(word) in asked.rest)
    known = frozenset(words(question)) | frozenset(words(about or ""))
    for name in dict.fromkeys((*_names_of_theirs(asked, texts), *_names_told(told))):
        if name.lower() not in NOT_A_NAME and known.isdisjoint(words(name)):
            yield f"{name} {beside}".strip()


def _names_of_theirs(asked: Asked, texts: Sequence[str]) -> list[str]:
    return names_beside(asked.theirs, texts) if asked.theirs else []


def _names_told(told: Told) -> list[str]:
    return [found[0] for line in told.text.split("\n") for found in _NAME.finditer(_TOLD_DAYS.sub("", line))]
