"""The reference write queue: keeps its letters in memory, and loses them with the process."""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from souvenance.domain import ulid
from souvenance.ports.clock import Clock
from souvenance.ports.write_queue import (
    LONGEST_HOLD_MS,
    MOST_SET_ASIDE,
    QueuedWrite,
    WriteQueueStatus,
    WriteRefused,
)


class MemoryWriteQueue:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._letters: dict[str, QueuedWrite] = {}
        self._held: set[str] = set()
        self._aside: list[QueuedWrite] = []
        self._lock = threading.Lock()
        self._turn = threading.Lock()

    def put(self, lane: str, body: dict[str, Any], *, held: bool = False) -> str:
        kept = json.loads(json.dumps(body))
        with self._lock:
            now = self._clock.now()
            letter = QueuedWrite(ulid.compose(now, os.urandom(ulid.ENTROPY_BYTES)), lane, now, kept)
            self._letters[letter.id] = letter
            if held:
                self._held.add(letter.id)
        return letter.id

    def held(self, lane: str) -> int:
        with self._lock:
            return sum(letter.lane == lane for letter in self._kept_back())

    def release(self, lane: str) -> None:
        with self._lock:
            self._held -= {letter.id for letter in self._letters.values() if letter.lane == lane}

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
            held = len(list(self._kept_back()))
            return WriteQueueStatus(len(self._letters) - held, held, len(self._aside))

    def close(self) -> None:
        pass

    def _kept_back(self) -> Iterator[QueuedWrite]:
        """What is held, and what stands behind it."""
        oldest = self._clock.now() - LONGEST_HOLD_MS
        self._held -= {letter.id for letter in self._letters.values() if letter.at < oldest}
        lanes: set[str] = set()
        for letter in self._letters.values():
            if letter.id in self._held:
                lanes.add(letter.lane)
            if letter.lane in lanes:
                yield letter

    def _next(self, stuck: set[str]) -> QueuedWrite | None:
        with self._lock:
            waiting = stuck | {letter.lane for letter in self._kept_back() if self._is_first(letter)}
            for letter in self._letters.values():
                if letter.lane not in waiting:
                    self._letters[letter.id] = replace(letter, attempts=letter.attempts + 1)
                    return copy.deepcopy(letter)
            return None

    def _is_first(self, letter: QueuedWrite) -> bool:
        return next(one for one in self._letters.values() if one.lane == letter.lane).id == letter.id

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
