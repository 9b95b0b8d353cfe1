"""Where a conversation's lines lie, and how they are opened and noted.

A message lies in the room of the peer who said it, a conclusion and a card in the room of the
peer who holds them, a summary in a room that belongs to the sessions of the workspace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct, field

from mnemon.core.desk import Desk, Trace
from mnemon.core.remember import append, sealed
from mnemon.core.vault import RoomKeys
from mnemon.domain.line import Line, SealedLine
from mnemon.domain.names import SESSIONS, Room
from mnemon.errors import Tampered

NAMESPACE = "default"
"""The namespace of doors that have no such word."""


def room_of(desk: Desk, owner: str) -> Room:
    return Room(desk.scope.workspace, owner, NAMESPACE)


def sessions_room(desk: Desk) -> Room:
    return room_of(desk, SESSIONS)


class Opener:
    """Opens lines of any owner, looking each room's keys up once."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._keys: dict[Room, RoomKeys] = {}

    def text(self, line: SealedLine) -> str:
        """Raises: Tampered, WrongKey."""
        keys = self._keys.get(line.room) or self._desk.tools.vault.known(self._desk.tx, line.room)
        if keys is None:
            raise Tampered(f"line {line.id} lies in a room that has lost its keys")
        self._keys[line.room] = keys
        return keys.open(line)


_MOST_TOLD = 20


def reading(lines: Sequence[str]) -> Trace:
    """What was read, as the audit log tells it: by id, and where that would be long, how many."""
    detail = f'{{"lines":{len(lines)}}}' if len(lines) > _MOST_TOLD else ""
    return Trace((NAMESPACE,), lines[:_MOST_TOLD], detail)


def write_line(
    desk: Desk,
    keys: RoomKeys,
    line_id: str,
    kind: str,
    text: str,
    *,
    session: str | None = None,
    turn: int | None = None,
    about: str | None = None,
    said_at: int | None = None,
    metadata: str = "{}",
    tokens: int | None = None,
    likeness: bytes | None = None,
) -> SealedLine:
    """Store a line in the room of these keys, as part of the request or the work at this desk."""
    line = Line(
        room=keys.room,
        id=line_id,
        kind=kind,
        text=text,
        session=session,
        created_at=desk.now,
        occurred_at=said_at,
        supersedes=None,
        cap=desk.cap,
        turn=turn,
        about=about,
        metadata={},
    )
    kept = sealed(desk, line, keys, metadata, tokens=tokens, likeness=likeness)
    append(desk, kept, text, keys)
    return kept


class Changes(Struct):
    """What a request or a piece of work did to lines, as the audit log tells it and the doctor retells it."""

    put: list[tuple[str, str | None, str]] = field(default_factory=list)
    """Owner, session and id of each line that was stored."""
    gone: set[str] = field(default_factory=set)
    gone_session: str | None = None
    gone_owner: str | None = None
    gone_workspace: bool = False

    def add(self, line: SealedLine) -> None:
        self.put.append((line.room.owner, line.session, line.id))

    def join(self, other: Changes) -> None:
        """Count what the other did as done here."""
        self.put.extend(other.put)
        self.gone.update(other.gone)

    def trace(self, **facts: object) -> Trace:
        detail: dict[str, object] = dict(facts)
        if self.put:
            detail["put"] = _runs((owner, session) for owner, session, _ in self.put)
        if self.gone:
            detail["gone"] = sorted(self.gone)
        if self.gone_session is not None:
            detail["gone_session"] = self.gone_session
        if self.gone_owner is not None:
            detail["gone_owner"] = self.gone_owner
        if self.gone_workspace:
            detail["gone_workspace"] = True
        told = msgspec.json.encode(detail, order="sorted").decode() if detail else ""
        return Trace((NAMESPACE,), [line_id for *_, line_id in self.put], told)


def _runs(places: Iterable[tuple[str, str | None]]) -> list[tuple[str, str | None, int]]:
    """Equal neighbours told once, with their number."""
    runs: list[tuple[str, str | None, int]] = []
    for owner, session in places:
        if runs and runs[-1][:2] == (owner, session):
            runs[-1] = (owner, session, runs[-1][2] + 1)
        else:
            runs.append((owner, session, 1))
    return runs
