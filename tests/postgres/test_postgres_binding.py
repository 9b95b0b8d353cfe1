"""A data folder and its database: which one it is changes on purpose only."""

from __future__ import annotations

import json
from functools import partial

import pytest

from surfaces.door import souvenance


@pytest.fixture
def run(home, url):
    return partial(souvenance, home=home, settings={"SOUVENANCE_STORE": url})


def remembered(home):
    return json.loads((home / "store.json").read_text())["store"]


def claims(server, database):
    with server.connected(database) as connection:
        if connection.execute("SELECT to_regclass('installation')").fetchone()[0] is None:
            return 0
        return connection.execute("SELECT COUNT(*) FROM installation").fetchone()[0]


def test_without_the_variable_nothing_is_backed_up_found_or_made(run, home, tmp_path):
    run("put", "Trip to Chengdu")
    before = sorted(home.iterdir())
    for asked in (("backup", str(tmp_path / "b")), ("get", "trip"), ("put", "Trip to Rome")):
        refused = souvenance(*asked, home=home, exit_code=11)
        assert refused.err.startswith("store_mismatch: ")
        assert remembered(home) in refused.err
    assert sorted(home.iterdir()) == before
    assert not (tmp_path / "b").exists()


def test_the_same_database_under_another_address_is_taken_on_purpose_only(
    run, home, server, database, tmp_path
):
    run("put", "Trip to Chengdu")
    (tmp_path / "moved").symlink_to(server.folder)
    kept = remembered(home)
    other = {"SOUVENANCE_STORE": server.url(database).replace(str(server.folder), str(tmp_path / "moved"))}
    refused = souvenance("get", home=home, settings=other, exit_code=11).err
    assert kept in refused
    assert str(tmp_path / "moved") in refused
    assert remembered(home) == kept
    souvenance("init", "--rebind", home=home, settings=other)
    assert "Chengdu" in souvenance("get", home=home, settings=other).out
    assert str(tmp_path / "moved") in remembered(home)


def test_another_database_is_refused_and_stays_nobody_s(run, home, server):
    run("put", "Trip to Chengdu")
    kept, other = remembered(home), server.create()
    named = {"SOUVENANCE_STORE": server.url(other)}
    for asked in (("put", "Trip to Rome"), ("get",), ("serve", "--port", "0")):
        refused = souvenance(*asked, home=home, settings=named, exit_code=11)
        assert refused.err.startswith("store_mismatch: ")
        assert kept in refused.err
        assert other in refused.err
    assert claims(server, other) == 0
    assert remembered(home) == kept
    souvenance("init", "--rebind", home=home, settings=named)
    assert claims(server, other) == 1
    server.drop(other)


def test_a_database_that_was_emptied_is_not_taken_for_a_new_one(run, server, database):
    run("put", "Trip to Chengdu")
    server.empty(database)
    assert "is empty" in run("get", exit_code=11).err
    assert claims(server, database) == 0


def test_a_store_that_was_moved_to_a_database_is_used_there_and_no_more_in_the_file(home, server):
    souvenance("put", "Trip to Chengdu", home=home)
    database = server.create()
    souvenance("migrate", str(home), server.url(database), home=home)
    named = {"SOUVENANCE_STORE": server.url(database)}
    assert souvenance("get", home=home, settings=named, exit_code=11).err.startswith("store_mismatch: ")
    souvenance("init", "--rebind", home=home, settings=named)
    assert "Chengdu" in souvenance("get", home=home, settings=named).out
    assert souvenance("get", home=home, exit_code=11).err.startswith("store_mismatch: ")
    (home / "souvenance.db").unlink()
    souvenance("migrate", server.url(database), str(home), home=home)
    assert "Chengdu" in souvenance("get", home=home).out
    server.drop(database)
