"""What is in the outbox is delivered as soon as it can be, and nobody waits longer than they said."""

import threading

from mnemon.adapters.inmemory.outbox import MemoryOutbox
from mnemon.adapters.system import SystemClock
from mnemon.errors import ServerUnreachable
from mnemon.hermes.postman import Postman


class Scene:
    def __init__(self):
        self.outbox = MemoryOutbox(SystemClock())
        self.carried = []
        self.down = threading.Event()
        self.postman = Postman(self.outbox, self.carry)

    def carry(self, letter):
        if self.down.is_set():
            raise ServerUnreachable("no answer")
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


def test_a_flush_waits_no_longer_than_it_was_told():
    scene, hanging = Scene(), threading.Event()
    scene.postman = Postman(scene.outbox, lambda letter: hanging.wait())
    scene.outbox.put("a", {"n": 1})
    assert not scene.postman.flush(0.05)
    hanging.set()
