"""What is in the queue is delivered as soon as it can be, and nobody waits longer than they said."""

import threading

from hermes.honcho_fake import eventually
from reference.write_queue import MemoryWriteQueue
from souvenance.adapters.system_clock import SystemClock
from souvenance.errors import ServerUnreachable
from souvenance.hermes import delivery
from souvenance.hermes.delivery import DeliveryThread
from souvenance.ports.write_queue import LONGEST_HOLD_MS


class Ahead(SystemClock):
    """A clock that can be put forward."""

    ahead = 0

    def now(self):
        return super().now() + self.ahead


class Scene:
    def __init__(self):
        self.clock = Ahead()
        self.write_queue = MemoryWriteQueue(self.clock)
        self.carried = []
        self.down = threading.Event()
        self.fault = ServerUnreachable("no answer")
        self.delivery_thread = DeliveryThread(self.write_queue, self.carry)

    def carry(self, letter):
        if self.down.is_set():
            raise self.fault
        self.carried.append(letter.body["n"])


def test_what_was_put_is_delivered_in_order():
    scene = Scene()
    for n in range(20):
        scene.write_queue.put("a", {"n": n})
    assert scene.delivery_thread.flush(5)
    assert scene.carried == list(range(20))


def test_a_flush_of_nothing_is_done_at_once():
    assert Scene().delivery_thread.flush(0)


def test_a_flush_ends_when_a_try_failed_and_what_waits_is_delivered_when_it_can_be():
    scene = Scene()
    scene.down.set()
    scene.write_queue.put("a", {"n": 1})
    assert not scene.delivery_thread.flush(60)
    scene.down.clear()
    assert scene.delivery_thread.flush(60)
    assert scene.carried == [1]


def test_what_fails_as_nobody_foresaw_is_tried_again():
    scene = Scene()
    scene.fault = ImportError("half an upgrade")
    scene.down.set()
    scene.write_queue.put("a", {"n": 1})
    assert not scene.delivery_thread.flush(60)
    scene.down.clear()
    assert scene.delivery_thread.flush(60)
    assert scene.carried == [1]


def test_a_flush_waits_no_longer_than_it_was_told():
    scene, hanging = Scene(), threading.Event()
    scene.delivery_thread = DeliveryThread(scene.write_queue, lambda letter: hanging.wait())
    scene.write_queue.put("a", {"n": 1})
    assert not scene.delivery_thread.flush(0.05)
    hanging.set()


def test_what_was_held_for_long_enough_is_delivered_without_anybody_ringing_and_then_the_thread_goes(
    monkeypatch,
):
    monkeypatch.setattr(delivery, "_IDLE_SECONDS", 0.01)
    scene = Scene()
    scene.delivery_thread = DeliveryThread(scene.write_queue, scene.carry, look_seconds=0.01)
    scene.write_queue.put("a", {"n": 1}, held=True)
    scene.delivery_thread.stay()
    assert not eventually(lambda: scene.carried, 0.1)
    scene.clock.ahead = LONGEST_HOLD_MS + 1
    assert eventually(lambda: scene.carried == [1])
    assert eventually(lambda: scene.delivery_thread._thread is None)


def test_what_is_held_after_something_was_delivered_is_not_forgotten(monkeypatch):
    monkeypatch.setattr(delivery, "_IDLE_SECONDS", 0.05)
    scene = Scene()
    scene.delivery_thread = DeliveryThread(scene.write_queue, scene.carry, look_seconds=0.01)
    scene.write_queue.put("a", {"n": 1})
    assert scene.delivery_thread.flush(5)
    scene.write_queue.put("b", {"n": 2}, held=True)
    scene.delivery_thread.stay()
    scene.clock.ahead = LONGEST_HOLD_MS + 1
    assert eventually(lambda: scene.carried == [1, 2])
