"""Giving: the records of a workspace, or of one owner in it, page by page, as far as may be looked.

A page goes on where the one before ended, by name and id and not by number, so that what comes or goes
meanwhile neither doubles nor hides another record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from souvenance.core.archive.pending_jobs import PORTABLE
from souvenance.core.archive.records import entry_record, line_record, owed_of
from souvenance.core.conversation import directory, webhooks
from souvenance.core.request_context import RequestContext
from souvenance.decoders import settled
from souvenance.domain.archive_records import LineRecord, Owed, Record
from souvenance.domain.directory import FORMER, MEMBER, PEER, SCOPE, SESSION, WEBHOOK, WORKSPACE, Entry
from souvenance.domain.jobs import REASONING
from souvenance.domain.names import Compartment
from souvenance.errors import InvalidInput, Tampered
from souvenance.ports.store import TurnSpan

PAGE_BYTES = 256 * 1024
"""A page ends with the line that reaches so many bytes of text."""
_LINES, _OWED = "line", "owed"
_STAGES = (WORKSPACE, PEER, FORMER, SESSION, SCOPE, WEBHOOK, _LINES, _OWED)
_AT_ONCE = 100


class RecordPage(Struct, frozen=True):
    records: list[Record]
    cursor: str | None
    """Where the next page begins; None if this is the last."""
    waiting: int = 0
    """On the last page: pieces of reasoning that were still to be done."""
    owed: list[Owed] = []
    """Work that was still to be done: behind all records, and of everyone."""


class _Cursor(Struct, frozen=True, array_like=True):
    """What was given last: of the register its uid and name, of lines owner, namespace and id.

    Of the register `seen` is how many those were; of the work, which number the last one has.
    """

    stage: str = WORKSPACE
    last: tuple[str, ...] = ()
    seen: int = 0


def give(desk: RequestContext, owner: str | None, cursor: str | None, limit: int) -> RecordPage:
    """Some of the records, in a fixed order; without an owner, of everyone.

    Raises: InvalidInput if the cursor is not one of ours; Tampered, WrongKey if a line does not open.
    """
    place = _read(cursor)
    if cursor is None:
        _check_keys(desk, owner)
    records: list[Record] = []
    owed: list[Owed] = []
    size = 0
    for given, after in _following(desk, owner, place):
        if isinstance(given, Owed):
            owed.append(given)
        else:
            records.append(given)
            size += len(given.text) if isinstance(given, LineRecord) else 0
        if len(records) + len(owed) == limit or size >= PAGE_BYTES:
            return RecordPage(records, msgspec.json.encode(after).decode(), 0, owed)
    return RecordPage(records, None, _waiting(desk), owed)


def _read(cursor: str | None) -> _Cursor:
    if cursor is None:
        return _Cursor()
    try:
        place = msgspec.json.decode(cursor, type=settled(_Cursor))
    except (msgspec.MsgspecError, UnicodeEncodeError):
        place = None
    if place is None or place.stage not in _STAGES or place.seen < 0:
        raise InvalidInput("cursor is not one that was given")
    if len(place.last) != (3 if place.stage == _LINES else 2):
        raise InvalidInput("cursor is not one that was given")
    return place


def _check_keys(desk: RequestContext, owner: str | None) -> None:
    """Raises: Tampered if lines that should be given lie in a room that lost its keys."""
    keyed = set(_rooms(desk, owner))
    for room in desk.tx.lines.rooms():
        mine = room.workspace == desk.scope.workspace and owner in (None, room.owner)
        if mine and desk.scope.opens(room.namespace) and room not in keyed:
            raise Tampered(f"namespace {room.namespace!r} of {room.owner!r} has lost its keys")


def _following(
    desk: RequestContext, owner: str | None, place: _Cursor
) -> Iterator[tuple[Record | Owed, _Cursor]]:
    for stage in _STAGES[_STAGES.index(place.stage) :]:
        here = place if stage == place.stage else _Cursor(stage)
        if stage == _LINES:
            yield from _lines(desk, owner, here)
            continue
        if stage == _OWED:
            yield from _work(desk, here) if owner is None else ()
            continue
        seen = here.seen
        for entry in _entries(desk, stage, owner, here):
            seen += 1
            after = _Cursor(stage, (entry.uid, entry.name), seen)
            if _is_open(desk, entry):
                yield entry_record(desk, entry, owner), after


def _entries(desk: RequestContext, kind: str, owner: str | None, place: _Cursor) -> Iterator[Entry]:
    """Those behind the place, in order of uid and name."""
    if owner is not None:
        yield from (one for one in _own(desk, kind, owner) if (one.uid, one.name) > place.last)
        return
    register, workspace = desk.tx.register, desk.scope.workspace
    start, last = max(0, min(place.seen, register.count(workspace, kind)) - _AT_ONCE), place.last
    while True:
        found = register.entries(workspace, kind, offset=start, limit=2 * _AT_ONCE)
        if start > 0 and (not found or (found[0].uid, found[0].name) > last):
            start = max(0, start - 2 * _AT_ONCE)  # Some before it went meanwhile.
            continue
        yield from (one for one in found if not last or (one.uid, one.name) > last)
        if len(found) < 2 * _AT_ONCE:
            return
        start, last = start + len(found) - 1, (found[-1].uid, found[-1].name)


def _own(desk: RequestContext, kind: str, owner: str) -> list[Entry]:
    """What a peer may take along of the register: the workspace's name, its own, and its sessions."""
    register, workspace = desk.tx.register, desk.scope.workspace
    match kind:
        case "workspace":
            names: Sequence[str] = (workspace,)
        case "peer" | "former":
            names = (owner,)
        case "session":
            names = [tie.holder for tie in register.ties(workspace, MEMBER, held=owner)]
        case _:
            return []
    return sorted(register.named(workspace, kind, names), key=lambda entry: (entry.uid, entry.name))


