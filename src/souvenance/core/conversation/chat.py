"""Chat: a question about a peer, answered from what was said and noted, with what the answer rests on.

Without a model the answer is quotations: the few passages that match the question best, or nothing where none
matches it well. With one, it is the model's, made of the same evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from souvenance.core.conversation import directory, evidence
from souvenance.core.conversation.cards import read_card
from souvenance.core.conversation.conclusions import View, Whose, nearest, newest_views, query_views
from souvenance.core.conversation.context import shown
from souvenance.core.conversation.messages import StoredMessage, said_at
from souvenance.core.request_context import RequestContext
from souvenance.domain import representation, trust
from souvenance.domain.content import decode_metadata
from souvenance.domain.current_facts import CardEntry
from souvenance.domain.line import CONCLUSIONS
from souvenance.domain.reasoning_settings import uses_cards
from souvenance.domain.relevance import MEANING, worth_showing
from souvenance.domain.trust import Trust
from souvenance.ports.model import Effort, SourceStatement

QUOTES = "quotes"
"""What an answer says that it was made by, where no model made it."""


class Depth(Struct, frozen=True):
    """How far an answer looks, and how hard a model thinks about it."""

    found: int
    """How many conclusions, and how many messages, a model is given."""
    tokens: int
    """How much of what was said a model is given."""
    effort: Effort
    passages: int = 3
    """How many passages are quoted without a model."""
    around: int = evidence.AROUND


LEVELS = {
    "minimal": Depth(10, 1_000, Effort(searches=0, passes=1, tokens=250), passages=1, around=1),
    "low": Depth(25, 2_000, Effort(searches=1, passes=1, tokens=500)),
    "medium": Depth(25, 4_000, Effort(searches=3, passes=1, tokens=1000)),
    "high": Depth(50, 8_000, Effort(searches=5, passes=2, tokens=2000), passages=5, around=3),
    "max": Depth(100, 16_000, Effort(searches=10, passes=3, tokens=4000), passages=8, around=5),
}
_TOKENS_PER_PASSAGE = 400
"""How long a passage of an answer by quotations may be."""


class ChatQuestion(Struct, frozen=True):
    """Who asks about whom; without an observer, the whole workspace is asked about anyone."""

    text: str
    observer: str | None
    observed: str | None
    sessions: Collection[str] | None = None
    level: str = "low"
    quotations: bool = True
    """Whether what its peer only carried may answer it."""


class Gathered(Struct, frozen=True):
    """What an answer may be made of, best first."""

    views: list[View]
    messages: list[StoredMessage]

    def statements(self, local: Callable[[int], int]) -> list[SourceStatement]:
        """`local` tells what clocks on the wall showed when it was said."""
        told = [
            SourceStatement(
                view.line.id,
                view.text,
                local(view.at),
                carried=view.trust < Trust.SAID,
                outdated_by=view.outdated_by,
            )
            for view in self.views
        ]
        for message in self.messages:
            line = message.line
            carried = trust.of_message(line.kind, decode_metadata(line.metadata), message.text) < Trust.SAID
            told.append(
                SourceStatement(line.id, message.text, local(said_at(line)), line.compartment.owner, carried)
            )
        return told


class QuotedAnswer(Struct, frozen=True):
    """An answer by quotations, and what is quoted in it."""

    text: str
    rests_on: Gathered


def answer(ctx: RequestContext, question: ChatQuestion) -> QuotedAnswer:
    """The conclusions and passages that answer best; nothing where none answers it well.

    Raises: NotFound, Tampered.
    """
    depth = LEVELS[question.level]
    asked, tokens = _asked(question, depth), depth.passages * _TOKENS_PER_PASSAGE
    found = evidence.find(ctx, asked, tokens)
    noted = nearest(ctx, _whose(question), question.text, depth.passages)
    views = [
        view for (view, _), well in zip(noted, _answer_well([one for _, one in noted]), strict=True) if well
    ]
    answers = any(_answer_well([one.signals for one in found]))
    passages = evidence.answering(ctx, asked, found, tokens)[: depth.passages] if answers else []
    told = [representation.conclusion_line(shown(ctx, view)) for view in views]
    quoted = representation.quoted(evidence.shown(ctx, passages))
    messages = [message for one in passages for message in one.messages]
    return QuotedAnswer("\n\n".join(filter(None, (*told, quoted))), Gathered(views, messages))


def _answer_well(found: Sequence[Mapping[str, float]]) -> list[bool]:
    """Which of what was found, by its signals, answers well enough to be told; where none has a vector, by
    words."""
    by_meaning = any(MEANING in signals for signals in found)
    return [worth_showing(signals, by_meaning=by_meaning) for signals in found]


def gather(ctx: RequestContext, question: ChatQuestion) -> Gathered:
    """What a model may answer from: what its words find, and the newest conclusions.

    Raises: NotFound, Tampered.
    """
    found = look(ctx, question)
    newest = newest_views(ctx, _whose(question), LEVELS[question.level].found)
    return together([found, Gathered(newest, [])])


def look(ctx: RequestContext, question: ChatQuestion) -> Gathered:
    """What its words find, and nothing beside. Raises: NotFound, Tampered."""
    depth = LEVELS[question.level]
    asked = _asked(question, depth)
    found = evidence.find(ctx, asked, depth.tokens)
    passages = evidence.answering(ctx, asked, found, depth.tokens)
    views = query_views(ctx, (_whose(question),), question.text, depth.found)
    return Gathered(views, [message for one in passages for message in one.messages])


def _asked(question: ChatQuestion, depth: Depth) -> evidence.EvidenceQuery:
    return evidence.EvidenceQuery(
        question.observer,
        question.observed,
        question.sessions,
        question.text,
        around=depth.around,
        least=Trust.QUOTED if question.quotations else Trust.SAID,
    )


def _whose(question: ChatQuestion) -> Whose:
    """What is only quoted may answer where quotations may; of some sessions, only what was said outright."""
    kinds = set(CONCLUSIONS.values() if question.sessions is None else (CONCLUSIONS["explicit"],))
    if question.quotations:
        kinds.add(trust.KINDS[Trust.QUOTED])
    observers = None if question.observer is None else (question.observer,)
    return Whose(observers, question.observed, question.sessions, kinds)


def card_lines(ctx: RequestContext, question: ChatQuestion) -> list[CardEntry]:
    """What the observer's card of the peer says; nothing where only some sessions are asked about."""
    if question.sessions is not None or question.observer is None or question.observed is None:
        return []
    if not uses_cards(*directory.habits(ctx, None)):
        return []
    return read_card(ctx, question.observer, question.observed) or []


def together(gathered: Iterable[Gathered]) -> Gathered:
    """All that was gathered for one question, each thing once."""
    found = list(gathered)
    views = {view.line.id: view for one in found for view in one.views}
    messages = {message.line.id: message for one in found for message in one.messages}
    return Gathered(list(views.values()), list(messages.values()))


def cited(gathered: Gathered, ids: Sequence[str]) -> Gathered:
    """The conclusions and the messages among those ids."""
    wanted = set(ids)
    return Gathered(
        [view for view in gathered.views if view.line.id in wanted],
        [message for message in gathered.messages if message.line.id in wanted],
    )
