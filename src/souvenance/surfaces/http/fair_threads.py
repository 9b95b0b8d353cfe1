"""Threads that serve callers in turn, so that nobody waits behind the many requests of somebody else."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

_T = TypeVar("_T")
_Job = Callable[[], None]


class Full(Exception):
    """As many requests of one caller wait as may."""


class FairThreads:
    """One queue for each caller. The threads take the next job from each queue in turn.

    A job runs in the context of whoever submitted it: of which request it is.
    """

    def __init__(self, threads: int, name: str, *, most_waiting: int | None = None) -> None:
        self._threads = ThreadPoolExecutor(threads, name)
        self._most = most_waiting
        self._queues: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._lock = threading.Lock()
        self._mine = threading.local()

    def run(self, caller: str, work: Callable[..., _T], *args: Any) -> _T:
        """What the work gives, waited for; done at once in a thread that is one of these. Raises: Full."""
        if getattr(self._mine, "busy", False):
            return work(*args)
        return self.submit(caller, work, *args).result()

    def submit(self, caller: str, work: Callable[..., _T], *args: Any) -> Future[_T]:
        """Raises: Full."""
        future: Future[_T] = Future()
        context = copy_context()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(context.run(work, *args))
            except BaseException as error:  # noqa: BLE001 - it is for whoever waits for the result
                future.set_exception(error)

        with self._lock:
            queue = self._queues.setdefault(caller, deque())
            if self._most is not None and len(queue) >= self._most:
                raise Full
            queue.append(job)
        self._threads.submit(self._run_next)
        return future

    def _run_next(self) -> None:
        with self._lock:
            caller, queue = self._queues.popitem(last=False)
            job = queue.popleft()
            if queue:
                self._queues[caller] = queue
        self._mine.busy = True
        job()
