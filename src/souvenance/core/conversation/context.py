"""Context: what an agent should have before it for its next turn in a session, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec
from msgspec import Struct

from souvenance.core.conversation import directory, evidence
from souvenance.core.conversation.cards import read_card
from souvenance.core.conversation.compartments import Opener
from souvenance.core.conversation.conclusions import View, Whose, noted
from souvenance.core.conversation.evidence import quotes
from souvenance.core.conversation.messages import StoredMessage
from souvenance.core.request_context import RequestContext
from souvenance.core.search import foresee
from souvenance.decoders import settled
from souvenance.domain.directory import MEMBER, PEER, SESSION
from souvenance.domain.line import CONCLUSIONS, SealedLine
from souvenance.domain.names import SESSIONS
from souvenance.domain.reasoning_settings import observed, uses_cards
from souvenance.domain.representation import WrittenConclusion, fitting, render
from souvenance.domain.trust import least_shown
from souvenance.ports.store import Turns

MOST_TOKENS = 100_000
SUMMARY_SHARE = 0.4
MOST_CONCLUSIONS = 100
PICTURE_TOKENS = 1_200
"""How much a representation tells where no budget is named."""
PICTURE_SHARE = 0.6
"""What share of a context's budget the picture of a peer may take."""
CONCLUSIONS_SHARE = 0.3
"""What share of a picture the conclusions may take; the rest is for what was said."""
_HEADING_TOKENS = 8
_STAMP_TOKENS = 22
"""What a conclusion takes beside its text: its time, its line, and the marks of a quotation."""
_READ_AHEAD = 10


class PictureQuery(Struct, frozen=True):
    """How a view of a peer is asked for."""

    observer: str
    observed: str
    query: str | None = None
    top_k: int | None = None
    """How many messages, and how many conclusions, are looked for by the query."""
    distance: float | None = None
    """What share of the query's terms they may lack."""
    frequent: bool = False
    """Whether what was concluded most often comes before what is newest."""
    most: int = MOST_CONCLUSIONS
    """How many conclusions, and how many messages that a search finds, are told at most."""
    sessions: Collection[str] | None = None
    """Only what was said in these; then neither card nor what was reasoned further counts."""
    unasked: bool = False
    """Whether nobody asked to see it: then only messages that answer the query well are quoted for it."""


def narrowed(asked: frozenset[str] | None, limits: frozenset[str] | None) -> frozenset[str] | None:
    """The sessions that are in both; None, in either, for no limit."""
    if asked is None or limits is None:
        return limits if asked is None else asked
    return asked & limits


class Picture(Struct, frozen=True):
    """What is known of a peer: rendered, and its card."""

    text: str
    card: list[str] | None
    lines: list[SealedLine]
    """What it was made of, beside the card."""
    tokens: int
    """How much it takes, without the card."""


class StoredSummary(Struct, frozen=True):
    text: str
    message_id: str
    long: bool
    created_at: int
    tokens: int
    turn: int


class SessionContextParts(Struct, frozen=True):
    messages: list[StoredMessage]
    summary: StoredSummary | None
    picture: Picture | None


class _Note(Struct, frozen=True):
    """What a summary's metadata says."""

    turn: int
    message_id: str
    long: bool


def picture(
    ctx: RequestContext, asked: PictureQuery, tokens: int = PICTURE_TOKENS, session: str | None = None
) -> Picture:
    """Conclusions that were noted, then quoted messages, together within the budget; and the card beside it.

    Raises: Tampered.
    """
    if asked.query:
        foresee(ctx, asked.query)
    conclusions = _Conclusions(_noted(ctx, asked))
    left = tokens - conclusions.take(int(tokens * CONCLUSIONS_SHARE))
    passages, spent = quotes(ctx, _evidence(ctx, asked), left)
    left -= spent
    left -= conclusions.take(left)
    text = render([shown(ctx, view) for view in conclusions.taken], evidence.shown(ctx, passages))
    lines = [*(view.line for view in conclusions.taken), *evidence.lines_of(passages)]
    return Picture(text, _card(ctx, asked, session), lines, tokens - left)


def _noted(ctx: RequestContext, asked: PictureQuery) -> list[View]:
    kinds = (CONCLUSIONS["explicit"],) if asked.sessions is not None else tuple(CONCLUSIONS.values())
    return noted(
        ctx,
        Whose((asked.observer,), asked.observed, asked.sessions, kinds),
        query=asked.query,
        top_k=asked.top_k,
        distance=asked.distance,
        frequent=asked.frequent,
        most=asked.most,
    )


class _Conclusions:
    """Conclusions, best first, of which as many are taken as there is room for."""

    def __init__(self, views: Sequence[View]) -> None:
        self._waiting = list(views)
        self.taken: list[View] = []

    def take(self, space: int) -> int:
        """What those take in tokens that fit."""
        spent = 0
        levels = {view.level for view in self.taken}
        waiting, self._waiting = self._waiting, []
        for view in waiting:
            cost = (view.line.tokens or len(view.text)) + view.text.count("\n") + _STAMP_TOKENS
            cost += 0 if view.level in levels else _HEADING_TOKENS
            if spent + cost > space:
                self._waiting.append(view)
                continue
            self.taken.append(view)
            levels.add(view.level)
            spent += cost
        return spent


