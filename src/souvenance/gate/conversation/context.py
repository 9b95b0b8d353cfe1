"""Context: what an agent reads of a peer and of a session: representation, card, summaries, messages."""

from __future__ import annotations

from operator import attrgetter
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from souvenance.core.conversation import cards, directory, search
from souvenance.core.conversation.compartments import Changes, everywhere, reading
from souvenance.core.conversation.conclusions import Noted, View, Whose, written
from souvenance.core.conversation.messages import StoredMessage, read_messages
from souvenance.core.conversation.summarise import StoredSummary, summaries
from souvenance.core.request_context import RequestContext
from souvenance.core.search import Test, foresee
from souvenance.domain.content import check_text
from souvenance.domain.current_facts import CardEntry
from souvenance.domain.directory import PEER, SESSION
from souvenance.domain.line import CONCLUSIONS, STATEMENT, SealedLine
from souvenance.domain.names import Namespace
from souvenance.domain.reasoning_settings import observed, uses_cards
from souvenance.domain.representation import fitting, render
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.trust import least_shown
from souvenance.errors import InvalidInput
from souvenance.gate.conversation import resource as r
from souvenance.gate.conversation.messages import MessageAnswer
from souvenance.gate.conversation.peers import OfPeer
from souvenance.gate.conversation.sessions import OfSession, reads_session
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights
from souvenance.ports.store import TurnQuery

MOST_TOKENS = 100_000
SUMMARY_SHARE = 0.4
MOST_CONCLUSIONS = 100
PICTURE_TOKENS = 1_200
"""How long a representation is, in tokens, where no budget is named."""
PICTURE_SHARE = 0.6
"""What share of a context's budget the picture of a peer may take."""
CONCLUSIONS_SHARE = 0.3
"""What share of a picture the conclusions may take; the rest is for what was said."""
_HEADING_TOKENS = 8
_STAMP_TOKENS = 22
"""What a conclusion takes beside its text: its time, its line, and the marks of a quotation."""
_READ_AHEAD = 10


class Represent(OfPeer, frozen=True, kw_only=True):
    session_id: r.AnyName | None = None
    filters: r.JsonObject | None = None
    scope: r.Scopes | None = None
    target: r.PeerName | None = None
    search_query: r.Query | None = None
    search_top_k: r.UpTo100 | None = None
    search_max_distance: r.Share | None = None
    include_most_frequent: bool | None = None
    max_conclusions: r.UpTo100 | None = 25


class PeerContext(OfPeer, frozen=True, kw_only=True):
    target: r.PeerName | None = None
    search_query: r.Query | None = None
    search_top_k: r.UpTo100 | None = None
    search_max_distance: r.Share | None = None
    include_most_frequent: bool = True
    max_conclusions: r.UpTo100 | None = None
    floor: bool = False
    """Whether nobody asked to see it: then only messages that answer the query well are quoted for it."""
    quotes: bool = True
    """Whether messages are quoted beside what was noted."""


class ReadCard(OfPeer, frozen=True, kw_only=True):
    target: r.PeerName | None = None


