"""What PostgreSQL itself keeps apart, behind the gate: asked with SQL that nobody in Souvenance wrote."""

from __future__ import annotations

import psycopg
import pytest

from contracts.jobs_contract import add, job
from contracts.store_scenes import COMPARTMENT, ELSEWHERE, IDS, WORKSPACE, append, fill, sealed_line
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain.capability import Revocation
from souvenance.domain.names import ALL
from souvenance.errors import IntegrityError

WITHOUT_A_WALL = {"analysis", "installation", "migrations", "signin_clients", "signin_slips", "vector_form"}
"""What belongs to the installation, and to no workspace."""


@pytest.fixture
def filled(url):
    """A book with something of two workspaces in every table, and something that belongs to all."""
    engine = PostgresEngine(url)
    store = SqlStore(engine)
    with store.write() as tx:
        for compartment in (COMPARTMENT, ELSEWHERE[0]):
            fill(tx, compartment)
        tx.caps.revoke(Revocation(ALL, "jti", "everywhere", 1))
        tx.touch(ALL, caps=True)
    add(store, job(0, workspace=WORKSPACE), job(1, workspace="other"))
    yield engine
    store.close()


def test_every_table_with_a_workspace_has_a_wall_that_its_owner_can_not_pass(server, database):
    with server.connected(database) as connection:
        walled = connection.execute(
            "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity"
        ).fetchall()
        assert {name for (name,) in walled} == server.tables(connection) - WITHOUT_A_WALL


def test_a_transaction_of_one_workspace_sees_no_row_of_another(filled, server, database):
    with server.connected(database) as connection:
        asked = sorted(server.tables(connection) - WITHOUT_A_WALL)
    seen = set()
    for opened in (filled.read, filled.write):
        with opened(WORKSPACE) as session:
            for table in asked:
                seen |= {workspace for (workspace,) in session.rows(f"SELECT workspace FROM {table}")}
    assert seen == {WORKSPACE, ALL}
    with filled.read("other") as session:
        assert session.rows("SELECT DISTINCT workspace FROM lines") == [("other",)]
    with filled.read() as session:
        assert len(session.rows("SELECT DISTINCT workspace FROM lines")) == 2


def test_a_connection_that_says_no_workspace_sees_nothing(filled, server, database):
    with filled.read(WORKSPACE) as session:
        session.run("SELECT set_config('souvenance.workspace', '', true)")
        assert session.rows("SELECT * FROM lines") == session.rows("SELECT * FROM revocations") == []
        session.run("RESET souvenance.workspace")
        assert session.rows("SELECT * FROM lines") == session.rows("SELECT * FROM revocations") == []


def test_nothing_of_one_transaction_is_left_for_the_next(filled):
    for _ in range(3):
        with filled.read(WORKSPACE) as session:
            assert session.rows("SELECT DISTINCT workspace FROM lines") == [(WORKSPACE,)]
        with filled.read("other") as session:
            assert session.rows("SELECT DISTINCT workspace FROM lines") == [("other",)]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO batches VALUES ('other', 's', '', 0, 0, 0)",
        "INSERT INTO revocations VALUES ('*', 'jti', 'x', '*', '', 0)",
        f"UPDATE lines SET workspace = 'other' WHERE workspace = '{WORKSPACE}'",
    ],
)
def test_a_row_of_another_workspace_can_not_be_written(filled, statement):
    with pytest.raises(IntegrityError), filled.write(WORKSPACE) as session:
        session.run(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM lines WHERE workspace = 'other'",
        "UPDATE lines SET kind = 'mine' WHERE workspace = 'other'",
        "DELETE FROM revocations WHERE workspace = '*'",
        "UPDATE compartment_keys SET wrapped = '' WHERE workspace = 'other'",
    ],
)
def test_rows_of_another_workspace_can_neither_be_changed_nor_deleted(filled, statement):
    with filled.write(WORKSPACE) as session:
        assert session.run(statement) == 0


def test_a_role_that_is_no_superuser_needs_no_other_role(server, bare):
    with server.connected(bare) as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO guest")
    engine = PostgresEngine(server.url(bare, "guest"))
    store = SqlStore(engine)
    append(store, sealed_line(), sealed_line(compartment=ELSEWHERE[0]))
    with engine.read(WORKSPACE) as session:
        assert session.rows("SELECT current_user, workspace FROM lines") == [("guest", WORKSPACE)]
    store.close()
    with psycopg.connect(server.url(bare, "guest")) as connection:
        assert connection.execute("SELECT * FROM lines").fetchall() == []
    again = SqlStore(PostgresEngine(server.url(bare, "guest")))
    with again.read() as tx:
        assert tx.lines.count(COMPARTMENT) == 1
    again.close()


def test_every_text_compares_byte_for_byte_whatever_the_locale(server, database):
    with server.connected(database) as connection:
        found = connection.execute(
            """SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.atttypid = 'text'::regtype
            AND NOT a.attisdropped AND a.attcollation <> '"C"'::regcollation AND c.relname <> 'migrations'"""
        ).fetchall()
        assert found == []
        if not server.sorts_by_bytes:
            assert connection.execute("SELECT 'a' < 'B'").fetchone() == (True,)


def test_a_unique_index_begins_with_the_workspace_so_that_tables_can_be_sharded(server, database):
    with server.connected(database) as connection:
        found = connection.execute(
            """SELECT i.indrelid::regclass::text, a.attname FROM pg_index i JOIN pg_attribute a
            ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
            JOIN pg_class c ON c.oid = i.indrelid AND c.relnamespace = 'public'::regnamespace
            WHERE i.indisunique"""
        ).fetchall()
    assert {table for table, column in found if column != "workspace"} == {*WITHOUT_A_WALL, "signins"}


def test_ids_are_in_the_order_of_their_bytes(url):
    store = SqlStore(PostgresEngine(url))
    ids = [*IDS[:3], IDS[3].lower()]
    append(store, *(sealed_line(line_id) for line_id in ids))
    with store.read(WORKSPACE) as tx:
        assert [line.id for line in tx.lines.get_all(COMPARTMENT, ids)] == sorted(ids)
    store.close()
