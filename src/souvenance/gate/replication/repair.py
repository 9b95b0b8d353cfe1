"""Mending: compare book and bucket both ways, and give each what it lacks; make an empty store anew.

What the store has and the bucket lacks is noted, and carried. What the bucket has and the store lacks was
either forgotten, as the audit log then tells, and goes from the bucket; or the store lost it, and it comes
back. Looked at deeply, what both have is compared, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from souvenance.core.replication.upload import expected, key_of, pages
from souvenance.core.request_context import Services
from souvenance.domain.names import Compartment
from souvenance.domain.objects import compartment_prefix, split_key, unpacked_key
from souvenance.errors import Conflict, Tampered
from souvenance.gate.maintenance import forgotten
from souvenance.gate.replication.compare import Comparer
from souvenance.gate.replication.report import Mended
from souvenance.gate.replication.restore import Restorer
from souvenance.gate.replication.worker import ReplicationWorker
from souvenance.ports.clock import Clock
from souvenance.ports.replication import KEY, LINE, REPLACED, ROOM, Shipment
from souvenance.ports.store import Store

_PATIENCE_SECONDS = 600.0


class Mender:
    def __init__(self, *, store: Store, clock: Clock, tools: Services, carrier: ReplicationWorker) -> None:
        """The book is one that does not note its changes: what comes from the bucket is there already."""
        self._store = store
        self.carrier = carrier
        self._restorer = Restorer(store=store, clock=clock, tools=tools, carrier=carrier)
        self._comparer = Comparer(store=store, tools=tools, carrier=carrier, restorer=self._restorer)

    def rebuild(self) -> Mended:
        """Make an empty store anew from the bucket.

        Raises: Conflict if it is not empty; Unavailable, WrongKey.
        """
        with self._store.read() as tx:
            if tx.keys.every() or tx.lines.compartments():
                raise Conflict(
                    "the store is not empty",
                    hint="What it lacks comes back with 'souvenance doctor --repair'.",
                )
        keyed = Mended()
        for page in pages(self.carrier.objects):
            self._restorer.keys([key for key in page if "/keys/" in key], keyed)
        mended = self.repair()
        mended.findings[:0] = keyed.findings
        with self._store.write() as tx:
            tx.replication.begin()
        return mended

    def repair(self, *, deep: bool = False) -> Mended:
        """Give each what it lacks; `deep` reads every object, too. Raises: Unavailable, WrongKey."""
        self.carrier.carry_all(_PATIENCE_SECONDS)
        mended = Mended()
        with self._store.read() as tx:
            every = {*tx.lines.compartments(), *(key.compartment for key in tx.keys.every())}
        compartments = {compartment_prefix(compartment): compartment for compartment in every}
        told: dict[str, Callable[[Compartment, str], bool]] = {}
        for prefix, keys in self._of_compartments():
            compartment = compartments.pop(prefix, None) or self._compartment_of(keys)
            if compartment is None or compartment_prefix(compartment) != prefix:
                mended.findings.append(f"the objects under {prefix} have no key that says whose they are")
                continue
            self._mend_compartment(
                compartment, set(keys), self._gone(told, compartment.workspace), mended, deep=deep
            )
        for compartment in compartments.values():
            self._mend_compartment(compartment, set(), self._gone(told, compartment.workspace), mended)
        self.carrier.carry_all(_PATIENCE_SECONDS)
        return mended

    def _gone(
        self, told: dict[str, Callable[[Compartment, str], bool]], workspace: str
    ) -> Callable[[Compartment, str], bool]:
        """Whether a line of the workspace was forgotten, by its log, which is read once."""
        if workspace not in told:
            with self._store.read() as tx:
                told[workspace] = forgotten(tx, workspace)
        return told[workspace]

    def _of_compartments(self) -> Iterator[tuple[str, list[str]]]:
        """The keys of the bucket, room by room."""
        every = (key for page in pages(self.carrier.objects) for key in page)
        ours = ((found[0], key) for key in every if (found := split_key(key)) is not None)
        for prefix, some in groupby(ours, key=lambda pair: pair[0]):
            yield prefix, [key for _, key in some]

    def _compartment_of(self, keys: Sequence[str]) -> Compartment | None:
        for key in keys:
            if "/keys/" in key:
                try:
                    data = self.carrier.objects.get(key)
                    return None if data is None else unpacked_key(key, data).compartment
                except Tampered:
                    continue
        return None

    def _wanted(self, compartment: Compartment) -> Iterator[list[Shipment]]:
        """What the bucket should have of the compartment, some at a time."""
        after: str | None = ""
        while after is not None:
            with self._store.read() as tx:
                some, after = expected(tx, compartment, after)
            yield some

    def _was_put_back(self, one: Shipment, gone: Callable[[Compartment, str], bool], mended: Mended) -> bool:
        """Whether it is a line that was forgotten: such a one is told, and not copied into the bucket."""
        if one.what != LINE or not gone(one.compartment, one.name):
            return False
        mended.findings.append(f"line {one.name} was forgotten, and is there again: forget it again")
        return True

    def _mend_compartment(
        self,
        compartment: Compartment,
        there: set[str],
        gone: Callable[[Compartment, str], bool],
        mended: Mended,
        *,
        deep: bool = False,
    ) -> None:
        extra = set(there)
        for wanted in self._wanted(compartment):
            extra.difference_update(map(key_of, wanted))
            keys = {key_of(one): one for one in wanted if not self._was_put_back(one, gone, mended)}
            self.carrier.note([one for key, one in keys.items() if key not in there])
            mended.carried += len(keys.keys() - there)
            if deep:
                self._comparer.compare(
                    compartment, [one for key, one in keys.items() if key in there], mended
                )
        found = sorted((split[1], split[2], key) for key in extra if (split := split_key(key)) is not None)
        lost = {name for what, name, _ in found if what == LINE and not gone(compartment, name)}
        dead = [name for what, name, _ in found if what == LINE and name not in lost]
        self.carrier.note([Shipment(compartment, LINE, name) for name in dead])
        mended.removed += len(dead)
        with self._store.read() as tx:
            lives = bool(lost) or tx.lines.count(compartment) > 0
        if not lives:
            self.carrier.note([Shipment(compartment, ROOM, "")])
            return
        self._restorer.keys([key for what, _, key in found if what == KEY], mended)
        lines = [key for what, name, key in found if what == LINE and name in lost]
        self._restorer.lines(compartment, lines, mended)
        self._restorer.replaced(compartment, [key for what, _, key in found if what == REPLACED], mended)
