"""The numbers that bound a request."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Bounds that the gate and the doors enforce; every one can be set."""

    body_bytes: int = 1024 * 1024
    line_bytes: int = 64 * 1024
    batch_bytes: int = 16 * 1024 * 1024
    file_bytes: int = 5 * 1024 * 1024
    import_bytes: int = 64 * 1000 * 1000
    """The largest file that the inspector imports. It is held in memory while it is."""
    bodies_bytes: int = 256 * 1024 * 1024
    """What the bodies of all requests in work may take in memory together, in one process."""
    body_seconds: int = 60
    """How long a body may take to arrive."""
    body_stall_seconds: int = 10
    """How long nothing of a body may arrive."""
    requests_per_minute: int = 120_000
    ulid_past_ms: int = 7 * 24 * 3600 * 1000
    ulid_future_ms: int = 60 * 1000


RECALL_DEFAULT = 5
RECALL_MOST = 20
"""The model never sees the whole memory: no recall tells more lines than this."""

LIST_DEFAULT = 100
LIST_MOST = 1000
LIST_TEXT_BYTES = 1024 * 1024
"""A page of lines with their texts ends when it has so many bytes of them."""
SNAPSHOT_BYTES = 8 * 1024
