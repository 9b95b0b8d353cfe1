"""What a process knows of a conversation of late, whichever provider object serves it."""

from __future__ import annotations

import threading
from concurrent.futures import Future

from msgspec import Struct

from mnemon.hermes.cadence import Pace
from mnemon.turns.memory import Known

_MOST_WRITTEN = 200


class Supplement(Struct, frozen=True):
    """What memory was asked in a turn, and what it will say."""

    turn: int
    answer: Future[str]


class Live:
    def __init__(self, began_at: int) -> None:
        self.began_at = began_at
        """When it was first seen here, in milliseconds: what was said since is before the model anyway."""
        self._lock = threading.Lock()
        self.pace = Pace()
        self.known: Known | None = None
        """What was last known, for turns that do not ask anew."""
        self.supplement: Supplement | None = None
        self._rewound = False
        self._written: dict[str, str] = {}

    def rewind(self) -> None:
        """The latest turns were taken back: what they led to is looked up anew."""
        with self._lock:
            self._rewound = True
            self.pace, self.known, self.supplement = Pace(), None, None

    def wrote(self, letter: str, text: str) -> None:
        """Note that a letter brought what the user said there."""
        with self._lock:
            self._written[letter] = text
            if len(self._written) > _MOST_WRITTEN:
                del self._written[next(iter(self._written))]

    def taken_back(self, still_said: frozenset[str]) -> list[str]:
        """After an undo: the letters whose words are no longer part of the conversation."""
        with self._lock:
            if not self._rewound:
                return []
            self._rewound = False
            gone = [letter for letter, text in self._written.items() if text not in still_said]
            for letter in gone:
                del self._written[letter]
            return gone
