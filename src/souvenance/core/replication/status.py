"""Whether a store is replicated to a bucket: then its changes are noted."""

from __future__ import annotations

from souvenance.errors import Misconfigured
from souvenance.ports.clock import Entropy
from souvenance.ports.object_store import Objects
from souvenance.ports.store import Store


def mirrored(store: Store, entropy: Entropy, objects: Objects | None) -> Store:
    """The book, noting its changes if it ever was told to; given a bucket, it is, and notes all it has.

    Raises: Misconfigured if the store is empty and new to the bucket, and the bucket is not; Unavailable.
    """
    with store.read() as tx:
        noting = tx.replication.mirrored()
        empty = objects is not None and not noting and not tx.keys.every()
    if objects is None and not noting:
        return store
    from souvenance.core.replication.change_notes import (  # Few books have a bucket.
        STAMP_BYTES,
        MirroredStore,
    )

    if objects is not None and not noting:
        if empty and objects.keys():
            raise Misconfigured(
                "the bucket has lines, and this store has none",
                hint="Run 'souvenance rebuild' with the root.key of those lines, or name another prefix.",
            )
        with store.write() as tx:
            tx.replication.begin()
            tx.replication.note_everything(entropy.take(STAMP_BYTES).hex())
    return MirroredStore(store, entropy)
