"""Evidence: whole messages about a peer, with the messages beside them that make them understood.

With a question they are those that the search ranks first; without one, those that are current and central.
They are chosen by rank until a budget of tokens is full, each once, and only what the observer was there to
hear. The messages beside a found one count as said by it: the observed peer has to have been there too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice, pairwise, takewhile

from msgspec import Struct

from souvenance.core.conversation.compartments import Opener
from souvenance.core.conversation.messages import StoredMessage, class_of, said_at
from souvenance.core.conversation.search import Found, How, Where, find_messages, may_find, newest_of
from souvenance.core.request_context import RequestContext
from souvenance.core.search import understand
from souvenance.domain import representation, trust
from souvenance.domain.centrality import central
from souvenance.domain.content import decode_metadata
from souvenance.domain.line import SealedLine
from souvenance.domain.representation import Quote
from souvenance.domain.trust import Trust, is_carried
from souvenance.language import terms as words
from souvenance.language.signs import ASKS, signs
from souvenance.ports.store import Turns

AROUND = 2
"""How many messages on either side of a found one are quoted with it."""
_NEIGHBOURS_SHARE = 4
"""A found message's neighbours may take a fourth of the budget: no reply, however long, takes the compartment
of other found messages."""
_TOKENS_PER_FOUND = 40
"""A short message with its share of a time, a session and a name; so a budget says how many to look for."""
_FEWEST, _MOST = 5, 50
_CENTRAL, _CENTRAL_BESIDE = 100, 30
"""Of how many of the newest messages the central ones are chosen: alone, and beside what answers."""
_LOOKED_THROUGH = 3
"""So many times as many of the newest lines are looked through for these."""
_HEADING, _STAMP, _MARKS = 8, 20, 12
"""What the heading takes in tokens, a time with its session, and what marks a message as a quotation."""
_LEAST_LEFT = 10
"""With fewer tokens left no further message is looked for."""
_DAY_MS = 86_400_000


class EvidenceQuery(Struct, frozen=True):
    """Whose view of whom is asked for, and about what."""

    observer: str | None
    """None for whoever may look into the whole workspace."""
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
    unasked: bool = False
    """Whether nobody asked to see it: then only what answers well, and is no question itself, is quoted, and
    nobody but these two."""
    passes: Callable[[SealedLine], bool] = lambda line: True
    """What else is asked of a found message."""


class Passage(Struct, frozen=True):
    """Messages of a session that follow each other, and the best of them."""

    messages: tuple[StoredMessage, ...]
    best: StoredMessage

    @property
    def first(self) -> SealedLine:
        return self.messages[0].line


def quotes(ctx: RequestContext, asked: EvidenceQuery, tokens: int) -> tuple[list[Passage], int]:
    """What answers the question, or, where there is none or nothing answers it, what is central; and how many
    tokens that takes.

    To who did not ask, what is central is told after what answers, where that takes less than half.

    Raises: NotFound, Tampered.
    """
    chosen = _Chosen(ctx, asked, tokens)
    for one in find(ctx, asked, tokens) if asked.query.strip() else ():
        chosen.take(one.message)
    if not chosen.any or (asked.unasked and not chosen.full and chosen.spent < tokens // 2):
        among = _CENTRAL_BESIDE if chosen.any else _CENTRAL
        for message in takewhile(lambda _: not chosen.full, _central(ctx, asked, among)):
            chosen.take(message, around=0)
    return _in_order(ctx, asked, chosen), chosen.spent


def find(ctx: RequestContext, asked: EvidenceQuery, tokens: int) -> list[Found]:
    """The messages that answer the question best, best first. Raises: NotFound, Tampered."""
    limit = asked.most or max(_FEWEST, min(tokens // _TOKENS_PER_FOUND, _MOST))
    looked_at = 2 * limit if asked.unasked else limit
    found = find_messages(ctx, asked.query, _where(asked), looked_at, How(floor=asked.unasked))
    if asked.unasked:
        found = list(islice((one for one in found if ASKS not in signs(one.message.text)), limit))
    if asked.distance is not None:
        terms = words.asked(asked.query)
        found = [one for one in found if _lacking(terms, one.message.text) <= asked.distance]
    return [
        one for one in found if _class_of(ctx, one.message) >= asked.least and asked.passes(one.message.line)
    ]


def answering(
    ctx: RequestContext, asked: EvidenceQuery, found: Sequence[Found], tokens: int
) -> list[Passage]:
    """The found messages with their neighbours, by rank as far as the budget goes. Raises: Tampered."""
    chosen = _Chosen(ctx, asked, tokens)
    for one in found:
        chosen.take(one.message)
    return _in_order(ctx, asked, chosen)


def shown(ctx: RequestContext, passages: Iterable[Passage]) -> list[representation.QuotedPassage]:
    """The passages as they are written down."""
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


def lines_of(passages: Iterable[Passage]) -> list[SealedLine]:
    return [message.line for one in passages for message in one.messages]


def _where(asked: EvidenceQuery) -> Where:
    perspective = asked.observer if asked.observer != asked.observed else None
    return Where(peer=asked.observed, sessions=asked.sessions, perspective=perspective)


def _central(ctx: RequestContext, asked: EvidenceQuery, among: int) -> Iterator[StoredMessage]:
    """What is current and central of so much of what the peer said last, best first. Raises: Tampered."""
    if asked.observed is None:
        return
    where, opener = _where(asked), Opener(ctx)
    passes = may_find(ctx, where)
    newest = [line for line in newest_of(ctx, where, _LOOKED_THROUGH * among) if passes(line)][:among]
    messages = [StoredMessage(line, opener.text(line)) for line in sorted(newest, key=said_at)]
    own = [one for one in messages if not _is_carried(one.line) and asked.passes(one.line)]
    for number in central([one.text for one in own]):
        if _class_of(ctx, own[number]) == Trust.SAID:  # It takes long to see, and few are taken.
            yield own[number]


class _Chosen:
    """The messages that are quoted, as far as the budget goes."""

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
        self._speakers = set(present) if asked.unasked else None
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

    def take(self, message: StoredMessage, around: int | None = None) -> None:
        """Quote the message, and what is beside it, if there is room."""
        if not self._add(message, self._left):
            return
        self._rank.setdefault(message.line.id, len(self._rank))
        space = min(self._left, self._most_beside)
        for line in self._beside(message.line, self._asked.around if around is None else around):
            before = self._left
            self._add(StoredMessage(line, self._opener.text(line)), space)
            space -= before - self._left

    def passages(self) -> list[Passage]:
        """The passages, that of the best message first."""
        runs = [run for chosen in self._by_session.values() for run in self._runs(chosen)]
        found = [Passage(tuple(run), min(run, key=self._place)) for run in runs]
        return sorted(found, key=lambda one: self._place(one.best))

    def _place(self, message: StoredMessage) -> int:
        return self._rank.get(message.line.id, len(self._rank))

    def _add(self, message: StoredMessage, space: int) -> bool:
        """Whether the message is quoted: it was before, or there is room for it."""
        chosen, turn = self._by_session[message.line.session or ""], message.line.turn or 0
        if turn in chosen:
            return True
        beside = [chosen[other] for other in (turn - 1, turn + 1) if other in chosen]
        cost = self._cost(message, alone=not any(self._is_same_day(message, other) for other in beside))
        if cost > space or _class_of(self._ctx, message) < self._asked.least:
            return False
        chosen[turn] = message
        self._left -= cost
        return True

    def _cost(self, message: StoredMessage, *, alone: bool) -> int:
        line = message.line
        tokens = len(message.text) if line.tokens is None else line.tokens
        tokens += _name_tokens(line.compartment.owner) + message.text.count("\n")
        tokens += 0 if _class_of(self._ctx, message) == Trust.SAID else _MARKS
        return tokens + (_STAMP + _name_tokens(line.session or "") if alone else 0)

    def _beside(self, line: SealedLine, around: int) -> list[SealedLine]:
        """The messages beside it that may be quoted, the nearest first; of two as near, the earlier."""
        turn = line.turn or 0
        if not around or self.full:
            return []
        span = Turns(
            line.compartment.workspace, line.session or "", first=max(0, turn - around), last=turn + around
        )
        chosen = self._by_session[line.session or ""]
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
        """The messages of a session, apart where others stand between them, or a day begins."""
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
    """The best passage first; those that hold the same terms of the question change places, the newest first.

    They are about the same thing.
    """
    passages = chosen.passages()
    terms = frozenset(understand(ctx, asked.query).terms) if asked.query.strip() else frozenset()
    places: dict[frozenset[str], list[int]] = defaultdict(list)
    for place, passage in enumerate(passages):
        if held := terms.intersection(words.terms(passage.best.text)):
            places[held].append(place)
    ordered = list(passages)
    for same in places.values():
        newest = sorted((passages[place] for place in same), key=lambda one: said_at(one.first), reverse=True)
        for place, passage in zip(same, newest, strict=True):
            ordered[place] = passage
    return ordered


def _name_tokens(name: str) -> int:
    """At most so many tokens does a name take, with the marks around it. To count them takes longer."""
    return 3 + 2 * len(name) // 3


def _is_carried(line: SealedLine) -> bool:
    return is_carried(line.kind, decode_metadata(line.metadata))


def _class_of(ctx: RequestContext, message: StoredMessage) -> Trust:
    return class_of(ctx, message.line, message.text)


def _lacking(terms: Sequence[str], text: str) -> float:
    held = words.terms(text)
    return 1 - sum(term in held for term in terms) / len(terms) if terms else 0.0
