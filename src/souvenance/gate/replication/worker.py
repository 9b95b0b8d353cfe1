"""The replication worker: uploads to the bucket what the store noted, in a thread of its own.

A bucket that does not answer is left alone for a while, longer each time; the notes wait in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Bell

from souvenance.core.replication.change_notes import STAMP_BYTES
from souvenance.core.replication.upload import Put, Shipped, ship_some
from souvenance.core.vault import Vault
from souvenance.errors import SouvenanceError, StorageUnavailable
from souvenance.ports.clock import Clock, Entropy
from souvenance.ports.object_store import Objects, Shipment
from souvenance.ports.store import Store

_HANDS = 8
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
        self._hands = ThreadPoolExecutor(_HANDS, "souvenance-carrier")

    def run(self, stopped: Bell) -> None:
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
        """Carry everything that waits; what others claimed too if `eager`, else wait until they did.

        Raises: StorageUnavailable if that takes longer, or the bucket does not answer.
        """
        deadline, rest = self._clock.now() + round(seconds * 1000), Bell()
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
        list(self._hands.map(put, items))

    def fetched(self, keys: Iterable[str]) -> list[bytes | None]:
        """The objects under the keys, in their order. Raises: Unavailable."""
        return list(self._hands.map(self.objects.get, keys))

    def note(self, replication: Sequence[Shipment]) -> None:
        """Have these carried. Raises: Unavailable."""
        if replication:
            stamp = self._entropy.take(STAMP_BYTES).hex()
            with self._store.write() as tx:
                tx.replication.note([one._replace(stamp=stamp) for one in replication])

    def close(self) -> None:
        self._hands.shutdown()

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
