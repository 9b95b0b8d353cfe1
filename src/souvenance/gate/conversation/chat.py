"""The gate's chat: a question answered from what the asker may see, by a model if one is configured.

Without a model the answer is quotations, chosen within the request's transaction. With one, what the answer
may be made of is gathered there, and the model is asked after it. If the model searches again, or quotations
are given because it can't answer, that is a further look under the same cap: judged anew, with its own row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from souvenance.core.conversation import directory, search
from souvenance.core.conversation.cards import read_card
from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.conversation.conclusions import View, Whose, nearest, newest_views, query_views, written
from souvenance.core.conversation.messages import StoredMessage
from souvenance.core.request_context import QUOTES, RequestContext, said_at
from souvenance.domain import representation, trust
from souvenance.domain.audit import Row
from souvenance.domain.content import check_text, decode_metadata
from souvenance.domain.current_facts import CardEntry
from souvenance.domain.line import CONCLUSIONS, STATEMENT
from souvenance.domain.reasoning_settings import uses_cards
from souvenance.domain.relevance import MEANING, worth_showing
from souvenance.domain.representation import unrelayed
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.trust import Trust
from souvenance.errors import InvalidInput, ModelUnavailable, Unsupported
from souvenance.gate.conversation import resource as r
from souvenance.gate.conversation.context import may_look, narrowed, sessions_asked
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights
from souvenance.language.questions import asks
from souvenance.ports.model import ANSWER, Effort, Model, ModelQuestion, SourceStatement

Question = Annotated[str, Meta(min_length=1, max_length=10_000)]
Level = Literal["minimal", "low", "medium", "high", "max"]


class AskWorkspace(r.WorkspaceRequest, frozen=True, kw_only=True):
    query: Question
    session_id: r.AnyName | None = None
    filters: r.JsonObject | None = None
    scope: r.Scopes | None = None
    stream: bool = False
    reasoning_level: Level = "low"
    response_format: r.JsonObject | None = None
    include_evidence: bool = False


class AskPeer(AskWorkspace, frozen=True, kw_only=True):
    peer_id: r.PeerName
    target: r.PeerName | None = None


class ReadConclusion(Answer, frozen=True):
    """A conclusion that an answer rests on."""

    id: str
    level: str
    content: str
    created_at: datetime
    session_id: str | None
    observer_id: str = ""
    observed_id: str = ""
    source_ids: list[str] = field(default_factory=list)


class ReadMessage(Answer, frozen=True):
    """A message that an answer rests on; its text is read by its id."""

    id: str
    session_id: str
    peer_id: str
    created_at: datetime


class ToolCall(Answer, frozen=True):
    tool_name: str
    tool_input: r.JsonObject


class Evidence(Answer, frozen=True):
    conclusions: list[ReadConclusion] = field(default_factory=list)
    messages: list[ReadMessage] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    reasoning_trace_id: str | None = None


class ChatAnswer(Answer, frozen=True, omit_defaults=True):
    """An answer in words, null if nothing is known."""

    content: str | None
    evidence: Evidence | None = None
    reasoner: str | None = None
    """Who answered, where a model is configured."""
    lacking: str | None = None
    """The code of what kept the model from answering, or from answering well."""


class Telling(Answer, frozen=True):
    """An answer as a model gives it: its pieces as they come, then the whole. Each is waited for."""

    pieces: Iterator[str | ChatAnswer]


class Depth(Struct, frozen=True):
    """How far an answer looks, and how hard a model thinks about it."""

    found: int
    """How many conclusions, and how many messages, a model is given."""
    tokens: int
    """How much of what was said a model is given."""
    effort: Effort
    passages: int = 3
    """How many passages are quoted without a model."""
    around: int = search.AROUND


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
    relayed: bool = False
    """Whether an agent asks on its own: then nobody is quoted but the two."""


class Gathered(Struct, frozen=True):
    """What an answer may be made of, best first."""

    views: list[View]
    messages: list[StoredMessage]

    def statements(self, local: Callable[[int], int]) -> list[SourceStatement]:
        """`local` gives the local time of a moment."""
        statements = [
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
            statements.append(
                SourceStatement(line.id, message.text, local(said_at(line)), line.compartment.owner, carried)
            )
        return statements


class QuotedAnswer(Struct, frozen=True):
    text: str
    rests_on: Gathered


def _may_ask_peer(rights: Rights, request: AskPeer) -> None:
    may_look(rights, request)
    if request.session_id is not None:
        rights.reads(request.session_id)


def _question(call: AuthorisedRequest, request: AskWorkspace) -> ChatQuestion:
    """What is asked about, as far as the cap reaches now. An agent that asks for a person on its own gets
    quotations only if that person asked for something."""
    text = check_text(request.query, "query")
    wanted, wrote = unrelayed(text)
    quotations = not wanted or asks(wrote)
    sessions = sessions_asked(call, request.session_id, request.filters, request.scope)
    if not isinstance(request, AskPeer):
        return ChatQuestion(text, None, None, sessions, request.reasoning_level, quotations)
    observed = request.target or request.peer_id
    sessions = narrowed(sessions, call.rights.looks(request.peer_id, observed))
    level = request.reasoning_level
    return ChatQuestion(text, request.peer_id, observed, sessions, level, quotations, relayed=bool(wanted))


def _answered(call: AuthorisedRequest, request: AskWorkspace) -> Outcome:
    model = call.ctx.services.model
    if model is None or ANSWER not in model.tasks:
        return _by_quotes(call, request, None if model is None else QUOTES)
    return _by_model(call, request, model)


def _looked(call: AuthorisedRequest, gathered: Gathered, answer: Any) -> Outcome:
    lines = [*(view.line.id for view in gathered.views), *(one.line.id for one in gathered.messages)]
    return Outcome(answer, reading(everywhere(call.ctx), lines))


def _by_quotes(call: AuthorisedRequest, request: AskWorkspace, by: str | None) -> Outcome:
    if request.response_format is not None:
        raise Unsupported(
            "without a model the answer is quotations, not an object of a schema",
            hint="Leave response_format out, or configure a model.",
        )
    found = _quotes(call, request)
    return _looked(call, found.rests_on, _quoted_answer(request, found, by))


def _quotes(call: AuthorisedRequest, request: AskWorkspace) -> QuotedAnswer:
    """The answer by quotations to what the person asked, without what an agent adds to the question."""
    question = _question(call, request)
    _, wrote = unrelayed(question.text)
    return _answer(call.ctx, replace(question, text=wrote))


def _quoted_answer(
    request: AskWorkspace, found: QuotedAnswer, by: str | None = None, lacking: str | None = None
) -> ChatAnswer:
    evidence = _evidence(found.rests_on, request.query) if request.include_evidence else None
    return ChatAnswer(found.text or None, evidence, by, lacking)


def _by_model(call: AuthorisedRequest, request: AskWorkspace, model: Model) -> Outcome:
    shape = request.response_format
    if shape is not None and shape.get("type") != "object":
        raise InvalidInput("response_format must be a JSON schema whose root is of type object")
    question = _question(call, request)
    newest = newest_views(call.ctx, _whose(question), LEVELS[question.level].found)
    gathered = [_together([_look(call.ctx, question), Gathered(newest, [])])]
    inquiry = ModelQuestion(
        question.text,
        gathered[0].statements(call.ctx.services.local),
        question.observed,
        call.ctx.services.local(call.ctx.now),
        card=_card_lines(call.ctx, question),
        effort=LEVELS[question.level].effort,
        search=lambda words: _searched(call, request, words, gathered),
        shape=shape,
        streamed=request.stream,
    )

    def pieces() -> Iterator[str | ChatAnswer]:
        try:
            reply = yield from model.tell(call.ctx.scope.workspace, inquiry)
        except ModelUnavailable as error:
            if shape is not None:
                raise
            found = _quotes_instead(call, request)
            if found.text:
                yield found.text
            yield _quoted_answer(request, found, QUOTES, error.code)
            return
        evidence = None
        if request.include_evidence:
            evidence = _evidence(_cited(_together(gathered), reply.cited), request.query, reply.searched)
        yield ChatAnswer(reply.text or None, evidence, reply.by or model.name, reply.lacking or None)

    def answer(row: Row) -> ChatAnswer | Telling:
        if request.stream:
            return Telling(pieces())
        *_, last = pieces()
        assert isinstance(last, ChatAnswer)  # noqa: S101 - it is what the pieces end with
        return last

    return _looked(call, gathered[0], answer)


def _quotes_instead(call: AuthorisedRequest, request: AskWorkspace) -> QuotedAnswer:
    """The answer by quotations where the model has none: a further look under the same cap."""
    found: list[QuotedAnswer] = []

    def look(again: AuthorisedRequest) -> Outcome:
        found.append(_quotes(again, request))
        return _looked(again, found[-1].rests_on, r.Done())

    call.again(look)
    return found[-1]


def _searched(
    call: AuthorisedRequest, request: AskWorkspace, words: str, gathered: list[Gathered]
) -> list[SourceStatement]:
    """What other words find of what the asker may see. Raises: SouvenanceError."""

    def look(again: AuthorisedRequest) -> Outcome:
        gathered.append(_look(again.ctx, replace(_question(again, request), text=words)))
        return _looked(again, gathered[-1], r.Done())

    call.again(look)
    return gathered[-1].statements(call.ctx.services.local)


def _answer(ctx: RequestContext, question: ChatQuestion) -> QuotedAnswer:
    """The conclusions and passages that answer well, if any do. Raises: NotFound, Tampered."""
    depth = LEVELS[question.level]
    asked, tokens = _asked(question, depth), depth.passages * _TOKENS_PER_PASSAGE
    found = search.find_evidence(ctx, asked, tokens)
    noted = nearest(ctx, _whose(question), question.text, depth.passages)
    views = [
        view for (view, _), well in zip(noted, _answer_well([one for _, one in noted]), strict=True) if well
    ]
    answers = any(_answer_well([one.signals for one in found]))
    passages = search.answering(ctx, asked, found, tokens)[: depth.passages] if answers else []
    conclusion_lines = [representation.conclusion_line(written(ctx, view)) for view in views]
    quoted = representation.quoted(search.written(ctx, passages))
    messages = [message for one in passages for message in one.messages]
    return QuotedAnswer("\n\n".join(filter(None, (*conclusion_lines, quoted))), Gathered(views, messages))


def _answer_well(found: Sequence[Mapping[str, float]]) -> list[bool]:
    """Which of what was found, by its signals, answers well enough to be told; where none has a vector, by
    words."""
    by_meaning = any(MEANING in signals for signals in found)
    return [worth_showing(signals, by_meaning=by_meaning) for signals in found]


def _look(ctx: RequestContext, question: ChatQuestion) -> Gathered:
    """What its words find, and nothing beside. Raises: NotFound, Tampered."""
    depth = LEVELS[question.level]
    asked = _asked(question, depth)
    found = search.find_evidence(ctx, asked, depth.tokens)
    passages = search.answering(ctx, asked, found, depth.tokens)
    views = query_views(ctx, (_whose(question),), question.text, depth.found)
    return Gathered(views, [message for one in passages for message in one.messages])


def _asked(question: ChatQuestion, depth: Depth) -> search.EvidenceQuery:
    return search.EvidenceQuery(
        question.observer,
        question.observed,
        question.sessions,
        question.text,
        around=depth.around,
        least=Trust.QUOTED if question.quotations else Trust.SAID,
        these_two=question.relayed,
    )


def _whose(question: ChatQuestion) -> Whose:
    """What is only quoted may answer where quotations may; of some sessions, only what was said outright."""
    kinds = {STATEMENT, *(CONCLUSIONS.values() if question.sessions is None else (CONCLUSIONS["explicit"],))}
    if question.quotations:
        kinds.add(trust.KINDS[Trust.QUOTED])
    observers = None if question.observer is None else (question.observer,)
    return Whose(observers, question.observed, question.sessions, kinds)


def _card_lines(ctx: RequestContext, question: ChatQuestion) -> list[CardEntry]:
    """What the observer's card of the peer says; nothing where only some sessions are asked about."""
    if question.sessions is not None or question.observer is None or question.observed is None:
        return []
    if not uses_cards(*directory.habits(ctx, None)):
        return []
    return read_card(ctx, question.observer, question.observed) or []


