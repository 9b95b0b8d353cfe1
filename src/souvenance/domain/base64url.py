"""Base64 as tokens and key files spell it: URL-safe, without padding, and in one spelling only."""

from __future__ import annotations

import base64


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    """Raises: ValueError, also for a second spelling of the same bytes."""
    raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if b64(raw) != text:
        raise ValueError("not canonical base64url")
    return raw
