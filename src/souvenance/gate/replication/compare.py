"""Comparing: where book and bucket both have something and it is not the same, make it the same.

The book's counts if it opens, and else the bucket's.
"""

from __future__ import annotations

from collections.abc import Sequence

from souvenance.core.replication.upload import bytes_of, key_of
from souvenance.core.request_context import Services
from souvenance.core.vault import Vault
from souvenance.domain.names import Compartment
from souvenance.domain.objects import unpacked
from souvenance.errors import IntegrityError, Tampered
from souvenance.gate.replication.report import Mended
from souvenance.gate.replication.restore import AT_ONCE, Restorer, batches, key_told, opens
from souvenance.gate.replication.worker import ReplicationWorker
from souvenance.ports.replication import KEY, LINE, Shipment
from souvenance.ports.store import Store, WrappedKey


class Comparer:
    def __init__(
        self, *, store: Store, tools: Services, carrier: ReplicationWorker, restorer: Restorer
    ) -> None:
        self._store = store
        self._tools = tools
        self._carrier = carrier
        self._restorer = restorer

    def compare(self, compartment: Compartment, both: Sequence[Shipment], mended: Mended) -> None:
        """Look at what both have of the compartment; the keys first, for without them nothing opens.

        Raises: Unavailable.
        """
        lines = [one for one in both if one.what == LINE]
        for one, ours, theirs in self._unlike([one for one in both if one.what == KEY]):
            self._settle_key(one, ours, theirs, lines, mended)
        for some in batches([one for one in both if one.what != KEY]):
            unlike = [one for one, *_ in self._unlike(some)]
            shut = self._shut(compartment, [one.name for one in unlike if one.what == LINE])
            better = [one for one in unlike if one.what == LINE and one.name in shut]
            self._renew([one for one in unlike if one not in better], mended)
            self._restorer.lines(compartment, [key_of(one) for one in better], mended)

    def _unlike(self, both: Sequence[Shipment]) -> list[tuple[Shipment, bytes, bytes]]:
        """Those that store and bucket tell differently, and what each tells."""
        with self._store.read() as tx:
            ours = bytes_of(tx, self._tools.vault, both)
        theirs = dict(zip(ours, self._carrier.fetched(ours), strict=True))
        pairs = ((one, ours.get(key_of(one)), theirs.get(key_of(one))) for one in both)
        return [(one, mine, its) for one, mine, its in pairs if mine and its is not None and mine != its]

    def _shut(self, compartment: Compartment, names: Sequence[str]) -> set[str]:
        """Those of the lines that do not open in the store."""
        with self._store.read() as tx:
            keys, lines = self._tools.vault.left(tx, compartment), tx.lines.get_all(compartment, names)
        return {line.id for line in lines if keys is None or not opens(line, keys)}

    def _settle_key(
        self, one: Shipment, ours: bytes, theirs: bytes, lines: Sequence[Shipment], mended: Mended
    ) -> None:
        key, vault = key_of(one), self._tools.vault
        held, found = _key_in(vault, key, ours), _key_in(vault, key, theirs)
        if held is None and found is None:
            mended.findings.append(f"the key {key} opens neither in the store nor in the bucket")
        elif held is None and found is not None:
            with self._store.write() as tx:
                tx.keys.rewrap(found)
                tx.touch(one.compartment.workspace, compartments=True)
        elif held is not None and found is not None and vault.same(held, found):
            self._renew([one], mended)
        elif found is None and self._are_ours(one.compartment, lines):
            self._carrier.objects.delete([key])
            self._renew([one], mended)
        else:
            mended.findings.append(f"the bucket has another key under {key}")

    def _are_ours(self, compartment: Compartment, lines: Sequence[Shipment]) -> bool:
        """Whether lines in the bucket bear the tag of this store's keys, and no other store lies there."""
        with self._store.read() as tx:
            opener = self._tools.vault.left(tx, compartment)
        keys = [key_of(one) for one in lines[:AT_ONCE]]
        fetched = zip(keys, self._carrier.fetched(keys), strict=True)
        return opener is not None and any(
            data is not None and _is_of(key, data, opener.blind) for key, data in fetched
        )

    def _renew(self, replication: Sequence[Shipment], mended: Mended) -> None:
        self._carrier.note(replication)
        mended.renewed += len(replication)


def _key_in(vault: Vault, key: str, data: bytes) -> WrappedKey | None:
    """The key that an object tells, if it opens."""
    try:
        return key_told(vault, key, data)
    except IntegrityError:
        return None


def _is_of(key: str, data: bytes, blind: bytes) -> bool:
    try:
        unpacked(key, data, blind)
    except Tampered:
        return False
    return True
