"""Forget: rows, index, keys and caches of a line, a namespace or an owner.

Readers find nothing from the commit on. A room's keys are destroyed with it, so that copies of its
lines elsewhere stay shut; the scrub that follows takes the bytes out of the store's files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from souvenance.core.conversation.cascade import erase_lines, erase_resting
from souvenance.core.conversation.compartments import Changes
from souvenance.core.request_context import RequestContext
from souvenance.domain import receipt, ulid
from souvenance.domain.directory import MEMBER
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import Tampered
from souvenance.ports.store import EVERYTHING, TurnSpan

_NEWEST = 3


class Forgotten(Struct, frozen=True):
    lines: int
    keys: int
    namespaces: tuple[str, ...]
    with_them: frozenset[tuple[Compartment, str]] = frozenset()
    """Lines of others that rested on these alone, and went too."""
    epoch: int = 0
    """The newest epoch of the keys that went."""
    verified: tuple[str, ...] = ()
    """What was checked before the deletion was committed."""


class Forgettable(Struct, frozen=True):
    """What would go."""

    lines: int
    keys: int
    namespaces: tuple[str, ...]
    newest: list[SealedLine]


def forgettable(desk: RequestContext, line_id: str | None) -> Forgettable:
    """What would go with this line, or with everything in scope. Raises: InvalidInput, NotFound."""
    if line_id is not None:
        found = [line for line, _ in desk.find_all(ulid.check(line_id))]
        return Forgettable(len(found), 0, _namespaces(line.room for line in found), found[:_NEWEST])
    scope, rooms = desk.scope, _rooms(desk)
    namespaces = _namespaces(rooms)
    span = TurnSpan(scope.workspace, scope.owner, namespaces, history=True, limit=_NEWEST)
    return Forgettable(
        lines=sum(desk.tx.lines.count(room) for room in rooms),
        keys=len(desk.tx.keys.of(scope.workspace, scope.owner, namespaces)),
        namespaces=namespaces,
        newest=desk.tx.lines.walk(span),
    )


def forget_line(desk: RequestContext, line_id: str) -> Forgotten:
    """Raises: InvalidInput, NotFound, SchemaUnknown."""
    lines = [line for line, _ in desk.find_all(ulid.check(line_id))]
    changes = Changes()
    erase_lines(desk, lines, changes)
    rooms = [line.room for line in lines]
    _check_gone(desk, rooms, (line_id,))
    return Forgotten(
        lines=len(lines),
        keys=0,
        namespaces=_namespaces(rooms),
        with_them=frozenset(changes.gone - {(room, line_id) for room in rooms}),
        verified=(receipt.SCHEMA, receipt.LINES, receipt.INDEX),
    )


def forget_rooms(desk: RequestContext) -> Forgotten:
    """Everything in scope. Nothing there is not an error: it says nothing about what was.

    Raises: SchemaUnknown.
    """
    scope, rooms = desk.scope, _rooms(desk)
    namespaces = _namespaces(rooms)
    said = desk.tx.lines.ids(
        TurnSpan(scope.workspace, scope.owner, namespaces, history=True, limit=EVERYTHING),
    )
    epochs = [key.epoch for key in desk.tx.keys.of(scope.workspace, scope.owner, namespaces)]
    changes = Changes()
    if rooms:
        ties = desk.tx.register.ties(scope.workspace, MEMBER, held=scope.owner)
        erase_resting(desk, said, dict.fromkeys(tie.holder for tie in ties), changes)
    lines = keys = 0
    for room in rooms:
        lines += desk.tx.lines.delete_room(room)
        desk.tx.terms.delete_room(room)
        keys += desk.tx.keys.delete_room(room)
    if rooms:
        desk.tx.touch(scope.workspace, rooms=True)
    desk.tx.owe_scrub()
    _check_gone(desk, rooms)
    return Forgotten(
        lines=lines,
        keys=keys,
        namespaces=namespaces,
        with_them=frozenset(changes.gone),
        epoch=max(epochs, default=0),
        verified=(receipt.SCHEMA, receipt.LINES, receipt.INDEX, receipt.KEYS),
    )


def _rooms(desk: RequestContext) -> list[Compartment]:
    """The rooms in scope that have keys or lines."""
    scope = desk.scope
    keyed = {key.room.namespace for key in desk.tx.keys.of(scope.workspace, scope.owner, scope.namespaces)}
    filled = desk.tx.lines.namespaces(scope.workspace, scope.owner)
    return [desk.room(name) for name in sorted(keyed.union(filter(scope.opens, filled)))]


def _namespaces(rooms: Iterable[Compartment]) -> tuple[str, ...]:
    return tuple(room.namespace for room in rooms)


def _check_gone(
    desk: RequestContext, rooms: Iterable[Compartment], line_ids: Collection[str] | None = None
) -> None:
    """Look whether anything is left of these lines, or of the whole rooms. Raises: Tampered."""
    tx = desk.tx
    for room in rooms:
        if line_ids is None:
            keys = tx.keys.of(room.workspace, room.owner, (room.namespace,))
            left = tx.lines.count(room) + len(keys)
        else:
            left = len(tx.lines.get_all(room, line_ids))
        if left or tx.terms.indexed(room, line_ids):
            raise Tampered(
                "the store still has what was just deleted",
                hint="Nothing was deleted. Run 'souvenance doctor'.",
            )
