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
    choice: str = AUTO
    """`auto`, `none`, `packaged`, `folder:PATH#SHA256`, `fastembed:MODEL` or `endpoint`."""
    base_url: str | None = None
    """Where an endpoint's API begins: what `/embeddings` is added to."""
    api_key: str | None = None
    """The key itself, or `@` and its file."""
    model: str | None = None
    dimensions: int | None = None
