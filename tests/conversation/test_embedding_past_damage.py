"""Lines that do not open keep no others from their vectors, nor does a damaged vector spoil a search."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from gate.world import on_sqlite
from reference.embedder import ReferenceEmbedder
from souvenance.core.embedding import _AT_ONCE
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.worker import Worker


@pytest.fixture
def store(tmp_path):
    return tmp_path / "book.db"


@pytest.fixture
def world(store):
    world = on_sqlite(store, embedder=ReferenceEmbedder())
    yield world
    world.store.close()


def spoil(store, sql, *values):
    with closing(sqlite3.connect(store)) as raw, raw:
        assert raw.execute(sql, values).rowcount > 0


def tidy(world):
    shop = Worker(
        store=world.store,
        clock=world.clock,
        services=world.services,
        secret=lambda: b"",
        report=lambda told: None,
    )
    shop.look_round()
    while shop.tidy():
        pass


def waiting(world, cap):
    return world.call(o.STATUS, cap, m.Nothing()).waiting


@pytest.mark.parametrize("damaged", [_AT_ONCE, _AT_ONCE + 1, 3 * _AT_ONCE])
@pytest.mark.embedded("it damages the file")
def test_lines_that_can_not_be_opened_keep_no_others_from_their_vectors(world, store, damaged):
    cap = world.issue()
    for number in range(damaged):
        world.put(cap, f"note {number}")
    spoil(store, "UPDATE lines SET sealed = zeroblob(60)")
    world.put(cap, "hotel in Chengdu")
    tidy(world)
    assert waiting(world, cap) == damaged


@pytest.mark.embedded("it damages the file")
def test_lines_of_every_other_place_are_reached_past_damaged_ones(world, store):
    cap = world.issue()
    lines = [world.put(cap, f"note {number}") for number in range(4 * _AT_ONCE)]
    for number, line in enumerate(lines):
        if number % 4:
            spoil(store, "UPDATE lines SET sealed = zeroblob(60) WHERE id = ?", line)
    tidy(world)
    with world.store.read() as tx:
        assert sum(tx.terms.spaces().values()) == _AT_ONCE


@pytest.mark.parametrize("damage", ["zeroblob(60)", "x''", "substr(sealed, 1, 20)"])
@pytest.mark.embedded("it damages the file")
def test_a_damaged_vector_costs_its_own_line_and_no_other(world, store, damage):
    cap = world.issue()
    hotel = world.put(cap, "hotel in Chengdu")
    world.put(cap, "lunch with Mara")
    tidy(world)
    spoil(store, f"UPDATE vectors SET sealed = {damage} WHERE id = ?", hotel)
    world.services.index.forget()
    found = world.get(cap, "lunch with Mara", explain=True)
    assert found[0].text == "lunch with Mara"
    assert found[0].explanation.signals["meaning"].value > 0
    assert "hotel in Chengdu" in world.texts(cap, "hotel")


@pytest.mark.embedded("it damages the file")
def test_a_damaged_vector_is_made_again(world, store):
    cap = world.issue()
    hotel = world.put(cap, "hotel in Chengdu")
    tidy(world)
    spoil(store, "UPDATE vectors SET sealed = zeroblob(60) WHERE id = ?", hotel)
    world.services.index.forget()
    world.get(cap, "a place in Chengdu")
    tidy(world)
    found = world.get(cap, "a place in Chengdu", explain=True)
    assert found[0].explanation.signals["meaning"].value > 0
