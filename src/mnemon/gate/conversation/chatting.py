"""The gate's chat: a question answered from what the asker may see, by a model if one is configured.

What an answer may be made of is gathered within the request's transaction, and thought about after it.
If the model searches again, that is a further look under the same cap: judged anew, with its own row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from mnemon.core.conversation import chat
from mnemon.core.conversation.context import narrowed
from mnemon.core.conversation.place import everywhere, reading
from mnemon.domain.audit import Row
from mnemon.domain.content import check_text
from mnemon.domain.question import asks
from mnemon.domain.relayed import relayed, taken_apart
from mnemon.errors import InvalidInput, ModelUnavailable, Unsupported
from mnemon.gate.case import Case, Outcome
from mnemon.gate.conversation import answers as a
from mnemon.gate.conversation import asks as q
from mnemon.gate.conversation import shown
from mnemon.gate.conversation.views import sessions_asked
from mnemon.ports.model import ANSWER, Inquiry, Model
from mnemon.ports.reasoner import Statement, Told

Ask = q.AskPeer | q.AskWorkspace


def ask_peer(case: Case, request: q.AskPeer) -> Outcome:
    return _answered(case, request)


def ask_workspace(case: Case, request: q.AskWorkspace) -> Outcome:
    return _answered(case, request)


def _question(case: Case, request: Ask) -> chat.Question:
    """What is asked about, as far as the cap reaches now.

    An agent that asks for a person on its own gets quotations only if that person asked for something.
    """
    text = check_text(request.query, "query")
    wanted, wrote = taken_apart(text)
    quotations = not wanted or asks(wrote)
    sessions = sessions_asked(case, request.session_id, request.filters, request.scope)
    if isinstance(request, q.AskWorkspace):
        return chat.Question(text, None, None, sessions, request.reasoning_level, quotations)
    observed = request.target or request.peer_id
    sessions = narrowed(sessions, case.rights.looks(request.peer_id, observed))
    return chat.Question(text, request.peer_id, observed, sessions, request.reasoning_level, quotations)


def _answered(case: Case, request: Ask) -> Outcome:
    model = case.desk.tools.model
    if model is None or ANSWER not in model.tasks:
        return _by_rule(case, request)
    return _by_model(case, request, model)


def _looked(case: Case, statements: Sequence[Statement], answer: Any) -> Outcome:
    seen = [one for statement in statements for one in (statement.id, statement.after_id) if one]
    return Outcome(answer, reading(everywhere(case.desk), list(dict.fromkeys(seen))))


def _by_rule(case: Case, request: Ask) -> Outcome:
    reasoner = case.desk.tools.reasoner
    if request.response_format is not None and not reasoner.structured:
        raise Unsupported(
            f"the {reasoner.name} reasoner answers in words, not in the shape of a schema",
            hint="Leave response_format out, or configure a model.",
        )
    question = _question(case, request)
    wanted, wrote = taken_apart(question.text)
    question = replace(question, text=wrote)
    gathered = [chat.gather(case.desk, question, by_rule=True)]
    statements = gathered[0].statements(case.desk.tools.local)
    effort = chat.LEVELS[question.level].effort

    def told(text: str) -> Told:
        return reasoner.answer(
            relayed(wanted, text),
            statements,
            question.observed,
            effort,
            lambda words: _searched(case, request, words, gathered),
            case.desk.tools.local(case.desk.now),
        )

    def answer(row: Row) -> a.Told:
        found = told(question.text)
        if not found.text and (meant := chat.as_meant(case.desk, question.text)) != question.text:
            found = told(meant)
        return a.Told(found.text or None, _evidence(request, gathered, found))

    return _looked(case, statements, answer)


def _evidence(request: Ask, gathered: list[chat.Gathered], told: Told) -> a.Evidence | None:
    if not request.include_evidence:
        return None
    found = chat.cited(chat.together(gathered), told.cited)
    return shown.evidence(*found, request.query, told.searched)


def _by_model(case: Case, request: Ask, model: Model) -> Outcome:
    shape = _checked_shape(request.response_format)
    question = _question(case, request)
    gathered = [chat.gather(case.desk, question)]
    statements = gathered[0].statements(case.desk.tools.local)
    inquiry = Inquiry(
        question.text,
        statements,
        question.observed,
        case.desk.tools.local(case.desk.now),
        card=chat.card_lines(case.desk, question),
        effort=chat.LEVELS[question.level].effort,
        search=lambda words: _searched(case, request, words, gathered),
        shape=shape,
        streamed=request.stream,
    )
    dialectic = model.engaged(case.desk.scope.workspace)

    def by_rule(lacking: str) -> Told:
        reasoner = case.desk.tools.reasoner
        told = reasoner.answer(
            inquiry.question, statements, inquiry.about, inquiry.effort, inquiry.search, inquiry.asked_at
        )
        return replace(told, by=reasoner.name, lacking=lacking)

    def pieces() -> Iterator[str | a.Told]:
        try:
            told = yield from dialectic.tell(inquiry)
        except ModelUnavailable as error:
            if shape is not None:
                raise
            told = by_rule(error.code)
            if told.text:
                yield told.text
        evidence = _evidence(request, gathered, told)
        yield a.Told(told.text or None, evidence, told.by or dialectic.name, told.lacking or None)

    def answer(row: Row) -> a.Told | a.Telling:
        if request.stream:
            return a.Telling(pieces())
        *_, told = pieces()
        assert isinstance(told, a.Told)  # noqa: S101 - it is what the pieces end with
        return told

    return _looked(case, statements, answer)


def _searched(case: Case, request: Ask, words: str, gathered: list[chat.Gathered]) -> list[Statement]:
    """What other words find of what the asker may see. Raises: MnemonError."""
    found: list[tuple[chat.Gathered, list[Statement]]] = []

    def look(again: Case) -> Outcome:
        looked = chat.look(again.desk, replace(_question(again, request), text=words))
        found.append((looked, looked.statements(again.desk.tools.local)))
        return _looked(again, found[-1][1], a.Done())

    case.again(look)
    more, statements = found[-1]
    gathered.append(more)
    return statements


def _checked_shape(shape: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Raises: InvalidInput for a schema of anything but an object."""
    if shape is not None and shape.get("type") != "object":
        raise InvalidInput("response_format must be a JSON schema whose root is of type object")
    return shape
