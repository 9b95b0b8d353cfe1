"""A few threads that end when there is no work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

_IDLE_SECONDS = 10.0
_MOST_WAITING = 100

_T = TypeVar("_T")


class ThreadPool:
    """Where all are busy, work waits its turn, up to so many pieces of it; more is refused.

    No thread keeps the process from ending.
    """

    def __init__(self, most: int, name: str, *, most_waiting: int = _MOST_WAITING) -> None:
        self._most = most
        self._name = name
        self._most_waiting = most_waiting
        self._begun: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._waiting: dict[Future[Any], Callable[[], Any]] = {}
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0

    def give(self, work: Callable[[], _T]) -> Future[_T] | None:
        """What will come of the work; None if too much waits already."""
        task: Future[_T] = Future()
        with self._lock:
            if self._free > 0:
                self._free -= 1
                self._begun.put((task, work))
            elif self._threads < self._most:
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
                self._threads += 1
                self._begun.put((task, work))
            elif len(self._waiting) < self._most_waiting:
                self._waiting[task] = work
            else:
                return None
        return task

    def drop(self, task: Future[Any]) -> bool:
        """Forget about work that nobody wants any longer; whether no thread had begun with it."""
        with self._lock:
            dropped = self._waiting.pop(task, None) is not None
        if dropped:
            task.cancel()
        return dropped

    def _run(self) -> None:
        while True:
            try:
                task, work = self._begun.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._free == 0:
                        continue  # Somebody counts on this thread: the work is on its way.
                    self._free -= 1
                    self._threads -= 1
                    return
            self._work_off(task, work)
            del task, work

    def _work_off(self, task: Future[Any], work: Callable[[], Any]) -> None:
        """Do the work, and then what waits."""
        while True:
            _do(task, work)
            with self._lock:
                if not self._waiting:
                    self._free += 1
                    return
                task = next(iter(self._waiting))
                work = self._waiting.pop(task)


def _do(task: Future[_T], work: Callable[[], _T]) -> None:
    try:
        task.set_result(work())
    except BaseException as error:  # noqa: BLE001 - whoever waits for the work is told
        task.set_exception(error)
