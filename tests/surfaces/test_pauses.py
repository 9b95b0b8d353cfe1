"""Threads that compute pause for verdicts, and never stop for them."""

from __future__ import annotations

import threading
from collections.abc import Callable

from souvenance.pauses import in_stretches, may_pause, never_pause, pause, urgent

LONG = 60.0


def begun(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_thread_that_may_pause_goes_on_when_the_urgent_work_is_done() -> None:
    happened: list[str] = []
    computing = threading.Event()

    def compute() -> None:
        with may_pause(LONG):
            computing.set()
            pause()
            happened.append("computed")

    with urgent():
        thread = begun(compute)
        computing.wait()
        happened.append("judged")
    thread.join()
    assert happened == ["judged", "computed"]


def test_other_threads_do_not_pause() -> None:
    with urgent():
        thread = begun(pause)
        thread.join()


def test_what_others_wait_for_does_not_pause() -> None:
    def write() -> None:
        with may_pause(LONG), never_pause():
            pause()

    with urgent():
        begun(write).join()


def test_a_pause_ends_though_the_urgent_work_does_not() -> None:
    def compute() -> None:
        with may_pause():
            pause()

    with urgent():
        begun(compute).join()


def test_after_a_pause_a_thread_computes_for_as_long_again() -> None:
    times = iter([10.0, 12.0, 13.9, 14.0, 15.0])
    seen: list[float] = []

    def clock() -> float:
        seen.append(next(times))
        return seen[-1]

    with urgent(), may_pause(0.0, clock):
        pause()
        pause()
        assert seen == [10.0, 12.0, 13.9]
        pause()
        assert seen == [10.0, 12.0, 13.9, 14.0, 15.0]


def test_stretches_hold_everything_in_its_order() -> None:
    assert [one for some in in_stretches(range(1201)) for one in some] == list(range(1201))
