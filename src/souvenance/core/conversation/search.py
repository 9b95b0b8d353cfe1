"""Search: the messages that answer a question, and passages of them within a budget of tokens.

A passage is a whole message about a peer, with the messages beside it that make it understood. With a
question they are those that the search ranks first; without one, those that are current and central. They are
chosen by rank until the budget is full, each once, and only what the observer was there to hear. The messages
beside a found one count as said by it: the observed peer has to have been there too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice, pairwise, takewhile

from msgspec import Struct

from souvenance.core.conversation import directory
from souvenance.core.conversation.cards import latest_first
from souvenance.core.conversation.compartments import Opener, compartment_of, compartments_of
from souvenance.core.conversation.messages import StoredMessage, class_of, read_messages, row
from souvenance.core.explanations import PART, Explanation, compared_in, explained, unranked
from souvenance.core.request_context import RequestContext, said_at
from souvenance.core.search import Test, lacking_share, ranked, understand
from souvenance.domain import representation, trust
from souvenance.domain.centrality import central
from souvenance.domain.content import decode_metadata
from souvenance.domain.directory import FORMER, MEMBER, PEER, SESSION
from souvenance.domain.filters import Predicate
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment, grouped
from souvenance.domain.representation import Quote
from souvenance.domain.trust import Trust, is_carried
from souvenance.language import terms as words
from souvenance.language.signs import ASKS, signs
from souvenance.ports.store import LineQuery, TurnQuery

_WINDOW = 300
"""How many of the newest messages are searched for a part of a word."""

_SESSIONS = 20
"""How many sessions are searched for it at most."""

_SHORTEST_PART = 3
_NEVER = 1 << 62

AROUND = 2
"""How many messages on either side of a found one are quoted with it."""
_NEIGHBOURS_SHARE = 4
"""A found message's neighbours may take a fourth of the budget: no reply, however long, takes the place
of other found messages."""
_TOKENS_PER_FOUND = 40
"""What a short message costs with its date, session and name; it says how many to look for."""
_FEWEST, _MOST = 5, 50
_CENTRAL, _CENTRAL_BESIDE = 100, 30
"""How many of the newest messages the central ones are chosen from: alone, and beside answers."""
_LOOKED_THROUGH = 3
"""For these, this many times as many lines are read."""
_HEADING, _STAMP, _MARKS = 8, 20, 12
"""The tokens of the heading, of a date with its session, and of the marks of a quotation."""
_LEAST_LEFT = 10
"""With fewer tokens left, no more messages are added."""
_DAY_MS = 86_400_000


class Where(Struct, frozen=True):
    """Which messages to search; None means all of the workspace."""

    peer: str | None = None
    sessions: Collection[str] | None = None
    perspective: str | None = None
    wanted: Predicate | None = None


class How(Struct, frozen=True):
    """How a question is asked and answered."""

    at: int | None = None
    """When it is asked (in milliseconds), if not now."""
    floor: bool = False
    """Whether weak matches are left out. So is text that reads like orders to a model, and text that its peer
    only passed on, unless the query asks for something."""
    explain: bool = False


class Found(Struct, frozen=True):
    line: SealedLine
    read: Callable[[SealedLine], str]
    """Gives the text of a line, which it opens once. Raises: Tampered."""
    explanation: Explanation | None = None
    """Why it came, if that was asked for."""
    signals: Mapping[str, float] = {}
    """The value of each signal of `souvenance.domain.relevance`; empty for a match of a part of a word."""

    @property
    def message(self) -> StoredMessage:
        """Raises: Tampered."""
        return StoredMessage(self.line, self.read(self.line))


_USUAL = How()


def find_messages(
    ctx: RequestContext, query: str, where: Where, limit: int, how: How = _USUAL
) -> list[Found]:
    """The messages that answer best, best first, each opened when it is read. Raises: NotFound, Tampered."""
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
    read = cache(Opener(ctx).text)
    test = may_find(ctx, where)
    if how.floor:
        test = _of_class(ctx, test, read, trust.least_shown(query))
    question = understand(ctx, query, how.at)
    witness = where.perspective if where.sessions is None else None
    stays = partial(ctx.tx.directory.memberships, ctx.scope.workspace, MEMBER, held=witness)
    best = ranked(
        ctx,
        _compartments(ctx, where),
        question,
        test,
        limit,
        sessions=where.sessions,
        said=True,
        floor=how.floor,
        passing=None if witness is None else lambda: {stay.holder for stay in stays()},
    )
    if question.present:
        best = latest_first(ctx, best, question.terms, test, limit)
    space = compared_in(ctx, (hit for _, hit in best)) if how.explain else None
    found = [
        Found(line, read, explained(hit, rank, space) if how.explain else None, hit.signals)
        for rank, (line, hit) in enumerate(best, 1)
    ]
    if found or how.floor:
        return found
    return [
        Found(line, read, unranked(PART, rank) if how.explain else None)
        for rank, line in enumerate(islice(_by_part(ctx, query, where, test, read), limit), 1)
    ]


def _of_class(ctx: RequestContext, test: Test, read: Callable[[SealedLine], str], least: Trust) -> Test:
    return lambda line: test(line) and class_of(ctx, line, read(line)) >= least


def _compartments(ctx: RequestContext, where: Where) -> list[Compartment]:
    """The compartments that can have such messages: of their speakers, in the namespaces of the sessions."""
    if where.sessions is not None and where.peer is None:
        found = [
            compartment_of(ctx, stay.held, directory.need(ctx, SESSION, session).namespace)
            for session in sorted(directory.in_reach(ctx, where.sessions))
            for stay in directory.stays(ctx, session)
        ]
        return list(dict.fromkeys(found))
    owners = [where.peer] if where.peer is not None else everyone(ctx)
    namespaces = directory.namespaces(ctx)
    if len(namespaces) == 1:
        return [compartment_of(ctx, owner, namespaces[0]) for owner in owners]
    return [
        compartment
        for owner in owners
        for compartment in compartments_of(ctx, owner)
        if compartment.namespace in namespaces
    ]


def everyone(ctx: RequestContext) -> list[str]:
    entries = [
        entry for kind in (PEER, FORMER) for entry in ctx.tx.directory.entries(ctx.scope.workspace, kind)
    ]
    return list(dict.fromkeys(entry.name for entry in entries))


def may_find(ctx: RequestContext, where: Where) -> Test:
    """A test for messages that the search may return. A new peer does not get the messages of a deleted one
    of the same name."""

    def witnessed(session: str, turn: int) -> bool:
        stays = directory.stays_of(ctx, session, where.perspective)
        return directory.was_there(((stay.since, stay.until) for stay in stays), turn)

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
    ctx: RequestContext, query: str, where: Where, test: Test, read: Callable[[SealedLine], str]
) -> Iterator[SealedLine]:
    """Of the newest messages, those with a term of the question inside a word, newest first."""
    needles = [term for term in words.asked(query) if len(term) >= _SHORTEST_PART]
    if not needles:
        return
    for line in newest_of(ctx, where, _WINDOW):
        if test(line) and words.contained(needles, read(line)):
            yield line


def newest_of(ctx: RequestContext, where: Where, limit: int) -> list[SealedLine]:
    """The newest lines there, newest first, also those that the search may not return."""
    workspace = ctx.scope.workspace
    if where.peer is not None and where.sessions is None:
        return ctx.tx.lines.walk(LineQuery(workspace, where.peer, directory.namespaces(ctx), limit=limit))
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
            TurnQuery(workspace, session.name, owner=where.peer, newest_first=True, limit=limit)
        )
    ]
    found.sort(key=lambda line: line.id, reverse=True)
    return found[:limit]


class EvidenceQuery(Struct, frozen=True):
    observer: str | None
    """None for a token of the whole workspace."""
    observed: str | None
    sessions: Collection[str] | None = None
    query: str = ""
    most: int | None = None
    """How many messages to look for; None for as many as the budget may hold."""
    distance: float | None = None
    """What share of the question's terms a found message may lack."""
    around: int = AROUND
    least: Trust = Trust.QUOTED
    """The least class of a message that may be quoted."""
    these_two: bool = False
    """Whether only these two are quoted."""
    unasked: bool = False
    """Whether it is shown unasked. Then only these two are quoted, and only messages that answer well and are
    no questions."""
    passes: Callable[[SealedLine], bool] = lambda line: True
    """Another test that a found message must pass."""


