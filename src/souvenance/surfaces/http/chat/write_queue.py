"""What is still to be written when its client has been answered: in order within a conversation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from souvenance.errors import SouvenanceError

Lane = tuple[str, str]
"""A workspace and a session of it."""

_MOST_TOLD = 100
_log = logging.getLogger("souvenance.chat")


class Complaints:
    """What memory could not do, said once for each reason, without a word of what was said."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def add(self, what: str, error: BaseException) -> None:
        reason = error.code if isinstance(error, SouvenanceError) else type(error).__name__
        told = f"{what}: {reason}"
        if told not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(told)
            _log.warning("chat: %s (this is said once)", told)

    def nobody_named(self, cap: str) -> None:
        """A cap that speaks for many was used, and nobody was named."""
        if cap not in self._told and len(self._told) < _MOST_TOLD:
            self._told.add(cap)
            _log.warning(
                "chat: cap %s speaks for many, and a request names nobody: no memory is read or written."
                " Send X-Hermes-User-Id or the field user (this is said once for each cap)",
                cap,
            )


class Keeping:
    def __init__(self, complaints: Complaints) -> None:
        self._complaints = complaints
        self._last: dict[Lane, asyncio.Task[None]] = {}

    def add(self, lane: Lane, write: Callable[[], Awaitable[None]]) -> None:
        """Write it in the background, after what went before it in its lane."""
        before = self._last.get(lane)
        self._last[lane] = asyncio.create_task(self._write(lane, before, write))

    async def _write(
        self, lane: Lane, before: asyncio.Task[None] | None, write: Callable[[], Awaitable[None]]
    ) -> None:
        try:
            if before is not None:
                await asyncio.wait({before})
            await write()
        except Exception as error:  # noqa: BLE001 - whatever memory suffers from, nobody waits for this
            self._complaints.add("a turn was not kept", error)
        finally:
            if self._last.get(lane) is asyncio.current_task():
                del self._last[lane]

    async def settle(self, lane: Lane) -> None:
        """Until what was said in the lane so far is written."""
        if (last := self._last.get(lane)) is not None:
            await asyncio.wait({last})

    async def flush(self, seconds: float) -> None:
        """Wait up to that long for all that is under way."""
        if self._last:
            await asyncio.wait(set(self._last.values()), timeout=seconds)
