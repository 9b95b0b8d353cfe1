"""The header Retry-After: how long a server asks to be left alone."""

from __future__ import annotations

from email.utils import parsedate_to_datetime


def seconds_to_wait(header: str, *, now: float, most: int) -> int:
    """What the header says, a number of seconds or a date, as seconds from now; 1 if it can't be read."""
    if header.isascii() and header.isdigit():
        return min(int(header), most)
    try:
        left = parsedate_to_datetime(header).timestamp() - now
    except ValueError:
        return 1
    return max(1, min(int(left) + 1, most))
