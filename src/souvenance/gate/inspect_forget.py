"""Forgetting in conversations, as the inspector asks for it: as through the other doors, with a receipt."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.compartments import Changes, reading
from souvenance.core.conversation.messages import find_message, read_messages
from souvenance.core.request_context import RequestContext
from souvenance.domain.audit import Row
from souvenance.domain.line import SealedLine, shared_fields
from souvenance.domain.receipt import ConversationDetail
from souvenance.gate.conversation.conclusions import OfConclusion, own
from souvenance.gate.conversation.messages import MessageAnswer, OfMessage
from souvenance.gate.conversation.sessions import OfSession, writes_session
from souvenance.gate.deletion import Deletion, check_gone, signed
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, operation
from souvenance.ports.store import TurnQuery

_FIRST_GONE = 5


class ForgetFrom(OfMessage, frozen=True, kw_only=True):
    """Forget a message and every later one of its session."""

    dry_run: bool = False


class Forgotten(Answer, frozen=True):
    lines: int
    """How many went, or would; for a dry run without those that rest on them."""
    scrubbed: bool = False
    receipt: str = ""
    first: tuple[MessageAnswer, ...] = ()
    """For a dry run, the first few that would go."""


def forget_message(request: AuthorisedRequest, asked: OfMessage) -> Outcome:
    message = find_message(request.ctx, asked.session_id, asked.message_id)
    changes = erase.erase_message(request.ctx, asked.session_id, asked.message_id)
    return _erased(request, changes, 1, owner=message.compartment.owner, line=message.id)


def forget_conclusion(request: AuthorisedRequest, asked: OfConclusion) -> Outcome:
    held, changes = own(request, asked.conclusion_id), Changes()
    erase.erase_lines(request.ctx, [held], changes)
    return _erased(request, changes, 1, owner=held.compartment.owner, line=held.id)


def forget_from(request: AuthorisedRequest, asked: ForgetFrom) -> Outcome:
    lines, changes = _from_here(request.ctx, asked), Changes()
    erase.erase_lines(request.ctx, lines, changes)
    return _erased(request, changes, len(lines), line=asked.message_id, session=asked.session_id)


def preview_from(request: AuthorisedRequest, asked: ForgetFrom) -> Outcome | None:
    """What would go, if that is all that was asked."""
    if not asked.dry_run:
        return None
    ctx = request.ctx
    lines = _from_here(ctx, asked)
    first = tuple(map(MessageAnswer.of, read_messages(ctx, lines[:_FIRST_GONE])))
    where = reading(directory.where(ctx, asked.session_id), [one.id for one in lines])
    return Outcome(Forgotten(len(lines), first=first), where)


def _from_here(ctx: RequestContext, asked: ForgetFrom) -> Sequence[SealedLine]:
    first = find_message(ctx, asked.session_id, asked.message_id)
    found = ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, asked.session_id, first=first.turn or 0))
    return [one for one in found if one.compartment.namespace == first.compartment.namespace]


def forget_session(request: AuthorisedRequest, asked: OfSession) -> Outcome:
    changes = erase.erase_session(request.ctx, asked.session_id)
    return _erased(request, changes, len(changes.erased), session=asked.session_id)


def _erased(
    request: AuthorisedRequest,
    changes: Changes,
    lines: int,
    *,
    owner: str | None = None,
    line: str | None = None,
    session: str | None = None,
) -> Outcome:
    """`lines`: how many of those that went were asked for. The others rested on them."""
    for compartment, line_id in changes.erased:
        check_gone(request.ctx, (compartment,), (line_id,))
    told = ConversationDetail(lines, len(changes.erased) - lines, owner, line, session)
    what = Deletion(namespaces=sorted(changes.namespaces), **shared_fields(ConversationDetail, told))
    owners = {compartment.owner for compartment, _ in changes.erased}

    def answer(row: Row) -> Forgotten:
        scrubbed = request.scrub()
        return Forgotten(len(changes.erased), scrubbed, signed(request, row, what, owners, scrubbed=scrubbed))

    return Outcome(answer, changes.trace(**shared_fields(ConversationDetail, told)))


FORGET_MESSAGE = operation(
    "inspect.forget_message", "forget", Forgotten, forget_message, writes_session, rings=True
)
FORGET_CONCLUSION = operation(
    "inspect.forget_conclusion",
    "forget",
    Forgotten,
    forget_conclusion,
    lambda rights, asked: rights.peer(),
    rings=True,
)
FORGET_FROM = operation(
    "inspect.forget_from", "forget", Forgotten, forget_from, writes_session, rings=True, peek=preview_from
)
FORGET_SESSION = operation(
    "inspect.forget_session", "forget", Forgotten, forget_session, writes_session, rings=True
)
