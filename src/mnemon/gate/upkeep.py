"""The gate's upkeep, for the installation's own cap alone: rotate keys, examine, scrub."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct, field

from mnemon.core.desk import Trace, opened
from mnemon.core.signins import rewrap
from mnemon.domain.audit import OK, Event, Row
from mnemon.domain.names import ALL, COMMON_NAMESPACE, Room
from mnemon.domain.receipt import Detail
from mnemon.domain.shapes import settled
from mnemon.errors import IntegrityError, NotFound, Unavailable
from mnemon.gate import messages as m
from mnemon.gate.case import Case, Outcome
from mnemon.ports.book import EVERYTHING, Span, Transaction

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
    rewrap(tx, case.keyring)
    tx.owe_scrub()

    def answer(row: Row) -> m.RotateAnswer:
        kept = not _carried(case)
        if not kept:
            case.keyring.retire_old_roots()
        vault.forget()
        case.book.scrub()
        return m.RotateAnswer(rooms=len(rooms), rewrapped=len(keys), kid=None, kept=kept)

    return Outcome(answer, Trace((), (), f"rooms={len(rooms)} keys={len(keys)}"))


def _carried(case: Case) -> bool:
    """Whether the bucket, if there is one, has the room keys as they are wrapped now."""
    try:
        if case.desk.tools.carry is not None:
            case.desk.tools.carry()
    except Unavailable:
        return False
    return True


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
            room.workspace, room.owner, (room.namespace,), history=True, newest_first=False, limit=EVERYTHING
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
    told = _told(case.desk.tx, request.workspace)
    findings: list[str] = []
    for room, line_id in sorted({*told.lines, *told.said}):
        line = case.desk.tx.lines.get(room, line_id)
        if line is None:
            findings.append(f"line {line_id} was put, never forgotten, and is not there")
        elif line.invalidated_by is not None and (room, line_id, line.invalidated_by) not in told.replaced:
            findings.append(f"line {line_id} is hidden by a replacement that never was")
    answer = m.ReconcileAnswer(len(told.lines) + len(told.said), findings)
    return Outcome(answer, Trace((), (), f"findings={len(findings)}"))


class _Told(Struct):
    """What the audit log says: the lines put and not forgotten, and what replaced what."""

    lines: set[tuple[Room, str]]
    replaced: set[tuple[Room, str, str]]
    said: dict[tuple[Room, str], str | None]
    """The lines of conversations, with their sessions."""
    ever: set[str] = field(default_factory=set)
    """Every line that the log names."""


def _told(tx: Transaction, workspace: str) -> _Told:
    told = _Told(set(), set(), {})
    first = 0
    while rows := tx.audit.rows(workspace, first, _PAGE):
        first = rows[-1].seq + 1
        for row in rows:
            if row.event.outcome == OK:
                _retell(told, workspace, row.event)
                told.ever.update(row.event.lines)
    return told


def forgotten(tx: Transaction, workspace: str) -> Callable[[Room, str], bool]:
    """Whether a line was put and is forgotten, as far as the log tells."""
    told = _told(tx, workspace)
    left = {*told.lines, *told.said}
    return lambda room, line_id: line_id in told.ever and (room, line_id) not in left


def _retell(told: _Told, workspace: str, event: Event) -> None:
    match event.operation:
        case "memory.put":
            told.lines.add((Room(workspace, event.actor, event.namespaces[0]), event.lines[0]))
        case "memory.invalidate":
            room, (target, by) = Room(workspace, event.actor, event.namespaces[0]), event.lines
            told.lines.add((room, by))
            told.replaced.add((room, target, by))
        case "memory.forget":
            _retell_forgotten(told, workspace, event)
        case _ if event.detail.startswith("{"):
            _retell_changes(told, workspace, event)


def _retell_forgotten(told: _Told, workspace: str, event: Event) -> None:
    detail = msgspec.json.decode(event.detail, type=settled(Detail))
    if detail.dry_run:
        return
    rooms = {Room(workspace, detail.owner, namespace) for namespace in event.namespaces}
    named = set(event.lines)

    def stays(room: Room, line_id: str) -> bool:
        forgotten = room in rooms and (not named or line_id in named)
        return not forgotten and line_id not in detail.gone

    told.lines = {place for place in told.lines if stays(*place)}
    told.said = {place: session for place, session in told.said.items() if stays(*place)}


class _Run(Struct, array_like=True):
    """Lines put one after the other in one place; the first version's rows name no namespace."""

    owner: str
    session: str | None
    count: int
    namespace: str = COMMON_NAMESPACE


class _Changes(Struct):
    """What the log tells of a conversation's changes, as `Changes.trace` wrote it."""

    put: list[_Run] = []
    gone: frozenset[str] = frozenset()
    gone_session: str | None = None
    gone_owner: str | None = None
    gone_workspace: bool = False
    gone_in: frozenset[str] | None = None
    replaced: list[tuple[str, str, str, str]] = []
    """Owner, namespace, line and what replaced it, of lines that came as replaced ones."""

    def takes(self, room: Room, line_id: str) -> bool:
        """Whether the line went by its id, with its owner or with its workspace."""
        if line_id in self.gone:
            return True
        by_default = {ALL} if self.gone_workspace else {COMMON_NAMESPACE}
        within = by_default if self.gone_in is None else self.gone_in
        return (self.gone_workspace or room.owner == self.gone_owner) and not within.isdisjoint(
            (ALL, room.namespace)
        )


def _retell_changes(told: _Told, workspace: str, event: Event) -> None:
    changes = msgspec.json.decode(event.detail, type=settled(_Changes))
    gone = changes.gone or changes.gone_session is not None or changes.gone_owner is not None
    if gone or changes.gone_workspace:
        told.lines = {place for place in told.lines if not changes.takes(*place)}
        told.said = {
            place: session
            for place, session in told.said.items()
            if not changes.takes(*place) and (session is None or session != changes.gone_session)
        }
    ids = iter(event.lines)
    for run in changes.put:
        for _ in range(run.count):
            told.said[Room(workspace, run.owner, run.namespace), next(ids)] = run.session
    for owner, namespace, target, by in changes.replaced:
        told.replaced.add((Room(workspace, owner, namespace), target, by))


def scrub(case: Case, request: m.Scrub) -> Outcome:
    return Outcome(lambda row: m.ScrubAnswer(case.book.scrub()))
