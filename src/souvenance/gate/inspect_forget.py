"""What the inspector forgets beyond a line: in conversations, and a note that moves. Each has a receipt."""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.compartments import Changes, compartment_of, denied, reading
from souvenance.core.conversation.messages import find_message, read_messages
from souvenance.core.remember import Draft, remember
from souvenance.core.request_context import RequestContext, opened, said_at
from souvenance.domain.audit import Row
from souvenance.domain.line import TOMBSTONE, GivenFields, SealedLine, shared_fields
from souvenance.domain.names import Name, Namespace
from souvenance.domain.policy import Reach
from souvenance.domain.receipt import InspectorDetail, gone_runs
from souvenance.domain.ulid import LineId
from souvenance.errors import InvalidInput
from souvenance.gate.conversation.conclusions import OfConclusion, own
from souvenance.gate.conversation.messages import MessageAnswer, OfMessage
from souvenance.gate.conversation.sessions import OfSession, writes_session
from souvenance.gate.inspect_lines import is_note
from souvenance.gate.inspection import Asked
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights, operation
from souvenance.gate.operations import Deletion, check_gone, signed
from souvenance.ports.store import TurnQuery

_FIRST_GONE = 5


class ForgetFrom(OfMessage, frozen=True, kw_only=True):
    """Forget a message and every later one of its session."""

    dry_run: bool = False


class MoveNote(Asked, frozen=True, kw_only=True):
    """Store a note in another namespace of its owner, and forget it where it is."""

    owner: Name
    id: LineId
    namespace: Namespace


class ForgetOutcome(Answer, frozen=True):
    lines: int
    """How many went, or would; for a dry run without those that rest on them."""
    scrubbed: bool = False
    receipt: str = ""
    first: tuple[MessageAnswer, ...] = ()
    """For a dry run, the first few that would go."""
    copy: str = ""
    """The id of the note where it was moved to."""


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
    return Outcome(ForgetOutcome(len(lines), first=first), where)


def _from_here(ctx: RequestContext, asked: ForgetFrom) -> Sequence[SealedLine]:
    first = find_message(ctx, asked.session_id, asked.message_id)
    found = ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, asked.session_id, first=first.turn or 0))
    return [one for one in found if one.compartment.namespace == first.compartment.namespace]


def forget_session(request: AuthorisedRequest, asked: OfSession) -> Outcome:
    changes = erase.erase_session(request.ctx, asked.session_id)
    return _erased(request, changes, len(changes.erased), session=asked.session_id)


def move(request: AuthorisedRequest, asked: MoveNote) -> Outcome:
    ctx, changes = request.ctx, Changes()
    if not ctx.scope.opens(asked.namespace):
        raise denied()
    sealed, keys = ctx.find(asked.id)
    note = opened(sealed, keys)
    if not is_note(note) or sealed.invalidated_by is not None or note.kind == TOMBSTONE:
        raise InvalidInput("only a note that holds can be moved")
    if note.compartment.namespace == asked.namespace:
        raise InvalidInput("name another namespace", hint="The note is in this one already.")
    draft = Draft(
        namespace=asked.namespace,
        kind=note.kind,
        text=note.text,
        occurred_at=said_at(note),
        expires_at=note.expires_at,
        metadata=note.metadata,
        **shared_fields(GivenFields, note),
    )
    made, _ = remember(ctx, draft)
    copies = ctx.tx.lines.get_all(made.compartment, (made.id,))
    erase.erase_lines(ctx, [sealed], changes)
    changes.add(*copies)
    return _erased(request, changes, 1, owner=asked.owner, line=asked.id, moved_to=made.id)


def _erased(
    request: AuthorisedRequest,
    changes: Changes,
    lines: int,
    *,
    owner: str | None = None,
    line: str | None = None,
    session: str | None = None,
    moved_to: str = "",
) -> Outcome:
    """`lines`: how many of those that went were asked for. The others rested on them."""
    for held_by, namespace, ids in gone_runs(changes.erased):
        check_gone(request.ctx, (compartment_of(request.ctx, held_by, namespace),), ids)
    told = InspectorDetail(lines, len(changes.erased) - lines, owner, line, session)
    what = Deletion(namespaces=sorted(changes.namespaces), **shared_fields(InspectorDetail, told))
    owners = {compartment.owner for compartment, _ in changes.erased}

    def answer(row: Row) -> ForgetOutcome:
        scrubbed = request.scrub()
        receipt = signed(request, row, what, owners, scrubbed=scrubbed)
        return ForgetOutcome(len(changes.erased), scrubbed, receipt, copy=moved_to)

    return Outcome(answer, changes.trace(**shared_fields(InspectorDetail, told)))


def _moves(rights: Rights, asked: MoveNote) -> None:
    rights.peer(asked.owner)
    rights.puts()


MOVE = operation(
    "inspect.move",
    "forget",
    ForgetOutcome,
    move,
    _moves,
    reach=lambda asked: Reach(workspace=asked.workspace_id, actor=asked.owner, some_compartment=True),
    rings=True,
)
FORGET_MESSAGE = operation(
    "inspect.forget_message", "forget", ForgetOutcome, forget_message, writes_session, rings=True
)
FORGET_CONCLUSION = operation(
    "inspect.forget_conclusion",
    "forget",
    ForgetOutcome,
    forget_conclusion,
    lambda rights, asked: rights.peer(),
    rings=True,
)
FORGET_FROM = operation(
    "inspect.forget_from", "forget", ForgetOutcome, forget_from, writes_session, rings=True, peek=preview_from
)
FORGET_SESSION = operation(
    "inspect.forget_session", "forget", ForgetOutcome, forget_session, writes_session, rings=True
)
