"""What was to begin and has begun: who was to start somewhere works there once the day has come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from mnemon.domain.pattern import pattern
from mnemon.domain.standing import label_of

_AHEAD = pattern(r"Starts at: (?P<where>.+) \(from (?P<day>\d{4}(?:-\d\d){0,2})\)$")
_NEWER = "works at"
_A_DAY = len("2026-03-01")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_ahead(line: str) -> bool:
    """Whether a line of a card tells what is to begin on some day."""
    return _AHEAD.match(line) is not None


def begun(lines: Sequence[str], said_at: Mapping[str, int], now: int) -> dict[str, str | None]:
    """What the lines of a card read by now that have changed with the days; None for what holds no longer.

    `said_at` is when each was said that was not written by hand; times are in milliseconds.
    """
    ahead = [found for line in lines if line in said_at and (found := _AHEAD.match(line))]
    come = [found for found in ahead if _has_come(found["day"], now)]
    if not come:
        return {}
    start = max(come, key=lambda found: found["day"])
    rivals = [line for line in lines if label_of(line) == _NEWER]
    if any(line not in said_at or _has_come(start["day"], said_at[line]) for line in rivals):
        return {found[0]: None for found in come}
    changed: dict[str, str | None] = dict.fromkeys((*rivals, *(found[0] for found in come)))
    changed[start[0]] = f"Works at: {start['where']}"
    return changed


def _has_come(day: str, at: int) -> bool:
    """Whether a day has come; of a month or a year, whether it is over."""
    shown = (_EPOCH + timedelta(milliseconds=at)).date().isoformat()[: len(day)]
    return shown >= day if len(day) == _A_DAY else shown > day
