"""The work behind the requests lets those go first who wait for an answer."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest

from gate.world import World
from souvenance.gate.worker import Worker
from souvenance.pauses import Idle


class Moments:
    """A bell that is waited for without time passing; at some of the times something happens."""

    def __init__(self, *happening):
        self.happening = [*happening, *[None] * 99]
        self.waited = 0

    def wait(self, seconds):
        happens = self.happening[self.waited]
        self.waited += 1
        return happens is not None and happens() is STOPPED


STOPPED = object()


def asks(idle):
    def happens():
        with idle:
            pass

    return happens


def test_work_begins_after_a_moment_in_which_nobody_asked():
    moments = Moments()
    Idle().wait(0.1, 5, moments)
    assert moments.waited == 1


def test_work_lets_those_go_first_who_asked_meanwhile():
    idle = Idle()
    moments = Moments(asks(idle), asks(idle))
    idle.wait(0.1, 5, moments)
    assert moments.waited == 3


def test_work_waits_for_the_last_answer():
    idle = Idle()
    first, second = ExitStack(), ExitStack()
    for one in (first, second):
        one.enter_context(idle)
    moments = Moments(None, first.close, second.close)
    idle.wait(0.1, 5, moments)
    assert moments.waited == 3


def test_a_question_that_fails_is_over_too():
    idle = Idle()
    with pytest.raises(ZeroDivisionError), idle:
        raise ZeroDivisionError
    moments = Moments()
    idle.wait(0.1, 5, moments)
    assert moments.waited == 1


def test_work_waits_no_more_often_than_it_may():
    idle, moments = Idle(), Moments()
    with idle:
        idle.wait(0.1, 5, moments)
    assert moments.waited == 5


def test_who_is_stopped_waits_no_longer():
    idle, moments = Idle(), Moments(lambda: STOPPED)
    with idle:
        idle.wait(0.1, 5, moments)
    assert moments.waited == 1


class Noted(Idle):
    """A lull that notes who breaks it and who waits for it."""

    def __init__(self, happened):
        super().__init__()
        self.happened = happened

    def __enter__(self):
        self.happened.append("asked")
        super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.happened.append("answered")

    def wait(self, seconds, times, stopped):
        if not stopped.is_set():
            self.happened.append("waits")


class NotedWorker(Worker):
    """A worker that tells when it found nothing to do."""

    def note(self, happened):
        self.happened, self.rests = happened, threading.Semaphore(0)

    def work_once(self):
        found = super().work_once()
        if not found:
            self.happened.append("works")
            self.rests.release()
        return found


def test_a_worker_that_rests_waits_for_a_idle_when_it_is_called():
    happened, stopped = [], threading.Event()
    world = World()
    world.gate.idle = Noted(happened)
    worker = NotedWorker(
        store=world.store,
        clock=world.clock,
        services=world.services,
        secret=bytes,
        report=lambda told: None,
        idle=world.gate.idle,
    )
    worker.note(happened)
    worker.hears = True
    world.put(world.issue(), "hotel in Chengdu")
    running = threading.Thread(target=worker.run, args=(stopped,))
    running.start()
    worker.rests.acquire()
    worker.wake.set()
    worker.rests.acquire()
    stopped.set()
    worker.wake.set()
    running.join()
    assert happened == ["asked", "answered", "works", "waits", "works"]
