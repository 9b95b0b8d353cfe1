"""One search of everything that a token opens: notes, messages and conclusions, ranked together; and the
conclusions of one peer about another, with why each was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from operator import attrgetter

from msgspec import Struct

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Opener, compartments_of, everywhere, reading
from souvenance.core.conversation.conclusions import KINDS, Whose, nearest_and_newest, times_said
from souvenance.core.conversation.search import Where, everyone, newest_of
from souvenance.core.explanations import SignalValue, by_share
from souvenance.core.request_context import RequestContext
from souvenance.core.search import ranked, understand
from souvenance.domain.directory import PEER
from souvenance.domain.line import DIGESTS, TOMBSTONE, SealedLine
from souvenance.domain.names import ALL, Compartment
from souvenance.domain.timestamps import to_datetime
from souvenance.gate.conversation.context import narrowed
from souvenance.gate.conversation.resource import PeerName, Query, UpTo100
from souvenance.gate.inspection import Asked, anyone
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, operation
from souvenance.language import terms
from souvenance.ports.index import Hit
from souvenance.ports.store import LineQuery, ViewQuery

_SESSIONS = 200
"""Of those who are in a session with a peer, so many of the peer's newest sessions are looked into."""
_NEWEST = 300
"""So many of the newest lines of each sort are looked through for a part of a word."""
_SHORTEST_PART = 3


class SearchEverything(Asked, frozen=True, kw_only=True):
    query: Query
    limit: UpTo100 = 20


class FoundLine(Answer, frozen=True, kw_only=True):
    id: str
    kind: str
    """'note', 'message' or 'conclusion'."""
    owner: str
    """Who noted, said or concluded it."""
    about: str | None
    namespace: str
    session: str | None
    text: str
    said_at: datetime


class FoundAnswer(Answer, frozen=True):
    lines: list[FoundLine]
    """Best first."""
    by_words: bool
    """Whether one of them has a word of the query; else they only come nearest to it."""
    person: str | None
    """Who has that name, if the token opens what is known about them."""


class RankConclusions(Asked, frozen=True, kw_only=True):
    observer: PeerName
    observed: PeerName
    query: Query
    limit: UpTo100 = 20


class RankedConclusion(Answer, frozen=True):
    id: str
    owner: str
    text: str
    said_at: datetime
    signals: dict[str, SignalValue]
    """By name, what added most first; none of what the query does not find."""


class RankedConclusions(Answer, frozen=True):
    conclusions: list[RankedConclusion]
    """Best first, then the newest others; without what only repeats its message, or is no longer so."""


class _Place(Struct, frozen=True):
    """Compartments of which the token may read every line, or every one within these bounds."""

    compartments: Sequence[Compartment]
    sessions: Collection[str] | None = None
    said: bool = False
    marks: Sequence[str] = ()


def search(request: AuthorisedRequest, asked: SearchEverything) -> Outcome:
    ctx, question = request.ctx, understand(request.ctx, asked.query)

    def shown(line: SealedLine) -> bool:
        return line.kind not in (TOMBSTONE, *DIGESTS) and request.rights.sees(line)

    found: dict[tuple[Compartment, str], tuple[SealedLine, Hit]] = {}
    for place in _places(request):
        best = ranked(
            ctx,
            place.compartments,
            question,
            shown,
            asked.limit,
            marks=place.marks,
            sessions=place.sessions,
            said=place.said,
        )
        for line, hit in best:
            found.setdefault((line.compartment, line.id), (line, hit))
    ordered = sorted(found.values(), key=lambda one: (one[1].score, one[0].id), reverse=True)[: asked.limit]
    opener = Opener(ctx)
    texts = [(line, opener.text(line)) for line, _ in ordered]
    needles = [term for term in terms.asked(asked.query) if len(term) >= _SHORTEST_PART]
    if not texts:
        newest = {(line.compartment, line.id): line for line in _newest(request) if needles and shown(line)}
        read = ((line, opener.text(line)) for line in newest.values())
        texts = [(line, text) for line, text in read if terms.contained(needles, text)][: asked.limit]
    texts = _once(ctx, texts)
    said = times_said(ctx, [line for line, _ in texts])
    answer = FoundAnswer(
        [_found(line, text, said.get(line.id, line.created_at)) for line, text in texts],
        not needles or any(terms.contained(needles, text) for _, text in texts),
        _named(request, asked.query),
    )
    return Outcome(answer, reading(everywhere(ctx), [line.id for line, _ in texts]))


