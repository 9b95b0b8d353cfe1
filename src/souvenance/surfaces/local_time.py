"""Moments without a time zone: people mean the one of their machine."""

from __future__ import annotations

from datetime import UTC, datetime


def here(moment: datetime) -> datetime:
    """The moment by this machine's clock; at the ends of the calendar, by UTC's."""
    try:
        return moment.astimezone()
    except (ValueError, OverflowError):
        return moment.replace(tzinfo=UTC)
