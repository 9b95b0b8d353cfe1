"""Recall: the few lines that answer a question best; a list of lines, and the profile of an owner.

A recall opens little else than what it returns. First come the lines that the index ranks; then, among the
newest, those that contain one of the question's terms inside a word; then the newest lines, marked as not
matched, because a question may share nothing with its answer that an index can see. What reads like orders to
a model comes after what matches as well, and never where nobody asked for it; what others said comes there if
the query asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.explanations import NEWEST, PART, Explanation, compared_in, explained, unranked
from souvenance.core.request_context import RequestContext, opened, said_at
from souvenance.core.search import SearchBounds, find, understand
from souvenance.core.vault import CompartmentKeys
from souvenance.domain import trust, ulid
from souvenance.domain.frame import defuse, framed
from souvenance.domain.limits import LIST_MOST, LIST_TEXT_BYTES, SNAPSHOT_BYTES
from souvenance.domain.line import DIGESTS, PROFILE, OpenLine, SealedLine
from souvenance.domain.timestamps import day
from souvenance.domain.trust import Trust
from souvenance.errors import Tampered
from souvenance.language import terms
from souvenance.language.questions import Question
from souvenance.pauses import pause
from souvenance.ports.store import ALL_BEFORE, EVERYTHING, LineQuery

_SUBSTRING_WINDOW = 500
_SHORTEST_SUBSTRING = 3
_SNAPSHOT_LINES = 200
_MOST_DIGESTS = 100
"""How many of the newest lines may be digests of others, which are passed over."""


class Recalled(Struct, frozen=True):
    line: OpenLine
    trust: Trust
    score: float | None
    matched: bool
    explanation: Explanation | None = None
    """Why it came, if that was asked for."""


class RecallQuery(Struct, frozen=True):
    """What is asked, and how much may come back. Times are milliseconds; `until` is exclusive."""

    ctx: RequestContext
    compartments: Mapping[str, CompartmentKeys]
    """Where to look: what is open."""
    query: str | None
    k: int
    since: int | None = None
    until: int | None = None
    at: int | None = None
    """When it is asked, if not now."""
    floor: bool = False
    explain: bool = False

    def lines(self) -> list[Recalled]:
        """At most k lines, best first. Raises: Tampered if one of them does not open."""
        found: dict[tuple[str, str], Recalled] = {}
        least = trust.least_shown(self.query or "") if self.floor else Trust.SUSPECT
        for one in self._candidates() if self.compartments else ():
            if one.trust >= least and not (least == Trust.SAID and one.line.of_another):
                found.setdefault((one.line.compartment.namespace, one.line.id), one)
            if len(found) == self.k:
                break
        ranked = sorted(found.values(), key=_place)
        if not self.explain:
            return ranked
        return [
            replace(one, explanation=one.explanation and replace(one.explanation, rank=rank))
            for rank, one in enumerate(ranked, 1)
        ]

    def _candidates(self) -> Iterator[Recalled]:
        question = understand(self.ctx, self.query or "", self.at)
        if question.terms or question.spans:
            yield from self._by_relevance(question)
        if not self.floor:
            yield from self._by_substring(question.terms)
            why = unranked(NEWEST) if self.explain else None
            for line in self._memories(self.k + _MOST_DIGESTS):
                whole = opened(line, self.compartments[line.compartment.namespace])
                yield Recalled(whole, class_of(whole), None, False, why)

    def _by_relevance(self, question: Question) -> Iterator[Recalled]:
        ctx, within = self.ctx, None
        if self.since is not None or self.until is not None or ctx.scope.sessions is not None:
            within = frozenset(ctx.tx.lines.ids(self._span(EVERYTHING)))
        bounds = SearchBounds(within=within, shown=lambda line: ctx.scope.sees(line.session))
        hits = find(ctx, self.compartments.values(), question, self.k, bounds, floor=self.floor)
        space = compared_in(ctx, hits) if self.explain else None
        for hit in hits:
            pause()
            line = ctx.tx.lines.get(hit.compartment, hit.id)
            if line is not None and line.invalidated_by is None and ctx.scope.sees(line.session):
                why = explained(hit, 0, space) if self.explain else None
                whole = opened(line, self.compartments[hit.compartment.namespace])
                yield Recalled(whole, class_of(whole), round(hit.score, 6), True, why)

    def _by_substring(self, asked: Sequence[str]) -> Iterator[Recalled]:
        needles = [term for term in asked if len(term) >= _SHORTEST_SUBSTRING]
        holding = []
        for sealed in self._memories(_SUBSTRING_WINDOW) if needles else ():
            line = opened(sealed, self.compartments[sealed.compartment.namespace])
            if held := terms.contained(needles, line.text):
                holding.append((held, line))
        holding.sort(key=lambda pair: pair[0], reverse=True)
        why = unranked(PART, score=0.0) if self.explain else None
        for _, line in holding:
            yield Recalled(line, class_of(line), 0.0, True, why)

    def _memories(self, limit: int) -> Iterator[SealedLine]:
        return (line for line in self.ctx.tx.lines.walk(self._span(limit)) if line.kind not in DIGESTS)

    def _span(self, limit: int) -> LineQuery:
        before = None if self.until is None else ulid.floor(self.until)
        return _in_scope(self.ctx, self.compartments, after=_since(self.since), before=before, limit=limit)


def _place(one: Recalled) -> int:
    """What matches, what matches and reads like orders, and the newest."""
    return (1 if one.trust == Trust.SUSPECT else 0) if one.matched else 2


def _in_scope(ctx: RequestContext, compartments: Iterable[str], **bounds: Any) -> LineQuery:
    scope = ctx.scope
    return LineQuery(scope.workspace, scope.owner, frozenset(compartments), sessions=scope.sessions, **bounds)


def _since(moment: int | None) -> tuple[str, str] | None:
    return None if moment is None else (ulid.below(moment), ALL_BEFORE)


def list_lines(
    ctx: RequestContext,
    *,
    since: int | None,
    cursor: str | None,
    limit: int,
    history: bool,
    texts: bool = False,
) -> tuple[list[SealedLine], str | None, list[OpenLine | None]]:
    """A page of lines, oldest first, and where the next begins. With `texts` it may end sooner, and the same
    lines come opened too, None for one that does not open. Raises: InvalidInput for the cursor."""
    limit = max(1, min(limit, LIST_MOST))
    after = _since(since)
    if cursor is not None:
        last_id, _, last_namespace = cursor.partition(".")
        after = (ulid.check(last_id, "cursor"), last_namespace)
    compartments = ctx.open_compartments()
    bounds = {"after": after, "history": history, "newest_first": False, "limit": limit + 1}
    lines = ctx.tx.lines.walk(_in_scope(ctx, compartments, **bounds))
    read = _opened_page(lines[:limit], compartments) if texts else []
    page = lines[: len(read) if texts else limit]
    if len(page) == len(lines):
        return page, None, read
    return page, f"{page[-1].id}.{page[-1].compartment.namespace}", read


def _opened_page(
    lines: Sequence[SealedLine], compartments: Mapping[str, CompartmentKeys]
) -> list[OpenLine | None]:
    """The first of the lines, as many as their texts may fill a page."""
    found: list[OpenLine | None] = []
    size = 0
    for sealed in lines:
        line = None  # One that does not open is in the list all the same, and so is that it does not.
        with suppress(Tampered):
            line = opened(sealed, compartments[sealed.compartment.namespace])
            size += len(line.text.encode())
        if found and size > LIST_TEXT_BYTES:
            break
        found.append(line)
    return found


def snapshot(ctx: RequestContext) -> tuple[str, list[str]]:
    """A profile in the frame, and the ids of its lines: those of kind 'profile' first, then the newest.
    Only the owner's own words and notes: nobody asked for any. Raises: Tampered."""
    compartments = ctx.open_compartments()
    span = _in_scope(ctx, compartments, limit=_SNAPSHOT_LINES)
    profile = ctx.tx.lines.walk(replace(span, profile=True))
    others = [line for line in ctx.tx.lines.walk(span) if line.kind not in (PROFILE, *DIGESTS)]
    room, rows, ids = SNAPSHOT_BYTES - len(framed(" ")), [], []
    for sealed in (*profile, *others):
        line = opened(sealed, compartments[sealed.compartment.namespace])
        when = day(ctx.services.local(said_at(line)))
        row = f"- {when} [{line.compartment.namespace}] {defuse(line.text)}"
        size = len(row.encode()) + 1
        if size <= room and not line.of_another and class_of(line) == Trust.SAID:
            room -= size
            rows.append(row)
            ids.append(line.id)
    return framed("\n".join(rows)), ids


def class_of(line: OpenLine) -> Trust:
    return trust.of_line(line.kind, line.metadata, line.text)
