"""The JSON schemas of the tools: of one root, an object, as the protocol wants them."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


def schema_of(kind: type[Struct]) -> dict[str, Any]:
    """The schema of a struct, with what it refers to beside it."""
    (_,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    root = parts.pop(kind.__name__)
    for part in (root, *parts.values()):
        part.pop("title", None)
    root.pop("description", None)
    return {**root, "$defs": parts} if parts else root
