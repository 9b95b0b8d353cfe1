"""Letting many threads run into each other."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from souvenance.ports.store import Store

_SWITCH_SECONDS = 1e-5


def in_many_threads(stores: list[Store], work: Callable[[Store, int], None]) -> None:
    """Let one thread for each store do the work, all beginning together."""
    start = threading.Barrier(len(stores))

    def run(store: Store, number: int) -> None:
        start.wait()
        work(store, number)

    with often_interrupted(), ThreadPoolExecutor(len(stores)) as pool:
        for running in [pool.submit(run, store, number) for number, store in enumerate(stores)]:
            running.result()


@contextmanager
def often_interrupted() -> Iterator[None]:
    """Have the interpreter switch between threads as often as it can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