def _together(gathered: Iterable[Gathered]) -> Gathered:
    """All that was gathered for one question, each thing once."""
    found = list(gathered)
    views = {view.line.id: view for one in found for view in one.views}
    messages = {message.line.id: message for one in found for message in one.messages}
    return Gathered(list(views.values()), list(messages.values()))


def _cited(gathered: Gathered, ids: Sequence[str]) -> Gathered:
    """The conclusions and the messages among those ids."""
    wanted = set(ids)
    return Gathered(
        [view for view in gathered.views if view.line.id in wanted],
        [message for message in gathered.messages if message.line.id in wanted],
    )


def _evidence(found: Gathered, question: str, searched: Sequence[str] = ()) -> Evidence:
    conclusions = [
        ReadConclusion(
            view.line.id,
            view.level,
            view.text,
            to_datetime(view.line.created_at),
            view.line.session,
            view.line.compartment.owner,
            view.line.about or "",
            list(view.sources),
        )
        for view in found.views
    ]
    messages = [
        ReadMessage(
            one.line.id, one.line.session or "", one.line.compartment.owner, to_datetime(said_at(one.line))
        )
        for one in found.messages
    ]
    tool_calls = [
        ToolCall("search_memory", {"query": question}),
        ToolCall("search_messages", {"query": question}),
        *(ToolCall("search_memory", {"query": words}) for words in searched),
    ]
    return Evidence(conclusions, messages, tool_calls)


ASK_PEER = r.operation("peers.chat", "get", ChatAnswer, _answered, _may_ask_peer, waits=True, request=AskPeer)
ASK_WORKSPACE = r.operation("workspaces.chat", "get", ChatAnswer, _answered, waits=True)
