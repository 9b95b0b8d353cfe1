"""The station: what the providers of one profile share in a process.

A host makes a provider for every request and may never say that it is done with one. So whatever
costs something lives here, once: the way to memory, the outbox, a few threads, and what is known of
the conversations of late.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from mnemon.errors import (
    Denied,
    Misconfigured,
    MnemonError,
    ServerUnreachable,
    Unauthenticated,
    Unavailable,
)
from mnemon.gate.admission import Credentials
from mnemon.gate.messages import Request
from mnemon.gate.operation import Operation
from mnemon.hermes.breaker import Breaker
from mnemon.hermes.hands import Hands
from mnemon.hermes.letters import Carrier, Content, body_of, lane_of
from mnemon.hermes.live import Live
from mnemon.hermes.notebook import Notebook
from mnemon.hermes.postman import Postman
from mnemon.hermes.undisturbed import undisturbed
from mnemon.ports.outbox import Letter, Outbox, Refused, Standing
from mnemon.turns.gated import Gate, GatedMemory, Together, answer_or_error
from mnemon.turns.passes import Passes
from mnemon.turns.seat import Seat

_HANDS = 12
_MOST_LIVE = 1_000
_MOST_ANSWERED = 10_000
_LOADING_SECONDS = 3.0

_log = logging.getLogger("mnemon.hermes")
_T = TypeVar("_T")


class Way(Struct):
    """An open way to memory."""

    gate: Gate
    passes: Passes
    carrier: Carrier
    where: str
    """As people are told of it."""
    together: Together | None = None
    """Asks several things at one moment, where memory is in this process."""
    found: bool = False
    """Whether it was found rather than configured; then there may be another when it fails."""
    settle: Callable[[float], None] = lambda seconds: None
    """Gives the work that follows from what was written that long to be done."""
    close: Callable[[], None] = lambda: None


class Station:
    def __init__(
        self,
        *,
        open_way: Callable[[], Way],
        outbox: Outbox,
        now: Callable[[], int],
        notebook: Notebook,
        load: Callable[[], None],
    ) -> None:
        """`load` loads what it takes to open the way and use it: only the store itself is then waited for."""
        self._open_way = open_way
        self._outbox = outbox
        self._hands = Hands(_HANDS, "mnemon-recall")
        self._postman = Postman(outbox, self._carry)
        self._lock = threading.RLock()
        self._way: Way | None = None
        self._small_lock = threading.Lock()
        self._live: OrderedDict[Hashable, Live] = OrderedDict()
        self._load = load
        self._loaded = threading.Event()
        self._opened = threading.Event()
        self._opening = False
        self._answered: set[tuple[str, str]] = set()
        self._closed = False
        self.now = now
        self.breaker = Breaker(now, notebook.note, notebook.health())

    def ready(self, patience: float) -> bool:
        """Whether the way is open: waited for so long, and before that for what has to be loaded."""
        if self._way is not None:
            return True
        if not self.warm_up():
            return False
        self._loaded.wait(_LOADING_SECONDS)
        return self._opened.wait(patience)

    def cold(self, seat: Seat) -> bool:
        """Whether memory is in this process and has yet to load what that person has in it."""
        return self.near and _whom(seat) not in self._answered

    @property
    def near(self) -> bool:
        """Whether memory is in this process, where two that ask at once only hinder each other."""
        return self._way is not None and self._way.together is not None

    def live(self, key: Hashable) -> Live:
        """What is known of a conversation of late."""
        with self._small_lock:
            found = self._live.setdefault(key, Live(self.now()))
            self._live.move_to_end(key)
            if len(self._live) > _MOST_LIVE:
                self._live.popitem(last=False)
            return found

    def warm_up(self) -> bool:
        """Open the way, and see to what was left in the outbox; whether that is done or under way."""
        with self._small_lock:
            if self._way is None and not self._opening and self.breaker.admits():
                self._opening = self._hands.give(self._get_ready) is not None
            return self._way is not None or self._opening

    def _get_ready(self) -> None:
        with undisturbed():
            self._load()
        self._loaded.set()
        try:
            self.way()
            if self._outbox.standing().waiting:
                self._postman.ring()
        except MnemonError as error:
            self._failed(error)
        finally:
            self._opening = False

    def way(self) -> Way:
        """Raises: MnemonError."""
        with self._lock:
            if self._closed:
                raise ServerUnreachable("the settings changed, and this way to memory is no longer used")
            if self._way is None:
                self._way = self._open_way()
                self._opened.set()
            return self._way

    def ask(
        self, seat: Seat, question: Callable[[GatedMemory], _T], patience: float | None = None
    ) -> Future[_T] | None:
        """What memory will answer; None if it is better not asked now.

        An answer that takes longer than the asker's patience counts as a failure.
        """
        if not self.breaker.admits():
            return None
        return self._hands.give(lambda: self.told(seat, question, patience))

    def told(self, seat: Seat, question: Callable[[GatedMemory], _T], patience: float | None = None) -> _T:
        """What memory answers, for somebody who waits.

        Raises: MnemonError.
        """
        try:
            memory = self._memory(seat)
            began = time.monotonic()
            with nullcontext() if self._answered else undisturbed():
                found = question(memory)
        except MnemonError as error:
            if patience is not None or not isinstance(error, Denied):
                self._failed(error)
            raise
        took = time.monotonic() - began
        if patience is not None and took > patience and _whom(seat) in self._answered:
            told = f"slow: an answer took {took:.1f} s, and a turn waits {patience:.1f} s"
            self.breaker.failed(told, late=True)
        else:
            self.breaker.succeeded(in_time=patience is not None)
        if len(self._answered) >= _MOST_ANSWERED:
            self._answered.clear()
        self._answered.add(_whom(seat))
        return found

    def _memory(self, seat: Seat) -> GatedMemory:
        way = self.way()
        together = partial(self._in_parallel, way.gate) if way.together is None else way.together
        return GatedMemory(way.gate, seat, way.passes.of(seat), capped=way.passes.capped, together=together)

    def _in_parallel(
        self, gate: Gate, credentials: Credentials, asked: Sequence[tuple[Operation, Request]]
    ) -> list[Any]:
        """Each by a call of its own, at once as far as hands are free; the rest here, meanwhile."""
        calls = [partial(answer_or_error, gate, credentials, *one) for one in asked]
        given = [self._hands.give(call) for call in calls]
        here = [call() if task is None else None for task, call in zip(given, calls, strict=True)]
        return [own if task is None else task.result() for task, own in zip(given, here, strict=True)]

    def _failed(self, error: MnemonError) -> None:
        if not isinstance(error, Unavailable | Unauthenticated | Denied | Misconfigured):
            return
        self.breaker.failed(f"{error.code}: {error.detail}")
        with self._lock:
            if self._way is not None and self._way.found:
                self._opened.clear()
                self._way.close()
                self._way = None

    def post(self, content: Content, *, held: bool = False) -> str:
        """Keep what is to be written, and begin to; the id of its letter.

        Raises: StorageUnavailable.
        """
        letter = self._outbox.put(lane_of(content.seat), body_of(content), held=held)
        if not held:
            self._postman.ring()
        return letter

    def _carry(self, letter: Letter) -> None:
        try:
            self.way().carrier(letter)
        except Denied as error:
            _log.warning("mnemon: a write waits, for it is denied: %s: %s", error.code, error.detail)
            raise
        except MnemonError as error:
            self._failed(error)
            raise
        except Refused as refused:
            _log.warning("mnemon: a write is set aside: %s", refused)
            raise
        self.breaker.succeeded()

    def held(self, seat: Seat) -> int:
        return self._outbox.held(lane_of(seat))

    def release(self, seat: Seat) -> None:
        self._outbox.release(lane_of(seat))
        self._postman.ring()

    def flush(self, seconds: float) -> bool:
        """Wait up to that long for what was posted to be written, and for what follows from it."""
        deadline = time.monotonic() + seconds
        done = not self._outbox.standing().waiting or self._postman.flush(seconds)
        way = self._way
        if way is not None:
            way.settle(max(0.0, deadline - time.monotonic()))
        return done

    def standing(self) -> Standing:
        return self._outbox.standing()

    def close(self) -> None:
        """What is under way ends as it may; what waits is for the next."""
        with self._lock:
            self._closed = True
            way, self._way = self._way, None
        self._postman.stop()
        if way is not None:
            way.close()
        self._outbox.close()


def _whom(seat: Seat) -> tuple[str, str]:
    return seat.workspace, seat.user
