"""Erase: a message, a conclusion, a session, a peer or a workspace, with everything that rests on it alone.

Readers find nothing from the commit on; the scrub that follows takes the bytes out of the store's
files. What rests on an erased line and on others too stays, and no longer names it.

Only what lies in open namespaces goes. A peer, a scope or a workspace that others hold something of
stays on the register for them; a peer that does is no longer listed here.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from souvenance.core.conversation import directory
from souvenance.core.conversation.cascade import erase_lines
from souvenance.core.conversation.compartments import Changes, everywhere, is_of_conversation
from souvenance.core.conversation.conclusions import KINDS
from souvenance.core.conversation.messages import find_message
from souvenance.core.request_context import RequestContext
from souvenance.domain.directory import FORMER, MEMBER, PEER, PICK, SCOPE, SESSION, WORKSPACE, Entry
from souvenance.domain.line import CARD, LinePlace
from souvenance.domain.names import SESSIONS, Compartment
from souvenance.errors import Conflict, NotFound
from souvenance.ports.store import EVERYTHING, TurnSpan, Views

_VIEWS = (*KINDS, CARD)


def erase_message(
    desk: RequestContext, session: str, message_id: str, *, with_empty_session: bool = False
) -> Changes:
    """`with_empty_session`: the session goes too, if it then holds nothing.

    Raises: NotFound.
    """
    line = find_message(desk, session, message_id)
    changes = Changes()
    erase_lines(desk, [line], changes)
    entry = directory.need(desk, SESSION, session)
    bare = (entry.metadata, entry.configuration) == ("{}", "{}")
    if with_empty_session and bare and not _lines_of(desk, entry):
        changes.gone_session = session
        _strike_session(desk, session)
    return changes


def erase_conclusion(desk: RequestContext, line_id: str) -> Changes:
    """Raises: NotFound."""
    line = desk.tx.lines.view(desk.scope.workspace, line_id, desk.scope.namespaces)
    if line is None or line.kind not in KINDS:
        raise NotFound("there is no such conclusion")
    changes = Changes()
    erase_lines(desk, [line], changes)
    return changes


def erase_session(desk: RequestContext, session: str) -> Changes:
    """What was said in the session and concluded in it; the name may be used again.

    Raises: NotFound.
    """
    entry = directory.need(desk, SESSION, session)
    lines = _lines_of(desk, entry)
    changes = Changes({entry.namespace}, gone_session=session)
    erase_lines(desk, lines.values(), changes)
    changes.gone -= {place for place, line in lines.items() if is_of_conversation(line)}
    _strike_session(desk, session)
    return changes


def _lines_of(desk: RequestContext, session: Entry) -> dict[tuple[Compartment, str], LinePlace]:
    """What was said in the session and concluded in it, by room and id."""
    workspace, namespace = session.workspace, session.namespace
    owners = dict.fromkeys((SESSIONS, *(stay.held for stay in directory.stays(desk, session.name))))
    said = [
        line
        for owner in owners
        for line in desk.tx.lines.of_session(workspace, owner, session.name)
        if line.room.namespace == namespace
    ]
    held = desk.tx.lines.views(Views(workspace, KINDS, sessions=(session.name,), namespaces=(namespace,)))
    return {(line.room, line.id): line for line in (*said, *held)}


def _strike_session(desk: RequestContext, session: str) -> None:
    """Take the session off the register."""
    workspace, register = desk.scope.workspace, desk.tx.register
    register.untie(workspace, MEMBER, holder=session)
    register.untie(workspace, PICK, held=session)
    register.drop_batches(workspace, session)
    register.remove(workspace, SESSION, session)
    desk.tx.work.drop(workspace, session)


def erase_peer(desk: RequestContext, peer: str, *, keep_messages: bool) -> Changes:
    """What the peer holds, what others hold of it, and, unless kept, what it said.

    Raises: NotFound.
    """
    entry = directory.need(desk, PEER, peer)
    if not directory.knows_peer(desk, entry):
        raise NotFound("there is no such peer")
    workspace = desk.scope.workspace
    rooms = rooms_held(desk, peer)
    span = TurnSpan(workspace, peer, [room.namespace for room in rooms], history=True, limit=EVERYTHING)
    own = [line for line in desk.tx.lines.walk(span) if not (keep_messages and line.turn is not None)]
    of_it = desk.tx.lines.views(Views(workspace, _VIEWS, about=peer, namespaces=desk.scope.namespaces))
    changes = Changes()
    ties = desk.tx.register.ties(workspace, MEMBER, held=peer)
    sessions = directory.in_reach(desk, (tie.holder for tie in ties))
    erase_lines(desk, {(line.room, line.id): line for line in (*own, *of_it)}.values(), changes)
    if keep_messages:
        for session in sorted(sessions):
            directory.leave(desk, session, (peer,))
        directory.ensure(desk, FORMER, peer)
    else:
        changes.gone -= {(line.room, line.id) for line in own}
        changes.gone_owner = peer
        changes.gone_in = [room.namespace for room in rooms]
        changes.namespaces.update(changes.gone_in)
        delete_rooms(desk, rooms, changes)
        for session in sessions:
            desk.tx.register.untie(workspace, MEMBER, holder=session, held=peer)
    _strike_off(desk, entry, keep_former=keep_messages)
    return changes


def rooms_held(desk: RequestContext, owner: str) -> list[Compartment]:
    """The owner's rooms that may be looked into, also one that has lost its keys or its lines."""
    workspace = desk.scope.workspace
    keyed = {key.room.namespace for key in desk.tx.keys.of(workspace, owner, desk.scope.namespaces)}
    filled = desk.tx.lines.namespaces(workspace, owner)
    found = sorted(keyed.union(filter(desk.scope.opens, filled)))
    return [Compartment(workspace, owner, namespace) for namespace in found]