def rank_conclusions(request: AuthorisedRequest, asked: RankConclusions) -> Outcome:
    sessions = request.rights.looks(asked.observer, asked.observed)
    whose = Whose((asked.observer,), asked.observed, sessions)
    found = nearest_and_newest(request.ctx, whose, asked.query, asked.limit)
    answer = [
        RankedConclusion(view.line.id, asked.observer, view.text, to_datetime(view.at), by_share(signals))
        for view, signals in found
    ]
    trace = reading(everywhere(request.ctx), [one.id for one in answer])
    return Outcome(RankedConclusions(answer), trace)


def _named(request: AuthorisedRequest, query: str) -> str | None:
    rights, whole = request.rights, request.chain.grant.sessions is None
    names = (query, query.lower()) if whole else ()
    return next((name for name in names if rights.reaches(name) and rights.known(PEER, name)), None)


def _once(ctx: RequestContext, found: list[tuple[SealedLine, str]]) -> list[tuple[SealedLine, str]]:
    """Without conclusions that only repeat words of a message that was found as well."""
    cited = ctx.tx.lines.cited(ctx.scope.workspace, [line.id for line, _ in found if line.turn is None])
    said = {line.id: text for line, text in found if line.turn is not None}
    return [
        (line, text)
        for line, text in found
        if not any(text in said.get(source, "") for source in cited.get(line.id, ()))
    ]


def _found(line: SealedLine, text: str, said: int) -> FoundLine:
    return FoundLine(
        id=line.id,
        kind="message" if line.turn is not None else "note" if line.about is None else "conclusion",
        owner=line.compartment.owner,
        about=line.about,
        namespace=line.compartment.namespace,
        session=line.session,
        text=text,
        said_at=to_datetime(said),
    )


def _places(request: AuthorisedRequest) -> Iterator[_Place]:
    """Where the token may look. What it may not read has no part in how telling a word is."""
    ctx, rights, grant = request.ctx, request.rights, request.chain.grant
    limits, own = grant.sessions, {grant.actor, *grant.peers}
    if ALL in grant.peers:
        yield _Place(_all_of(ctx, dict.fromkeys((grant.actor, *everyone(ctx)))), limits)
        return
    yield _Place(_all_of(ctx, sorted(own)), limits)
    register, scope = ctx.tx.directory, ctx.scope
    joined = {
        one.name
        for peer in own
        for one in register.newest_sessions(scope.workspace, peer, scope.namespaces, 0, _SESSIONS)
    }
    read = set(filter(rights.finds, limits)) if limits is not None else joined
    with_them = {stay.held for session in read for stay in directory.stays(ctx, session)} - own
    if with_them:
        yield _Place(_all_of(ctx, sorted(with_them)), read, said=not any(map(rights.opens, read)))
    for whose in rights.views()[1:]:
        limited = None if limits is None else frozenset(read)
        sessions = None if whose.sessions is None else frozenset(whose.sessions)
        marks = [terms.mark("about", whose.observed or "")]
        yield _Place(_all_of(ctx, whose.observers or ()), narrowed(sessions, limited), marks=marks)


def _all_of(ctx: RequestContext, owners: Iterable[str]) -> list[Compartment]:
    return [compartment for owner in owners for compartment in compartments_of(ctx, owner)]


def _newest(request: AuthorisedRequest) -> Iterable[SealedLine]:
    """The newest lines, of those who may be looked at and of what they concluded."""
    ctx, grant, scope = request.ctx, request.chain.grant, request.ctx.scope
    owners = [grant.actor] if ALL in grant.peers else sorted({grant.actor, *grant.peers})
    held = [
        LineQuery(scope.workspace, owner, [one.namespace for one in _all_of(ctx, (owner,))], limit=_NEWEST)
        for owner in owners
    ]
    views = ViewQuery(scope.workspace, KINDS, None, None, grant.sessions, _NEWEST, scope.namespaces)
    said = newest_of(ctx, Where(sessions=grant.sessions), _NEWEST) if ALL in grant.peers else ()
    return chain(said, *map(ctx.tx.lines.walk, held), ctx.tx.lines.views(views))


SEARCH = operation("inspect.search", "get", FoundAnswer, search, anyone)
RANK_CONCLUSIONS = operation(
    "inspect.conclusions", "get", RankedConclusions, rank_conclusions, anyone, question=attrgetter("query")
)
