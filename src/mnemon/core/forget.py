"""Forget: rows, index, keys and caches of a line, a namespace or an owner.

Readers find nothing from the commit on. A room's keys are destroyed with it, so that copies of its
lines elsewhere stay shut; the scrub that follows takes the bytes out of the store's files.
"""

from __future__ import annotations

from msgspec import Struct

from mnemon.core.conversation.cascade import erase_lines, erase_resting
from mnemon.core.conversation.place import Changes
from mnemon.core.desk import Desk
from mnemon.domain import ulid
from mnemon.domain.register import MEMBER
from mnemon.ports.book import EVERYTHING, Span


class Forgotten(Struct, frozen=True):
    lines: int
    keys: int
    namespaces: tuple[str, ...]
    with_them: frozenset[str] = frozenset()
    """Lines of others that rested on these alone, and went too."""


def forget_line(desk: Desk, line_id: str) -> Forgotten:
    """Raises: InvalidInput, NotFound."""
    lines = [line for line, _ in desk.find_all(ulid.check(line_id))]
    changes = Changes()
    erase_lines(desk, lines, changes)
    return Forgotten(
        lines=len(lines),
        keys=0,
        namespaces=tuple(line.room.namespace for line in lines),
        with_them=frozenset(changes.gone - {line_id}),
    )


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
    said = desk.tx.lines.ids(
        Span(
            scope.workspace,
            scope.owner,
            [room.namespace for room in rooms],
            history=True,
            limit=EVERYTHING,
        )
    )
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
    return Forgotten(lines, keys, tuple(room.namespace for room in rooms), frozenset(changes.gone))
