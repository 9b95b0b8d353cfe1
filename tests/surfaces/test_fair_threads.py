"""Threads that serve callers in turn."""

from __future__ import annotations

import threading

import pytest

from souvenance.errors import RateLimited
from souvenance.pauses import out_of_turn
from souvenance.surfaces.http.request_threads import FairThreads


@pytest.fixture
def busy():
    """One thread, kept until the event is set."""
    threads, over = FairThreads(1, "test", most_waiting=3), threading.Event()
    begun = threading.Event()
    threads.submit("first", lambda: (begun.set(), over.wait()))
    begun.wait()
    yield threads, over
    over.set()


def test_each_caller_has_its_turn_however_many_requests_another_has(busy):
    threads, over = busy
    order = []
    jobs = [threads.submit(who[0], order.append, who) for who in ("a1", "a2", "a3", "b1", "c1", "b2")]
    over.set()
    for job in jobs:
        job.result()
    assert order == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_so_many_of_one_caller_may_wait_and_others_still_may(busy):
    threads, _ = busy
    for _ in range(3):
        threads.submit("a", str)
    with pytest.raises(RateLimited):
        threads.submit("a", str)
    threads.submit("b", str)


def test_an_error_is_for_whoever_waits_and_ends_no_thread(busy):
    threads, over = busy
    failing, working = threads.submit("a", int, "x"), threads.submit("a", int, "7")
    over.set()
    with pytest.raises(ValueError, match="invalid literal"):
        failing.result()
    assert working.result() == 7


def test_one_thread_works_at_a_time_and_another_while_it_waits_out_of_turn():
    threads = FairThreads(2, "test", in_turn=True)
    waits, goes_on, done = threading.Event(), threading.Event(), []

    def asks():
        with out_of_turn():
            waits.set()
            goes_on.wait()
        done.append("asks")

    def computes():
        goes_on.set()
        done.extend(number for number in range(100_000) if number % 1000 == 0)
        done.append("computes")

    asking = threads.submit("a", asks)
    waits.wait()
    computing = threads.submit("b", computes)
    for job in (asking, computing):
        job.result()
    assert done[-2:] == ["computes", "asks"]


def test_threads_that_wait_out_of_turn_come_back_however_many_there_are():
    threads = FairThreads(3, "test", in_turn=True)
    goes_on, waiting = threading.Event(), threading.Semaphore(0)

    def asks(number):
        with out_of_turn():
            waiting.release()
            goes_on.wait()
        return number

    asking = [threads.submit(f"a{number}", asks, number) for number in range(3)]
    for _ in asking:
        waiting.acquire()
    queued = [threads.submit("b", int, str(number)) for number in range(3)]
    goes_on.set()
    assert [job.result() for job in (*asking, *queued)] == [0, 1, 2] * 2


def test_one_caller_never_has_all_threads_and_no_job_is_forgotten():
    threads, over, begun = FairThreads(4, "test"), threading.Event(), threading.Semaphore(0)

    def waits(number):
        begun.release()
        over.wait()
        return number

    many = [threads.submit("a", waits, number) for number in range(20)]
    for _ in range(3):
        begun.acquire()
    assert threads.submit("b", int, "7").result() == 7
    assert not begun.acquire(blocking=False)
    over.set()
    assert [job.result() for job in many] == list(range(20))


def test_who_waits_for_others_and_who_does_not(busy):
    threads, over = busy
    assert threads.waits_for_others("b")
    assert not threads.waits_for_others("first")
    last = threads.submit("b", int, "7")
    assert threads.waits_for_others("first")
    over.set()
    last.result()
    threads.submit("b", str).result()
    assert not FairThreads(1, "test").waits_for_others("b")
