"""What is in the outbox is delivered as soon as it can be, and nobody waits longer than they said."""

import threading

from hermes.honcho_fake import eventually
from reference.write_queue import MemoryOutbox
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
        self.outbox = MemoryOutbox(self.clock)
        self.carried = []
        self.down = threading.Event()
        self.fault = ServerUnreachable("no answer")
        self.postman = DeliveryThread(self.outbox, self.carry)

    def carry(self, letter):
        if self.down.is_set():
            raise self.fault
        self.carried.append(letter.body["n"])


def test_what_was_put_is_delivered_in_order():
    scene = Scene()
    for n in range(20):
        scene.outbox.put("a", {"n": n})
    assert scene.postman.flush(5)
    assert scene.carried == list(range(20))


def test_a_flush_of_nothing_is_done_at_once():
    assert Scene().postman.flush(0)


def test_a_flush_ends_when_a_try_failed_and_what_waits_is_delivered_when_it_can_be():
    scene = Scene()
    scene.down.set()
    scene.outbox.put("a", {"n": 1})
    assert not scene.postman.flush(60)
    scene.down.clear()
    assert scene.postman.flush(60)
    assert scene.carried == [1]


def test_what_fails_as_nobody_foresaw_is_tried_again():
    scene = Scene()
    scene.fault = ImportError("half an upgrade")
    scene.down.set()
    scene.outbox.put("a", {"n": 1})
    assert not scene.postman.flush(60)
    scene.down.clear()
    assert scene.postman.flush(60)
    assert scene.carried == [1]


def test_a_flush_waits_no_longer_than_it_was_told():
    scene, hanging = Scene(), threading.Event()
    scene.postman = DeliveryThread(scene.outbox, lambda letter: hanging.wait())
    scene.outbox.put("a", {"n": 1})
    assert not scene.postman.flush(0.05)
    hanging.set()


def test_what_was_held_for_long_enough_is_delivered_without_anybody_ringing_and_then_the_thread_goes(
    monkeypatch,
):
    monkeypatch.setattr(delivery, "_IDLE_SECONDS", 0.01)
    scene = Scene()
    scene.postman = DeliveryThread(scene.outbox, scene.carry, look_seconds=0.01)
    scene.outbox.put("a", {"n": 1}, held=True)
    scene.postman.stay()
    assert not eventually(lambda: scene.carried, 0.1)
    scene.clock.ahead = LONGEST_HOLD_MS + 1
    assert eventually(lambda: scene.carried == [1])
    assert eventually(lambda: scene.postman._thread is None)


def test_what_is_held_after_something_was_delivered_is_not_forgotten(monkeypatch):
    monkeypatch.setattr(delivery, "_IDLE_SECONDS", 0.05)
    scene = Scene()
    scene.postman = DeliveryThread(scene.outbox, scene.carry, look_seconds=0.01)
    scene.outbox.put("a", {"n": 1})
    assert scene.postman.flush(5)
    scene.outbox.put("b", {"n": 2}, held=True)
    scene.postman.stay()
    scene.clock.ahead = LONGEST_HOLD_MS + 1
    assert eventually(lambda: scene.carried == [1, 2])
