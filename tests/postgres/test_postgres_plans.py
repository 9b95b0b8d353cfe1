"""How far PostgreSQL goes for a question of one owner, or for the newest lines: never through everybody's."""

from __future__ import annotations

import pytest
from psycopg import sql

from contracts.store_scenes import IDS
from souvenance.adapters.sql.engine import SqlSession
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain.names import Compartment
from souvenance.ports.store import LineQuery, ViewQuery

WORKSPACE = "acme"
MOST_VISITED = 300
PLANS_FOR_THE_VALUES = 5
"""Then PostgreSQL may take one that is for any values, if it expects no worse of it."""
LINES = """INSERT INTO lines (workspace, owner, namespace, id, kind, session, created_at, cap, metadata,
    epoch, sealed, about, likeness, times, bytes)
    SELECT 'acme', CASE n % 2 WHEN 0 THEN 'assistant' ELSE 'person-' || n % 401 END, 'work',
    to_char(n, 'FM00000000000000000000000000'), CASE n % 2 WHEN 0 THEN 'memory' ELSE 'conclusion' END,
    's-' || n % 4001, n, 'cap', '{}', 1, '', CASE n % 2 WHEN 1 THEN 'person-' || n % 401 END, NULL, 1, 0
    FROM generate_series(1, 40000) n"""
REPLACED = """INSERT INTO invalidations (workspace, owner, namespace, target, by_id)
    SELECT workspace, owner, namespace, id, id FROM lines WHERE about IS NOT NULL AND created_at % 7 = 0"""
TERMS = """INSERT INTO terms (workspace, owner, namespace, seq, id, tokens, counts, at)
    SELECT 'acme', 'assistant', 'work', n, to_char(n, 'FM00000000000000000000000000'), '', '', 0
    FROM generate_series(1, 9000) n"""
PLACES = """INSERT INTO vectors (workspace, owner, namespace, space, seq, id, sealed)
    SELECT workspace, owner, namespace, 'space', 9000 + seq, id, 'sealed' FROM terms WHERE seq < 9000"""
LARGE = Compartment(WORKSPACE, "assistant", "work")
ANN = "person-7"


def views(**asked):
    return lambda tx: tx.lines.views(ViewQuery(WORKSPACE, ("conclusion",), **asked))


QUESTIONS = {
    "the newest conclusions": views(limit=9),
    "the newest conclusions of a namespace": views(limit=9, namespaces=("work",)),
    "what one holds": views(owner=ANN),
    "the newest of what one holds": views(owner=ANN, limit=9),
    "what is known of one": views(about=ANN),
    "what one holds of another": views(owner=ANN, about=ANN, namespaces=("work",)),
    "what was concluded in a session": views(sessions=("s-7",)),
    "the newest lines of a large owner": lambda tx: tx.lines.walk(
        LineQuery(WORKSPACE, "assistant", ("work",), limit=9)
    ),
}


@pytest.fixture(scope="module")
def store(server):
    """A book with the lines of some hundred owners, fifty each, and of one who has half of all."""
    database = server.create()
    store = SqlStore(PostgresEngine(server.url(database)))
    with server.connected(database) as connection:
        for statement in (LINES, REPLACED, TERMS, PLACES, "ANALYZE"):
            connection.execute(statement)
    yield store
    store.close()
    server.drop(database)


class Explaining(SqlSession):
    """A session that tells how many rows each statement visits, until PostgreSQL has settled on a plan."""

    def __init__(self, session):
        super().__init__()
        self._session = session
        self.visited = []

    def run(self, statement, values=()):
        return self._session.run(statement, values)

    def rows(self, statement, values=()):
        connection = self._session.connection
        first, *rest = statement.split("?")
        numbered = first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))
        given = sql.SQL(", ").join(map(sql.Literal, values)).as_string(connection)
        self._session.run(f"PREPARE asked AS {numbered}")
        for _ in range(PLANS_FOR_THE_VALUES + 1):
            ((found,),) = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked({given})")
            self.visited.append(visited(found[0]["Plan"]))
        self._session.run("DEALLOCATE asked")
        return self._session.rows(statement, values)


def visited(plan):
    """How many rows its scans gave and passed over."""
    below = sum(visited(part) for part in plan.get("Plans", ()))
    if not plan["Node Type"].endswith("Scan"):
        return below
    passed = plan.get("Rows Removed by Filter", 0)
    return below + plan["Actual Loops"] * (plan["Actual Rows"] + passed)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_visits_few_rows_however_many_there_are(store, question):
    with store.read(WORKSPACE) as tx:
        tx.lines._session = told = Explaining(tx.lines._session)
        found = QUESTIONS[question](tx)
    assert found
    assert max(told.visited) <= MOST_VISITED, told.visited


def test_a_new_line_gets_its_vector_without_a_walk_through_those_that_have_one(store):
    with store.write(WORKSPACE) as tx:
        last = tx.terms.lacking(LARGE, "space", 64)
        tx.terms.lie(LARGE, "space", [(line_id, b"sealed") for line_id in last])
        tx.terms.add(LARGE, IDS[0], b"", b"")
        tx.terms._session = told = Explaining(tx.terms._session)
        assert tx.terms.lacking(LARGE, "space", 64) == [IDS[0]]
        assert tx.terms.newest_lacking(LARGE, "space", 1) == [IDS[0]]
        tx.terms.lie(LARGE, "space", [(IDS[0], b"sealed")])
        assert tx.terms.lacking(LARGE, "space", 64) == []
    assert max(told.visited) <= 3, told.visited
