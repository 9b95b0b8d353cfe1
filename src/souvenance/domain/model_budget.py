"""Spending on models: what may be spent in an hour and in a day, and what was.

An hour and a day are the clock's, in UTC. A call is counted before it is made, with as many tokens as
it may cost at most; once it is over, the tokens are corrected and the call stays counted, however it
ended.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
MOST_DAYS = 30
"""So many days are remembered."""


class Allowance(Struct, frozen=True):
    calls_per_hour: int = 600
    calls_per_day: int = 5_000
    tokens_per_hour: int = 1_000_000
    tokens_per_day: int = 5_000_000


class DaySpent(Struct, frozen=True, array_like=True):
    """What was spent in one day, named by its number since 1970."""

    day: int
    calls: int
    tokens: int


class Spent(Struct, frozen=True):
    """What was spent in one hour and in one day, both named by their numbers since 1970."""

    hour: int = 0
    day: int = 0
    calls_this_hour: int = 0
    calls_today: int = 0
    tokens_this_hour: int = 0
    tokens_today: int = 0
    earlier: tuple[DaySpent, ...] = ()
    """The days before on which anything was spent, the newest first."""

    def at(self, now: int) -> Spent:
        """The same at that moment: nothing is spent yet in an hour or a day that has just begun."""
        hour, day = now // _HOUR_MS, now // _DAY_MS
        found = self
        if found.hour != hour:
            found = replace(found, hour=hour, calls_this_hour=0, tokens_this_hour=0)
        if found.day != day:
            past = (DaySpent(found.day, found.calls_today, found.tokens_today),) if found.calls_today else ()
            earlier = (*past, *found.earlier)[:MOST_DAYS]
            found = replace(found, day=day, calls_today=0, tokens_today=0, earlier=earlier)
        return found

    def with_call(self, tokens: int) -> Spent:
        return replace(
            self,
            calls_this_hour=self.calls_this_hour + 1,
            calls_today=self.calls_today + 1,
            tokens_this_hour=self.tokens_this_hour + tokens,
            tokens_today=self.tokens_today + tokens,
        )

    def corrected(self, made: int, tokens: int) -> Spent:
        """With so many tokens more or less for a call of the moment `made`, as far as its time still runs."""
        found = self
        if found.hour == made // _HOUR_MS:
            found = replace(found, tokens_this_hour=max(0, found.tokens_this_hour + tokens))
        if found.day == made // _DAY_MS:
            found = replace(found, tokens_today=max(0, found.tokens_today + tokens))
        return found

    def lacks(self, allowance: Allowance, tokens: int) -> str:
        """Which limit one more call of so many tokens would break; nothing if none."""
        after = self.with_call(tokens)
        bounds = {
            "calls per hour": (after.calls_this_hour, allowance.calls_per_hour),
            "calls per day": (after.calls_today, allowance.calls_per_day),
            "tokens per hour": (after.tokens_this_hour, allowance.tokens_per_hour),
            "tokens per day": (after.tokens_today, allowance.tokens_per_day),
        }
        return next((name for name, (spent, most) in bounds.items() if spent > most), "")


def seconds_left(now: int, *, of_the_day: bool) -> int:
    """How long the hour or the day of that moment still lasts, at least one second."""
    whole = _DAY_MS if of_the_day else _HOUR_MS
    return max(1, -(-(whole - now % whole) // 1000))
