"""The numbers that bound a request."""

from __future__ import annotations

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Bounds that the gate and the doors enforce. What each bounds is in `souvenance.settings`."""

    body_bytes: int = 1024 * 1024
    line_bytes: int = 64 * 1024
    batch_bytes: int = 16 * 1024 * 1024
    file_bytes: int = 5 * 1024 * 1024
    import_bytes: int = 64 * 1000 * 1000
    bodies_bytes: int = 256 * 1024 * 1024
    body_seconds: int = 60
    body_stall_seconds: int = 10
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