def delete_rooms(desk: RequestContext, rooms: Iterable[Compartment], changes: Changes) -> None:
    for room in rooms:
        keys = desk.tx.keys.of(room.workspace, room.owner, (room.namespace,))
        changes.epoch = max([changes.epoch, *(key.epoch for key in keys)])
        desk.tx.lines.delete_room(room)
        desk.tx.terms.delete_room(room)
        desk.tx.keys.delete_room(room)
    desk.tx.touch(desk.scope.workspace, rooms=True)


def _strike_off(desk: RequestContext, entry: Entry, *, keep_former: bool = False) -> None:
    """Take the peer off the register, or leave it to the other namespaces that hold something of it."""
    register = desk.tx.register
    others = _elsewhere(desk, entry.name)
    register.remove(entry.workspace, PEER, entry.name)
    if others:
        namespace = min(others) if desk.scope.opens(entry.namespace) else entry.namespace
        register.add(replace(entry, namespace=namespace))
    elif not keep_former:
        register.remove(entry.workspace, FORMER, entry.name)


def _elsewhere(desk: RequestContext, peer: str) -> set[str]:
    """The namespaces out of reach in which the peer is or was in a session, holds something or is held."""
    if desk.scope.namespaces is None:
        return set()
    workspace, register = desk.scope.workspace, desk.tx.register
    held = [
        line.room.namespace
        for span in (Views(workspace, _VIEWS, owner=peer), Views(workspace, _VIEWS, about=peer))
        for line in desk.tx.lines.views(span)
    ]
    entries = [
        register.entry(workspace, SESSION, tie.holder) for tie in register.ties(workspace, MEMBER, held=peer)
    ]
    found = {*held, *(entry.namespace for entry in entries if entry is not None)}
    return {namespace for namespace in found if not desk.scope.opens(namespace)}


def erase_workspace(desk: RequestContext) -> Changes:
    """Everything in the workspace but its audit log.

    Raises: NotFound, Conflict while there are sessions.
    """
    workspace, register = desk.scope.workspace, desk.tx.register
    directory.need(desk, WORKSPACE, workspace)
    if register.count(workspace, SESSION, desk.scope.namespaces):
        raise Conflict(
            "the workspace still has sessions", hint="Delete its sessions first; nothing was changed."
        )
    rooms = {room for room in desk.tx.lines.rooms() if room.workspace == workspace}
    rooms.update(key.room for key in desk.tx.keys.every() if key.room.workspace == workspace)
    namespaces = everywhere(desk)
    changes = Changes(set(namespaces), gone_workspace=True, gone_in=namespaces)
    delete_rooms(desk, sorted(room for room in rooms if desk.scope.opens(room.namespace)), changes)
    desk.tx.work.drop(workspace, namespaces=desk.scope.namespaces)
    if _is_used_elsewhere(desk):
        for entry in register.entries(workspace, PEER, namespaces=desk.scope.namespaces):
            _strike_off(desk, entry)
    else:
        register.remove_workspace(workspace)
        desk.tx.work.drop(workspace)
    desk.tx.owe_scrub()
    return changes


def _is_used_elsewhere(desk: RequestContext) -> bool:
    """Whether a namespace out of reach holds a session, a conclusion or a card of the workspace."""
    if desk.scope.namespaces is None:
        return False
    workspace, lines = desk.scope.workspace, desk.tx.lines
    return bool(desk.tx.register.count(workspace, SESSION)) or any(
        lines.views(Views(workspace, _VIEWS, owner=room.owner, limit=1, namespaces=(room.namespace,)))
        for room in lines.rooms()
        if room.workspace == workspace and not desk.scope.opens(room.namespace)
    )


def erase_scope(desk: RequestContext, scope: str) -> None:
    """The scope, or, where it has sessions out of reach, only the others in it."""
    workspace, register = desk.scope.workspace, desk.tx.register
    picked = {tie.held for tie in register.ties(workspace, PICK, holder=scope)}
    mine = directory.in_reach(desk, picked)
    if any(register.entry(workspace, SESSION, session) for session in picked - mine):
        for session in mine:
            register.untie(workspace, PICK, holder=scope, held=session)
    else:
        register.untie(workspace, PICK, holder=scope)
        register.remove(workspace, SCOPE, scope)
