"""Lines that were damaged in the store come back from the bucket."""

from __future__ import annotations

import pytest

from objects.stage import every_key, kept
from souvenance.adapters.object_stores import open_objects
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from surfaces.door import souvenance

COMPARTMENT = "default/owner/personal/"


@pytest.fixture
def me(home, url):
    """Two lines that are in the bucket, the first of them replaced by a third."""
    with kept(home, url) as found:
        first = found.put("I live in Bonn")
        found.put("I like pears")
        found.call(o.INVALIDATE, m.Invalidate(first, "I live in Berlin"))
        found.carry()
        yield found


def contents(objects):
    return {key: objects.get(key) for key in every_key(objects)}


def flipped(objects, key):
    spoiled = bytearray(objects.get(key))
    spoiled[-1] ^= 1
    objects.replace(key, bytes(spoiled))


def spoil_row(me, table, column, where):
    with me.installation._store.write() as tx:
        [row] = tx._session.rows(f"SELECT {column} FROM {table} WHERE {where}", ())
        spoiled = bytearray(row[0])
        spoiled[-1] ^= 1
        tx._session.run(f"UPDATE {table} SET {column} = ? WHERE {where}", (bytes(spoiled),))
        tx.touch("default", compartments=True)


def test_a_line_that_does_not_open_in_the_store_comes_back_from_the_bucket(me, home, url, objects):
    texts, before = me.texts(), contents(objects)
    spoiled = next(line for line, text in texts.items() if text == "I live in Bonn")
    spoil_row(me, "lines", "sealed", f"id = '{spoiled}'")
    mended = me.installation.repairer.repair()
    assert (mended.restored, mended.findings) == (1, [])
    assert me.texts() == texts
    assert contents(objects) == before
    assert spoiled not in [line.id for line in me.call(o.LIST, m.List()).lines], "it stays replaced"
    assert "I live in Bonn" not in me.found("Bonn")
    souvenance("doctor", home=home, settings={"SOUVENANCE_OBJECTS": url})


def test_what_opens_on_neither_side_is_told_and_left(me, objects):
    spoiled = min(me.texts())
    spoil_row(me, "lines", "sealed", f"id = '{spoiled}'")
    flipped(objects, COMPARTMENT + spoiled)
    before = contents(objects)
    mended = me.installation.repairer.repair()
    assert [one for one in mended.findings if spoiled in one] == mended.findings != []
    assert contents(objects) == before


def test_the_bucket_of_another_store_keeps_its_keys(me, home, tmp_path):
    """Whoever names the wrong bucket must not destroy what is in it."""
    elsewhere = f"file://{tmp_path}/elsewhere"
    with kept(tmp_path / "other", elsewhere) as stranger:
        stranger.put("a stranger's line")
        stranger.carry()
    theirs = contents(open_objects(elsewhere))
    with kept(home, elsewhere, rebind=True) as mistaken:
        mistaken.installation.repairer.repair()
    left = contents(open_objects(elsewhere))
    assert {key: left[key] for key in theirs} == theirs
