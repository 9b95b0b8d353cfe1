"""How vectors are kept, as the command line is told: sealed, or not at all."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial

import pytest

from surfaces.door import souvenance

pytestmark = pytest.mark.embedded("it looks into the file")

NONE = {"SOUVENANCE_VECTORS": "none"}


def vectors(home):
    with closing(sqlite3.connect(home / "souvenance.db")) as store:
        return store.execute("SELECT COUNT(*) FROM vectors").fetchone()[0]


def make_vectors(home, count):
    """As if an embedder had been here."""
    with closing(sqlite3.connect(home / "souvenance.db")) as store, store:
        for number in range(count):
            row = ("default", "owner", "default", "some embedder", 1000 + number, f"line {number}", b"sealed")
            store.execute("INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def test_without_vectors_search_is_by_words_and_status_says_so(home):
    without = partial(souvenance, home=home, settings={**NONE, "SOUVENANCE_EMBEDDER": "packaged"})
    without("put", "The hotel is in Chengdu.")
    assert "Chengdu" in without("get", "Where is the hotel?").out
    without("reindex")
    assert vectors(home) == 0
    assert "search is by words alone (SOUVENANCE_VECTORS=none)" in without("status").out


def test_vectors_that_must_not_be_kept_go_with_the_next_reindexing(home):
    souvenance("put", "The hotel is in Chengdu.", home=home)
    make_vectors(home, 1200)
    assert souvenance("--json", "reindex", home=home).json()["old_vectors"] == 0
    assert vectors(home) == 1200
    told = souvenance("--json", "reindex", home=home, settings=NONE).json()
    assert told["old_vectors"] == 1200
    assert vectors(home) == 0
    souvenance("status", home=home)
    assert b"some embedder" not in (home / "souvenance.db").read_bytes()


def test_pgvector_is_refused_without_postgresql(home):
    refused = souvenance("status", home=home, settings={"SOUVENANCE_VECTORS": "pgvector"}, exit_code=None)
    assert refused.exit_code != 0
    assert refused.err.startswith("misconfigured: SOUVENANCE_VECTORS=pgvector needs a store in PostgreSQL")
    assert "SOUVENANCE_STORE" in refused.err
