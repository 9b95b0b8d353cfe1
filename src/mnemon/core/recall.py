"""Recall: the few lines that answer a question best, and nothing else opened.

First the lines that share terms with the question, by BM25; then, among the newest, those that
contain one of its terms inside a word; then the newest lines, marked as not matched, because a
question may share no word with its answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from mnemon.core.desk import Desk, opened
from mnemon.core.vault import RoomKeys
from mnemon.domain import ulid, words
from mnemon.domain.limits import RECALL_MOST
from mnemon.domain.line import Line
from mnemon.ports.book import ALL_BEFORE, Span
from mnemon.ports.index import Question

_SUBSTRING_WINDOW = 500
_SHORTEST_SUBSTRING = 3
_EVERYTHING = 1 << 31


class Wish(Struct, frozen=True):
    """What is asked, and how much may come back. Times are milliseconds; `until` is exclusive."""

    query: str | None
    k: int
    since: int | None = None
    until: int | None = None


class Recalled(Struct, frozen=True):
    line: Line
    score: float | None
    matched: bool


def recall(desk: Desk, wish: Wish) -> list[Recalled]:
    """At most k lines, best first.

    Raises: Tampered if one of them does not open.
    """
    wish = replace(wish, k=max(1, min(wish.k, RECALL_MOST)))
    rooms = desk.open_rooms()
    if not rooms:
        return []
    span = _span(desk, wish, rooms)
    found: dict[tuple[str, str], Recalled] = {}
    for one in _candidates(desk, wish, rooms, span):
        found.setdefault((one.line.room.namespace, one.line.id), one)
        if len(found) == wish.k:
            break
    return list(found.values())


def _candidates(desk: Desk, wish: Wish, rooms: dict[str, RoomKeys], span: Span) -> Iterator[Recalled]:
    asked = list(words.terms(wish.query)) if wish.query else []
    if asked:
        yield from _by_terms(desk, wish, rooms, span, asked)
        yield from _by_substring(desk, rooms, span, asked)
    for line in desk.tx.lines.walk(span):
        yield Recalled(opened(line, rooms[line.room.namespace]), None, matched=False)


def _by_terms(
    desk: Desk, wish: Wish, rooms: dict[str, RoomKeys], span: Span, asked: list[str]
) -> Iterator[Recalled]:
    questions = [Question(keys.room, words.blind(keys.blind, asked)) for keys in rooms.values()]
    within = None
    if wish.since is not None or wish.until is not None or desk.scope.sessions is not None:
        within = frozenset(desk.tx.lines.ids(_widened(span)))
    for hit in desk.tools.index.search(desk.tx, questions, wish.k, within):
        line = desk.tx.lines.get(hit.room, hit.id)
        if line is not None and line.invalidated_by is None and desk.scope.sees(line.session):
            yield Recalled(opened(line, rooms[hit.room.namespace]), round(hit.score, 6), matched=True)


def _by_substring(desk: Desk, rooms: dict[str, RoomKeys], span: Span, asked: list[str]) -> Iterator[Recalled]:
    needles = [term for term in asked if len(term) >= _SHORTEST_SUBSTRING]
    if not needles:
        return
    holding = []
    for sealed in desk.tx.lines.walk(_widened(span, _SUBSTRING_WINDOW)):
        line = opened(sealed, rooms[sealed.room.namespace])
        if held := words.contained(needles, line.text):
            holding.append((held, line))
    holding.sort(key=lambda pair: pair[0], reverse=True)
    for _, line in holding:
        yield Recalled(line, 0.0, matched=True)


def _span(desk: Desk, wish: Wish, rooms: dict[str, RoomKeys]) -> Span:
    return Span(
        desk.scope.workspace,
        desk.scope.owner,
        frozenset(rooms),
        after=None if wish.since is None else (ulid.below(wish.since), ALL_BEFORE),
        before=None if wish.until is None else ulid.floor(wish.until),
        sessions=desk.scope.sessions,
        limit=wish.k,
    )


def _widened(span: Span, limit: int = _EVERYTHING) -> Span:
    return replace(span, limit=limit)
