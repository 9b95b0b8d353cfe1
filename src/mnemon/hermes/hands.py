"""A few threads that work for whoever comes, and go when nobody does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

_IDLE_SECONDS = 10.0

_T = TypeVar("_T")


class Hands:
    """Where all are busy, new work is refused: behind a call that hangs it would come too late.

    No thread keeps the process from ending.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0

    def give(self, work: Callable[[], _T]) -> Future[_T] | None:
        """What will come of the work; None if no hand is free."""
        task: Future[_T] = Future()
        with self._lock:
            if self._free > 0:
                self._free -= 1
            elif self._threads < self._most:
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
                self._threads += 1
            else:
                return None
            self._work.put((task, work))
        return task

    def _run(self) -> None:
        while True:
            try:
                task, work = self._work.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._free == 0:
                        continue  # Somebody counts on this hand: the work is on its way.
                    self._free -= 1
                    self._threads -= 1
                    return
            _do(task, work)
            with self._lock:
                self._free += 1


def _do(task: Future[_T], work: Callable[[], _T]) -> None:
    try:
        task.set_result(work())
    except BaseException as error:  # noqa: BLE001 - whoever waits for the work is told
        task.set_exception(error)
