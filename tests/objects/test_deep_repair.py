"""Book and bucket compared byte by byte: known-bad objects and known-bad rows, each mended by the other."""

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


def truncated(objects, key, other):
    objects.replace(key, objects.get(key)[:-9])


def emptied(objects, key, other):
    objects.replace(key, b"")


def flipped(objects, key, other):
    spoiled = bytearray(objects.get(key))
    spoiled[-1] ^= 1
    objects.replace(key, bytes(spoiled))


def swapped(objects, key, other):
    one, another = objects.get(key), objects.get(other)
    objects.replace(key, another)
    objects.replace(other, one)


SPOILS = {truncated: 1, emptied: 1, flipped: 1, swapped: 2}
"""What happens to an object, and how many it happens to."""


@pytest.mark.parametrize("spoil", SPOILS, ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("what", ["lines", "replacements", "keys"])
def test_an_object_that_says_something_else_is_made_anew_from_the_store(me, objects, what, spoil):
    before = contents(objects)
    folder = {"lines": COMPARTMENT, "replacements": f"{COMPARTMENT}replaced/", "keys": f"{COMPARTMENT}keys/"}[
        what
    ]
    key, other = [*(key for key in before if key.rpartition("/")[0] + "/" == folder), *before][:2]
    spoil(objects, key, other)
    assert contents(objects) != before
    assert me.installation.repair().renewed == 0
    assert contents(objects) != before, "which objects there are is not what they say"
    mended = me.installation.repair(deep=True)
    assert (mended.renewed, mended.carried, mended.restored, mended.findings) == (SPOILS[spoil], 0, 0, [])
    assert contents(objects) == before
    assert me.installation.repair(deep=True).renewed == 0


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
    mended = me.installation.repair(deep=True)
    assert (mended.renewed, mended.restored, mended.findings) == (0, 1, [])
    assert me.texts() == texts
    assert contents(objects) == before
    assert spoiled not in [line.id for line in me.call(o.LIST, m.List()).lines], "it stays replaced"
    assert "I live in Bonn" not in me.found("Bonn")
    souvenance("doctor", home=home, settings={"SOUVENANCE_OBJECTS": url})


def test_a_key_that_does_not_open_in_the_store_comes_back_from_the_bucket(me, objects):
    texts, before = me.texts(), contents(objects)
    spoil_row(
        me, "compartment_keys", "wrapped", "purpose = 'seal' AND owner = 'owner' AND namespace = 'personal'"
    )
    assert me.installation.repair(deep=True).findings == []
    assert me.texts() == texts
    assert contents(objects) == before


def test_what_opens_on_neither_side_is_told_and_left(me, objects):
    spoiled = min(me.texts())
    spoil_row(me, "lines", "sealed", f"id = '{spoiled}'")
    flipped(objects, COMPARTMENT + spoiled, None)
    before = contents(objects)
    mended = me.installation.repair(deep=True)
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
        mended = mistaken.installation.repair(deep=True)
    assert len([one for one in mended.findings if "another key" in one]) == 2
    left = contents(open_objects(elsewhere))
    assert {key: left[key] for key in theirs} == theirs


def test_the_command_line_tells_what_was_renewed(home, tmp_path):
    url = f"file://{tmp_path}/objects"
    settings = {"SOUVENANCE_OBJECTS": url}
    line = souvenance("put", "I like pears", home=home, settings=settings).out.strip()
    flipped(open_objects(url), COMPARTMENT + line, None)
    told = souvenance("doctor", "--repair", "--deep", home=home, settings=settings).out
    assert "1 corrected" in told
    told = souvenance("--json", "doctor", "--repair", "--deep", home=home, settings=settings).json()
    assert (told["renewed"], told["findings"]) == (0, [])
    assert "--repair" in souvenance("doctor", "--deep", home=home, settings=settings, exit_code=None).err
