"""What may be stored: text and metadata that every backend keeps alike.

NUL, lone surrogates and numbers beyond 64 bits are treated differently by each database,
so they are refused here, before any of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from souvenance.errors import InvalidInput, LimitExceeded

MAX_METADATA_BYTES = 64 * 1024
MAX_METADATA_DEPTH = 8
MAX_INT = (1 << 63) - 1
MIN_INT = -(1 << 63)

Metadata = Mapping[str, Any]


def check_text(text: str, field: str = "text") -> str:
    """The same text, if it can be stored. Raises: InvalidInput."""
    if not text.strip():
        raise InvalidInput(f"{field} is empty")
    return check_characters(text, field)


def encode_metadata(metadata: Metadata) -> str:
    """Canonical JSON of the metadata. Raises: InvalidInput, LimitExceeded."""
    if not metadata:
        return "{}"
    _check_value(metadata, "metadata", MAX_METADATA_DEPTH)
    encoded = json.dumps(metadata, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    if len(encoded.encode()) > MAX_METADATA_BYTES:
        raise LimitExceeded(f"metadata is larger than {MAX_METADATA_BYTES} bytes")
    return encoded


def decode_metadata(encoded: str) -> Metadata:
    """Raises: ValueError if it is not the JSON object that was stored."""
    if encoded == "{}":
        return {}
    found = json.loads(encoded) if isinstance(encoded, str) else None
    if not isinstance(found, dict):
        raise ValueError("metadata is not a JSON object")
    return found


def check_characters(text: str, field: str) -> str:
    """The same text, which may be empty, if it can be stored. Raises: InvalidInput."""
    if "\0" in text:
        raise InvalidInput(f"{field} holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{field} holds a lone surrogate") from None
    return text


def _check_value(value: object, field: str, depth: int) -> None:
    if depth < 0:
        raise InvalidInput(f"metadata is nested deeper than {MAX_METADATA_DEPTH} levels")
    match value:
        case None | bool():
            pass
        case str():
            check_characters(value, field)
        case int():
            if not MIN_INT <= value <= MAX_INT:
                raise InvalidInput(f"{field} holds a number beyond 64 bits")
        case float():
            if not math.isfinite(value):
                raise InvalidInput(f"{field} holds a number that is not finite")
        case Mapping():
            for key, item in value.items():
                check_characters(str(key), field)
                _check_value(item, f"{field}.{key}", depth - 1)
        case list() | tuple():
            for item in value:
                _check_value(item, field, depth - 1)
        case _:
            raise InvalidInput(f"{field} is not JSON")
