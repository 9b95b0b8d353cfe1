"""The gate's upkeep, for the installation's own cap alone: rotate keys, examine, scrub."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from mnemon.core.desk import Trace, opened
from mnemon.domain.audit import OK, Event, Row
from mnemon.domain.names import Room
from mnemon.errors import IntegrityError, NotFound
from mnemon.gate import messages as m
from mnemon.gate.case import Case, Outcome
from mnemon.ports.book import Span

_EVERYTHING = 1 << 31
_PAGE = 1000


def rotate(case: Case, request: m.RotateKeys) -> Outcome:
    if request.signing:
        kid = case.keyring.rotate_signer()
        return Outcome(m.RotateAnswer(rooms=0, rewrapped=0, kid=kid), Trace((), (), f"kid={kid}"))
    tx, vault = case.desk.tx, case.desk.tools.vault
    case.keyring.add_root()
    rooms = sorted({key.room for key in tx.keys.every()})
    for room in rooms:
        vault.add_epoch(tx, room)
    keys = tx.keys.every()
    for key in keys:
        vault.rewrap(tx, key)
    tx.owe_scrub()

    def answer(row: Row) -> m.RotateAnswer:
        case.keyring.retire_old_roots()
        vault.forget()
        case.book.scrub()
        return m.RotateAnswer(rooms=len(rooms), rewrapped=len(keys), kid=None)

    return Outcome(answer, Trace((), (), f"rooms={len(rooms)} keys={len(keys)}"))


def list_rooms(case: Case, request: m.Rooms) -> Outcome:
    tx = case.desk.tx
    rooms = sorted({key.room for key in tx.keys.every()}.union(tx.lines.rooms()))
    answer = m.RoomsAnswer(
        workspaces=list(tx.workspaces()),
        rooms=[m.RoomAnswer(*room, lines=tx.lines.count(room)) for room in rooms],
        scrub_pending=case.book.scrub_pending(),
    )
    return Outcome(answer)


def examine(case: Case, request: m.Examine) -> Outcome:
    tx = case.desk.tx
    room = Room(request.workspace, request.owner, request.namespace)
    keys = case.desk.tools.vault.rooms(tx, room.workspace, room.owner, (room.namespace,)).get(room.namespace)
    if keys is None:
        raise NotFound("there is no such room")
    findings: list[str] = []
    lines = tx.lines.walk(
        Span(
            room.workspace, room.owner, (room.namespace,), history=True, newest_first=False, limit=_EVERYTHING
        )
    )
    here = {line.id: line for line in lines}
    for line in lines:
        try:
            opened(line, keys)
        except IntegrityError as error:
            findings.append(error.detail)
        if line.supersedes is not None and line.supersedes in here:
            target = here[line.supersedes]
            if target.invalidated_by != line.id:
                findings.append(f"line {line.id} replaces {target.id}, which does not know of it")
        if line.invalidated_by is not None:
            replacement = here.get(line.invalidated_by)
            if replacement is not None and replacement.supersedes != line.id:
                findings.append(f"line {line.id} is hidden by a line that does not replace it")
    findings.extend(_index_findings(case, room, {line.id for line in lines}))
    return Outcome(m.ExamineAnswer(len(lines), findings), Trace((), (), f"findings={len(findings)}"))


def _index_findings(case: Case, room: Room, ids: set[str]) -> list[str]:
    indexed = {change.id for change in case.desk.tx.terms.since(room, 0) if change.tokens is not None}
    return [f"line {line_id} is in the index but not in the book" for line_id in sorted(indexed - ids)]


def reconcile(case: Case, request: m.Reconcile) -> Outcome:
    told = _told(case, request.workspace)
    findings: list[str] = []
    for room, line_id in sorted(told.lines):
        line = case.desk.tx.lines.get(room, line_id)
        if line is None:
            findings.append(f"line {line_id} was put, never forgotten, and is not there")
        elif line.invalidated_by is not None and (room, line_id, line.invalidated_by) not in told.replaced:
            findings.append(f"line {line_id} is hidden by a replacement that never was")
    answer = m.ReconcileAnswer(len(told.lines), findings)
    return Outcome(answer, Trace((), (), f"findings={len(findings)}"))


class _Told(Struct):
    """What the audit log says: the lines put and not forgotten, and what replaced what."""

    lines: set[tuple[Room, str]]
    replaced: set[tuple[Room, str, str]]


def _told(case: Case, workspace: str) -> _Told:
    told = _Told(set(), set())
    first = 0
    while rows := case.desk.tx.audit.rows(workspace, first, _PAGE):
        first = rows[-1].seq + 1
        for row in rows:
            if row.event.outcome == OK:
                _retell(told, workspace, row.event)
    return told


def _retell(told: _Told, workspace: str, event: Event) -> None:
    match event.operation:
        case "memory.put":
            told.lines.add((Room(workspace, event.actor, event.namespaces[0]), event.lines[0]))
        case "memory.invalidate":
            room, (target, by) = Room(workspace, event.actor, event.namespaces[0]), event.lines
            told.lines.add((room, by))
            told.replaced.add((room, target, by))
        case "memory.forget":
            owner = msgspec.json.decode(event.detail)["owner"]
            rooms = {Room(workspace, owner, namespace) for namespace in event.namespaces}
            gone = set(event.lines)
            told.lines = {
                (room, line_id)
                for room, line_id in told.lines
                if room not in rooms or (gone and line_id not in gone)
            }


def scrub(case: Case, request: m.Scrub) -> Outcome:
    return Outcome(lambda row: m.ScrubAnswer(case.book.scrub()))
