"""Which embedder an installation is set to use, and how it keeps vectors."""

from __future__ import annotations

from msgspec import Struct

AUTO = "auto"
NONE = "none"

SEALED = "sealed"
PGVECTOR = "pgvector"
VECTORS = (AUTO, PGVECTOR, SEALED, NONE)
"""How vectors may be kept: as fits the store, in the clear where PostgreSQL compares them, sealed, or not at
all."""


class EmbedderSettings(Struct, frozen=True):
    """`souvenance.settings` says what each means."""

    choice: str = AUTO
    base_url: str | None = None
    api_key: str | None = None
    model: str | None = None
    dimensions: int | None = None
