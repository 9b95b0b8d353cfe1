"""Who compares a book and a bucket that are in a test's own hands, as `souvenance doctor --repair` does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from souvenance.adapters.sql.store import SqlStore
from souvenance.adapters.system_clock import SystemClock, SystemEntropy
from souvenance.core.request_context import Services
from souvenance.gate.replication import Repairer, ReplicationWorker
from souvenance.ports.object_store import Objects


@contextmanager
def mending(store: SqlStore, objects: Objects, services: Services) -> Iterator[Repairer]:
    """The book is one that does not note its changes; it is closed at the end."""
    clock, entropy = SystemClock(), SystemEntropy()
    carrier = ReplicationWorker(
        store=store,
        vault=services.vault,
        entropy=entropy,
        clock=clock,
        objects=objects,
        report=lambda told: None,
    )
    try:
        yield Repairer(store=store, clock=clock, services=services, worker=carrier)
    finally:
        carrier.close()
        store.close()
