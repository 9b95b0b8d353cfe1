"""Erase: a message, a conclusion, a session, a peer or a workspace, with everything that rests on it alone.

Readers find nothing from the commit on; the scrub that follows takes the bytes out of the store's
files. What rests on an erased line and on others too stays, and no longer names it.
"""

from __future__ import annotations

from mnemon.core.conversation import directory
from mnemon.core.conversation.cascade import erase_lines
from mnemon.core.conversation.conclusions import KINDS
from mnemon.core.conversation.messages import find_message
from mnemon.core.conversation.place import NAMESPACE, Changes, room_of
from mnemon.core.desk import Desk
from mnemon.domain.line import CARD, MESSAGE
from mnemon.domain.names import SESSIONS
from mnemon.domain.register import FORMER, MEMBER, PEER, PICK, SCOPE, SESSION, WORKSPACE
from mnemon.errors import Conflict, NotFound
from mnemon.ports.book import Span, Views

_EVERYTHING = 1 << 31


def erase_message(desk: Desk, session: str, message_id: str) -> Changes:
    """Raises: NotFound."""
    line = find_message(desk, session, message_id)
    changes = Changes()
    erase_lines(desk, [line], changes)
    return changes


def erase_conclusion(desk: Desk, line_id: str) -> Changes:
    """Raises: NotFound."""
    line = desk.tx.lines.view(desk.scope.workspace, line_id)
    if line is None or line.kind not in KINDS:
        raise NotFound("there is no such conclusion")
    changes = Changes()
    erase_lines(desk, [line], changes)
    return changes


def erase_session(desk: Desk, session: str) -> Changes:
    """What was said in the session and concluded in it; the name may be used again.

    Raises: NotFound.
    """
    directory.need(desk, SESSION, session)
    workspace = desk.scope.workspace
    owners = dict.fromkeys((SESSIONS, *(stay.held for stay in directory.stays(desk, session))))
    said = [
        line
        for owner in owners
        for line in desk.tx.lines.of_session(workspace, owner, session)
        if line.room.namespace == NAMESPACE
    ]
    held = desk.tx.lines.views(Views(workspace, KINDS, sessions=(session,)))
    lines = {line.id: line for line in (*said, *held)}
    changes = Changes(gone_session=session)
    erase_lines(desk, lines.values(), changes)
    changes.gone -= set(lines)
    register = desk.tx.register
    register.untie(workspace, MEMBER, holder=session)
    register.untie(workspace, PICK, held=session)
    register.drop_batches(workspace, session)
    register.remove(workspace, SESSION, session)
    desk.tx.work.drop(workspace, session)
    return changes


def erase_peer(desk: Desk, peer: str, *, keep_messages: bool) -> Changes:
    """What the peer holds, what others hold of it, and, unless kept, what it said.

    Raises: NotFound.
    """
    directory.need(desk, PEER, peer)
    workspace, room = desk.scope.workspace, room_of(desk, peer)
    span = Span(workspace, peer, (NAMESPACE,), history=True, limit=_EVERYTHING)
    own = [line for line in desk.tx.lines.walk(span) if not (keep_messages and line.kind == MESSAGE)]
    of_it = desk.tx.lines.views(Views(workspace, (*KINDS, CARD), about=peer))
    changes = Changes()
    sessions = [tie.holder for tie in desk.tx.register.ties(workspace, MEMBER, held=peer)]
    erase_lines(desk, {line.id: line for line in (*own, *of_it)}.values(), changes)
    if not keep_messages:
        changes.gone -= {line.id for line in own}
        changes.gone_owner = peer
        desk.tx.lines.delete_room(room)
        desk.tx.terms.delete_room(room)
        desk.tx.keys.delete_room(room)
        desk.tx.touch(workspace, rooms=True)
        desk.tx.register.untie(workspace, MEMBER, held=peer)
        desk.tx.register.remove(workspace, FORMER, peer)
    else:
        for session in sessions:
            directory.leave(desk, session, (peer,))
        directory.ensure(desk, FORMER, peer)
    desk.tx.register.remove(workspace, PEER, peer)
    return changes


def erase_workspace(desk: Desk) -> Changes:
    """Everything in the workspace but its audit log.

    Raises: NotFound, Conflict while there are sessions.
    """
    workspace = desk.scope.workspace
    directory.need(desk, WORKSPACE, workspace)
    if desk.tx.register.count(workspace, SESSION):
        raise Conflict(
            "the workspace still has sessions", hint="Delete its sessions first; nothing was changed."
        )
    rooms = {room for room in desk.tx.lines.rooms() if room.workspace == workspace}
    rooms.update(key.room for key in desk.tx.keys.every() if key.room.workspace == workspace)
    for room in sorted(rooms):
        if desk.scope.namespaces is None or room.namespace in desk.scope.namespaces:
            desk.tx.lines.delete_room(room)
            desk.tx.terms.delete_room(room)
            desk.tx.keys.delete_room(room)
    desk.tx.register.remove_workspace(workspace)
    desk.tx.work.drop(workspace)
    desk.tx.touch(workspace, rooms=True)
    desk.tx.owe_scrub()
    return Changes(gone_workspace=True)


def erase_scope(desk: Desk, scope: str) -> None:
    desk.tx.register.untie(desk.scope.workspace, PICK, holder=scope)
    desk.tx.register.remove(desk.scope.workspace, SCOPE, scope)
