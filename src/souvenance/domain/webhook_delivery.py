"""Webhooks: how an event is signed, and when a failed delivery is tried again."""

from __future__ import annotations

import hmac

SIGNATURE_HEADER = "X-Honcho-Signature"

_PAUSES_MS = (1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000)


def sign(secret: bytes, body: bytes) -> str:
    """The HMAC-SHA256 of the body as it is sent, in lower-case hex."""
    return hmac.new(secret, body, "sha256").hexdigest()


def retry_after_ms(attempt: int) -> int | None:
    """How long to wait after that many failed attempts; None: give up."""
    if attempt < 1:
        raise ValueError("attempts are counted from 1")
    return _PAUSES_MS[attempt - 1] if attempt <= len(_PAUSES_MS) else None
