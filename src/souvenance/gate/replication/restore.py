"""Restoring: bring back to the store what the bucket has and it lost, if it opens.

Each step is a transaction of its own with an audit row; so it may be ended at any moment and begun again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from souvenance.core.conversation.compartments import Changes
from souvenance.core.embedding import ACTOR
from souvenance.core.remember import append
from souvenance.core.request_context import RequestContext, Services
from souvenance.core.vault import CompartmentKeys, Vault
from souvenance.domain import ulid
from souvenance.domain.audit import OK, Event
from souvenance.domain.directory import MEMBER, PEER, SESSION, WORKSPACE, Entry, Tie
from souvenance.domain.line import SealedLine
from souvenance.domain.names import SESSIONS, Compartment
from souvenance.domain.objects import LineObject, ReplacedObject, unpacked, unpacked_key
from souvenance.domain.policy import Scope
from souvenance.errors import IntegrityError, Tampered
from souvenance.gate.replication.report import Mended
from souvenance.gate.replication.worker import ReplicationWorker
from souvenance.ports.clock import Clock
from souvenance.ports.replication import REPLACED, Shipment
from souvenance.ports.store import Store, Transaction, WrappedKey

_One = TypeVar("_One")

AT_ONCE = 200


class Restorer:
    def __init__(self, *, store: Store, clock: Clock, tools: Services, carrier: ReplicationWorker) -> None:
        self._store = store
        self._clock = clock
        self._tools = tools
        self._carrier = carrier

    def keys(self, keys: Sequence[str], mended: Mended) -> None:
        """Bring back the keys of these objects.

        Raises: WrongKey, before anything is changed that another root key would have to open; Unavailable.
        """
        for key, data in zip(keys, self._carrier.fetched(keys), strict=True):
            if data is None:
                continue
            try:
                told = key_told(self._tools.vault, key, data)
            except Tampered as error:
                mended.findings.append(error.detail)
                continue
            compartment = told.compartment
            with self._store.write() as tx:
                held = tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))
                if all((one.purpose, one.epoch) != (told.purpose, told.epoch) for one in held):
                    tx.keys.add(told)
                    while tx.keys.next_epoch(compartment.workspace) < told.epoch:
                        pass  # An epoch is never given twice.
                    tx.touch(compartment.workspace, compartments=True)

    def lines(self, compartment: Compartment, keys: Sequence[str], mended: Mended) -> None:
        """Bring back the lines of these objects, and what they tell of who said them. Raises: Unavailable."""
        for some in batches(keys):
            self._lines(compartment, some, mended)

    def replaced(self, compartment: Compartment, keys: Sequence[str], mended: Mended) -> None:
        """Mark as replaced the lines that these objects name. Raises: Unavailable."""
        for some in batches(keys):
            self._replaced(compartment, some, mended)

    def _lines(self, compartment: Compartment, keys: Sequence[str], mended: Mended) -> None:
        fetched = self._carrier.fetched(keys)
        with self._store.write() as tx:
            opener = self._opener(tx, compartment, mended)
            if opener is None:
                return
            changes, ctx = Changes(), self._ctx(tx, compartment)
            for key, data in zip(keys, fetched, strict=True):
                try:
                    told = None if data is None else unpacked(key, data, opener.blind)
                    if not isinstance(told, LineObject):
                        continue
                    line, held = told.line, tx.lines.get(compartment, told.id)
                    text = opener.open(line)
                    if held is not None and not opens(held, opener):
                        tx.lines.delete(compartment, [line.id])
                        tx.terms.remove(compartment, [line.id])
                    if append(ctx, line, text, opener):
                        tx.lines.cite(compartment, line.id, told.sources)
                        if held is not None and held.invalidated_by is not None:
                            _replace(tx, compartment, line.id, held.invalidated_by)
                        self._enter(tx, line)
                        changes.add(line)
                    else:
                        mended.findings.append(f"line {line.id} is told twice, or its turn is taken")
                except IntegrityError as error:
                    mended.findings.append(error.detail)
            tx.touch(compartment.workspace, compartments=True)
            if changes.put:
                self._record(tx, compartment, changes)
            mended.restored += len(changes.put)

    def _replaced(self, compartment: Compartment, keys: Sequence[str], mended: Mended) -> None:
        fetched = self._carrier.fetched(keys)
        with self._store.write() as tx:
            opener = self._opener(tx, compartment, mended)
            if opener is None:
                return
            done: list[tuple[str, str, str, str]] = []
            orphans: list[Shipment] = []
            for key, data in zip(keys, fetched, strict=True):
                try:
                    told = None if data is None else unpacked(key, data, opener.blind)
                except IntegrityError as error:
                    mended.findings.append(error.detail)
                    continue
                if isinstance(told, ReplacedObject):
                    if _replace(tx, compartment, told.target, told.by):
                        done.append((compartment.owner, compartment.namespace, told.target, told.by))
                    elif tx.lines.get(compartment, told.target) is None:
                        orphans.append(Shipment(compartment, REPLACED, told.target))
            if done:
                self._record(tx, compartment, Changes({compartment.namespace}), replaced=done)
        self._carrier.note(orphans)

    def _opener(self, tx: Transaction, compartment: Compartment, mended: Mended) -> CompartmentKeys | None:
        try:
            keys = self._tools.vault.known(tx, compartment)
        except Tampered as error:
            mended.findings.append(
                f"namespace {compartment.namespace!r} of {compartment.owner!r}: {error.detail}"
            )
            return None
        if keys is None:
            mended.findings.append(
                f"namespace {compartment.namespace!r} of {compartment.owner!r} has lost its keys"
            )
        return keys

    def _enter(self, tx: Transaction, line: SealedLine) -> None:
        """Enter in the directory who and what the line tells of, as far as it is not there."""
        compartment, session = line.compartment, line.session
        if line.turn is None and line.about is None:
            return
        self._name(tx, compartment.workspace, WORKSPACE, line)
        for peer in (compartment.owner, line.about):
            if peer is not None and peer != SESSIONS:
                self._name(tx, peer, PEER, line)
        if line.turn is not None and session is not None:
            self._name(tx, session, SESSION, line)
            if not tx.register.ties(compartment.workspace, MEMBER, holder=session, held=compartment.owner):
                tx.register.tie(Tie(compartment.workspace, MEMBER, session, compartment.owner, line.turn))

    def _name(self, tx: Transaction, name: str, kind: str, line: SealedLine) -> None:
        workspace = line.compartment.workspace
        if tx.register.entry(workspace, kind, name) is None:
            uid = ulid.compose(line.created_at, self._tools.entropy.take(ulid.ENTROPY_BYTES))
            where = {} if kind == WORKSPACE else {"namespace": line.compartment.namespace}
            tx.register.add(Entry(workspace, kind, name, uid, line.created_at, **where))

    def _ctx(self, tx: Transaction, compartment: Compartment) -> RequestContext:
        scope = Scope(compartment.workspace, ACTOR, frozenset((compartment.namespace,)), None)
        return RequestContext(tx, scope, ACTOR, self._clock.now(), self._tools)

    def _record(self, tx: Transaction, compartment: Compartment, changes: Changes, **facts: object) -> None:
        trace = changes.trace(**facts)
        tx.audit.append(
            compartment.workspace,
            Event(
                at=self._clock.now(),
                actor=ACTOR,
                cap=ACTOR,
                operation="objects.restore",
                outcome=OK,
                namespaces=trace.namespaces,
                lines=trace.lines,
                detail=trace.detail,
            ),
        )


def batches(many: Sequence[_One]) -> Iterator[Sequence[_One]]:
    """So many of them as are done in one step, and so on."""
    return (many[first : first + AT_ONCE] for first in range(0, len(many), AT_ONCE))


def key_told(vault: Vault, key: str, data: bytes) -> WrappedKey:
    """The key that an object tells. Raises: Tampered; WrongKey if another root key opens it."""
    told = unpacked_key(key, data)
    wrapped = WrappedKey(told.compartment, told.purpose, told.epoch, told.wrapped)
    vault.check(wrapped)
    return wrapped


def opens(line: SealedLine, keys: CompartmentKeys) -> bool:
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
