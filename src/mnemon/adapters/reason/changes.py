"""What ends or changes something that was said before: 'I sold the Skoda', 'they moved the date to May';
and what has begun since.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mnemon.adapters.reason.asked import WEAK
from mnemon.adapters.reason.candidates import Candidate, retold, sentences_of
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.stems import content_stems
from mnemon.domain.pattern import pattern
from mnemon.domain.when import spans

_ENDS = either(
    """
    quit, left, sold, resigned from, dropped out of, got rid of, broke up with, gave up, stopped, cancelled,
    canceled
    """
)
_MAKES_OTHERS = either(
    """
    moved, changed, postponed, pushed, rescheduled, raised, lowered, increased, decreased, reduced, extended,
    shortened, switched, delayed, renamed, upped, cut
    """
)
_SIGNS = frozenset(form.split()[0] for form in f"{_ENDS}|{_MAKES_OTHERS}|not|isn't|wasn't".split("|"))
"""Of which one is in whatever ends, changes or corrects something."""
_ENDED = pattern(
    rf"\b(?:i|we)(?:'ve| have)? (?:just |finally |recently |also )?(?:{_ENDS})"
    r" (?:my job at |my job with |working (?:at|for) |eating |drinking |playing |seeing |my |our |the )?"
    r"(?P<what>[^\s,.;!]+(?: [^\s,.;!]+){0,2}?)(?= because| since| for| to| last| on| in| at| and| yesterday"
    r"| today|[,.;!(]|$)",
    re.IGNORECASE,
)
_CHANGED = pattern(
    rf"\b(?:{_MAKES_OTHERS}) (?:back )?(?:my|the|our|their|his|her|\w+'s) "
    r"(?P<what>[^\s,.;!]+(?: [^\s,.;!]+){0,2}?)(?: dose| date)?"
    r"(?: back| forward| up| down)?(?: from [^,.;]+)? to ",
    re.IGNORECASE,
)
_CORRECTED = pattern(
    r"(?:\b(?P<whose>[a-z]+)(?: (?-i:[A-Z])[\w-]+)? (?:isn't|is not|wasn't|was not)"
    r"|\b(?:it's|it is|that's|he's|she's|i'm|i am) not)"
    r" (?:an? |the |my |in |at |called )?(?P<what>[^,;!]{1,40}?)[,;.]+"
    r" (?:but |it's |it is |he's |she's |i'm )",
    re.IGNORECASE,
)
"""What is put right: 'it's not Monday, it's Tuesday', 'my sister isn't a pilot, she's a doctor'."""


class _Change(NamedTuple):
    by: Candidate
    what: frozenset[str]


def as_changed(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The same; what a later one ends or changes is outdated by that, which is told with what follows it."""
    changes = [change for one in candidates if one.stands for change in _changes(one)]
    if not changes:
        return list(candidates)
    changing = {change.by.statement.id: change.by for change in changes}
    fuller = _fuller(changes)

    def standing(one: Candidate) -> Candidate:
        if one.statement.id in changing:
            return changing[one.statement.id]
        if one.outdated_by in fuller:
            return one._replace(outdated_by=fuller[one.outdated_by])
        later = [change for change in changes if _outdates(change, one)]
        if not one.stands or not later:
            return one
        return one._replace(outdated_by=max(later, key=_lateness).by.statement.id)

    return [standing(one) for one in candidates]


def as_begun(candidates: Sequence[Candidate], at: int | None) -> list[Candidate]:
    """The same; where somebody works is outdated by where they were to start, once that day has come."""
    ahead = [one for one in candidates if one.label == "starts at" and not one.of_another and one.stands]
    begun = [one for one in ahead if at is not None and _has_begun(one, at)]
    if not begun:
        return list(candidates)
    start = max(begun, key=lambda one: one.statement.said_at)

    def standing(one: Candidate) -> Candidate:
        earlier = one.label == "works at" and one.statement.said_at <= start.statement.said_at
        if one.of_another or not one.stands or not earlier:
            return one
        return one._replace(outdated_by=start.statement.id)

    return [standing(one) for one in candidates]


def _has_begun(one: Candidate, at: int) -> bool:
    said_at = one.statement.said_at
    return any(said_at < span.start_ms <= at for span in spans(one.said, said_at) if span.grain == "day")


def _fuller(changes: Sequence[_Change]) -> dict[str, str]:
    """For each conclusion that tells a change, the message that tells it and what came of it."""
    told = {
        (change.by.statement.said_at, change.what): change.by.statement.id
        for change in changes
        if change.by.statement.peer is not None
    }
    return {
        change.by.statement.id: fuller
        for change in changes
        if change.by.statement.peer is None
        and (fuller := told.get((change.by.statement.said_at, change.what)))
    }


def _outdates(change: _Change, one: Candidate) -> bool:
    return change.by.statement.said_at > one.statement.said_at and change.what <= one.stems


def _lateness(change: _Change) -> tuple[int, bool]:
    """A message tells more than what was concluded from it."""
    return change.by.statement.said_at, change.by.statement.peer is not None


def _changes(one: Candidate) -> Iterator[_Change]:
    """What it ends or changes, each with the sentences that say so."""
    if _SIGNS.isdisjoint(one.statement.text.lower().split()):
        return
    sentences = [one.said] if one.statement.peer is None else sentences_of(one.statement)
    for at, said in enumerate(sentences):
        for shape in (_ENDED, _CHANGED, _CORRECTED):
            found = shape.search(said)
            what = frozenset(content_stems(" ".join(filter(None, found.groups())))) - WEAK if found else None
            if what:
                yield _Change(retold(one, " ".join(sentences[at : at + 2])), what)
