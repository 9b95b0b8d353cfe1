"""Search: the lines of some compartments that answer a question, as far as a test lets them through.

The index ranks; the test (of session, kind, time, filter) is asked about its best hits first and
about more only while too few have passed, so a search costs what it returns and not what is stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Opener, compartment_of, compartments_of
from souvenance.core.conversation.latest_first import latest_first
from souvenance.core.conversation.messages import StoredMessage, class_of, row
from souvenance.core.explanations import PART, Reasons, compared_in, explained
from souvenance.core.request_context import RequestContext
from souvenance.core.search import find, understand
from souvenance.core.search_bounds import SearchBounds
from souvenance.domain import trust
from souvenance.domain.directory import FORMER, MEMBER, PEER, SESSION
from souvenance.domain.filters import Predicate
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.domain.trust import Trust
from souvenance.language import terms
from souvenance.language.questions import Question
from souvenance.ports.index import Hit
from souvenance.ports.store import Turns, TurnSpan

_WINDOW = 300
"""How many of the newest messages are looked through for a part of a word."""

_SESSIONS = 20
"""In how many sessions at most they are looked for."""

_SHORTEST_PART = 3
_NEVER = 1 << 62

Test = Callable[[SealedLine], bool]


class Where(Struct, frozen=True):
    """In which messages to look; None means anywhere in the workspace."""

    peer: str | None = None
    sessions: Collection[str] | None = None
    perspective: str | None = None
    wanted: Predicate | None = None


class How(Struct, frozen=True):
    """How a question is asked, and its answer told."""

    at: int | None = None
    """When it is asked (in milliseconds), if not now."""
    floor: bool = False
    """Only what is relevant enough to be shown unasked. What reads like orders to a model never is, and what
    its peer only carried is if the query asks for something."""
    explain: bool = False


class Found(Struct, frozen=True):
    message: StoredMessage
    explanation: Reasons | None = None
    """Why it came, if that was asked for."""
    signals: Mapping[str, float] = {}
    """What each signal of `souvenance.domain.relevance` was; nothing for what only holds a part of a word."""


_USUAL = How()


def ranked(
    ctx: RequestContext,
    compartments: Iterable[Compartment],
    question: Question,
    test: Test,
    limit: int,
    *,
    marks: Sequence[str] = (),
    sessions: Collection[str] | None = None,
    said: bool = False,
    floor: bool = False,
    ranks: bool = False,
) -> list[tuple[SealedLine, Hit]]:
    """The best of the compartments' lines within these bounds that answer the question and pass the test."""
    known = (ctx.services.vault.known(ctx.tx, compartment) for compartment in compartments)
    keys = [one for one in known if one is not None]
    bounds = SearchBounds(marks, sessions, said, shown=test)
    found: list[tuple[SealedLine, Hit]] = []
    seen, k = 0, limit * 2
    while True:
        hits = find(ctx, keys, question, k, bounds, floor=floor, ranks=ranks)
        likely = seen + limit - len(found)
        for some in filter(None, (hits[seen:likely], hits[likely:])):
            lines = _fetched(ctx, some)
            for hit in some:
                line = lines.get((hit.compartment, hit.id))
                if line is not None and line.invalidated_by is None and test(line):
                    found.append((line, hit))
                    if len(found) == limit:
                        return found
        if len(hits) < k:
            return found
        seen, k = len(hits), k * 4


def _fetched(ctx: RequestContext, hits: Sequence[Hit]) -> dict[tuple[Compartment, str], SealedLine]:
    by_compartment: dict[Compartment, list[str]] = defaultdict(list)
    for hit in hits:
        by_compartment[hit.compartment].append(hit.id)
    return {
        (compartment, line.id): line
        for compartment, ids in by_compartment.items()
        for line in ctx.tx.lines.get_all(compartment, ids)
    }


def find_messages(
    ctx: RequestContext, query: str, where: Where, limit: int, how: How = _USUAL
) -> list[Found]:
    """The messages that answer best, best first. Raises: NotFound, Tampered."""
    if where.wanted is not None or how.explain:
        return _found(ctx, query, where, limit, how)
    sessions = None if where.sessions is None else frozenset(where.sessions)
    key = (find_messages, query, ctx.scope, where.peer, where.perspective, sessions, how)
    looked_for: tuple[int, list[Found]] = ctx.known.get(key, (0, []))
    most, found = looked_for
    if len(found) == most < limit:
        found = _found(ctx, query, where, limit, how)
        ctx.known[key] = limit, found
    return found[:limit]


