"""Browse: one line with its history, the list of what there is, and the profile of an owner."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from mnemon.core.desk import Desk, opened
from mnemon.domain import ulid
from mnemon.domain.limits import LIST_MOST, SNAPSHOT_BYTES
from mnemon.domain.line import DIGESTS, PROFILE, Line, SealedLine
from mnemon.domain.moments import day
from mnemon.ports.book import ALL_BEFORE, Span

_SNAPSHOT_LINES = 200


class Page(Struct, frozen=True):
    lines: list[SealedLine]
    cursor: str | None


def read_line(desk: Desk, line_id: str) -> tuple[Line, str | None]:
    """The line, and the id of the one that replaced it if any did.

    Raises: InvalidInput, NotFound, Tampered.
    """
    line, keys = desk.find(ulid.check(line_id))
    return opened(line, keys), line.invalidated_by


def list_lines(desk: Desk, *, since: int | None, cursor: str | None, limit: int, history: bool) -> Page:
    """A page of lines without their text, oldest first.

    Raises: InvalidInput if the cursor is not one of ours.
    """
    limit = max(1, min(limit, LIST_MOST))
    after = None if since is None else (ulid.below(since), ALL_BEFORE)
    if cursor is not None:
        last_id, _, last_namespace = cursor.partition(".")
        after = (ulid.check(last_id, "cursor"), last_namespace)
    rooms = desk.open_rooms()
    span = Span(
        desk.scope.workspace,
        desk.scope.owner,
        frozenset(rooms),
        after=after,
        sessions=desk.scope.sessions,
        history=history,
        newest_first=False,
        limit=limit + 1,
    )
    lines = desk.tx.lines.walk(span)
    if len(lines) <= limit:
        return Page(lines, None)
    last = lines[limit - 1]
    return Page(lines[:limit], f"{last.id}.{last.room.namespace}")


def snapshot(desk: Desk) -> tuple[str, list[str]]:
    """A profile that a system prompt may carry whole, and the ids of the lines in it.

    Lines of kind 'profile' come first, then the newest others, each with its day; whole lines
    only, up to the limit.

    Raises: Tampered.
    """
    rooms = desk.open_rooms()
    span = Span(
        desk.scope.workspace,
        desk.scope.owner,
        frozenset(rooms),
        sessions=desk.scope.sessions,
        limit=_SNAPSHOT_LINES,
    )
    profile = desk.tx.lines.walk(replace(span, profile=True))
    others = [line for line in desk.tx.lines.walk(span) if line.kind not in (PROFILE, *DIGESTS)]
    told: list[str] = []
    ids: list[str] = []
    room_left = SNAPSHOT_BYTES
    for sealed in (*profile, *others):
        line = opened(sealed, rooms[sealed.room.namespace])
        said = " ".join(line.text.split())
        happened = line.created_at if line.occurred_at is None else line.occurred_at
        entry = f"- {day(desk.tools.local(happened))} [{line.room.namespace}] {said}\n"
        size = len(entry.encode())
        if size <= room_left:
            room_left -= size
            told.append(entry)
            ids.append(line.id)
    return "".join(told), ids
