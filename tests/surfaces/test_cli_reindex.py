"""`souvenance reindex`: on a data folder, through its server, and beside it."""

import re
import sqlite3
from contextlib import closing
from functools import partial

import pytest

from souvenance.adapters.embed.local import installed
from surfaces.door import serving, souvenance

WITH_AN_EMBEDDER = {"SOUVENANCE_EMBEDDER": "packaged"}
needs_an_embedder = pytest.mark.skipif(not installed(), reason="no embedder is installed")


@pytest.fixture(params=["embedded", "served", "beside a server"])
def place(request, tmp_path):
    """A data folder, and the command line that is to reindex it."""
    home = tmp_path / "home"
    souvenance("put", "hotel in Chengdu", "-n", "travel", home=home)
    souvenance("put", "lunch with Mara", "--workspace", "elsewhere", home=home)
    spoil(home)
    if request.param == "embedded":
        yield home, partial(souvenance, home=home)
        return
    with serving(home) as server:
        yield home, partial(souvenance, home=home, url=server.url if request.param == "served" else None)


def spoil(home):
    """Leave the lines with tokens that no analysis of today makes, in a store that takes them for its own."""
    with closing(sqlite3.connect(home / "souvenance.db")) as store, store:
        store.execute("UPDATE terms SET tokens = zeroblob(8), counts = x'01'")


def spaces(home):
    with closing(sqlite3.connect(home / "souvenance.db")) as store:
        return dict(store.execute("SELECT space, COUNT(*) FROM vectors GROUP BY space"))


def found(command, *query):
    lines = command("--json", "get", *query, "--explain").json()["lines"]
    return [line["text"] for line in lines if line["explanation"]["by"] == "relevance"]


@pytest.mark.embedded("it damages the file")
def test_what_was_not_found_by_its_words_is_found_again(place):
    _, command = place
    told = command("reindex")
    assert re.fullmatch(r"\d lines reindexed, 0 vectors made, 0 old vectors dropped\n", told.out)
    assert told.err == ""
    assert found(command, "hotel") == ["hotel in Chengdu"]
    assert found(command, "lunch", "--workspace", "elsewhere") == ["lunch with Mara"]


@pytest.mark.embedded("it damages the file")
def test_a_second_run_makes_everything_anew_again_or_one_workspace_alone(place):
    home, command = place
    command("reindex")
    assert command("--json", "reindex").json() == {"lines": 2, "vectors": 0, "old_vectors": 0}
    spoil(home)
    assert command("--json", "reindex", "--workspace", "elsewhere").json()["lines"] == 1


@pytest.mark.embedded("it damages the file")
def test_it_is_refused_to_every_other_cap(place):
    _, command = place
    narrow = command("cap", "mint", "--sub", "ann", "--ops", "put,get", "--namespaces", "*").out.strip()
    assert command("reindex", "--cap", narrow, exit_code=5).err.startswith("cap_scope_mismatch: ")


@needs_an_embedder
@pytest.mark.embedded("it looks into the file")
def test_lines_get_the_vectors_of_an_embedder_that_is_new(tmp_path):
    home = tmp_path / "home"
    command = partial(souvenance, home=home, settings=WITH_AN_EMBEDDER)
    command("put", "hotel in Chengdu")
    with closing(sqlite3.connect(home / "souvenance.db")) as store, store:
        store.execute(
            "INSERT INTO vectors SELECT workspace, owner, namespace, 'another', 1, id, x'00' FROM terms"
        )
    assert re.search(r"without a vector +1 line", command("status").out)
    assert command("reindex").out == "1 line reindexed, 1 vector made, 1 old vector dropped\n"
    assert "without a vector" not in command("status").out
    assert "another" not in spaces(home)
    why = command("--json", "get", "a place to sleep", "--explain").json()["lines"][0]["explanation"]
    assert why["space"] in spaces(home)
    assert why["signals"]["meaning"]["value"] > 0


@pytest.mark.embedded("it damages the file")
def test_an_embedder_out_of_reach_is_told_and_what_is_made_stays_made(tmp_path):
    home = tmp_path / "home"
    out_of_reach = {
        "SOUVENANCE_EMBEDDER": "endpoint",
        "SOUVENANCE_EMBEDDER_BASE_URL": "http://127.0.0.1:9/v1",
        "SOUVENANCE_EMBEDDER_MODEL": "some-model",
        "SOUVENANCE_EMBEDDER_DIMENSIONS": "8",
    }
    command = partial(souvenance, home=home, settings=out_of_reach)
    command("put", "hotel in Chengdu")
    spoil(home)
    told = command("reindex", exit_code=9)
    assert "1 line without a vector: " in told.err
    assert found(command, "hotel") == ["hotel in Chengdu"]
