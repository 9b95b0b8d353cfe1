"""The reference write queue: keeps its letters in memory, and loses them with the process."""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from souvenance.domain import ulid
from souvenance.ports.clock import Clock
from souvenance.ports.write_queue import (
    MOST_SET_ASIDE,
    QueuedWrite,
    WriteQueueStatus,
    WriteRefused,
)


class MemoryWriteQueue:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._letters: dict[str, QueuedWrite] = {}
        self._aside: list[QueuedWrite] = []
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def put(self, lane: str, body: dict[str, Any]) -> str:
        kept = json.loads(json.dumps(body))
        with self._lock:
            now = self._clock.now()
            letter = QueuedWrite(ulid.compose(now, os.urandom(ulid.ENTROPY_BYTES)), lane, now, kept)
            self._letters[letter.id] = letter
        return letter.id

    def deliver(self, carrier: Callable[[QueuedWrite], None]) -> bool:
        if not self._turn.acquire(blocking=False):
            return False
        try:
            stuck: set[str] = set()
            while (letter := self._next(stuck)) is not None:
                if not self._offer(letter, carrier):
                    stuck.add(letter.lane)
            return not stuck
        finally:
            self._turn.release()

    def standing(self) -> WriteQueueStatus:
        with self._lock:
            return WriteQueueStatus(len(self._letters), len(self._aside))

    def _next(self, stuck: set[str]) -> QueuedWrite | None:
        with self._lock:
            for letter in self._letters.values():
                if letter.lane not in stuck:
                    self._letters[letter.id] = replace(letter, attempts=letter.attempts + 1)
                    return copy.deepcopy(letter)
            return None

    def _offer(self, letter: QueuedWrite, carrier: Callable[[QueuedWrite], None]) -> bool:
        """Whether the letter is done with."""
        try:
            carrier(letter)
        except WriteRefused:
            with self._lock:
                self._aside = [*self._aside, self._letters.pop(letter.id)][-MOST_SET_ASIDE:]
            return True
        except Exception:  # noqa: BLE001 - whatever the carrier raises, the letter waits for another time.
            return False
        with self._lock:
            del self._letters[letter.id]
        return True
