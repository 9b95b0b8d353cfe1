"""Carriers at once, and a bucket that fails again and again: in the end it holds what the book says."""

from __future__ import annotations

import random
from contextlib import ExitStack
from secrets import token_hex

import pytest

from objects.proxy import CUT, LATE_CUT, FaultProxy
from objects.seaweed import BUCKET
from objects.stage import every_key, kept
from souvenance.adapters.objects.choice import open_objects
from souvenance.core.replication.upload import expected, key_of
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
    with me.house._book.read() as tx:
        wanted = {key_of(one) for room in tx.lines.rooms() for one in expected(tx, room, "")[0]}
    assert set(every_key(objects)) == wanted
    mended = me.house.repair()
    assert (mended.restored, mended.carried, mended.removed, mended.findings) == (0, 0, 0, [])


def test_carriers_that_get_in_each_others_way_leave_what_the_book_says(home, tmp_path):
    url = f"file://{tmp_path}/objects"
    with ExitStack() as stack:
        houses = [stack.enter_context(kept(home, url)) for _ in range(3)]
        with ExitStack() as working:
            for one in houses:
                working.enter_context(one.house.working())
            busy(houses[0], 40)
            houses[1].house.repair()
            busy(houses[2], 10)
        houses[0].house._mender.carrier.carry_all(60)
        agree(houses[0], open_objects(url))


@pytest.mark.parametrize("seed", range(2))
def test_a_bucket_that_fails_again_and_again_ends_up_with_what_the_book_says(
    home, seaweed, credentials, seed
):
    chance, prefix = random.Random(seed), f"faulty-{token_hex(4)}"
    proxy = FaultProxy(seaweed.port)
    proxy.faults.extend(chance.choice([None, None, None, *FAULTS]) for _ in range(400))
    try:
        with kept(home, f"s3://{BUCKET}/{prefix}?endpoint={proxy.url}") as me:
            with me.house.working():
                busy(me, 20)
            proxy.faults.clear()
            me.house._mender.carrier.carry_all(60)
            agree(me, open_objects(f"s3://{BUCKET}/{prefix}?endpoint={seaweed.url}"))
    finally:
        proxy.stop()
