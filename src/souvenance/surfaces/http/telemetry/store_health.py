"""The pulse: whether the store can be reached right now. Whoever asks waits a moment at most."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from souvenance.errors import SouvenanceError, StorageBusy, StorageUnavailable

_FRESH_SECONDS = 1.0
_PATIENCE_SECONDS = 2.0

_T = TypeVar("_T")


class StoreHealth:
    def __init__(self, probe: Callable[[], None], *, fresh: float = _FRESH_SECONDS) -> None:
        self._probe = probe
        self._fresh = fresh
        self._threads = ThreadPoolExecutor(1, "souvenance-pulse")
        self._under_way: Future[None] | None = None
        self._felt = float("-inf")
        self._trouble: SouvenanceError | None = None

    async def feel(self) -> SouvenanceError | None:
        """What keeps the store from being reached; None if nothing does."""
        if time.monotonic() - self._felt < self._fresh:
            return self._trouble
        if self._under_way is None or self._under_way.done():
            self._under_way = self._threads.submit(self._look)
        if not await _ended(self._under_way):
            return StorageBusy("the store did not answer in time")
        return self._trouble

    async def ask(self, look: Callable[[], _T]) -> _T | None:
        """What is found by looking into the store; None if it can't be reached, or not in time."""
        if await self.feel() is not None:
            return None
        asked = self._threads.submit(look)
        if not await _ended(asked) or asked.exception() is not None:
            return None
        return asked.result()

    def _look(self) -> None:
        found: SouvenanceError | None = None
        try:
            self._probe()
        except SouvenanceError as error:
            found = error
        except Exception:  # noqa: BLE001 - whatever it is, the store is not there for requests
            found = StorageUnavailable("the store failed")
        self._trouble, self._felt = found, time.monotonic()


async def _ended(work: Future[_T]) -> bool:
    done, _ = await asyncio.wait({asyncio.wrap_future(work)}, timeout=_PATIENCE_SECONDS)
    return bool(done)
