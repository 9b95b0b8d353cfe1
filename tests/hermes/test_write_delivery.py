"""What is in the queue is delivered as soon as it can be, and nobody waits longer than they said."""

import threading

from hermes.honcho_fake import eventually
from reference.write_queue import MemoryWriteQueue
from souvenance.adapters.system_clock import SystemClock
from souvenance.errors import ServerUnreachable
from souvenance.hermes import delivery
from souvenance.hermes.delivery import DeliveryThread


class Scene:
    def __init__(self):
        self.write_queue = MemoryWriteQueue(SystemClock())
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


def test_when_nothing_is_left_to_deliver_the_thread_goes(monkeypatch):
    monkeypatch.setattr(delivery, "_IDLE_SECONDS", 0.01)
    scene = Scene()
    scene.write_queue.put("a", {"n": 1})
    assert scene.delivery_thread.flush(5)
    assert eventually(lambda: scene.delivery_thread._thread is None)
