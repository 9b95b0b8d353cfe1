"""What owners and auditors do: rotate keys, examine, count, reindex, and read and prove the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict

from souvenance.core.conversation.compartments import LoggedChanges
from souvenance.core.embedding import Left, begin, drop_some, left
from souvenance.core.request_context import Services, Trace, opened, whole_history
from souvenance.core.vault import CompartmentKeys, rewrap
from souvenance.decoders import settled
from souvenance.domain.audit import OK, Event, Row
from souvenance.domain.capability import Grant
from souvenance.domain.names import ALL, Compartment
from souvenance.domain.receipt import Detail, gone_places
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import IntegrityError, InvalidInput, NotFound, Tampered, Unavailable
from souvenance.gate import messages as m
from souvenance.gate.operation import AuthorisedRequest, Outcome
from souvenance.ports.store import Transaction

_PAGE = 1000
_Place = tuple[Compartment, str]


def rotate(authorised: AuthorisedRequest, request: m.RotateKeys) -> Outcome:
    if request.signing:
        kid = authorised.keyring.rotate_signer()
        return Outcome(m.RotateAnswer(compartments=0, rewrapped=0, kid=kid), Trace((), (), f"kid={kid}"))
    tx, vault = authorised.ctx.tx, authorised.ctx.services.vault
    authorised.keyring.add_root()
    compartments = sorted({key.compartment for key in tx.keys.every()})
    for compartment in compartments:
        vault.add_epoch(tx, compartment)
    keys = tx.keys.every()
    for key in keys:
        vault.rewrap(tx, key)
    rewrap(tx, authorised.keyring)
    tx.owe_scrub()

    def answer(row: Row) -> m.RotateAnswer:
        kept = not _carried(authorised)
        if not kept:
            authorised.keyring.retire_old_roots()
        vault.forget()
        authorised.store.scrub()
        return m.RotateAnswer(compartments=len(compartments), rewrapped=len(keys), kid=None, kept=kept)

    return Outcome(answer, Trace((), (), f"compartments={len(compartments)} keys={len(keys)}"))


def _carried(authorised: AuthorisedRequest) -> bool:
    """Whether the bucket, if there is one, has the compartment keys as they are wrapped now."""
    try:
        if authorised.ctx.services.carry is not None:
            authorised.ctx.services.carry()
    except Unavailable:
        return False
    return True


def list_compartments(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    tx = authorised.ctx.tx
    tx.lines.hide(None)
    compartments = sorted({key.compartment for key in tx.keys.every()}.union(tx.lines.compartments()))
    answer = m.CompartmentsAnswer(
        workspaces=list(tx.workspaces()),
        compartments=[
            m.CompartmentAnswer(*compartment, lines=tx.lines.count(compartment))
            for compartment in compartments
        ],
        scrub_pending=authorised.store.scrub_pending(),
        findings=[
            f"{found.text}; to remove it: {found.remedy}" if found.remedy else found.text
            for found in tx.differences()
        ],
    )
    return Outcome(answer)


def examine(authorised: AuthorisedRequest, request: m.Examine) -> Outcome:
    tx = authorised.ctx.tx
    tx.lines.hide(None)
    compartment = Compartment(request.workspace, request.owner, request.namespace)
    keys = authorised.ctx.services.vault.compartments(
        tx, compartment.workspace, compartment.owner, (compartment.namespace,)
    ).get(compartment.namespace)
    if keys is None:
        raise NotFound("there is no such compartment")
    findings: list[str] = []
    lines = tx.lines.walk(whole_history(compartment))
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
    findings.extend(_index_findings(authorised, keys, set(here)))
    return Outcome(m.ExamineAnswer(len(lines), findings), Trace((), (), f"findings={len(findings)}"))


def _index_findings(authorised: AuthorisedRequest, keys: CompartmentKeys, ids: set[str]) -> Iterator[str]:
    """What the index has of lines that are not there, and vectors that do not open."""
    terms, compartment = authorised.ctx.tx.terms, keys.compartment
    indexed = {change.id for change in terms.since(compartment, 0) if change.tokens is not None}
    for line_id in sorted(indexed.union(terms.indexed(compartment)) - ids):
        yield f"line {line_id} is in the index but not in the store"
    if terms.comparing is None:
        for space in terms.spaces():
            for vector in terms.vectors(compartment, space, 0):
                try:
                    keys.open_vector(vector.id, vector.sealed, space)
                except Tampered as error:
                    yield error.detail


def reconcile(authorised: AuthorisedRequest, request: m.Reconcile) -> Outcome:
    authorised.ctx.tx.lines.hide(None)
    logged = replayed(authorised.ctx.tx, request.workspace)
    findings = [
        *_lost(authorised.ctx.tx, logged),
        *_unexplained(authorised.ctx.tx, request.workspace, logged),
    ]
    return Outcome(m.ExamineAnswer(len(logged.left), findings), Trace((), (), f"findings={len(findings)}"))


def _lost(tx: Transaction, logged: Replayed) -> Iterator[str]:
    """What the log says is there, and is not."""
    for compartment, line_id in sorted(logged.left):
        line = tx.lines.get(compartment, line_id)
        if line is None:
            yield f"line {line_id} was put, never forgotten, and is not there"
        elif (
            line.invalidated_by is not None
            and (compartment, line_id, line.invalidated_by) not in logged.replaced
        ):
            yield f"line {line_id} is hidden by a replacement that never was"


def _unexplained(tx: Transaction, workspace: str, logged: Replayed) -> Iterator[str]:
    """What is there, and should not be by what the log says."""
    for compartment in tx.lines.compartments():
        if compartment.workspace != workspace:
            continue
        for line_id in tx.lines.ids(whole_history(compartment)):
            if logged.is_forgotten(compartment, line_id):
                yield f"line {line_id} was forgotten, and is there again: forget it again"
            elif (compartment, line_id) not in logged.left:
                yield f"line {line_id} is there, and the log does not say who put it"
    for key in tx.keys.every():
        if key.compartment.workspace == workspace and logged.is_destroyed(key.compartment, key.epoch):
            yield (
                f"key {key.epoch} of namespace {key.compartment.namespace!r} of {key.compartment.owner!r}"
                " was destroyed,"
                " and is there again"
            )


class Replayed(Struct):
    """What the audit log says of a workspace: the lines put and not forgotten, and what replaced what."""

    left: dict[_Place, str | None] = field(default_factory=dict)
    """With the session that a line goes with, for those of conversations."""
    replaced: set[tuple[Compartment, str, str]] = field(default_factory=set)
    put: set[_Place] = field(default_factory=set)
    """Every line that was ever put."""
    destroyed: list[tuple[int, Callable[[Compartment], bool]]] = field(default_factory=list)
    """Up to which epoch keys were destroyed, and in which compartments."""

    def is_forgotten(self, compartment: Compartment, line_id: str) -> bool:
        return (compartment, line_id) in self.put and (compartment, line_id) not in self.left

    def is_destroyed(self, compartment: Compartment, epoch: int) -> bool:
        return any(epoch <= last and within(compartment) for last, within in self.destroyed)

    def add(self, place: _Place, session: str | None = None) -> None:
        self.left[place] = session
        self.put.add(place)

    def keep(self, stays: Callable[[_Place, str | None], bool]) -> None:
        self.left = {place: session for place, session in self.left.items() if stays(place, session)}


def replayed(tx: Transaction, workspace: str) -> Replayed:
    logged = Replayed()
    first = 0
    while rows := tx.audit.rows(workspace, first, _PAGE):
        first = rows[-1].seq + 1
        for row in rows:
            if row.event.outcome == OK:
                _replay(logged, workspace, row.event)
    return logged


def _replay(logged: Replayed, workspace: str, event: Event) -> None:
    match event.operation:
        case "memory.put":
            logged.add((Compartment(workspace, event.actor, event.namespaces[0]), event.lines[0]))
        case "memory.invalidate":
            compartment, (target, by) = Compartment(workspace, event.actor, event.namespaces[0]), event.lines
            logged.add((compartment, by))
            logged.replaced.add((compartment, target, by))
        case "memory.forget":
            _replay_forgotten(logged, workspace, event)
        case _ if event.detail.startswith("{"):
            _replay_changes(logged, workspace, event)


def _replay_forgotten(logged: Replayed, workspace: str, event: Event) -> None:
    detail = msgspec.json.decode(event.detail, type=settled(Detail))
    if detail.dry_run:
        return
    compartments = {Compartment(workspace, detail.owner, namespace) for namespace in event.namespaces}
    named = set(event.lines)
    also = gone_places(workspace, detail.gone)

    def stays(place: _Place, session: str | None) -> bool:
        compartment, line_id = place
        forgotten = compartment in compartments and (not named or line_id in named)
        return not forgotten and place not in also

    logged.keep(stays)
    if detail.epoch:
        logged.destroyed.append((detail.epoch, compartments.__contains__))


def _replay_changes(logged: Replayed, workspace: str, event: Event) -> None:
    changes = msgspec.json.decode(event.detail, type=settled(LoggedChanges))
    gone = gone_places(workspace, changes.gone)
    if gone or changes.gone_session is not None or changes.gone_owner is not None or changes.gone_workspace:
        logged.keep(
            lambda place, session: (
                place not in gone
                and not changes.takes(place[0])
                and (session is None or session != changes.gone_session)
            )
        )
    if changes.epoch:
        logged.destroyed.append((changes.epoch, changes.takes))
    ids = iter(event.lines)
    for run in changes.put:
        for _ in range(run.count):
            logged.add((Compartment(workspace, run.owner, run.namespace), next(ids)), run.session)
    for owner, namespace, target, by in changes.replaced:
        logged.replaced.add((Compartment(workspace, owner, namespace), target, by))


def scrub(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    return Outcome(lambda row: m.ScrubAnswer(authorised.store.scrub()))


def list_rows(authorised: AuthorisedRequest, request: m.AuditList) -> Outcome:
    workspace, grant = authorised.ctx.scope.workspace, authorised.chain.grant
    rows = authorised.ctx.tx.audit.rows(workspace, request.first, request.limit)
    shown = [shown_row(row) for row in rows if visible(row.event, grant)]
    following = rows[-1].seq + 1 if len(rows) == request.limit else None
    return Outcome(m.AuditListAnswer(workspace, shown, following))


def shown_row(row: Row) -> m.AuditRow:
    return m.AuditRow(seq=row.seq, leaf=row.leaf.hex(), **asdict(row.event))


def checkpoint(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    workspace = authorised.ctx.scope.workspace
    tree = authorised.ctx.tx.audit.tree(workspace)
    answer = m.CheckpointAnswer(workspace, tree.size, tree.root().hex(), to_datetime(authorised.ctx.now))
    return Outcome(answer)


def prove(authorised: AuthorisedRequest, request: m.AuditProof) -> Outcome:
    workspace = authorised.ctx.scope.workspace
    tree = authorised.ctx.tx.audit.tree(workspace)
    size = tree.size if request.size is None else request.size
    if size > tree.size:
        raise InvalidInput("size is beyond the end of the log")
    if (request.seq is None) == (request.old is None):
        raise InvalidInput("name exactly one of seq and old")
    if request.seq is not None:
        if request.seq >= size:
            raise InvalidInput("seq is not within size")
        path = tree.inclusion(request.seq, size)
        proved = {"leaf": tree.leaves(request.seq, request.seq + 1)[0].hex()}
    else:
        old = request.old or 0
        if old > size:
            raise InvalidInput("old is larger than size")
        path, proved = tree.consistency(old, size), {"old_root": tree.root(old).hex()}
    steps = [step.hex() for step in path]
    return Outcome(m.ProofAnswer(workspace, size, tree.root(size).hex(), steps, **proved))


def visible(event: Event, grant: Grant) -> bool:
    """A cap sees the rows of the actors, namespaces and sessions that it could act in itself."""
    if not grant.reaches(event.actor):
        return False
    if grant.sessions is not None:
        return event.cap == grant.jti
    return ALL in grant.namespaces or set(event.namespaces) <= grant.namespaces


def watch(authorised: AuthorisedRequest, request: m.Reindex) -> Outcome | None:
    """How far it has come; None if there is something to be written."""
    if request.begin:
        return None
    services = authorised.ctx.services
    seen = left(authorised.ctx.tx, services.meaning, request.workspace)
    return None if seen.old and _is_idle(services, seen) else _left_to_reindex(services, seen)


def reindex(authorised: AuthorisedRequest, request: m.Reindex) -> Outcome:
    tx, services = authorised.ctx.tx, authorised.ctx.services
    if request.begin:
        begin(tx, services, request.workspace)
    else:
        drop_some(tx, services.meaning.space)
    return _left_to_reindex(services, left(tx, services.meaning, request.workspace))


def _left_to_reindex(services: Services, seen: Left) -> Outcome:
    done = _is_idle(services, seen) and not seen.old
    answer = m.ReindexAnswer(seen.lines, seen.vectors, seen.old, done, services.meaning.trouble)
    detail = f"lines={seen.lines} vectors={seen.vectors} old_vectors={seen.old}"
    return Outcome(answer, Trace((), (), detail))


def _is_idle(services: Services, seen: Left) -> bool:
    """Whether all tokens and vectors are made, but for those of lines that can't be read."""
    return not seen.lines and services.meaning.next_compartment() is None
