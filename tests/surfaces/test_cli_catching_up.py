"""What was put while no server ran is found by its meaning too, and a status says what still waits."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from functools import partial

import pytest

from souvenance.adapters.embed.local import installed
from surfaces.door import serving, souvenance

needs_an_embedder = pytest.mark.skipif(not installed(), reason="no embedder is installed")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def command(home):
    return partial(souvenance, home=home, settings={"SOUVENANCE_EMBEDDER": "packaged"})


def vectors(home):
    with closing(sqlite3.connect(home / "souvenance.db")) as store:
        return store.execute("SELECT COUNT(*) FROM vectors").fetchone()[0]


@needs_an_embedder
@pytest.mark.embedded("it looks into the file")
def test_a_line_waits_for_its_vector_until_the_first_question(command, home):
    command("put", "hotel in Chengdu")
    assert vectors(home) == 0
    assert re.search(
        r"without a vector +1 line: found by words until 'souvenance get'", command("status").out
    )
    [line] = command("--json", "get", "a place to sleep", "--explain").json()["lines"]
    assert line["explanation"]["signals"]["meaning"]["value"] > 0
    assert vectors(home) == 1
    assert "without a vector" not in command("status").out


@needs_an_embedder
@pytest.mark.embedded("it looks into the file")
def test_the_newest_lines_are_told_without_an_embedder(command, home):
    command("put", "hotel in Chengdu")
    assert "hotel in Chengdu" in command("get").out
    assert vectors(home) == 0


def test_a_status_says_how_much_is_known_of_peers(home):
    told = {"content": "ann lives in Lisbon", "observer_id": "ann", "observed_id": "ann"}
    with serving(home) as server:
        assert "known of peers" not in souvenance("status", home=home, url=server.url).out
        owner = server.client(server.owner_cap)
        owner.post("/v3/workspaces/default/peers", json={"id": "ann"}).raise_for_status()
        owner.post("/v3/workspaces/default/conclusions", json={"conclusions": [told]}).raise_for_status()
        said = souvenance("status", home=home, url=server.url).out
    assert re.search(r"known of peers +1 conclusion\b", said)
