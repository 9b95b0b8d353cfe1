"""What a process knows of recent conversations, shared by all provider objects."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from msgspec import Struct

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.memory_interface import Known
from souvenance.hermes.cadence import RecallPace
from souvenance.hermes.transcript import Transcript


class Supplement(Struct, frozen=True):
    """What memory was asked in a turn, and what it will say."""

    turn: int
    answer: Future[str]


class Live:
    def __init__(self, began_at: int) -> None:
        self.began_at = began_at
        """When it was first seen here, in milliseconds: what was said since is likely before the model."""
        self._lock = threading.Lock()
        self.pace = RecallPace()
        self.known: Known | None = None
        """What was last known, for turns that do not ask anew."""
        self.supplement: Supplement | None = None
        self.seat: ConversationScope | None = None
        """Where it sits, once something was written that the user may take back."""
        self._transcript: Transcript | None = None

    @contextmanager
    def transcript(self, begin: Callable[[], Transcript]) -> Iterator[Transcript]:
        """What was said in it, for one at a time; as it was before this process, at first."""
        with self._lock:
            self._transcript = self._transcript or begin()
            yield self._transcript

    def continues(self, other: Live) -> None:
        """It is the same conversation, which the host calls otherwise now."""
        self.seat, other.seat = other.seat, None
        self._transcript = other._transcript

    def rewind(self) -> None:
        """The latest turns were taken back: what they led to is looked up anew."""
        with self._lock:
            self.pace, self.known, self.supplement = RecallPace(), None, None
