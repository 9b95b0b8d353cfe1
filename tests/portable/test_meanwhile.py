"""What comes and goes while an export goes on neither hides nor doubles anything else."""

from __future__ import annotations

import pytest

from gate.world import World
from portable.journeys import given, manager, taken
from souvenance.domain.archive_records import LineRecord, PeerRecord
from souvenance.domain.directory import PEER
from souvenance.domain.names import Compartment
from souvenance.gate import archive as p

PEERS = 700


def peer(number):
    return PeerRecord(name=f"p{number:04}", uid=f"{number:026}", created_at=number)


@pytest.fixture
def crowd():
    world = World()
    taken(world, [peer(number) for number in range(PEERS)], at_once=500)
    return world


def pages(world, limit, between):
    """The records, with something happening behind every page."""
    cap, cursor, found = manager(world), None, []
    while True:
        page = world.call(p.EXPORT, cap, p.Export(None, cursor, limit))
        found += page.records
        if page.cursor is None:
            return found
        cursor = page.cursor
        between(found[-1])


@pytest.mark.parametrize("gone_at_once", [1, 60, 450])
def test_peers_that_go_hide_no_others(crowd, gone_at_once):
    gone = set()

    def remove(last):
        with crowd.store.write() as tx:
            for number in range(gone_at_once):
                name = f"p{number:04}"
                if name < last.name and tx.directory.remove("w", PEER, name):
                    gone.add(name)

    found = [record.name for record in pages(crowd, 90, remove)]
    assert found == [f"p{number:04}" for number in range(PEERS)]
    assert len(gone) == gone_at_once


def test_a_cursor_that_claims_to_have_seen_more_than_there_is_leads_to_the_end(crowd):
    cursor = f'["peer",["{680:026}","p0680"],9000000000000000000]'
    page = crowd.call(p.EXPORT, manager(crowd), p.Export(None, cursor, 500))
    assert [record.name for record in page.records] == [f"p{number:04}" for number in range(681, PEERS)]


def test_peers_that_come_are_told_once_or_not_at_all(crowd):
    fresh = iter(range(PEERS, PEERS + 1000))

    def add(last):
        taken(crowd, [peer(next(fresh)) for _ in range(5)])

    found = [record.name for record in pages(crowd, 90, add)]
    assert len(found) == len(set(found))
    assert set(found) >= {f"p{number:04}" for number in range(PEERS)}


def test_lines_that_come_and_go_hide_no_others():
    world = World()
    ann, compartment = manager(world, sub="ann"), Compartment("w", "ann", "travel")
    ids = sorted(world.put(ann, f"Line {number}.") for number in range(60))
    going, gone = iter(ids[::-3] + ids[::3]), set()

    def change(last):
        gone.add(next(going))
        with world.store.write() as tx:
            tx.lines.delete(compartment, gone)
        world.put(manager(world, sub="aaa"), "Before all others.")

    found = [record.id for record in pages(world, 7, change) if isinstance(record, LineRecord)]
    assert len(found) == len(set(found))
    assert set(found) >= set(ids) - gone


def test_a_store_that_rests_is_told_the_same_in_pages_of_any_size(crowd):
    assert given(crowd, limit=120) == given(crowd, limit=500)
