"""A store in PostgreSQL keeps vectors in pgvector unless told otherwise; what is moved makes them anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from shutil import copytree

import pytest

from souvenance.adapters.embed.local import installed
from surfaces.door import souvenance

pytestmark = pytest.mark.skipif(not installed(), reason="no embedder is installed")

EMBEDDER = {"SOUVENANCE_EMBEDDER": "packaged"}
SEALED = {**EMBEDDER, "SOUVENANCE_VECTORS": "sealed"}
LINE = "On Saturday I fly to Lisbon."
ANOTHER_WAY = "trip abroad"
"""Near the line, and without a word of it."""


@pytest.fixture
def clear(home, server, bare):
    """The command line on a store that has one line, with its vector in the clear."""
    run = partial(souvenance, home=home, settings={**EMBEDDER, "SOUVENANCE_STORE": server.url(bare)})
    run("put", LINE)
    run("reindex")
    assert forms(server, bare) == (0, 1)
    return run


def forms(server, database):
    """How many vectors are sealed, and how many in the clear."""
    with server.connected(database) as connection:
        sql = "SELECT COUNT(NULLIF(length(sealed), 0)), COUNT(place) FROM vectors"
        return connection.execute(sql).fetchone()


def columns(server, database, table):
    with server.connected(database) as connection:
        sql = "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND NOT attisdropped"
        return {name for (name,) in connection.execute(sql, [table])}


def without_pgvector(server, database):
    """Have the server answer for that database as one does where nobody installed pgvector."""
    with server.connected(database) as connection:
        connection.execute(
            """CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'extension "vector" is not available' USING ERRCODE = 'feature_not_supported';
            END $$"""
        )
        connection.execute(
            """CREATE EVENT TRIGGER unavailable ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION')
            EXECUTE FUNCTION refuse()"""
        )


def sealed(home):
    with closing(sqlite3.connect(home / "souvenance.db")) as store:
        return store.execute("SELECT COUNT(*) FROM vectors WHERE length(sealed) > 0").fetchone()[0]


def assert_made_anew(run):
    """It has no vector, and after the next reindexing it has, and is found by it."""
    assert run("--json", "status").json()["waiting"] == 1
    assert run("--json", "reindex").json()["vectors"] == 1
    assert run("--json", "status").json()["waiting"] == 0
    (found,) = run("--json", "get", ANOTHER_WAY, "--explain").json()["lines"]
    assert found["text"] == LINE
    assert found["explanation"]["signals"]["meaning"]["value"] > 0.1


def test_a_backup_holds_no_vector_in_the_clear_and_what_it_restores_makes_them_anew(clear, tmp_path):
    file, there = tmp_path / "store.backup", tmp_path / "restored"
    clear("backup", str(file))
    souvenance("restore", str(file), home=there)
    assert sealed(there) == 0
    assert_made_anew(partial(souvenance, home=there, settings=EMBEDDER))
    assert sealed(there) == 1


def test_an_export_brings_lines_whose_vectors_are_made_as_that_store_keeps_them(
    clear, home, tmp_path, server
):
    file, there, database = tmp_path / "all.souvenance", tmp_path / "there", server.create()
    clear("export", str(file))
    into = partial(souvenance, home=there, settings={**EMBEDDER, "SOUVENANCE_STORE": server.url(database)})
    into("import", str(file))
    assert forms(server, database) == (0, 0)
    assert_made_anew(into)
    assert forms(server, database) == (0, 1)
    server.drop(database)


def test_a_store_that_moves_says_that_its_vectors_are_made_anew_and_they_are(
    clear, home, server, bare, tmp_path
):
    there = copytree(home, tmp_path / "there")
    told = clear("migrate", server.url(bare), str(there)).out
    assert " line\nvectors were left out" in told
    assert "the target rebuilds them" in told
    assert_made_anew(partial(souvenance, home=there, settings=EMBEDDER))


def test_a_store_that_moves_to_postgresql_makes_its_vectors_anew_in_the_clear(home, server, bare):
    here = partial(souvenance, home=home, settings=EMBEDDER)
    here("put", LINE)
    here("reindex")
    assert "vectors were left out" in here("migrate", str(home), server.url(bare)).out
    there = partial(souvenance, home=home, settings={**EMBEDDER, "SOUVENANCE_STORE": server.url(bare)})
    there("init", "--rebind")
    assert_made_anew(there)
    assert forms(server, bare) == (0, 1)


def test_a_store_that_moves_takes_sealed_vectors_along_if_they_are_to_stay_sealed(home, server, bare):
    here = partial(souvenance, home=home, settings=SEALED)
    here("put", LINE)
    here("reindex")
    assert "vectors" not in here("migrate", str(home), server.url(bare)).out
    there = partial(souvenance, home=home, settings={**EMBEDDER, "SOUVENANCE_STORE": server.url(bare)})
    there("init", "--rebind")
    told = there("--json", "status").json()
    assert (told["vectors"], told["waiting"]) == ("sealed", 0)


def test_what_was_sealed_in_postgresql_stays_so_when_nothing_is_set_any_more(home, server, bare, tmp_path):
    store = {"SOUVENANCE_STORE": server.url(bare)}
    souvenance("put", LINE, home=home, settings={**SEALED, **store})
    souvenance("reindex", home=home, settings={**SEALED, **store})
    unset = partial(souvenance, home=home, settings={**EMBEDDER, **store})
    unset("put", "On Sunday I fly back.")
    assert unset("--json", "reindex").json()["vectors"] == 1
    assert "  vectors              sealed like the text" in unset("status").out
    assert columns(server, bare, "vectors") & {"place"} == set()
    other, moved = server.create(), {**EMBEDDER}
    unset("backup", str(tmp_path / "store.backup"))
    souvenance("restore", str(tmp_path / "store.backup"), home=tmp_path / "restored")
    assert (
        "vectors" not in souvenance("migrate", str(tmp_path / "restored"), server.url(other), home=home).out
    )
    moved["SOUVENANCE_STORE"] = server.url(other)
    souvenance("init", "--rebind", home=tmp_path / "restored", settings=moved)
    told = souvenance("--json", "status", home=tmp_path / "restored", settings=moved).json()
    assert (told["vectors"], told["waiting"]) == ("sealed", 0)
    server.drop(other)


def test_a_store_of_before_that_has_sealed_vectors_keeps_them_sealed(home, server, bare):
    store = {**EMBEDDER, "SOUVENANCE_STORE": server.url(bare)}
    souvenance("put", LINE, home=home, settings={**SEALED, **store})
    souvenance("reindex", home=home, settings={**store, "SOUVENANCE_VECTORS": "sealed"})
    with server.connected(bare) as connection:
        connection.execute("DELETE FROM vector_form")
    assert souvenance("--json", "status", home=home, settings=store).json()["vectors"] == "sealed"
    in_the_clear = partial(souvenance, home=home, settings={**store, "SOUVENANCE_VECTORS": "pgvector"})
    assert in_the_clear("--json", "reindex").json()["vectors"] == 1
    assert forms(server, bare) == (0, 1)
    assert souvenance("--json", "status", home=home, settings=store).json()["vectors"] == "pgvector"


@pytest.mark.parametrize(
    "without", [{"SOUVENANCE_EMBEDDER": "none"}, {**EMBEDDER, "SOUVENANCE_VECTORS": "none"}]
)
def test_where_no_vectors_are_made_pgvector_is_not_wanted(home, server, bare, without):
    without_pgvector(server, bare)
    souvenance("put", LINE, home=home, settings={**without, "SOUVENANCE_STORE": server.url(bare)})
    assert columns(server, bare, "vectors") & {"place"} == set()


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ("auto", "unencrypted in pgvector"),
        ("sealed", "sealed"),
        ("pgvector", "unencrypted in pgvector"),
        ("none", "not"),
    ],
)
def test_the_status_says_how_vectors_are_kept(home, server, bare, kept, told):
    store = {**EMBEDDER, "SOUVENANCE_STORE": server.url(bare), "SOUVENANCE_VECTORS": kept}
    run = partial(souvenance, home=home, settings=store)
    run("init")
    assert f"  vectors              {told}" in run("status").out
    assert run("--json", "status").json()["vectors"] == (kept if kept != "auto" else "pgvector")


def test_a_server_that_has_no_pgvector_is_told_of_with_what_to_do(home, server, bare):
    without_pgvector(server, bare)
    store = {**EMBEDDER, "SOUVENANCE_STORE": server.url(bare)}
    refused = souvenance("init", home=home, settings=store, exit_code=11)
    assert refused.err.startswith("misconfigured: the database has no pgvector:")
    assert "CREATE EXTENSION vector" in refused.err
    for way_out in ("sealed", "none"):
        assert f"SOUVENANCE_VECTORS={way_out}" in refused.err
        souvenance("init", home=home, settings={**store, "SOUVENANCE_VECTORS": way_out})


def test_a_role_that_may_not_make_it_is_told_what_the_database_said(home, server, bare):
    with server.connected(bare) as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO guest")
    store = {**EMBEDDER, "SOUVENANCE_STORE": server.url(bare, "guest")}
    refused = souvenance("put", LINE, home=home, settings=store, exit_code=11)
    assert refused.err.startswith("misconfigured: the database has no pgvector: permission denied")
    assert "CREATE EXTENSION vector there as a superuser" in refused.err
    with server.connected(bare) as connection:
        connection.execute("CREATE EXTENSION vector")
    souvenance("put", LINE, home=home, settings=store)
