"""Replication: the worker that uploads to the bucket, and repair, which compares store and bucket both ways.

The worker uploads what the store noted, in a thread of its own. A bucket that does not answer is left alone
for a while, longer each time; the notes wait in the store.

Repair gives each side what it lacks, and rebuilds an empty store. What the store has and the bucket lacks is
noted, and carried. What the bucket has and the store lacks was either forgotten, as the audit log then says,
and goes from the bucket; or the store lost it, or can't open it, and it comes back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Changes
from souvenance.core.remember import append
from souvenance.core.replication import (
    STAMP_BYTES,
    Put,
    Shipped,
    expected,
    key_of,
    pages,
    ship_some,
)
from souvenance.core.request_context import RequestContext, Services, own_context, own_event
from souvenance.core.vault import CompartmentKeys, Vault
from souvenance.domain import objects as bucket
from souvenance.domain.directory import MEMBER, PEER, SESSION, Membership
from souvenance.domain.line import SealedLine
from souvenance.domain.names import SESSIONS, Compartment
from souvenance.errors import Conflict, SouvenanceError, StorageUnavailable, Tampered
from souvenance.gate.maintenance import Replayed, replayed
from souvenance.ports.clock import Clock, Entropy
from souvenance.ports.object_store import COMPARTMENT, KEY, LINE, REPLACED, ChangeNote, Objects
from souvenance.ports.store import Store, Transaction, WrappedKey

_THREADS = 8
_LOOK_SECONDS = 0.5
_LONGEST_REST_SECONDS = 60.0
_STEP_SECONDS = 0.05


class ReplicationWorker:
    def __init__(
        self,
        *,
        store: Store,
        vault: Vault,
        entropy: Entropy,
        clock: Clock,
        objects: Objects,
        report: Callable[[str], None],
    ) -> None:
        self.objects = objects
        self.trouble = ""
        """Why the bucket lacks something for longer, if it does."""
        self._store = store
        self._vault = vault
        self._entropy = entropy
        self._clock = clock
        self._report = report
        self._threads = ThreadPoolExecutor(_THREADS, "souvenance-replication")

    def run(self, stopped: threading.Event) -> None:
        """Carry until stopped; what is under way is finished first."""
        failures = 0
        while not stopped.is_set():
            try:
                shipped = self._ship()
            except SouvenanceError as error:
                shipped = Shipped(0, 0)
                self._tell(error.detail)
            failures = failures + 1 if self.trouble else 0
            if failures or not shipped.carried:
                stopped.wait(min(_LOOK_SECONDS * 2 ** min(failures, 10), _LONGEST_REST_SECONDS))

    def carry_all(self, seconds: float, *, eager: bool = True) -> None:
        """Carry all that waits, with `eager` also what others claimed. Raises: StorageUnavailable."""
        deadline, rest = self._clock.now() + round(seconds * 1000), threading.Event()
        while True:
            shipped = self._ship(eager=eager)
            if shipped.trouble is not None:
                raise shipped.trouble
            if not shipped.carried:
                left = self.waiting()
                if not left:
                    return
                if self._clock.now() > deadline:
                    raise StorageUnavailable(
                        f"{left} objects wait to be carried to the bucket",
                        hint="Another process carries them, or their compartments have lost their keys.",
                    )
                rest.wait(_STEP_SECONDS)

    def waiting(self) -> int:
        """Of how much the bucket must still be told. Raises: Unavailable if the store is out of reach."""
        with self._store.read() as tx:
            return tx.replication.waiting()

    def each(self, put: Put, items: Iterable[tuple[str, bytes]]) -> None:
        """Raises: Unavailable."""
        list(self._threads.map(put, items))

    def fetched(self, keys: Iterable[str]) -> list[bytes | None]:
        """The objects under the keys, in their order. Raises: Unavailable."""
        return list(self._threads.map(self.objects.get, keys))

    def note(self, changes: Sequence[ChangeNote]) -> None:
        """Have these carried. Raises: Unavailable."""
        if changes:
            stamp = self._entropy.take(STAMP_BYTES).hex()
            with self._store.write() as tx:
                tx.replication.note([one._replace(stamp=stamp) for one in changes])

    def close(self) -> None:
        self._threads.shutdown()

    def _ship(self, *, eager: bool = False) -> Shipped:
        shipped = ship_some(
            self._store,
            self._vault,
            self._entropy,
            self.objects,
            now=self._clock.now(),
            each=self.each,
            eager=eager,
        )
        if shipped.claimed:
            self._tell("" if shipped.trouble is None else shipped.trouble.detail)
        return shipped

    def _tell(self, trouble: str) -> None:
        if trouble and not self.trouble:
            self._report(f"lines wait for the bucket: {trouble}")
        self.trouble = trouble


NOT_REBUILT = (
    "the audit log and its checkpoints",
    "revocations of caps, and sign-ins",
    "metadata and settings of workspaces, peers and sessions, and who left a session",
    "scopes, webhooks, retention rules and work that waited",
)
"""What objects do not tell, in words."""


class RepairReport(Struct):
    restored: int = 0
    """Lines that the store lacked."""
    carried: int = 0
    """Objects that the bucket lacked."""
    removed: int = 0
    """Objects of what was forgotten."""
    findings: list[str] = field(default_factory=list)


_AT_ONCE = 200
_PATIENCE_SECONDS = 600.0


class Repairer:
    """For one thread."""

    def __init__(self, *, store: Store, clock: Clock, services: Services, worker: ReplicationWorker) -> None:
        """The store is one that does not note its changes: what comes from the bucket is there already."""
        self.worker = worker
        self._store = store
        self._clock = clock
        self._services = services
        self._vault = services.vault
        self._report = RepairReport()
        self._logs: dict[str, Replayed] = {}

    def rebuild(self) -> RepairReport:
        """Make an empty store anew from the bucket. Raises: Conflict, Unavailable, WrongKey."""
        with self._store.read() as tx:
            if tx.keys.every() or tx.lines.compartments():
                raise Conflict(
                    "the store is not empty",
                    hint="What it lacks comes back with 'souvenance doctor --repair'.",
                )
        self._begin()
        for page in pages(self.worker.objects):
            self._restore_keys([key for key in page if "/keys/" in key])
        self._repair()
        with self._store.write() as tx:
            tx.replication.begin()
        return self._report

    def repair(self) -> RepairReport:
        """Give each what it lacks. Raises: Unavailable, WrongKey."""
        self._begin()
        self._repair()
        return self._report

    def _begin(self) -> None:
        self._report, self._logs = RepairReport(), {}

    def _find(self, finding: str) -> None:
        self._report.findings.append(finding)

    def _repair(self) -> None:
        self.worker.carry_all(_PATIENCE_SECONDS)
        with self._store.read() as tx:
            every = {*tx.lines.compartments(), *(key.compartment for key in tx.keys.every())}
        compartments = {bucket.compartment_prefix(compartment): compartment for compartment in every}
        for prefix, keys in self._in_bucket():
            compartment = compartments.pop(prefix, None) or self._compartment_of(keys)
            if compartment is None or bucket.compartment_prefix(compartment) != prefix:
                self._find(f"the objects under {prefix} have no key that says whose they are")
            else:
                self._repair_compartment(compartment, set(keys))
        for compartment in compartments.values():
            self._repair_compartment(compartment, set())
        self.worker.carry_all(_PATIENCE_SECONDS)

    def _in_bucket(self) -> Iterator[tuple[str, list[str]]]:
        """The keys of the bucket, one compartment after the other, each with its prefix."""
        every = (key for page in pages(self.worker.objects) for key in page)
        ours = ((found[0], key) for key in every if (found := bucket.split_key(key)) is not None)
        for prefix, some in groupby(ours, key=lambda pair: pair[0]):
            yield prefix, [key for _, key in some]

    def _compartment_of(self, keys: Sequence[str]) -> Compartment | None:
        for key in keys:
            if "/keys/" in key:
                try:
                    data = self.worker.objects.get(key)
                    return None if data is None else bucket.unpacked_key(key, data).compartment
                except Tampered:
                    continue
        return None

    def _repair_compartment(self, compartment: Compartment, there: set[str]) -> None:
        extra = set(there)
        for wanted in self._wanted(compartment):
            extra.difference_update(map(key_of, wanted))
            keys = {key_of(one): one for one in wanted if not self._was_put_back(one)}
            self.worker.note([one for key, one in keys.items() if key not in there])
            self._report.carried += len(keys.keys() - there)
            shut = self._shut(compartment, [one.name for one in wanted if one.what == LINE])
            lines = (bucket.object_key(compartment, LINE, name) for name in shut)
            self._restore(compartment, [key for key in lines if key in there])
        found = sorted(
            (split[1], split[2], key) for key in extra if (split := bucket.split_key(key)) is not None
        )
        lost = {name for what, name, _ in found if what == LINE and not self._is_forgotten(compartment, name)}
        dead = [name for what, name, _ in found if what == LINE and name not in lost]
        self.worker.note([ChangeNote(compartment, LINE, name) for name in dead])
        self._report.removed += len(dead)
        with self._store.read() as tx:
            lives = bool(lost) or tx.lines.count(compartment) > 0
        if not lives:
            self.worker.note([ChangeNote(compartment, COMPARTMENT, "")])
            return
        self._restore_keys([key for what, _, key in found if what == KEY])
        back = [key for what, name, key in found if what == LINE and name in lost]
        self._restore(compartment, back + [key for what, _, key in found if what == REPLACED])

    def _wanted(self, compartment: Compartment) -> Iterator[list[ChangeNote]]:
        """What the bucket should have of the compartment, some at a time."""
        after: str | None = ""
        while after is not None:
            with self._store.read() as tx:
                some, after = expected(tx, compartment, after)
            yield some

    def _was_put_back(self, one: ChangeNote) -> bool:
        """Whether it is a forgotten line: that is a finding, and it is not copied into the bucket."""
        if one.what != LINE or not self._is_forgotten(one.compartment, one.name):
            return False
        self._find(f"line {one.name} was forgotten, and is there again: forget it again")
        return True

    def _is_forgotten(self, compartment: Compartment, line_id: str) -> bool:
        """By the log of its workspace, which is read once."""
        workspace = compartment.workspace
        if workspace not in self._logs:
            with self._store.read() as tx:
                self._logs[workspace] = replayed(tx, workspace)
        return self._logs[workspace].is_forgotten(compartment, line_id)

    def _shut(self, compartment: Compartment, names: Sequence[str]) -> list[str]:
        """Those of the lines that do not open in the store."""
        with self._store.read() as tx:
            keys, lines = self._vault.left(tx, compartment), tx.lines.get_all(compartment, names)
        return [] if keys is None else [line.id for line in lines if not _opens(line, keys)]

    def _restore_keys(self, keys: Sequence[str]) -> None:
        """Bring back the keys of these objects. Raises: WrongKey, before any change; Unavailable."""
        for key, data in zip(keys, self.worker.fetched(keys), strict=True):
            if data is None:
                continue
            try:
                found = _key_in(self._vault, key, data)
            except Tampered as error:
                self._find(error.detail)
                continue
            compartment = found.compartment
            with self._store.write() as tx:
                held = tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))
                if all((one.purpose, one.epoch) != (found.purpose, found.epoch) for one in held):
                    tx.keys.add(found)
                    while tx.keys.next_epoch(compartment.workspace) < found.epoch:
                        pass  # An epoch is never given twice.
                    tx.touch(compartment.workspace, compartments=True)

    def _restore(self, compartment: Compartment, keys: Sequence[str]) -> None:
        """Bring back the lines of these objects, and who said them, and mark as replaced those that objects
        after them name. Raises: Unavailable."""
        orphans: list[ChangeNote] = []
        for some in _batches(keys):
            fetched = self.worker.fetched(some)
            with self._store.write() as tx:
                opener = self._opener(tx, compartment)
                if opener is None:
                    return
                changes, now = Changes(), self._clock.now()
                ctx = own_context(tx, self._services, compartment.workspace, compartment.namespace, now)
                for found in self._read(opener, some, fetched):
                    if isinstance(found, bucket.LineObject):
                        self._restore_line(ctx, opener, found, changes)
                    elif _replace(tx, compartment, found.target, found.by):
                        changes.namespaces.add(compartment.namespace)
                        changes.replaced.append((*compartment[1:], found.target, found.by))
                    elif tx.lines.get(compartment, found.target) is None:
                        orphans.append(ChangeNote(compartment, REPLACED, found.target))
                tx.touch(compartment.workspace, compartments=True)
                if changes.namespaces:
                    event = own_event(now, "objects.restore", changes.trace())
                    tx.audit.append(compartment.workspace, event)
                self._report.restored += len(changes.put)
        self.worker.note(orphans)

    def _restore_line(
        self, ctx: RequestContext, opener: CompartmentKeys, found: bucket.LineObject, changes: Changes
    ) -> None:
        tx, line, compartment = ctx.tx, found.line, opener.compartment
        tx.lines.hide(None)
        try:
            text = opener.open(line)
        except Tampered as error:
            self._find(error.detail)
            return
        held = tx.lines.get(compartment, line.id)
        if held is not None and not _opens(held, opener):
            tx.lines.delete(compartment, [line.id])
            tx.terms.remove(compartment, [line.id])
        if not append(ctx, line, text, opener):
            self._find(f"line {line.id} is there twice, or its turn is taken")
            return
        tx.lines.cite(compartment, line.id, found.sources)
        if held is not None and held.invalidated_by is not None:
            _replace(tx, compartment, line.id, held.invalidated_by)
        _enter(replace(ctx, now=line.created_at), line)
        changes.add(line)

    def _opener(self, tx: Transaction, compartment: Compartment) -> CompartmentKeys | None:
        try:
            keys, why = self._vault.known(tx, compartment), " has lost its keys"
        except Tampered as error:
            keys, why = None, f": {error.detail}"
        if keys is None:
            self._find(f"namespace {compartment.namespace!r} of {compartment.owner!r}{why}")
        return keys

    def _read(
        self, opener: CompartmentKeys, keys: Sequence[str], fetched: Sequence[bytes | None]
    ) -> Iterator[bucket.LineObject | bucket.ReplacedObject]:
        for key, data in zip(keys, fetched, strict=True):
            if data is not None:
                try:
                    yield bucket.unpacked(key, data, opener.blind)
                except Tampered as error:
                    self._find(error.detail)


def _enter(ctx: RequestContext, line: SealedLine) -> None:
    owner, namespace = line.compartment.owner, line.compartment.namespace
    if line.turn is None and line.about is None:
        return
    for peer in (owner, line.about):
        if peer is not None and peer != SESSIONS:
            directory.ensure(ctx, PEER, peer, namespace=namespace)
    if line.turn is not None and line.session is not None:
        directory.ensure(ctx, SESSION, line.session, namespace=namespace)
        entered, workspace = ctx.tx.directory, ctx.scope.workspace
        if not entered.memberships(workspace, MEMBER, holder=line.session, held=owner):
            entered.add_membership(Membership(workspace, MEMBER, line.session, owner, line.turn))


def _batches(many: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many of them at a time as are done in one step."""
    return (many[first : first + _AT_ONCE] for first in range(0, len(many), _AT_ONCE))


def _key_in(vault: Vault, key: str, data: bytes) -> WrappedKey:
    """The key that an object holds. Raises: Tampered; WrongKey if another root key opens it."""
    found = bucket.unpacked_key(key, data)
    wrapped = WrappedKey(found.compartment, found.purpose, found.epoch, found.wrapped)
    vault.check(wrapped)
    return wrapped


def _opens(line: SealedLine, keys: CompartmentKeys) -> bool:
    try:
        keys.open(line)
    except Tampered:
        return False
    return True


def _replace(tx: Transaction, compartment: Compartment, target: str, by: str) -> bool:
    """Mark the line as replaced, so that no question finds it; False if it was, or is not there."""
    marked = tx.lines.invalidate(compartment, target, by)
    if marked:
        tx.terms.remove(compartment, (target,))
    return marked