def _found(ctx: RequestContext, query: str, where: Where, limit: int, how: How) -> list[Found]:
    opener = Opener(ctx)
    test = may_find(ctx, where)
    opened: dict[tuple[Compartment, str], str] = {}
    if how.floor:
        test = _of_class(ctx, test, opener, trust.least_shown(query), opened)
    question = understand(ctx, query, how.at)
    best = ranked(
        ctx,
        _compartments(ctx, where),
        question,
        test,
        limit,
        sessions=where.sessions,
        said=True,
        floor=how.floor,
        ranks=how.explain,
    )
    if question.present:
        best = latest_first(ctx, best, question.terms, test, limit)
    space = compared_in(ctx, (hit for _, hit in best)) if how.explain else None
    found = [
        Found(
            StoredMessage(line, opened.get((line.compartment, line.id)) or opener.text(line)),
            explained(hit, rank, space) if how.explain else None,
            hit.signals,
        )
        for rank, (line, hit) in enumerate(best, 1)
    ]
    if found or how.floor:
        return found
    return [
        Found(message, Reasons(rank, PART) if how.explain else None)
        for rank, message in enumerate(islice(_by_part(ctx, query, where, test, opener), limit), 1)
    ]


def _of_class(
    ctx: RequestContext,
    test: Test,
    opener: Opener,
    least: Trust,
    opened: dict[tuple[Compartment, str], str],
) -> Test:
    """The test, passed by messages of no lower class; their texts are kept as they were opened."""

    def passes(line: SealedLine) -> bool:
        if not test(line):
            return False
        text = opened[line.compartment, line.id] = opener.text(line)
        return class_of(ctx, line, text) >= least

    return passes


def _compartments(ctx: RequestContext, where: Where) -> list[Compartment]:
    """Where such messages may lie: with those who may have said them, in the namespaces of their sessions."""
    if where.sessions is not None and where.peer is None:
        found = [
            compartment_of(ctx, owner, directory.need(ctx, SESSION, session).namespace)
            for session in sorted(directory.in_reach(ctx, where.sessions))
            for owner in _were_in(ctx, session)
        ]
        return list(dict.fromkeys(found))
    owners = [where.peer] if where.peer is not None else _anyone(ctx)
    namespaces = directory.namespaces(ctx)
    if len(namespaces) == 1:
        return [compartment_of(ctx, owner, namespaces[0]) for owner in owners]
    return [
        compartment
        for owner in owners
        for compartment in compartments_of(ctx, owner)
        if compartment.namespace in namespaces
    ]


def _were_in(ctx: RequestContext, session: str) -> list[str]:
    return [stay.held for stay in directory.stays(ctx, session)]


def _anyone(ctx: RequestContext) -> list[str]:
    entries = [
        entry for kind in (PEER, FORMER) for entry in ctx.tx.directory.entries(ctx.scope.workspace, kind)
    ]
    return list(dict.fromkeys(entry.name for entry in entries))


def may_find(ctx: RequestContext, where: Where) -> Test:
    """Whether a line is a message that the search may return.

    What a deleted peer left under its name is not its namesake's.
    """
    stays: dict[str, list[directory.Stay]] = {}

    def witnessed(session: str, turn: int) -> bool:
        if session not in stays:
            ties = ctx.tx.directory.memberships(
                ctx.scope.workspace, MEMBER, holder=session, held=where.perspective
            )
            stays[session] = [(tie.since, tie.until) for tie in ties]
        return directory.was_there(stays[session], turn)

    since = 0
    if where.peer is not None:
        peer = directory.find(ctx, PEER, where.peer)
        since = _NEVER if peer is None else peer.created_at

    def passes(line: SealedLine) -> bool:
        if line.turn is None or (where.sessions is not None and line.session not in where.sessions):
            return False
        if line.created_at < since:
            return False
        if where.perspective is not None and not witnessed(line.session or "", line.turn):
            return False
        return where.wanted is None or where.wanted(row(line))

    return passes


def _by_part(
    ctx: RequestContext, query: str, where: Where, test: Test, opener: Opener
) -> Iterator[StoredMessage]:
    """Among the newest messages, those that hold a term of the question inside a word, newest first."""
    needles = [term for term in terms.asked(query) if len(term) >= _SHORTEST_PART]
    if not needles:
        return
    for line in newest_of(ctx, where, _WINDOW):
        if test(line):
            text = opener.text(line)
            if terms.contained(needles, text):
                yield StoredMessage(line, text)


def newest_of(ctx: RequestContext, where: Where, limit: int) -> list[SealedLine]:
    """The newest lines there, newest first; whether the search may return them is not looked at."""
    workspace = ctx.scope.workspace
    if where.peer is not None and where.sessions is None:
        return ctx.tx.lines.walk(TurnSpan(workspace, where.peer, directory.namespaces(ctx), limit=limit))
    if where.sessions is None:
        sessions = ctx.tx.directory.entries(
            workspace, SESSION, namespaces=ctx.scope.namespaces, newest_first=True, limit=_SESSIONS
        )
    else:
        named = ctx.tx.directory.named(workspace, SESSION, directory.in_reach(ctx, where.sessions))
        sessions = sorted(named, key=lambda entry: entry.uid, reverse=True)[:_SESSIONS]
    found = [
        line
        for session in sessions
        for line in ctx.tx.lines.turns(
            Turns(workspace, session.name, owner=where.peer, newest_first=True, limit=limit)
        )
    ]
    found.sort(key=lambda line: line.id, reverse=True)
    return found[:limit]
