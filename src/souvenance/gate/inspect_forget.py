"""What the inspector forgets beyond a line: in conversations, and a note that moves. Each has a receipt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.compartments import (
    Changes,
    Opener,
    compartment_of,
    denied,
    everywhere,
)
from souvenance.core.conversation.conclusions import times_said
from souvenance.core.conversation.messages import find_message
from souvenance.core.remember import Draft, remember
from souvenance.core.request_context import Trace, opened, said_at
from souvenance.domain.audit import Row
from souvenance.domain.directory import SESSION
from souvenance.domain.line import DIGESTS, TOMBSTONE, GivenFields, LinePlace, SealedLine, shared_fields
from souvenance.domain.names import Name, Namespace
from souvenance.domain.policy import Reach
from souvenance.domain.receipt import InspectorDetail, gone_runs
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.ulid import LineId
from souvenance.errors import InvalidInput
from souvenance.gate.conversation.conclusions import OfConclusion, own
from souvenance.gate.conversation.messages import OfMessage
from souvenance.gate.conversation.sessions import OfSession, writes_session
from souvenance.gate.deletion import Deletion, check_gone, signed
from souvenance.gate.inspect_lines import is_note
from souvenance.gate.inspection import Asked
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights, operation
from souvenance.ports.store import TurnQuery

Preview: TypeAlias = Callable[[AuthorisedRequest, Any], Outcome | None]

_FIRST_GONE = 5


class ForgetMessage(OfMessage, frozen=True, kw_only=True):
    dry_run: bool = False
    """Only show what would go, here and in the next three."""


class ForgetFrom(OfMessage, frozen=True, kw_only=True):
    """Forget a message and every later one of its session."""

    dry_run: bool = False


class ForgetConclusion(OfConclusion, frozen=True, kw_only=True):
    dry_run: bool = False


class ForgetSession(OfSession, frozen=True, kw_only=True):
    dry_run: bool = False


class MoveNote(Asked, frozen=True, kw_only=True):
    """Store a note in another namespace of its owner, and forget it where it is."""

    owner: Name
    id: LineId
    namespace: Namespace


class GoneLine(Answer, frozen=True):
    owner: str
    at: datetime
    """When it was said, or what it rests on."""
    text: str | None
    """None if the token does not open it."""


class ForgetOutcome(Answer, frozen=True):
    lines: int
    """How many went; for a dry run, how many of those asked for would."""
    scrubbed: bool = False
    receipt: str = ""
    also: int = 0
    """For a dry run, how many more would go, which rest on those. The next two are the first few of both."""
    first: Sequence[GoneLine] = ()
    resting: Sequence[GoneLine] = ()
    copy: str = ""
    """The id of the note where it was moved to."""


def forget_message(request: AuthorisedRequest, asked: ForgetMessage) -> Outcome:
    [message] = _message(request, asked)
    changes = erase.erase_message(request.ctx, asked.session_id, asked.message_id)
    return _erased(request, changes, 1, owner=message.compartment.owner, line=message.id)


def forget_conclusion(request: AuthorisedRequest, asked: ForgetConclusion) -> Outcome:
    [held], changes = _conclusion(request, asked), Changes()
    erase.erase_lines(request.ctx, [held], changes)
    return _erased(request, changes, 1, owner=held.compartment.owner, line=held.id)


def forget_from(request: AuthorisedRequest, asked: ForgetFrom) -> Outcome:
    lines, changes = _from_here(request, asked), Changes()
    erase.erase_lines(request.ctx, lines, changes)
    return _erased(request, changes, len(lines), line=asked.message_id, session=asked.session_id)


def forget_session(request: AuthorisedRequest, asked: ForgetSession) -> Outcome:
    changes = erase.erase_session(request.ctx, asked.session_id)
    return _erased(request, changes, len(changes.erased), session=asked.session_id)


def _message(request: AuthorisedRequest, asked: ForgetMessage) -> Sequence[LinePlace]:
    return [find_message(request.ctx, asked.session_id, asked.message_id)]


def _conclusion(request: AuthorisedRequest, asked: ForgetConclusion) -> Sequence[LinePlace]:
    return [own(request, asked.conclusion_id)]


def _from_here(request: AuthorisedRequest, asked: ForgetFrom) -> Sequence[LinePlace]:
    ctx = request.ctx
    first = find_message(ctx, asked.session_id, asked.message_id)
    found = ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, asked.session_id, first=first.turn or 0))
    return [one for one in found if one.compartment.namespace == first.compartment.namespace]


def _session(request: AuthorisedRequest, asked: ForgetSession) -> Sequence[LinePlace]:
    entry = directory.need(request.ctx, SESSION, asked.session_id)
    found = erase.lines_of(request.ctx, entry).values()
    return sorted(
        (one for one in found if one.kind not in DIGESTS), key=lambda one: (one.turn is None, one.id)
    )


def _previewing(find: Callable[[AuthorisedRequest, Any], Sequence[LinePlace]]) -> Preview:
    def preview(request: AuthorisedRequest, asked: Any) -> Outcome | None:
        """What would go, if that is all that was asked."""
        if not asked.dry_run:
            return None
        lines = find(request, asked)
        resting = list(erase.fall(request.ctx, lines).lines.values())[len(lines) :]
        first, with_them = (_shown(request, some[:_FIRST_GONE]) for some in (lines, resting))
        answer = ForgetOutcome(len(lines), also=len(resting), first=first, resting=with_them)
        return Outcome(answer, Trace(everywhere(request.ctx), (), '{"dry_run":true}'))

    return preview


def _shown(request: AuthorisedRequest, lines: Sequence[LinePlace]) -> list[GoneLine]:
    ctx, opener = request.ctx, Opener(request.ctx)
    found = [line for one in lines if (line := ctx.tx.lines.get(one.compartment, one.id)) is not None]
    said = times_said(ctx, found)
    return [
        GoneLine(
            line.compartment.owner,
            to_datetime(said.get(line.id, line.created_at)),
            opener.text(line) if _opens(request, line) else None,
        )
        for line in found
    ]


def _opens(request: AuthorisedRequest, line: SealedLine) -> bool:
    return request.ctx.scope.opens(line.compartment.namespace) and request.rights.sees(line)


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
_forget = partial(operation, op="forget", answer=ForgetOutcome, rings=True)
FORGET_MESSAGE = _forget(
    "inspect.forget_message", work=forget_message, admit=writes_session, peek=_previewing(_message)
)
FORGET_CONCLUSION = _forget(
    "inspect.forget_conclusion",
    work=forget_conclusion,
    admit=lambda rights, asked: rights.peer(),
    peek=_previewing(_conclusion),
)
FORGET_FROM = _forget(
    "inspect.forget_from", work=forget_from, admit=writes_session, peek=_previewing(_from_here)
)
FORGET_SESSION = _forget(
    "inspect.forget_session", work=forget_session, admit=writes_session, peek=_previewing(_session)
)