def _evidence(ctx: RequestContext, asked: PictureQuery) -> evidence.EvidenceQuery:
    query = asked.query or ""
    most = min(asked.top_k or asked.most, asked.most)
    return evidence.EvidenceQuery(
        asked.observer,
        asked.observed,
        asked.sessions,
        query,
        most=None if most == MOST_CONCLUSIONS else most,
        distance=asked.distance,
        least=least_shown(query),
        unasked=asked.unasked,
        passes=_observing(ctx, asked.observed),
    )


def _observing(ctx: RequestContext, peer: str) -> Callable[[SealedLine], bool]:
    """Whether a line was said in a session in which the peer is to be observed."""
    habits = directory.peer_habits(directory.find(ctx, PEER, peer))
    known: dict[str, bool] = {}

    def passes(line: SealedLine) -> bool:
        session = line.session or ""
        if session not in known:
            stays = ctx.tx.directory.memberships(ctx.scope.workspace, MEMBER, holder=session, held=peer)
            known[session] = observed(directory.member_habits(stays[-1] if stays else None), habits)
        return known[session]

    return passes


def _card(ctx: RequestContext, asked: PictureQuery, session: str | None) -> list[str] | None:
    if asked.sessions is not None or not uses_cards(*directory.habits(ctx, session)):
        return None
    entries = read_card(ctx, asked.observer, asked.observed)
    return None if entries is None else [entry.text for entry in entries]


def shown(ctx: RequestContext, view: View) -> WrittenConclusion:
    return WrittenConclusion(view.level, view.text, ctx.services.local(view.at))


def context(
    ctx: RequestContext, session: str, *, tokens: int | None, summary: bool, asked: PictureQuery | None
) -> SessionContextParts:
    """The picture of a peer within its share, then a summary, then the newest messages that fit what is left.

    Of a session that does not exist, only the picture.

    Raises: Tampered.
    """
    count = ctx.services.tokenizer.count
    budget = MOST_TOKENS if tokens is None else max(0, tokens)
    share = min(PICTURE_TOKENS, int(budget * PICTURE_SHARE))
    seen = None if asked is None else picture(ctx, asked, share, session)
    if directory.find(ctx, SESSION, session) is None:
        return SessionContextParts([], None, seen)
    if seen is not None:
        budget -= seen.tokens
        budget -= sum(count(entry) for entry in seen.card or ())
    chosen = _fitting_summary(summaries(ctx, session), budget) if summary else None
    first = 0
    if chosen is not None:
        budget -= chosen.tokens
        first = chosen.turn
    newest = _newest(ctx, session, first, budget)
    opener = Opener(ctx)
    messages = [StoredMessage(line, opener.text(line)) for line in newest]
    return SessionContextParts(messages, chosen, seen)


def summaries(ctx: RequestContext, session: str) -> list[StoredSummary]:
    """The newest short and the newest long summary, as far as there are any, the short one first.

    Raises: Tampered.
    """
    newest: dict[bool, tuple[_Note, SealedLine]] = {}
    for place in ctx.tx.lines.of_session(ctx.scope.workspace, SESSIONS, session):
        line = ctx.tx.lines.get(place.compartment, place.id)
        if line is not None:
            note = msgspec.json.decode(line.metadata, type=settled(_Note))
            newest[note.long] = (note, line)
    opener = Opener(ctx)
    return [
        StoredSummary(opener.text(line), note.message_id, long, line.created_at, line.tokens or 0, note.turn)
        for long, (note, line) in sorted(newest.items())
    ]


def note_of(turn: int, message_id: str, *, long: bool) -> str:
    return msgspec.json.encode(_Note(turn, message_id, long)).decode()


def is_note(metadata: str) -> bool:
    """Whether the metadata of a summary may say that."""
    try:
        msgspec.json.decode(metadata, type=settled(_Note))
    except msgspec.MsgspecError:
        return False
    return True


def _fitting_summary(found: Sequence[StoredSummary], budget: int) -> StoredSummary | None:
    """The longest that takes no more than its share."""
    share = budget * SUMMARY_SHARE
    fit = [one for one in found if one.tokens <= share]
    return max(fit, key=lambda one: one.tokens, default=None)


def _newest(ctx: RequestContext, session: str, first: int, budget: int) -> list[SealedLine]:
    """The newest messages from that turn on that fit, read back in steps as far as needed."""
    lines: list[SealedLine] = []
    last: int | None = None
    left, wanted = budget, _READ_AHEAD
    while left > 0:
        step = ctx.tx.lines.turns(
            Turns(
                ctx.scope.workspace,
                session,
                first=first,
                last=last,
                newest_first=True,
                limit=wanted,
            )
        )
        lines.extend(step)
        left -= sum(line.tokens or 0 for line in step)
        wanted = _READ_AHEAD + max(0, left) * len(lines) // max(1, budget - left)
        if not step or (oldest := step[-1].turn or 0) <= first:
            break
        last = oldest - 1
    return fitting(lines, lambda line: line.tokens or 0, budget)