class Passage(Struct, frozen=True):
    """Messages of a session that follow each other, and the best of them."""

    messages: tuple[StoredMessage, ...]
    best: StoredMessage

    @property
    def first(self) -> SealedLine:
        return self.messages[0].line


def quotes(ctx: RequestContext, asked: EvidenceQuery, tokens: int) -> tuple[list[Passage], int]:
    """The passages that answer the question, or central ones if none does, with their tokens. If they are
    shown unasked, both kinds, as far as there is room. Raises: NotFound, Tampered."""
    chosen = _Chosen(ctx, asked, tokens)
    for one in _answering(ctx, asked, tokens) if asked.query.strip() else ():
        if chosen.has_room(one.line) and _fits(ctx, asked, one):
            chosen.take(one.message)
    if not chosen.any or (asked.unasked and not chosen.full and chosen.spent < tokens // 2):
        among = _CENTRAL_BESIDE if chosen.any else _CENTRAL
        for message in takewhile(lambda _: not chosen.full, _most_central(ctx, asked, among)):
            chosen.take(message, around=0)
    return _in_order(ctx, asked, chosen), chosen.spent


def find_evidence(ctx: RequestContext, asked: EvidenceQuery, tokens: int) -> list[Found]:
    """The messages that answer the question best, best first. Raises: NotFound, Tampered."""
    return [one for one in _answering(ctx, asked, tokens) if _fits(ctx, asked, one)]


def _answering(ctx: RequestContext, asked: EvidenceQuery, tokens: int) -> list[Found]:
    """The same, also what may not be quoted."""
    limit = asked.most or max(_FEWEST, min(tokens // _TOKENS_PER_FOUND, _MOST))
    looked_at = 2 * limit if asked.unasked else limit
    found = find_messages(ctx, asked.query, _where(asked), looked_at, How(floor=asked.unasked))
    if not asked.unasked:
        return found
    return list(islice((one for one in found if ASKS not in signs(one.message.text)), limit))


def _fits(ctx: RequestContext, asked: EvidenceQuery, one: Found) -> bool:
    return (
        asked.passes(one.line)
        and (asked.distance is None or lacking_share(asked.query, one.message.text) <= asked.distance)
        and _class_of(ctx, one.message) >= asked.least
    )


def answering(
    ctx: RequestContext, asked: EvidenceQuery, found: Sequence[Found], tokens: int
) -> list[Passage]:
    """The found messages with their neighbours, best first, within the budget. Raises: Tampered."""
    chosen = _Chosen(ctx, asked, tokens)
    for one in found:
        chosen.take(one.message)
    return _in_order(ctx, asked, chosen)


def written(ctx: RequestContext, passages: Iterable[Passage]) -> list[representation.QuotedPassage]:
    return [
        representation.QuotedPassage(
            one.first.session or "",
            ctx.services.local(said_at(one.first)),
            tuple(
                Quote(message.line.compartment.owner, trust.quoted(_class_of(ctx, message), message.text))
                for message in one.messages
            ),
        )
        for one in passages
    ]


def _where(asked: EvidenceQuery) -> Where:
    perspective = asked.observer if asked.observer != asked.observed else None
    return Where(peer=asked.observed, sessions=asked.sessions, perspective=perspective)


def _most_central(ctx: RequestContext, asked: EvidenceQuery, among: int) -> Iterator[StoredMessage]:
    """The current and central ones of the peer's newest messages, best first. Raises: Tampered."""
    if asked.observed is None:
        return
    where = _where(asked)
    passes = may_find(ctx, where)
    newest = [line for line in newest_of(ctx, where, _LOOKED_THROUGH * among) if passes(line)][:among]
    own = [
        one
        for one in read_messages(ctx, sorted(newest, key=said_at))
        if not is_carried(one.line.kind, decode_metadata(one.line.metadata)) and asked.passes(one.line)
    ]
    for number in central([one.text for one in own]):
        if _class_of(ctx, own[number]) == Trust.SAID:  # It takes long to see, and few are taken.
            yield own[number]


class _Chosen:
    """The messages that are quoted, within the budget."""

    def __init__(self, ctx: RequestContext, asked: EvidenceQuery, tokens: int) -> None:
        self._ctx = ctx
        self._asked = asked
        self._opener = Opener(ctx)
        self._tokens = tokens
        self._left = tokens - _HEADING
        self._most_beside = tokens // _NEIGHBOURS_SHARE
        present = dict.fromkeys(peer for peer in (asked.observer, asked.observed) if peer is not None)
        self._tests = [
            may_find(ctx, Where(sessions=asked.sessions, perspective=peer)) for peer in present or (None,)
        ]
        self._speakers = set(present) if asked.unasked or asked.these_two else None
        self._speaker = next(iter(present)) if self._speakers and len(present) == 1 else None
        self._by_session: dict[str, dict[int, StoredMessage]] = defaultdict(dict)
        self._rank: dict[str, int] = {}

    @property
    def full(self) -> bool:
        return self._left < _LEAST_LEFT

    @property
    def any(self) -> bool:
        return bool(self._rank)

    @property
    def spent(self) -> int:
        return self._tokens - self._left if self.any else 0

    def has_room(self, line: SealedLine) -> bool:
        """Whether the message may be quoted or is, as far as can be told before it is opened."""
        return line.turn in self._by_session[line.session or ""] or _least_cost(line) <= self._left

    def take(self, message: StoredMessage, around: int | None = None) -> None:
        """Quote the message and its neighbours, if there is room."""
        if not self._add(message, self._left):
            return
        self._rank.setdefault(message.line.id, len(self._rank))
        space = min(self._left, self._most_beside)
        for line in self._beside(message.line, self._asked.around if around is None else around):
            before = self._left
            if _least_cost(line) <= space:
                self._add(StoredMessage(line, self._opener.text(line)), space)
            space -= before - self._left

    def passages(self) -> list[Passage]:
        """The passages; the one with the best message comes first."""
        runs = [run for chosen in self._by_session.values() for run in self._runs(chosen)]
        found = [Passage(tuple(run), min(run, key=self._place)) for run in runs]
        return sorted(found, key=lambda one: self._place(one.best))

    def _place(self, message: StoredMessage) -> int:
        return self._rank.get(message.line.id, len(self._rank))

    def _add(self, message: StoredMessage, space: int) -> bool:
        """Whether the message is quoted, because it already was or there is room."""
        chosen, turn = self._by_session[message.line.session or ""], message.line.turn or 0
        if turn in chosen:
            return True
        beside = [chosen[other] for other in (turn - 1, turn + 1) if other in chosen]
        trust = _class_of(self._ctx, message)
        alone = not any(self._is_same_day(message, other) for other in beside)
        cost = _cost(message, trust, alone=alone)
        if cost > space or trust < self._asked.least:
            return False
        chosen[turn] = message
        self._left -= cost
        return True

    def _beside(self, line: SealedLine, around: int) -> list[SealedLine]:
        """The neighbours that may be quoted, nearest first; of two at the same distance, the earlier one."""
        turn = line.turn or 0
        if not around or self.full:
            return []
        session, first = line.session or "", max(0, turn - around)
        span = TurnQuery(line.compartment.workspace, session, first, turn + around, self._speaker)
        chosen = self._by_session[session]
        lines = self._ctx.tx.lines.turns(span)
        found = [one for one in lines if one.turn not in chosen and self._may_show(one)]
        return sorted(found, key=lambda one: (abs((one.turn or 0) - turn), one.turn or 0))

    def _may_show(self, line: SealedLine) -> bool:
        return (
            line.invalidated_by is None
            and self._ctx.scope.opens(line.compartment.namespace)
            and (self._speakers is None or line.compartment.owner in self._speakers)
            and all(test(line) for test in self._tests)
        )

    def _runs(self, chosen: dict[int, StoredMessage]) -> Iterator[list[StoredMessage]]:
        """The messages of a session, split where messages are missing between them or a new day begins."""
        in_order = [message for _, message in sorted(chosen.items())]
        run = in_order[:1]
        for before, message in pairwise(in_order):
            follows = (message.line.turn or 0) - (before.line.turn or 0) == 1
            if not follows or not self._is_same_day(before, message):
                yield run
                run = []
            run.append(message)
        if run:
            yield run

    def _is_same_day(self, one: StoredMessage, other: StoredMessage) -> bool:
        days = {self._ctx.services.local(said_at(message.line)) // _DAY_MS for message in (one, other)}
        return len(days) == 1


def _in_order(ctx: RequestContext, asked: EvidenceQuery, chosen: _Chosen) -> list[Passage]:
    """The passages, best first; of those with the same terms of the question, the newest first."""
    passages = chosen.passages()
    terms = frozenset(understand(ctx, asked.query).terms) if asked.query.strip() else frozenset()
    ordered, held = list(passages), [terms.intersection(words.terms(one.best.text)) for one in passages]
    for same in grouped((some, place) for place, some in enumerate(held) if some).values():
        newest = sorted((passages[place] for place in same), key=lambda one: said_at(one.first), reverse=True)
        for place, passage in zip(same, newest, strict=True):
            ordered[place] = passage
    return ordered


def _cost(message: StoredMessage, trust: Trust, *, alone: bool) -> int:
    """The most tokens that a message can take, with what is written before it."""
    line = message.line
    tokens = _least_cost(line) + message.text.count("\n")
    tokens += len(message.text) if line.tokens is None else 0
    tokens += 0 if trust == Trust.SAID else _MARKS
    return tokens + (_STAMP + _name_tokens(line.session or "") if alone else 0)


def _least_cost(line: SealedLine) -> int:
    """The same without what only its text tells."""
    return (line.tokens or 0) + _name_tokens(line.compartment.owner)


def _name_tokens(name: str) -> int:
    """The most tokens that a name can take, with the marks around it. Counting them would take longer."""
    return 3 + 2 * len(name) // 3


def _class_of(ctx: RequestContext, message: StoredMessage) -> Trust:
    return class_of(ctx, message.line, message.text)
