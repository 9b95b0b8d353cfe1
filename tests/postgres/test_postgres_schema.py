"""On PostgreSQL too, nothing is deleted while something in the database could keep a copy of it."""

from __future__ import annotations

import pytest

from gate.world import World
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.gate import messages as m
from souvenance.gate import operations as o

FUNCTION = """CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_notify('kept', encode(OLD.sealed, 'hex')); RETURN OLD; END $$;"""
PLANTED = {
    "a trigger": (
        f"{FUNCTION} CREATE TRIGGER keeper BEFORE DELETE ON lines FOR EACH ROW EXECUTE FUNCTION keep()",
        "trigger 'keeper' of table 'lines'",
    ),
    "another function behind our trigger": (
        """CREATE OR REPLACE FUNCTION souvenance_tell_jobs() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN NOTIFY elsewhere; RETURN NULL; END $$""",
        "trigger 'souvenance_jobs_added' of table 'jobs' was altered",
    ),
    "a rule": (
        "CREATE RULE keeper AS ON DELETE TO lines DO ALSO NOTIFY kept",
        "rule 'keeper' of table 'lines'",
    ),
    "a table": ("CREATE TABLE copies AS SELECT sealed FROM lines", "table 'copies'"),
    "a child of a table": ("CREATE SCHEMA x; CREATE TABLE x.more () INHERITS (lines)", "table 'x.more'"),
    "a view": ("CREATE VIEW mirror AS SELECT * FROM lines", "view 'mirror'"),
    "a materialised view elsewhere": (
        "CREATE SCHEMA x; CREATE MATERIALIZED VIEW x.mirror AS SELECT * FROM lines",
        "materialized view 'x.mirror'",
    ),
    "an index": ("CREATE INDEX lines_sealed ON lines (sealed)", "index 'lines_sealed' of table 'lines'"),
    "another index in the place of ours": (
        "DROP INDEX lines_held; CREATE INDEX lines_held ON lines (md5(sealed))",
        "index 'lines_held' of table 'lines' was altered",
    ),
    "a column": ("ALTER TABLE lines ADD COLUMN kept bytea", "column 'kept' of table 'lines'"),
    "a generated column": (
        "ALTER TABLE lines ADD COLUMN kept text GENERATED ALWAYS AS (encode(sealed, 'hex')) STORED",
        "column 'kept' of table 'lines'",
    ),
    "a default": (
        "ALTER TABLE lines ALTER COLUMN times SET DEFAULT 2",
        "column 'times' of table 'lines' was altered",
    ),
    "a check": ("ALTER TABLE lines ADD CHECK (times > 0)", "constraint 'lines_times_check' of table 'lines'"),
}
OPEN = {
    "a policy": ("CREATE POLICY opened ON lines USING (true)", "policy 'opened' of table 'lines'"),
    "a policy of ours that shows more": (
        "ALTER POLICY souvenance_shown ON lines USING (true)",
        "policy 'souvenance_shown' of table 'lines' was altered",
    ),
    "a policy that is missing": (
        "DROP POLICY souvenance_added ON lines",
        "policy 'souvenance_added' of table 'lines' is missing",
    ),
    "no wall": (
        "ALTER TABLE lines DISABLE ROW LEVEL SECURITY",
        "row security 'on' of table 'lines' is missing",
    ),
    "no index": ("DROP INDEX lines_held", "index 'lines_held' of table 'lines' is missing"),
}


@pytest.fixture
def opened(server, bare):
    store = SqlStore(PostgresEngine(server.url(bare)))
    world = World(store=store, index=RankedIndex())
    world.put(world.issue(), "Allergic to peanuts", "personal")
    yield world, bare
    store.close()


def plant(server, database, script):
    with server.connected(database) as connection:
        connection.execute(script)


@pytest.mark.parametrize("what", PLANTED)
def test_while_something_unknown_could_keep_it_nothing_is_deleted(server, opened, what):
    world, database = opened
    script, named = PLANTED[what]
    plant(server, database, script)
    cap = world.issue()
    with pytest.raises(Exception, match="may keep copies") as refused:
        world.call(o.FORGET, cap, m.Forget(namespace="personal"))
    assert refused.value.code == "schema_unknown"
    findings = world.call(o.COMPARTMENTS, world.operator(), m.Nothing()).findings
    assert any(named in finding for finding in findings), findings
    assert world.texts(cap, "allergic") == ["Allergic to peanuts"]


@pytest.mark.parametrize("what", OPEN)
def test_what_keeps_no_copy_is_told_and_keeps_nobody_from_forgetting(server, opened, what):
    world, database = opened
    script, named = OPEN[what]
    plant(server, database, script)
    findings = world.call(o.COMPARTMENTS, world.operator(), m.Nothing()).findings
    assert any(named in finding for finding in findings), findings
    assert world.call(o.FORGET, world.issue(), m.Forget(namespace="personal")).lines == 1


def test_a_deletion_that_leaves_rows_behind_is_refused(server, opened):
    world, database = opened
    plant(server, database, "DROP POLICY souvenance_deleted ON lines")
    assert world.code(o.FORGET, world.issue(), m.Forget(namespace="personal")) == "tampered"
    assert world.texts(world.issue(), "allergic") == ["Allergic to peanuts"]


@pytest.mark.parametrize("vectors", [None, "sealed", "pgvector"])
def test_of_a_store_that_nobody_touched_there_is_nothing_to_tell(server, bare, vectors):
    store = SqlStore(PostgresEngine(server.url(bare), vectors=vectors))
    with server.connected(bare) as connection:
        connection.execute("ANALYZE")
    for workspace in ("*", "default"):
        with store.read(workspace) as tx:
            assert tx.differences() == []
    store.close()
