"""Bytes and text in one spelling only: fields framed for hashing and binding, and base64url.

A frame is the fields as a MessagePack array in its shortest form: every field carries its type and length, so
no two lists of fields have the same bytes, and "absent" differs from "empty". Base64 is URL-safe and has no
padding, as tokens and key files spell it."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import msgspec

Field = bytes | str | int | None

_encode = msgspec.msgpack.Encoder().encode


def frame(*fields: Field | Sequence[str]) -> bytes:
    return _encode(fields)


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    """Raises: ValueError, also for a second spelling of the same bytes."""
    raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if b64(raw) != text:
        raise ValueError("not canonical base64url")
    return raw
