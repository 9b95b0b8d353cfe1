"""Long computations pause while another thread has urgent work, and take turns with each other.

All threads share one interpreter. A verdict on a token takes a fraction of a millisecond, but after each of
its calls into the store it waits for the thread that computes. So that thread pauses until it is done.
Threads that compute side by side would only hold each other up: one at a time has the turn. It lends the turn
to another while it waits for an embedder, which needs no interpreter.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

_T = TypeVar("_T")
_LONGEST_SECONDS = 0.005
STRETCH = 500
"""How many small steps are made from one pause to the next."""

_lock = threading.Lock()
_urgent = 0
_nothing_urgent = threading.Event()
_nothing_urgent.set()
_thread = threading.local()


@contextmanager
def urgent() -> Iterator[None]:
    """Threads that may pause do so while this lasts."""
    global _urgent
    with _lock:
        _urgent += 1
        _nothing_urgent.clear()
    try:
        yield
    finally:
        with _lock:
            _urgent -= 1
            if not _urgent:
                _nothing_urgent.set()


class _Pauses:
    """Those of one thread: at most half of its time, so that much urgent work does not stop it."""

    def __init__(self, longest: float, clock: Callable[[], float]) -> None:
        self._longest = longest
        self._clock = clock
        self._not_before = 0.0

    def pause(self) -> None:
        began = self._clock()
        if began >= self._not_before:
            _nothing_urgent.wait(self._longest)
            ended = self._clock()
            self._not_before = ended + (ended - began)


@contextmanager
def may_pause(longest: float = _LONGEST_SECONDS, clock: Callable[[], float] = monotonic) -> Iterator[None]:
    """Let this thread pause at its calls of `pause`, each time for so many seconds at most."""
    _thread.pauses = _Pauses(longest, clock)
    try:
        yield
    finally:
        _thread.pauses = None


@contextmanager
def taking_turns(turn: threading.Lock) -> Iterator[None]:
    """This thread computes once it has the turn, and until it is done."""
    with turn:
        _thread.turn = turn
        try:
            yield
        finally:
            _thread.turn = None


@contextmanager
def out_of_turn() -> Iterator[None]:
    """Another thread may compute while this one waits for something else, if it takes turns."""
    turn: threading.Lock | None = getattr(_thread, "turn", None)
    if turn is None:
        yield
        return
    turn.release()
    try:
        yield
    finally:
        turn.acquire()


class never_pause:  # noqa: N801 - it is used like a function
    """For what others wait for, such as the store's lock."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = getattr(_thread, "pauses", None)
        if self._before is not None:
            _thread.pauses = None

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            _thread.pauses = self._before


def pause() -> None:
    """Wait for urgent work of other threads, if there is any and this thread may."""
    if _urgent and (pauses := getattr(_thread, "pauses", None)) is not None:
        pauses.pause()


def in_stretches(every: Sequence[_T]) -> Iterable[Sequence[_T]]:
    """All of them, some hundreds at a time, with a pause before each stretch."""
    if len(every) > STRETCH:
        return _stretches(every)
    if _urgent:
        pause()
    return (every,)


def _stretches(every: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(every), STRETCH):
        pause()
        yield every[start : start + STRETCH]


class Idle:
    """Background work waits here until no request is being answered. A request is answered inside it, in any
    number of threads."""

    def __init__(self) -> None:
        self.asked = self._answered = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.asked += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._answered += 1

    def wait(self, seconds: float, times: int, stopped: threading.Event) -> None:
        """Wait until no request came for so many seconds and none is being answered.

        Gives up after so many times, or when it is stopped.
        """
        for _ in range(times):
            asked = self.asked
            if stopped.wait(seconds) or self._answered == self.asked == asked:
                break
