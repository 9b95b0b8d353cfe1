"""Forget: rows, index, keys and caches of a line, a namespace or an owner.

Readers find nothing from the commit on. A room's keys are destroyed with it, so that copies of its
lines elsewhere stay shut; the scrub that follows takes the bytes out of the store's files.
"""

from __future__ import annotations

from msgspec import Struct

from mnemon.core.desk import Desk
from mnemon.domain import ulid


class Forgotten(Struct, frozen=True):
    lines: int
    keys: int
    namespaces: tuple[str, ...]


def forget_line(desk: Desk, line_id: str) -> Forgotten:
    """Raises: InvalidInput, NotFound."""
    rooms = [line.room for line, _ in desk.find_all(ulid.check(line_id))]
    for room in rooms:
        desk.tx.terms.remove(room, line_id)
        desk.tx.lines.delete(room, line_id)
    desk.tx.owe_scrub()
    return Forgotten(lines=len(rooms), keys=0, namespaces=tuple(room.namespace for room in rooms))


def forget_rooms(desk: Desk) -> Forgotten:
    """Everything in scope. Nothing there is not an error: it says nothing about what was."""
    scope = desk.scope
    keyed = {key.room.namespace for key in desk.tx.keys.of(scope.workspace, scope.owner, scope.namespaces)}
    filled = desk.tx.lines.namespaces(scope.workspace, scope.owner)
    rooms = [
        desk.room(namespace)
        for namespace in sorted(keyed.union(filled))
        if scope.namespaces is None or namespace in scope.namespaces
    ]
    lines = keys = 0
    for room in rooms:
        lines += desk.tx.lines.delete_room(room)
        desk.tx.terms.delete_room(room)
        keys += desk.tx.keys.delete_room(room)
    if rooms:
        desk.tx.touch(scope.workspace, rooms=True)
        desk.tx.owe_scrub()
    return Forgotten(lines, keys, tuple(room.namespace for room in rooms))