class WriteCard(r.WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: r.NewName
    peer_id: r.NewName
    target: r.NewName | None = None
    namespace: Namespace | None = None
    peer_card: Annotated[list[Annotated[str, Meta(max_length=10_000)]], Meta(max_length=200)]


class SessionContext(OfSession, frozen=True, kw_only=True):
    tokens: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    search_query: r.Query | None = None
    summary: bool = True
    peer_target: r.PeerName | None = None
    peer_perspective: r.PeerName | None = None
    scope: r.AnyName | None = None
    sessions: Annotated[list[r.AnyName], Meta(max_length=1000)] | None = None
    limit_to_session: bool = False
    search_top_k: r.UpTo100 | None = None
    search_max_distance: r.Share | None = None
    include_most_frequent: bool = False
    max_conclusions: r.UpTo100 | None = None


class Summaries(OfSession, frozen=True, kw_only=True):
    if_any: bool = False
    """Whether a session that is not there, or not for this cap, has none, rather than being refused."""
    between: Annotated[list[r.AnyName], Meta(max_length=100)] | None = None
    """Those whose conversation it has to be: where anybody else took part, there is no summary."""


class Representation(Answer, frozen=True):
    representation: str


class PeerContextAnswer(Answer, frozen=True):
    peer_id: str
    target_id: str
    representation: str | None
    peer_card: list[str] | None


class PeerCard(Answer, frozen=True):
    peer_card: list[str] | None


class Summary(Answer, frozen=True):
    content: str
    message_id: str
    summary_type: str
    created_at: str
    token_count: int

    @classmethod
    def of(cls, one: StoredSummary) -> Summary:
        kind = "long" if one.long else "short"
        made = msgspec.json.encode(to_datetime(one.created_at)).decode().strip('"')
        return cls(one.text, one.message_id, f"honcho_chat_summary_{kind}", made, one.tokens)


class SessionSummaries(Answer, frozen=True):
    id: str
    short_summary: Summary | None
    long_summary: Summary | None


class SessionContextAnswer(Answer, frozen=True):
    id: str
    messages: list[MessageAnswer]
    summary: Summary | None
    peer_representation: str | None
    peer_card: list[str] | None


def may_look(rights: Rights, request: Any) -> None:
    rights.looks(request.peer_id, request.target or request.peer_id)


def _may_read_card(rights: Rights, request: ReadCard | WriteCard) -> None:
    rights.holds(request.peer_id, request.target or request.peer_id)


def _may_write_card(rights: Rights, request: WriteCard) -> None:
    _may_read_card(rights, request)
    rights.lies(None, request.namespace)


def _may_read_summaries(rights: Rights, request: Summaries) -> None:
    if not request.if_any:
        rights.reads(request.session_id)


def _represent(call: AuthorisedRequest, request: Represent) -> Outcome:
    target = request.target or request.peer_id
    limits = call.rights.looks(request.peer_id, target)
    sessions = sessions_asked(call, request.session_id, request.filters, request.scope)
    found = _picture(call.ctx, _Perspective(request, request.peer_id, target, narrowed(sessions, limits)))
    return Outcome(Representation(found.text), reading(everywhere(call.ctx), found.lines))


def _peer_context(call: AuthorisedRequest, request: PeerContext) -> Outcome:
    target = request.target or request.peer_id
    limits = call.rights.looks(request.peer_id, target)
    asked = _Perspective(
        request, request.peer_id, target, limits, unasked=request.floor, quotes=request.quotes
    )
    found = _picture(call.ctx, asked)
    answer = PeerContextAnswer(request.peer_id, target, found.text, found.card)
    return Outcome(answer, reading(everywhere(call.ctx), found.lines))


class _Perspective(Struct, frozen=True):
    request: Represent | PeerContext | SessionContext
    observer: str
    observed: str
    sessions: frozenset[str] | None
    """Only what was said in these; then neither card nor what was reasoned further counts."""
    unasked: bool = False
    """Whether nobody asked to see it: then only messages that answer the query well are quoted for it."""
    quotes: bool = True

    @property
    def most(self) -> int:
        """How many conclusions, and how many found messages, it has at most."""
        return self.request.max_conclusions or MOST_CONCLUSIONS


class _Picture(Struct, frozen=True):
    """What is known of a peer: rendered, and its card."""

    text: str
    card: list[str] | None
    lines: list[str]
    """The ids of what it was made of, beside the card."""
    tokens: int
    """How much it takes, without the card."""


def _picture(
    ctx: RequestContext, asked: _Perspective, tokens: int = PICTURE_TOKENS, session: str | None = None
) -> _Picture:
    """Conclusions, quoted messages and the card, within the budget. Raises: Tampered."""
    if asked.request.search_query:
        foresee(ctx, asked.request.search_query)
    conclusions = _Conclusions(_noted(ctx, asked, min(asked.most, tokens // _STAMP_TOKENS)))
    left = tokens - conclusions.take(int(tokens * CONCLUSIONS_SHARE))
    passages, spent = search.quotes(ctx, _evidence(ctx, asked), left) if asked.quotes else ([], 0)
    left -= spent
    left -= conclusions.take(left)
    text = render([written(ctx, view) for view in conclusions.taken], search.written(ctx, passages))
    lines = [view.line.id for view in conclusions.taken]
    lines += [message.line.id for one in passages for message in one.messages]
    return _Picture(text, _shown_card(ctx, asked, session), lines, tokens - left)


def _noted(ctx: RequestContext, asked: _Perspective, most: int) -> Noted:
    kinds = (CONCLUSIONS["explicit"],) if asked.sessions is not None else CONCLUSIONS.values()
    return Noted(
        ctx,
        Whose((asked.observer,), asked.observed, asked.sessions, (STATEMENT, *kinds)),
        query=asked.request.search_query,
        top_k=asked.request.search_top_k or max(1, asked.most // 3),
        distance=asked.request.search_max_distance,
        frequent=bool(asked.request.include_most_frequent),
        most=most,
    )


class _Conclusions:
    """Conclusions, best first, of which as many are taken as there is room for."""

    def __init__(self, noted: Noted) -> None:
        self._noted = noted
        self._waiting: list[View] = []
        self.taken: list[View] = []

    def take(self, space: int) -> int:
        """What those take in tokens that fit."""
        spent = 0
        some: list[View] | None
        some, self._waiting = self._waiting, []
        while some is not None:
            for view in some:
                spent += self._taken(view, space - spent)
            some = self._noted.next(most_tokens=space - spent - _STAMP_TOKENS)
        return spent

    def _taken(self, view: View, space: int) -> int:
        """What it takes if it fits, else nothing: then it waits."""
        cost = (view.line.tokens or len(view.text)) + view.text.count("\n") + _STAMP_TOKENS
        cost += 0 if any(view.level == one.level for one in self.taken) else _HEADING_TOKENS
        if cost > space:
            self._waiting.append(view)
            return 0
        self.taken.append(view)
        return cost


def _evidence(ctx: RequestContext, asked: _Perspective) -> search.EvidenceQuery:
    query = asked.request.search_query or ""
    most = min(asked.request.search_top_k or asked.most, asked.most)
    return search.EvidenceQuery(
        asked.observer,
        asked.observed,
        asked.sessions,
        query,
        most=None if most == MOST_CONCLUSIONS else most,
        distance=asked.request.search_max_distance,
        least=least_shown(query),
        unasked=asked.unasked,
        passes=_observing(ctx, asked.observed),
    )


def _observing(ctx: RequestContext, peer: str) -> Test:
    """Whether a line was said in a session in which the peer is to be observed."""
    habits = directory.peer_habits(directory.find(ctx, PEER, peer))
    known: dict[str, bool] = {}

    def passes(line: SealedLine) -> bool:
        session = line.session or ""
        if session not in known:
            stays = directory.stays_of(ctx, session, peer)
            known[session] = observed(directory.member_habits(stays[-1] if stays else None), habits)
        return known[session]

    return passes


def _shown_card(ctx: RequestContext, asked: _Perspective, session: str | None) -> list[str] | None:
    if asked.sessions is not None or not uses_cards(*directory.habits(ctx, session)):
        return None
    return _card(ctx, asked.observer, asked.observed)


def _card(ctx: RequestContext, observer: str, observed: str) -> list[str] | None:
    entries = cards.read_card(ctx, observer, observed)
    return None if entries is None else [entry.text for entry in entries]


def narrowed(asked: frozenset[str] | None, limits: frozenset[str] | None) -> frozenset[str] | None:
    """The sessions that are in both; None, in either, for no limit."""
    if asked is None or limits is None:
        return limits if asked is None else asked
    return asked & limits


def sessions_asked(
    call: AuthorisedRequest, session: str | None, filters: r.JsonObject | None, scope: r.Scopes | None
) -> frozenset[str] | None:
    """The sessions that a question is limited to; None if to none. Raises: InvalidInput, CapScopeMismatch,
    NotFound."""
    if sum(one is not None for one in (session, filters, scope)) > 1:
        raise InvalidInput("name only one of session_id, filters and scope")
    if session is not None:
        return directory.in_reach(call.ctx, (session,))
    if scope is not None:
        call.rights.workspace()
        return directory.scope_sessions(call.ctx, (scope,) if isinstance(scope, str) else scope)
    return directory.in_reach(call.ctx, _sessions_in(filters)) if filters else None


def _sessions_in(filters: r.JsonObject) -> frozenset[str]:
    if set(filters) != {"session_id"}:
        raise InvalidInput("filters may only name session_id here")
    named = filters["session_id"]
    if isinstance(named, dict) and set(named) == {"in"}:
        named = named["in"]
    found = [named] if isinstance(named, str) else named
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found) or len(found) > 1000:
        raise InvalidInput("filters.session_id must be an id, a list of up to 1000 ids, or {'in': [ids]}")
    return frozenset(found)


def _read_card(call: AuthorisedRequest, request: ReadCard) -> Outcome:
    card = _card(call.ctx, request.peer_id, request.target or request.peer_id)
    return Outcome(PeerCard(card), reading(everywhere(call.ctx)))


def _write_card(call: AuthorisedRequest, request: WriteCard) -> Outcome:
    changes = Changes()
    target = request.target or request.peer_id
    namespace = directory.namespace_for(call.ctx, None, request.namespace)
    directory.ensure(call.ctx, PEER, request.peer_id, namespace=namespace)
    if call.rights.reaches(target):
        directory.ensure(call.ctx, PEER, target, namespace=namespace)
    entries = [CardEntry(check_text(text, "peer_card")) for text in request.peer_card]
    cards.Card(call.ctx, request.peer_id, target, namespace).write(entries, changes)
    return Outcome(PeerCard(list(request.peer_card)), changes.trace())


def _session_context(call: AuthorisedRequest, request: SessionContext) -> Outcome:
    """The picture of a peer, a summary, and the newest messages that fit what is left."""
    ctx, asked = call.ctx, _asked(call, request)
    budget = MOST_TOKENS if request.tokens is None else request.tokens
    share = min(PICTURE_TOKENS, int(budget * PICTURE_SHARE))
    picture = None if asked is None else _picture(ctx, asked, share, request.session_id)
    if picture is not None:
        budget -= picture.tokens + sum(map(ctx.services.tokenizer.count, picture.card or ()))
    messages, summary = _recent(ctx, request, budget)
    answer = SessionContextAnswer(
        id=request.session_id,
        messages=[MessageAnswer.of(one) for one in messages],
        summary=None if summary is None else Summary.of(summary),
        peer_representation=None if picture is None else picture.text,
        peer_card=None if picture is None else picture.card,
    )
    limited = asked is None or asked.sessions == frozenset((request.session_id,))
    namespaces = directory.where(ctx, request.session_id) if limited else everywhere(ctx)
    lines = [one.line.id for one in messages] + ([] if picture is None else picture.lines)
    return Outcome(answer, reading(namespaces, lines))


def _recent(
    ctx: RequestContext, request: SessionContext, budget: int
) -> tuple[list[StoredMessage], StoredSummary | None]:
    """The newest messages, and the longest summary of those before them, within the budget."""
    if directory.find(ctx, SESSION, request.session_id) is None:
        return [], None
    told = summaries(ctx, request.session_id) if request.summary else ()
    fit = [one for one in told if one.tokens <= budget * SUMMARY_SHARE]
    summary = max(fit, key=lambda one: one.tokens, default=None)
    first = 0 if summary is None else summary.turn
    newest = _newest(ctx, request.session_id, first, budget - (0 if summary is None else summary.tokens))
    return read_messages(ctx, newest), summary


def _newest(ctx: RequestContext, session: str, first: int, budget: int) -> list[SealedLine]:
    """The newest messages from that turn on that fit, read back in steps as far as needed."""
    lines: list[SealedLine] = []
    left, query = budget, TurnQuery(ctx.scope.workspace, session, first=first, newest_first=True)
    wanted, last = _READ_AHEAD, None
    while left > 0:
        step = ctx.tx.lines.turns(replace(query, last=last, limit=wanted))
        lines.extend(step)
        left -= sum(line.tokens or 0 for line in step)
        wanted = _READ_AHEAD + max(0, left) * len(lines) // max(1, budget - left)
        if not step or (oldest := step[-1].turn or 0) <= first:
            break
        last = oldest - 1
    return fitting(lines, lambda line: line.tokens or 0, budget)


def _asked(call: AuthorisedRequest, request: SessionContext) -> _Perspective | None:
    """Whose picture of whom it has. Raises: InvalidInput, NotFound, CapScopeMismatch."""
    if request.peer_target is None:
        if request.peer_perspective is not None:
            raise InvalidInput("peer_perspective needs a peer_target")
        return None
    given = (request.limit_to_session, request.scope is not None, request.sessions is not None)
    if sum(given) > 1:
        raise InvalidInput("name only one of limit_to_session, scope and sessions")
    sessions: frozenset[str] | None = None
    if request.limit_to_session:
        sessions = frozenset((request.session_id,))
    elif request.scope is not None:
        call.rights.workspace()
        sessions = directory.scope_sessions(call.ctx, (request.scope,))
    elif request.sessions is not None:
        sessions = frozenset(request.sessions)
        if request.session_id not in sessions:
            raise InvalidInput("sessions must name the session whose context it is")
    rights = call.rights
    observer = request.peer_perspective or request.peer_target
    limits = (
        rights.sessions if rights.opens(request.session_id) else rights.looks(observer, request.peer_target)
    )
    return _Perspective(request, observer, request.peer_target, narrowed(sessions, limits))


def _summaries(call: AuthorisedRequest, request: Summaries) -> Outcome:
    session = request.session_id
    if request.if_any and not call.rights.finds(session):
        return Outcome(SessionSummaries(session, None, None), reading(()))
    trace = reading((directory.need(call.ctx, SESSION, session).namespace,))
    if request.between is not None:
        others = {stay.held for stay in directory.stays(call.ctx, session)} - {*request.between}
        if others:
            return Outcome(SessionSummaries(session, None, None), trace)
    found = {one.long: Summary.of(one) for one in summaries(call.ctx, session)}
    return Outcome(SessionSummaries(session, found.get(False), found.get(True)), trace)


REPRESENT = r.operation("peers.representation", "get", Representation, _represent, may_look)
PEER_CONTEXT = r.operation(
    "peers.context", "get", PeerContextAnswer, _peer_context, may_look, question=attrgetter("search_query")
)
READ_CARD = r.operation("peers.card", "get", PeerCard, _read_card, _may_read_card)
WRITE_CARD = r.operation("peers.set_card", "put", PeerCard, _write_card, _may_write_card)
CONTEXT = r.operation("sessions.context", "get", SessionContextAnswer, _session_context, reads_session)
SUMMARIES = r.operation("sessions.summaries", "get", SessionSummaries, _summaries, _may_read_summaries)
