"""Milliseconds since 1970, and how people and JSON write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from msgspec import Meta

FIRST_MS = -62_135_596_800_000
LAST_MS = 253_402_300_799_999
"""The years 1 to 9999."""
Milliseconds = Annotated[int, Meta(ge=FIRST_MS, le=LAST_MS)]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_datetime(ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=ms)


def to_ms(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def day(ms: int) -> str:
    return to_datetime(ms).date().isoformat()
