"""The gate's chat: a question answered from what the asker may see, by a model if one is configured.

Without a model the answer is quotations, chosen within the request's transaction. With one, what the answer
may be made of is gathered there, and the model is asked after it. If the model searches again, or quotations
are given because it can't answer, that is a further look under the same cap: judged anew, with its own row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from souvenance.core.conversation import chat
from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.conversation.context import narrowed
from souvenance.domain.audit import Row
from souvenance.domain.content import check_text
from souvenance.domain.relayed_question import taken_apart
from souvenance.errors import InvalidInput, ModelUnavailable, Unsupported
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.conversation import serialisers
from souvenance.gate.conversation.knowledge import sessions_asked
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.language.questions import asks
from souvenance.ports.model import ANSWER, Model, ModelQuestion, SourceStatement

Ask = q.AskPeer | q.AskWorkspace


def ask_peer(case: AuthorisedRequest, request: q.AskPeer) -> Outcome:
    return _answered(case, request)


def ask_workspace(case: AuthorisedRequest, request: q.AskWorkspace) -> Outcome:
    return _answered(case, request)


def _question(case: AuthorisedRequest, request: Ask) -> chat.ChatQuestion:
    """What is asked about, as far as the cap reaches now.

    An agent that asks for a person on its own gets quotations only if that person asked for something.
    """
    text = check_text(request.query, "query")
    wanted, wrote = taken_apart(text)
    quotations = not wanted or asks(wrote)
    sessions = sessions_asked(case, request.session_id, request.filters, request.scope)
    if isinstance(request, q.AskWorkspace):
        return chat.ChatQuestion(text, None, None, sessions, request.reasoning_level, quotations)
    observed = request.target or request.peer_id
    sessions = narrowed(sessions, case.rights.looks(request.peer_id, observed))
    return chat.ChatQuestion(text, request.peer_id, observed, sessions, request.reasoning_level, quotations)


def _answered(case: AuthorisedRequest, request: Ask) -> Outcome:
    model = case.ctx.tools.model
    if model is None or ANSWER not in model.tasks:
        return _by_quotes(case, request, None if model is None else chat.QUOTES)
    return _by_model(case, request, model)


def _looked(case: AuthorisedRequest, gathered: chat.Gathered, answer: Any) -> Outcome:
    lines = [*(view.line.id for view in gathered.views), *(one.line.id for one in gathered.messages)]
    return Outcome(answer, reading(everywhere(case.ctx), lines))


def _by_quotes(case: AuthorisedRequest, request: Ask, by: str | None) -> Outcome:
    if request.response_format is not None:
        raise Unsupported(
            "without a model the answer is quotations, not an object of a schema",
            hint="Leave response_format out, or configure a model.",
        )
    found = _quotes(case, request)
    return _looked(case, found.rests_on, _told(request, found, by))


def _quotes(case: AuthorisedRequest, request: Ask) -> chat.QuotedAnswer:
    """The answer by quotations to what the person asked, whatever an agent asks beside that."""
    question = _question(case, request)
    _, wrote = taken_apart(question.text)
    return chat.answer(case.ctx, replace(question, text=wrote))


def _told(
    request: Ask, found: chat.QuotedAnswer, by: str | None = None, lacking: str | None = None
) -> a.ChatAnswer:
    evidence = serialisers.evidence(found.rests_on, request.query) if request.include_evidence else None
    return a.ChatAnswer(found.text or None, evidence, by, lacking)


def _by_model(case: AuthorisedRequest, request: Ask, model: Model) -> Outcome:
    shape = _checked_shape(request.response_format)
    question = _question(case, request)
    gathered = [chat.gather(case.ctx, question)]
    inquiry = ModelQuestion(
        question.text,
        gathered[0].statements(case.ctx.tools.local),
        question.observed,
        case.ctx.tools.local(case.ctx.now),
        card=chat.card_lines(case.ctx, question),
        effort=chat.LEVELS[question.level].effort,
        search=lambda words: _searched(case, request, words, gathered),
        shape=shape,
        streamed=request.stream,
    )
    dialectic = model.engaged(case.ctx.scope.workspace)

    def pieces() -> Iterator[str | a.ChatAnswer]:
        try:
            told = yield from dialectic.tell(inquiry)
        except ModelUnavailable as error:
            if shape is not None:
                raise
            found = _quotes_instead(case, request)
            if found.text:
                yield found.text
            yield _told(request, found, chat.QUOTES, error.code)
            return
        evidence = None
        if request.include_evidence:
            cited = chat.cited(chat.together(gathered), told.cited)
            evidence = serialisers.evidence(cited, request.query, told.searched)
        yield a.ChatAnswer(told.text or None, evidence, told.by or dialectic.name, told.lacking or None)

    def answer(row: Row) -> a.ChatAnswer | a.Telling:
        if request.stream:
            return a.Telling(pieces())
        *_, told = pieces()
        assert isinstance(told, a.ChatAnswer)  # noqa: S101 - it is what the pieces end with
        return told

    return _looked(case, gathered[0], answer)


def _quotes_instead(case: AuthorisedRequest, request: Ask) -> chat.QuotedAnswer:
    """The answer by quotations where the model has none: a further look under the same cap."""
    found: list[chat.QuotedAnswer] = []

    def look(again: AuthorisedRequest) -> Outcome:
        found.append(_quotes(again, request))
        return _looked(again, found[-1].rests_on, a.Done())

    case.again(look)
    return found[-1]


def _searched(
    case: AuthorisedRequest, request: Ask, words: str, gathered: list[chat.Gathered]
) -> list[SourceStatement]:
    """What other words find of what the asker may see. Raises: SouvenanceError."""

    def look(again: AuthorisedRequest) -> Outcome:
        gathered.append(chat.look(again.ctx, replace(_question(again, request), text=words)))
        return _looked(again, gathered[-1], a.Done())

    case.again(look)
    return gathered[-1].statements(case.ctx.tools.local)


def _checked_shape(shape: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Raises: InvalidInput for a schema of anything but an object."""
    if shape is not None and shape.get("type") != "object":
        raise InvalidInput("response_format must be a JSON schema whose root is of type object")
    return shape
