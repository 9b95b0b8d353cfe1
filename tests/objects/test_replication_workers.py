"""Carriers at once, and a bucket that fails again and again: in the end it holds what the book says."""

from __future__ import annotations

import random
from contextlib import ExitStack
from secrets import token_hex

import pytest

from objects.proxy import CUT, LATE_CUT, FaultProxy
from objects.seaweed import BUCKET
from objects.stage import every_key, kept
from souvenance.adapters.object_stores import open_objects
from souvenance.core.replication import expected, key_of
from souvenance.gate import messages as m
from souvenance.gate import operations as o

FAULTS = [500, 503, 409, 429, CUT, LATE_CUT]


def busy(me, count):
    """Put, correct and forget, so that the same objects are put and deleted in quick turn."""
    for number in range(count):
        line_id = me.put(f"line {number}", namespace=f"room-{number % 2}")
        if number % 2:
            me.call(o.INVALIDATE, m.Invalidate(line_id, f"line {number}, corrected"))
        if number % 3 == 0:
            me.call(o.FORGET, m.Forget(id=line_id))
    me.call(o.FORGET, m.Forget(namespace="room-1"))


def agree(me, objects):
    """The bucket holds what the book has, and nothing else."""
    with me.installation._store.read() as tx:
        wanted = {
            key_of(one) for compartment in tx.lines.compartments() for one in expected(tx, compartment, "")[0]
        }
    assert set(every_key(objects)) == wanted
    mended = me.installation.repairer.repair()
    assert (mended.restored, mended.carried, mended.removed, mended.findings) == (0, 0, 0, [])


def test_carriers_that_get_in_each_others_way_leave_what_the_store_says(home, tmp_path):
    url = f"file://{tmp_path}/objects"
    with ExitStack() as stack:
        installations = [stack.enter_context(kept(home, url)) for _ in range(3)]
        with ExitStack() as working:
            for one in installations:
                working.enter_context(one.installation.working())
            busy(installations[0], 40)
            installations[1].installation.repairer.repair()
            busy(installations[2], 10)
        installations[0].installation._repairer.worker.carry_all(60)
        agree(installations[0], open_objects(url))


class SlowPut:
    """A bucket that gets the first object of a kind late: something else happens before."""

    def __init__(self, objects, what, before):
        self._objects = objects
        self._what = what
        self._before = [before]

    def __getattr__(self, name):
        return getattr(self._objects, name)

    def put_if_absent(self, key, data):
        if self._what in key and self._before:
            self._before.pop()()
        return self._objects.put_if_absent(key, data)


@pytest.mark.parametrize("what", ["/keys/", "/room/0", "/replaced/"])
def test_what_is_forgotten_while_it_is_carried_does_not_stay_in_the_bucket(home, tmp_path, what):
    url = f"file://{tmp_path}/objects"
    with kept(home, url) as me, kept(home, url) as other:

        def forgotten():
            other.call(o.FORGET, m.Forget(namespace="room"))
            assert other.installation._repairer.worker._ship().carried == 1

        worker = me.installation._repairer.worker
        worker.objects = SlowPut(worker.objects, what, forgotten)
        me.call(o.INVALIDATE, m.Invalidate(me.put("the dam holds", namespace="room"), "it does not"))
        me.carry()
        assert not worker.objects._before
        agree(me, open_objects(url))


@pytest.mark.parametrize("seed", range(2))
def test_a_bucket_that_fails_again_and_again_ends_up_with_what_the_store_says(
    home, seaweed, credentials, seed
):
    chance, prefix = random.Random(seed), f"faulty-{token_hex(4)}"
    proxy = FaultProxy(seaweed.port)
    proxy.faults.extend(chance.choice([None, None, None, *FAULTS]) for _ in range(400))
    try:
        with kept(home, f"s3://{BUCKET}/{prefix}?endpoint={proxy.url}") as me:
            with me.installation.working():
                busy(me, 20)
            proxy.faults.clear()
            me.installation._repairer.worker.carry_all(60)
            agree(me, open_objects(f"s3://{BUCKET}/{prefix}?endpoint={seaweed.url}"))
    finally:
        proxy.stop()
