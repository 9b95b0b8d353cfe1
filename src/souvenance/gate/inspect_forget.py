"""What the inspector forgets beyond a line: in conversations, and a note that moves. Each has a receipt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from souvenance.core.conversation import directory, erase, relocate
from souvenance.core.conversation.compartments import (
    Changes,
    Opener,
    compartment_of,
    denied,
    everywhere,
)
from souvenance.core.conversation.conclusions import times_said
from souvenance.core.conversation.messages import find_message
from souvenance.core.request_context import Trace
from souvenance.domain.audit import Row
from souvenance.domain.directory import SESSION
from souvenance.domain.line import DIGESTS, LinePlace, SealedLine, shared_fields
from souvenance.domain.names import Name, Namespace
from souvenance.domain.policy import Reach
from souvenance.domain.receipt import InspectorDetail, gone_runs
from souvenance.domain.timestamps import to_datetime
from souvenance.domain.ulid import LineId
from souvenance.errors import InvalidInput
from souvenance.gate.conversation.conclusions import OfConclusion, own
from souvenance.gate.conversation.messages import OfMessage
from souvenance.gate.conversation.sessions import OfSession, reads_session, writes_session
from souvenance.gate.inspect_lines import moves_alone
from souvenance.gate.inspection import Asked
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights, operation
from souvenance.gate.operations import Deletion, check_gone, signed
from souvenance.ports.store import TurnQuery

Preview: TypeAlias = Callable[[AuthorisedRequest, Any], Outcome | None]

_FIRST_GONE = 5


class ForgetMessage(OfMessage, frozen=True, kw_only=True):
    dry_run: bool = False
    """Only show what would go, here and in the next three."""


class ForgetFrom(OfMessage, frozen=True, kw_only=True):
    """Forget a message and every later one of its session."""

    dry_run: bool = False


class ForgetOneConclusion(OfConclusion, frozen=True, kw_only=True):
    dry_run: bool = False


class ForgetSession(OfSession, frozen=True, kw_only=True):
    dry_run: bool = False


class MoveLine(Asked, frozen=True, kw_only=True):
    """Store a line and what it replaced in another namespace of its owner, and forget them where they are."""

    owner: Name
    id: LineId
    namespace: Namespace
    dry_run: bool = False


class MoveSession(OfSession, frozen=True, kw_only=True):
    """The same with a session and all that was said and concluded in it."""

    namespace: Namespace
    dry_run: bool = False


class GoneLine(Answer, frozen=True):
    owner: str
    about: str | None
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


def forget_message(request: AuthorisedRequest, asked: ForgetMessage) -> Outcome:
    [message] = _message(request, asked)
    changes = erase.erase_message(request.ctx, asked.session_id, asked.message_id)
    return _erased(request, changes, 1, owner=message.compartment.owner, line=message.id)


def forget_conclusion(request: AuthorisedRequest, asked: ForgetOneConclusion) -> Outcome:
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
    """Who may not write to the session forgets what their own peers said, as `memory.forget` lets them."""
    message, rights = find_message(request.ctx, asked.session_id, asked.message_id), request.rights
    if rights.sessions is not None or not rights.reaches(message.compartment.owner):
        rights.writes(asked.session_id)
    return [message]


def _conclusion(request: AuthorisedRequest, asked: ForgetOneConclusion) -> Sequence[LinePlace]:
    return [own(request, asked.conclusion_id)]


def _from_here(request: AuthorisedRequest, asked: ForgetFrom) -> Sequence[LinePlace]:
    ctx = request.ctx
    first = find_message(ctx, asked.session_id, asked.message_id)
    found = ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, asked.session_id, first=first.turn or 0))
    return [one for one in found if one.compartment.namespace == first.compartment.namespace]


def _session(request: AuthorisedRequest, asked: ForgetSession) -> Sequence[LinePlace]:
    entry = directory.need(request.ctx, SESSION, asked.session_id)
    return [one for one in erase.lines_of(request.ctx, entry).values() if one.kind not in DIGESTS]


def _previewing(find: Callable[[AuthorisedRequest, Any], Sequence[LinePlace]]) -> Preview:
    def preview(request: AuthorisedRequest, asked: Any) -> Outcome | None:
        """What would go, if that is all that was asked."""
        if not asked.dry_run:
            return None
        lines = sorted(find(request, asked), key=lambda one: (one.turn is None, one.turn, one.id))
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
            line.about,
            to_datetime(said.get(line.id, line.created_at)),
            opener.text(line) if _opens(request, line) else None,
        )
        for line in found
    ]


def _opens(request: AuthorisedRequest, line: SealedLine) -> bool:
    return request.ctx.scope.opens(line.compartment.namespace) and request.rights.sees(line)


def move(request: AuthorisedRequest, asked: MoveLine) -> Outcome:
    lines, changes = _moving_line(request, asked), Changes()
    relocate.relocate(request.ctx, lines, asked.namespace, changes)
    return _erased(request, changes, len(lines), owner=asked.owner, line=asked.id, moved_to=asked.namespace)


def _moving_line(request: AuthorisedRequest, asked: MoveLine) -> Sequence[SealedLine]:
    line, _ = request.ctx.find(asked.id)
    _check_target(request, line.compartment.namespace, asked.namespace)
    if not moves_alone(request.ctx, line):
        raise InvalidInput(
            "this line does not move by itself",
            hint="What was said or concluded in a session moves with it. What was corrected moves with the"
            " correction.",
        )
    return relocate.with_history(request.ctx, line)


def move_session(request: AuthorisedRequest, asked: MoveSession) -> Outcome:
    ctx, changes = request.ctx, Changes()
    ctx.tx.lines.hide(None)  # What is over and still there goes along.
    lines = _moving(request, asked)
    relocate.relocate_session(ctx, asked.session_id, lines, asked.namespace, changes)
    return _erased(request, changes, len(lines), session=asked.session_id, moved_to=asked.namespace)


def _moving(request: AuthorisedRequest, asked: MoveSession) -> Sequence[SealedLine]:
    entry = directory.need(request.ctx, SESSION, asked.session_id)
    _check_target(request, entry.namespace, asked.namespace)
    return relocate.with_session(request.ctx, entry)


def _check_target(request: AuthorisedRequest, here: str, there: str) -> None:
    """Raises: NamespaceDenied, InvalidInput."""
    if not request.ctx.scope.opens(there):
        raise denied()
    if here == there:
        raise InvalidInput("name another namespace", hint="It is in this one already.")


def _erased(
    request: AuthorisedRequest,
    changes: Changes,
    lines: int,
    *,
    owner: str | None = None,
    line: str | None = None,
    session: str | None = None,
    moved_to: str | None = None,
) -> Outcome:
    """`lines`: how many of those that went were asked for. The others rested on them."""
    for held_by, namespace, ids in gone_runs(changes.erased):
        check_gone(request.ctx, (compartment_of(request.ctx, held_by, namespace),), ids)
    told = InspectorDetail(lines, len(changes.erased) - lines, owner, line, session, moved_to)
    what = Deletion(namespaces=sorted(changes.namespaces), **shared_fields(InspectorDetail, told))
    owners = {compartment.owner for compartment, _ in changes.erased}

    def answer(row: Row) -> ForgetOutcome:
        scrubbed = request.scrub()
        receipt = signed(request, row, what, owners, scrubbed=scrubbed)
        return ForgetOutcome(len(changes.erased), scrubbed, receipt)

    return Outcome(answer, changes.trace(**shared_fields(InspectorDetail, told)))


def _moves(rights: Rights, asked: MoveLine) -> None:
    rights.peer(asked.owner)
    rights.puts()


def _moves_session(rights: Rights, asked: MoveSession) -> None:
    rights.workspace()
    rights.puts()


MOVE = operation(
    "inspect.move",
    "forget",
    ForgetOutcome,
    move,
    _moves,
    reach=lambda asked: Reach(workspace=asked.workspace_id, actor=asked.owner, some_compartment=True),
    rings=True,
    peek=_previewing(_moving_line),
)
MOVE_SESSION = operation(
    "inspect.move_session",
    "forget",
    ForgetOutcome,
    move_session,
    _moves_session,
    rings=True,
    peek=_previewing(_moving),
)
_forget = partial(operation, op="forget", answer=ForgetOutcome, rings=True)
FORGET_MESSAGE = _forget(
    "inspect.forget_message", work=forget_message, admit=reads_session, peek=_previewing(_message)
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
