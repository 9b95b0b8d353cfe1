"""The list of scenarios, filled by their decorator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

FLAVOURS = ("sync", "aio")


@dataclass(frozen=True)
class Scenario:
    """One behaviour, and the members of the SDK's classes that it calls.

    Members are named as the synchronous classes of the newest SDK name them; in the other flavour the
    twin is meant.
    """

    name: str
    covers: tuple[str, ...]
    since: str
    flavours: tuple[str, ...]
    run: Callable[[Any], Awaitable[None]]

    def runs(self, version: str, flavour: str) -> bool:
        return flavour in self.flavours and _number(version) >= _number(self.since)


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    *covers: str, since: str = "2.2.0", flavours: tuple[str, ...] = FLAVOURS
) -> Callable[[Callable[[Any], Awaitable[None]]], Callable[[Any], Awaitable[None]]]:
    """Register the function under its own name, for SDKs from that version on."""

    def register(run: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
        assert run.__name__ not in SCENARIOS, run.__name__
        SCENARIOS[run.__name__] = Scenario(run.__name__, covers, since, flavours, run)
        return run

    return register


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