def _is_open(desk: RequestContext, entry: Entry) -> bool:
    if desk.scope.namespaces is None:
        return True
    match entry.kind:
        case "session":
            return desk.scope.opens(entry.namespace)
        case "peer" | "former":
            return directory.knows_peer(desk, entry)
        case "webhook":
            return entry in webhooks.endpoints(desk)
        case _:
            return True


def _rooms(desk: RequestContext, owner: str | None) -> list[Compartment]:
    workspace = desk.scope.workspace
    keys = desk.tx.keys.every() if owner is None else desk.tx.keys.of(workspace, owner)
    mine = {key.room for key in keys if key.room.workspace == workspace}
    return sorted(room for room in mine if desk.scope.opens(room.namespace))


def _lines(desk: RequestContext, owner: str | None, place: _Cursor) -> Iterator[tuple[Record, _Cursor]]:
    start = place.last[:2]
    for room in _rooms(desk, owner):
        if (room.owner, room.namespace) < start:
            continue
        last = place.last[2] if (room.owner, room.namespace) == start else ""
        keys = desk.tools.vault.known(desk.tx, room)
        while keys is not None:
            span = TurnSpan(
                room.workspace,
                room.owner,
                (room.namespace,),
                after=(last, room.namespace),
                history=True,
                newest_first=False,
                limit=_AT_ONCE,
            )
            found = desk.tx.lines.walk(span)
            cited = desk.tx.lines.cited(room.workspace, [line.id for line in found], room=room)
            for line in found:
                record = line_record(line, keys.open(line), cited.get(line.id, ()))
                yield record, _Cursor(_LINES, (room.owner, room.namespace, line.id))
            if len(found) < _AT_ONCE:
                break
            last = found[-1].id


def _work(desk: RequestContext, place: _Cursor) -> Iterator[tuple[Owed, _Cursor]]:
    last = place.seen
    while found := desk.tx.work.owed(desk.scope.workspace, PORTABLE, after=last, limit=_AT_ONCE):
        last = found[-1].seq
        for task in found:
            if desk.scope.opens(task.namespace):
                yield owed_of(task), _Cursor(_OWED, ("", ""), task.seq)


def _waiting(desk: RequestContext) -> int:
    tallies = desk.tx.work.tallies(desk.scope.workspace, REASONING, desk.now, desk.scope.namespaces)
    return sum(tally.pending + tally.claimed for tally in tallies)
